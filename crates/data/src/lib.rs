//! Loaders for the tabular formats that data sets come in: CSV, ARFF, libsvm, FANN, plain or gzip.
