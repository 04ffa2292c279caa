//! Which table, in which format, and which of its columns.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
pub struct DataArgs {
    /// Table with one row per case, plain or gzip; `-` reads standard input
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Format of DATA [default: by its extension]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Data")]
    pub format: Option<FileFormat>,
    /// CSV: the first line holds data; columns are called c1, c2, …
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
    /// CSV: what separates fields: one character, `tab` or `space` (any run of blanks)
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Data")]
    pub delimiter: Option<Delimiter>,
    /// CSV: texts that mean a missing value, such as NA,?
    #[arg(long, value_name = "TEXT", value_delimiter = ',', help_heading = "Data")]
    pub missing: Vec<String>,
    /// Leave out rows in which a value is missing, rather than stop
    #[arg(long, help_heading = "Data")]
    pub drop_missing: bool,
    /// Columns to leave out, by name or number (from 1; -1 is the last)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', allow_hyphen_values = true, help_heading = "Data")]
    pub drop: Vec<String>,
}

#[derive(Args)]
pub struct RegressionArgs {
    /// The column to predict, by name or number (from 1; -1 is the last) [default for libsvm files: the label]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, help_heading = "Data")]
    pub target: Option<String>,
    /// No constant b in the model
    #[arg(long, help_heading = "Fit")]
    pub no_intercept: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    Csv,
    Tsv,
    Arff,
    Libsvm,
    Fann,
    Npy,
    #[cfg(feature = "parquet")]
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    At(u8),
    WhiteSpace,
}

fn delimiter(text: &str) -> Result<Delimiter, String> {
    match text {
        "tab" | "\\t" => Ok(Delimiter::At(b'\t')),
        "space" => Ok(Delimiter::WhiteSpace),
        _ if text.len() == 1 && !"\"\r\n".contains(text) => Ok(Delimiter::At(text.as_bytes()[0])),
        _ => Err("expected one ASCII character that is not a quote, `tab` or `space`".into()),
    }
}
