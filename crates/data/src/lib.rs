//! Readers of tables in CSV, ARFF, libsvm, npy and (feature `parquet`) Parquet files, plain or
//! compressed with gzip or Zstandard.
//!
//! Four types matter:
//!
//! * the readers [`Csv`], [`Arff`], [`Libsvm`] and [`Npy`] turn a file into a [`Table`];
//! * a [`Table`] has named columns, is prepared by a chain of methods, and is turned into a
//!   [`Dataset`];
//! * a [`Dataset`] has features `x` (n × d), a target `y` and names;
//! * a [`DataError`] says in which file and where something is wrong, quotes it, and says what to
//!   do about it.
//!
//! The [`catalog`] lists the public data sets of the papers that this workspace reproduces: where
//! to get them, their checksums, shapes and targets. It downloads nothing and makes up no data for
//! absent files. Four small sets are part of the crate with the feature `embedded`, under a licence
//! of their own (CC BY 4.0).
//!
//! # A complete program
//!
//! ```
//! use nystrom_data::{Csv, DataError, Encoding, Standardize};
//!
//! // In a program: Csv::new()….read_path("air.csv.gz")?
//! const AIR: &str = "hour,wind,temp,pm\n0,N,-0.7,4\n1,NW,NA,8\n2,N,-1.1,7\n3,NW,-1.4,6\n";
//!
//! fn main() -> Result<(), DataError> {
//!     let data = Csv::new()
//!         .missing(["NA"])
//!         .text(["wind"])
//!         .read(AIR.as_bytes(), "air.csv")?
//!         .drop_missing_rows()
//!         .encode("wind", Encoding::OneHot)?
//!         .into_dataset("pm")?;
//!     let (data, map) = data.standardize(Standardize::default())?;
//!     assert_eq!(data.feature_names, ["hour", "wind=N", "wind=NW", "temp"]);
//!     assert_eq!((data.x.nrows(), data.x.ncols()), (3, 4));
//!     assert!((map.means[3] - (-0.7 - 1.1 - 1.4) / 3.0).abs() < 1e-15);
//!
//!     let error = Csv::new().read(AIR.as_bytes(), "air.csv").unwrap_err();
//!     assert!(
//!         error
//!             .to_string()
//!             .starts_with("air.csv:2, column 2 (\"wind\"): \"N\" is not a number; ")
//!     );
//!     Ok(())
//! }
//! ```
//!
//! # What the readers guarantee
//!
//! * No input makes a reader panic. Memory is proportional to the table that is actually in the
//!   file: sizes that a file only states (in an npy header, by a libsvm index) are never allocated.
//!   A line of more than 16 MiB is an error.
//! * gzip and Zstandard are recognised by the first bytes, not by the file name.
//! * Text is UTF-8 or UTF-16, with or without byte order mark. Bytes that are neither are read as
//!   Windows-1252, and [`Table::notes`] says so. Lines end in `\n`, `\r\n` or `\r`.
//! * NaN and ∞ in a file are errors. A value is missing only if the format (`?` in ARFF) or the
//!   caller ([`Csv::missing`]) says so. It is then NaN in [`Table::numbers`]; a [`Dataset`] has no
//!   missing values. A [`Survey`] lists all cells that are not numbers instead of stopping at the
//!   first one.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod arff;
mod bad_cells;
mod builder;
pub mod catalog;
mod column;
mod csv;
mod dataset;
mod delimiter;
mod doubts;
mod encode;
mod encoding;
mod error;
mod format;
mod gzip;
mod instant;
mod libsvm;
mod lines;
mod markers;
mod npy;
mod npy_times;
mod number;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_columns;
#[cfg(feature = "parquet")]
mod parquet_type;
#[cfg(feature = "parquet")]
mod parquet_values;
mod records;
mod sparse_column;
mod standardize;
mod stream;
mod table;
mod zstd;

#[cfg(feature = "parquet")]
pub use self::parquet::Parquet;
pub use arff::Arff;
pub use bad_cells::Survey;
pub use column::{Categories, Cell, Column, ColumnRef, Values};
pub use csv::Csv;
pub use dataset::Dataset;
pub use doubts::{Doubt, Doubts};
pub use encode::Encoding;
pub use error::{DataError, Place, Problem, Result};
pub use format::{Format, Origin, read_path};
pub use gzip::Uncompressed;
pub use libsvm::{Libsvm, SparseTable};
pub use markers::{is_marker, is_number_marker};
pub use npy::{Npy, npy_bytes};
pub use sparse_column::SparseColumn;
pub use standardize::{Constant, Divisor, Standardize, Standardizer};
pub use stream::{Files, FilesRecord, find_files};
pub use table::Table;
