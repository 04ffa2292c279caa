//! The place of an error in a file, and excerpts of the offending text.

use std::fmt;

/// A place in a file: the line, the field in that line and the name of its column, as far as known.
///
/// Lines and fields count from 1, as in editors and spreadsheets. Lines are those of the
/// uncompressed text. In the libsvm format, field 1 is the label.
///
/// ```
/// use nystrom_data::Place;
///
/// let place = Place::new("air.csv").line(7).field(6).column("PM2.5");
/// assert_eq!(place.to_string(), "air.csv:7, column 6 (\"PM2.5\")");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The display name of the file, usually its path.
    pub file: String,
    /// Line number from 1.
    pub line: Option<u64>,
    /// Field number in the line from 1.
    pub field: Option<usize>,
    /// Name of the column that the field belongs to.
    pub column: Option<String>,
}

impl Place {
    /// The file as a whole.
    pub fn new(file: &str) -> Self {
        Place { file: file.to_owned(), line: None, field: None, column: None }
    }

    /// Sets the line, from 1.
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets the field, from 1.
    pub fn field(mut self, field: usize) -> Self {
        self.field = Some(field);
        self
    }

    /// Sets the name of the column.
    pub fn column(mut self, name: &str) -> Self {
        self.column = Some(name.to_owned());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match (self.field, &self.column) {
            (Some(field), Some(name)) => write!(f, ", column {field} ({:?})", excerpt(name)),
            (Some(field), None) => write!(f, ", column {field}"),
            (None, Some(name)) => write!(f, ", column {:?}", excerpt(name)),
            (None, None) => Ok(()),
        }
    }
}

/// `line 7` if there is a line, else for example `row 6, counted from 1`; the argument `row` counts
/// from 0.
pub(crate) fn line_or_row(line: Option<u64>, row: usize) -> String {
    line.map_or_else(|| format!("row {}, counted from 1", row + 1), |line| format!("line {line}"))
}

/// The most characters of offending text that a message quotes.
const EXCERPT: usize = 40;

/// The beginning of `text`: at most 40 characters, with `…` where it was cut.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The first 12 of `items`, quoted and separated by commas, and the number of the others.
pub(crate) fn list<S: AsRef<str>>(items: impl IntoIterator<Item = S>) -> String {
    const SHOWN: usize = 12;
    let mut items = items.into_iter();
    let shown: Vec<String> =
        items.by_ref().take(SHOWN).map(|item| format!("{:?}", excerpt(item.as_ref()))).collect();
    match items.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The first five of these words, and the number of the others.
pub(crate) fn some(words: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = words[..words.len().min(SHOWN)].join(", ");
    match words.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_cut_at_characters_not_bytes() {
        assert_eq!(excerpt("short"), "short");
        assert_eq!(excerpt(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
        assert_eq!(excerpt(&"é".repeat(40)), "é".repeat(40));
    }

    #[test]
    fn lists_say_what_they_leave_out() {
        assert_eq!(list(["a", "b"]), r#""a", "b""#);
        assert!(list((0..20).map(|i| i.to_string())).ends_with(r#""11" and 8 more"#));
    }
}
