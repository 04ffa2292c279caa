//! Which table, in which format, and which of its columns.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Clone)]
pub struct DataArgs {
    /// Table with one row per case, plain or gzip; `-` reads standard input. A folder, or a pattern
    /// in quotes, is a table in several files, read block by block
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Format of DATA [default: by its extension; standard input: csv]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Data")]
    pub format: Option<FileFormat>,
    /// CSV: the first line holds data; columns are called c1, c2, …
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
    /// CSV: what separates fields: one character, `tab` or `space` (any run of blanks) [default:
    /// what splits the first lines evenly]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Data")]
    pub delimiter: Option<Delimiter>,
    /// CSV: numbers have a comma for the point: 1,5
    #[arg(long, help_heading = "Data")]
    pub decimal_comma: bool,
    /// CSV: texts that mean a missing value, beside the usual ones such as an empty cell, NA and
    /// nan
    #[arg(long, value_name = "TEXT,…", help_heading = "Data")]
    pub missing: Vec<String>,
    /// CSV: texts that are values, although they usually mean a missing one, such as NA for Namibia
    #[arg(long, value_name = "TEXT,…", help_heading = "Data")]
    pub not_missing: Vec<String>,
    /// Leave out rows in which a value of a feature is missing, rather than fill it in
    #[arg(long, help_heading = "Data")]
    pub drop_missing: bool,
    /// Columns to leave out, by name or number (from 1, as they stand in the file; -1 is the last).
    /// Names with a comma go in double quotes
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true, help_heading = "Data")]
    pub drop: Vec<String>,
}

#[derive(Args)]
pub struct RegressionArgs {
    /// The column to predict, by name or number: from 1, in the file's order; -1 is the last
    /// [default for libsvm files: the label]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, help_heading = "Data")]
    pub target: Vec<String>,
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
    Npy,
    #[cfg(feature = "parquet")]
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    At(u8),
    WhiteSpace,
}

impl RegressionArgs {
    /// The only target, if one was named.
    pub fn target(&self) -> Result<Option<&str>, Failure> {
        match &self.target[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => {
                let text = "several --target need a search: leave out the options on kernel, \
                            landmarks and fit, or name one --target";
                Err(Failure::Usage(text.into()))
            }
        }
    }
}

impl DataArgs {
    /// The texts that mean a missing value.
    pub fn missing_texts(&self) -> Vec<String> {
        self.missing.iter().flat_map(|text| list(text)).collect()
    }

    /// The texts that are values, although they usually mean a missing one.
    pub fn not_missing_texts(&self) -> Vec<String> {
        self.not_missing.iter().flat_map(|text| list(text)).collect()
    }
}

/// The items of a list with commas; those in double quotes may hold commas, and quotes that are
/// doubled.
pub fn list(text: &str) -> Vec<String> {
    let (mut items, mut item, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = text.trim().chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => item.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => items.push(std::mem::take(&mut item).trim().to_owned()),
            _ => item.push(c),
        }
    }
    items.push(item.trim().to_owned());
    items
}

fn delimiter(text: &str) -> Result<Delimiter, String> {
    match text {
        "tab" | "\\t" => Ok(Delimiter::At(b'\t')),
        "space" => Ok(Delimiter::WhiteSpace),
        _ if text.len() == 1 && !"\"\r\n".contains(text) => Ok(Delimiter::At(text.as_bytes()[0])),
        _ => Err("expected one ASCII character that is not a quote, `tab` or `space`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn lists_may_hold_quoted_commas() {
        for (text, items) in [
            ("a,b", &["a", "b"][..]),
            ("\"a, b\",c", &["a, b", "c"]),
            ("c,\"say \"\"x\"\"\"", &["c", "say \"x\""]),
            ("", &[""]),
            ("NA,", &["NA", ""]),
            (" a , b ", &["a", "b"]),
        ] {
            assert_eq!(list(text), items, "{text}");
        }
    }
}
