//! Loaders for the tabular formats that data sets come in: CSV, ARFF, libsvm, npy, plain or gzip or
//! Zstandard.
//!
//! Four types matter:
//!
//! * the readers [`Csv`], [`Arff`], [`Libsvm`] and [`Npy`] turn a file into
//! * a [`Table`] of named columns, which is prepared by a chain of methods and becomes
//! * a [`Dataset`] of features `x` (n × d), target `y` and names;
//! * [`DataError`] says where in which file something is wrong, what stands there, and what to do
//!   about it.
//!
//! The [`catalog`] knows the public data sets of the papers that this workspace reproduces: where
//! to get them, their checksums, shapes and targets. Nothing is downloaded, and nothing is made up
//! for a file that is absent. Four small sets come with the crate behind the feature `embedded`,
//! under a licence of their own (CC BY 4.0).
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
//! # What readers promise
//!
//! * No input makes them panic, and memory stays in proportion to the table that is really in the
//!   file. Sizes that a file merely claims (an npy header, a libsvm index) are never allocated.
//!   Lines end after 16 MiB.
//! * gzip and Zstandard are recognised by their first bytes, whatever the file is called.
//! * Text is UTF-8 or UTF-16, with or without byte order mark. Bytes that are neither are read as
//!   Windows-1252, which is noted. Lines end in `\n`, `\r\n` or `\r`.
//! * NaN and ∞ in a file are errors. A value is missing only if the format (`?` in ARFF) or the
//!   caller ([`Csv::missing`]) says so; it is then NaN in [`Table::numbers`] and never reaches a
//!   [`Dataset`]. A [`Survey`] passes over what is no number and lists it, for programs that want
//!   to say all that is wrong at once.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod arff;
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
mod parquet_type;
#[cfg(feature = "parquet")]
mod parquet_values;
mod records;
mod standardize;
mod stream;
mod survey;
mod table;
mod zstd;

#[cfg(feature = "parquet")]
pub use self::parquet::Parquet;
pub use arff::Arff;
pub use column::{Categories, Cell, Column, ColumnRef, Values};
pub use csv::Csv;
pub use dataset::Dataset;
pub use doubts::{Doubt, Doubts};
pub use encode::Encoding;
pub use error::{DataError, Place, Problem, Result};
pub use format::{Format, Origin, read_path};
pub use gzip::Uncompressed;
pub use libsvm::Libsvm;
pub use markers::{is_marker, is_number_marker};
pub use npy::{Npy, npy_bytes};
pub use standardize::{Constant, Divisor, Standardize, Standardizer};
pub use stream::{Files, FilesRecord, find_files};
pub use survey::Survey;
pub use table::Table;
