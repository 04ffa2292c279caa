//! Texts that mark a missing value.

/// In every column, in upper or lower case.
const EVERYWHERE: [&str; 9] = ["", "na", "n/a", "nan", "null", "#n/a", "<na>", "nat", "#na"];
/// Among numbers, in upper or lower case.
const AMONG_NUMBERS: [&str; 24] = [
    "?",
    "-",
    "--",
    "---",
    ".",
    "..",
    "...",
    "*",
    "none",
    "nil",
    "unknown",
    "unk",
    "missing",
    "inf",
    "-inf",
    "+inf",
    "infinity",
    "-infinity",
    "#value!",
    "#div/0!",
    "#ref!",
    "#num!",
    "n.a.",
    "not available",
];

/// Whether a text means a missing value in every column: an empty one, `NA`, `nan`, `null` and the
/// like.
///
/// ```
/// assert!(nystrom_data::is_marker("n/a") && !nystrom_data::is_marker("?"));
/// ```
pub fn is_marker(text: &str) -> bool {
    EVERYWHERE.iter().any(|marker| marker.eq_ignore_ascii_case(text.trim()))
}

/// Whether a text means a missing value where the others are numbers or dates: `?`, `-`, `none` and
/// the like, beside those of [`is_marker`].
///
/// ```
/// assert!(nystrom_data::is_number_marker("?") && !nystrom_data::is_number_marker("red"));
/// ```
pub fn is_number_marker(text: &str) -> bool {
    is_marker(text) || AMONG_NUMBERS.iter().any(|marker| marker.eq_ignore_ascii_case(text.trim()))
}
