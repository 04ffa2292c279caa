//! Core types of nystrom: scalars, ridges, implicit psd matrices, factorisations, reproducible reductions and random streams.
