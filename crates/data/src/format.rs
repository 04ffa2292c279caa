//! One type for the readers of all formats, chosen by the caller or by the file's name.

use std::io::Read;
use std::path::Path;

use crate::bad_cells::Survey;
use crate::error::{DataError, Result};
use crate::open::open;
use crate::{Arff, Csv, Libsvm, Npy, Table};

/// The reader of a format, with its options.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Format {
    /// Delimited text.
    Csv(Csv),
    /// Weka's ARFF.
    Arff(Arff),
    /// Sparse rows `label index:value …`.
    Libsvm(Libsvm),
    /// NumPy's `.npy`.
    Npy(Npy),
    /// Apache Parquet.
    #[cfg(feature = "parquet")]
    Parquet(crate::Parquet),
}

impl Format {
    /// The format given by the name of a file. Names end in `.csv`, `.tsv`, `.txt` (whose delimiter
    /// is guessed), `.arff`, `.libsvm` (also `.svm`, `.svmlight`), `.npy` or, with the feature of
    /// that name, `.parquet`, in upper or lower case. Each may be followed by `.gz` or `.zst`. CSV
    /// and TSV files are assumed to have a header.
    ///
    /// # Errors
    /// [`DataError::UnknownFormat`] for other names.
    ///
    /// ```
    /// use nystrom_data::{Csv, Format};
    ///
    /// assert_eq!(Format::of("casp/CASP.csv.gz")?, Format::Csv(Csv::new()));
    /// assert!(Format::of("batch2.dat").is_err());
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn of(path: impl AsRef<Path>) -> Result<Format> {
        let name = path.as_ref().to_string_lossy().to_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(Format::Csv(Csv::new())),
            Some("tsv") => Ok(Format::Csv(Csv::new().delimiter(b'\t'))),
            Some("txt") => Ok(Format::Csv(Csv::new().guess_delimiter())),
            Some("arff") => Ok(Format::Arff(Arff::new())),
            Some("libsvm" | "svm" | "svmlight") => Ok(Format::Libsvm(Libsvm::new())),
            Some("npy") => Ok(Format::Npy(Npy::new())),
            #[cfg(feature = "parquet")]
            Some("parquet") => Ok(Format::Parquet(crate::Parquet::new())),
            _ => Err(DataError::UnknownFormat { file: path.as_ref().display().to_string() }),
        }
    }

    /// Reads a table as it is found, with any content. A column holds numbers if each of its cells
    /// is a plain number or marks a missing value ([`is_marker`](crate::is_marker),
    /// [`is_number_marker`](crate::is_number_marker)). Otherwise it holds text, each cell as it is
    /// written. A column with a whole number beyond 2⁵³ holds text, since `f64` cannot tell such
    /// numbers apart. Columns of CSV and ARFF files at the positions `texts`, from 0, always hold
    /// text. [`Table::notes`] says what was decided.
    ///
    /// In ARFF files, declared values and quoted texts of text columns are never missing-value
    /// markers; an unquoted `?` always is.
    ///
    /// In CSV files, titles before the header are skipped, names are made distinct, and empty
    /// fields beyond those of the header are ignored.
    ///
    /// # Errors
    /// [`DataError::NotFound`], [`DataError::Io`], and the errors of [`read`](Format::read) that do
    /// not concern a single cell.
    pub fn found(&self, origin: Origin<'_>, texts: &[usize]) -> Result<Table> {
        let name = origin.name();
        match self {
            Format::Csv(csv) => csv.found(&|| origin.read(), &name, texts),
            Format::Arff(arff) => arff.found(&|| origin.read(), &name, texts),
            Format::Npy(_) => self.survey(origin.read()?, &name).map(Survey::found),
            #[cfg(feature = "parquet")]
            Format::Parquet(_) => self.survey(origin.read()?, &name).map(Survey::found),
            _ => self.read(origin.read()?, &name),
        }
    }

    /// Reads all of `reader`, plain or compressed. Errors call the file `name`.
    ///
    /// # Errors
    /// Those of the `read` method of the format's reader.
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        match self {
            Format::Csv(format) => format.read(reader, name),
            Format::Arff(format) => format.read(reader, name),
            Format::Libsvm(format) => format.read(reader, name),
            Format::Npy(format) => format.read(reader, name),
            #[cfg(feature = "parquet")]
            Format::Parquet(format) => format.read(reader, name),
        }
    }

    /// Reads all of `reader` and lists cells that are not numbers instead of failing, in the
    /// formats CSV, npy and Parquet. Other formats are read by [`read`](Format::read).
    ///
    /// # Errors
    /// Those of the `survey` method of the format's reader, or of `read` if it has none.
    pub fn survey(&self, reader: impl Read, name: &str) -> Result<Survey> {
        match self {
            Format::Csv(format) => format.survey(reader, name),
            Format::Npy(format) => format.survey(reader, name),
            #[cfg(feature = "parquet")]
            Format::Parquet(format) => format.survey(reader, name),
            _ => self.read(reader, name).map(Survey::certain),
        }
    }

    /// Like [`survey`](Format::survey), for the file at `path`.
    ///
    /// # Errors
    /// [`DataError::NotFound`], [`DataError::Io`], and those of [`survey`](Format::survey).
    pub fn survey_path(&self, path: impl AsRef<Path>) -> Result<Survey> {
        let (file, name) = open(path.as_ref())?;
        self.survey(file, &name)
    }
}

/// The source of a table, which can be read more than once.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// A file.
    Path(&'a Path),
    /// The bytes of a file, and a name for it.
    Bytes {
        /// The bytes, plain or compressed.
        bytes: &'a [u8],
        /// The name of the file in errors.
        name: &'a str,
    },
}

impl<'a> Origin<'a> {
    fn name(&self) -> String {
        match self {
            Origin::Path(path) => path.display().to_string(),
            Origin::Bytes { name, .. } => (*name).to_owned(),
        }
    }

    fn read(&self) -> Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Origin::Path(path) => Box::new(open(path)?.0),
            Origin::Bytes { bytes, .. } => Box::new(*bytes),
        })
    }
}

/// Adds `read_path` to every reader.
macro_rules! by_path {
    ($($reader:ty),*) => {$(
        impl $reader {
            /// Reads the file at `path`.
            ///
            /// # Errors
            /// [`DataError::NotFound`], [`DataError::Io`], and those of `read`.
            pub fn read_path(&self, path: impl AsRef<Path>) -> Result<Table> {
                let (file, name) = open(path.as_ref())?;
                self.read(file, &name)
            }
        }
    )*};
}
by_path!(Format, Csv, Arff, Libsvm, Npy);
#[cfg(feature = "parquet")]
by_path!(crate::Parquet);

/// Reads the file at `path` in the format given by its name, with the default options of that
/// format.
///
/// # Errors
/// Those of [`Format::of`] and [`Format::read_path`].
///
/// ```
/// let error = nystrom_data::read_path("no/such/file.csv").unwrap_err();
/// assert!(error.to_string().starts_with("no/such/file.csv: there is no such file (looked in "));
/// ```
pub fn read_path(path: impl AsRef<Path>) -> Result<Table> {
    Format::of(path.as_ref())?.read_path(path)
}
