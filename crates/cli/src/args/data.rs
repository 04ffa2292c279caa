//! Options that name the table, its format and its columns.

use crate::failure::{Result, usage};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Clone)]
pub struct DataArgs {
    /// Table with one row per case, plain or compressed (gzip, Zstandard); `-` reads standard
    /// input. A folder, or a quoted pattern such as 'shards/*.csv', is one table in several files,
    /// read block by block
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Format of DATA [default: by its extension; standard input: csv]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Data")]
    pub format: Option<FileFormat>,
    /// CSV: there is no header; the first line is data, and columns are named c1, c2, …
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
    /// CSV: the character that separates fields, or `tab`, or `space` (any run of blanks) [default:
    /// the one that splits the first lines into equally many fields]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Data")]
    pub delimiter: Option<Delimiter>,
    /// CSV: numbers have a decimal comma, as in 1,5
    #[arg(long, help_heading = "Data")]
    pub decimal_comma: bool,
    /// CSV: texts that mark a missing value, in addition to the usual ones (an empty cell, NA, nan
    /// and others)
    #[arg(long, value_name = "TEXT,…", help_heading = "Data")]
    pub missing: Vec<String>,
    /// CSV: texts that are values here, although they usually mark a missing value, such as NA for
    /// Namibia
    #[arg(long, value_name = "TEXT,…", help_heading = "Data")]
    pub not_missing: Vec<String>,
    /// Leave out rows in which a feature is missing, instead of filling in the missing value
    #[arg(long, help_heading = "Data")]
    pub drop_missing: bool,
    /// Columns to leave out, by name or number (1 is the first column of the file, -1 the last).
    /// Put a name that contains a comma in double quotes
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true, help_heading = "Data")]
    pub drop: Vec<String>,
}

#[derive(Args)]
pub struct SparseArgs {
    /// libsvm: keep the rows sparse, in memory in proportion to the file. Features are neither
    /// centred nor scaled; labels and qid are no features
    #[arg(long, help_heading = "Data")]
    pub sparse: bool,
}

#[derive(Args)]
pub struct RegressionArgs {
    /// Column to predict, by name or number (1 is the first column of the file, -1 the last); a
    /// search accepts several --target [default for libsvm files: the label]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, help_heading = "Data")]
    pub target: Vec<String>,
    /// Fit without the constant b
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
    pub fn target(&self) -> Result<Option<&str>> {
        match &self.target[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(usage(
                "several --target need a search, which any kernel, landmark or λ option turns off; \
                 leave those options out, or name one --target",
            )),
        }
    }
}

/// The items of these lists.
pub fn lists(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| list(text)).collect()
}

/// The items of a comma-separated list. An item in double quotes may contain commas, and double
/// quotes if they are doubled.
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

fn delimiter(text: &str) -> std::result::Result<Delimiter, String> {
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
