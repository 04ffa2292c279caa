//! Texts that mark missing values.

/// Markers in every column, in any case.
const EVERYWHERE: [&str; 9] = ["", "na", "n/a", "nan", "null", "#n/a", "<na>", "nat", "#na"];
/// Bytes of the longest marker in [`EVERYWHERE`].
const LONGEST: usize = 4;
/// Further markers among numbers, in any case.
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
/// Bytes of the longest marker in [`AMONG_NUMBERS`].
const LONGEST_AMONG_NUMBERS: usize = 13;

/// Whether a text marks a missing value in every column: the empty text, `NA`, `nan`, `null` and
/// similar ones.
///
/// ```
/// assert!(nystrom_data::is_marker("n/a") && !nystrom_data::is_marker("?"));
/// ```
pub fn is_marker(text: &str) -> bool {
    is_one_of(&EVERYWHERE, LONGEST, text)
}

/// Whether a text marks a missing value in a column of numbers or dates: the markers of
/// [`is_marker`], `?`, `-`, `none` and similar ones.
///
/// ```
/// assert!(nystrom_data::is_number_marker("?") && !nystrom_data::is_number_marker("red"));
/// ```
pub fn is_number_marker(text: &str) -> bool {
    is_marker(text) || is_one_of(&AMONG_NUMBERS, LONGEST_AMONG_NUMBERS, text)
}

fn is_one_of(markers: &[&str], longest: usize, text: &str) -> bool {
    let text = text.trim();
    text.len() <= longest && markers.iter().any(|marker| marker.eq_ignore_ascii_case(text))
}

/// The note that these texts in a column of numbers, each with its number of cells, are read as
/// missing values.
pub(crate) fn taken_for_missing<'a>(
    column: &str,
    texts: impl Iterator<Item = (&'a str, usize)> + Clone,
) -> String {
    let cells: usize = texts.clone().map(|(_, cells)| cells).sum();
    let texts: Vec<String> = texts.map(|(text, _)| format!("{text:?}")).collect();
    let (rows, verb) = if cells == 1 { ("row", "is") } else { ("rows", "are") };
    let value = if cells == 1 { "a missing value" } else { "missing values" };
    let verb = if texts.len() == 1 { "is" } else { verb };
    format!("{column:?}: {} in {cells} {rows} {verb} taken for {value}", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_markers_are_as_long_as_is_said() {
        let longest = |markers: &[&str]| markers.iter().map(|marker| marker.len()).max();
        assert_eq!(longest(&EVERYWHERE), Some(LONGEST));
        assert_eq!(longest(&AMONG_NUMBERS), Some(LONGEST_AMONG_NUMBERS));
        assert!(is_number_marker(" Not Available ") && is_marker("<NA>") && !is_marker("name"));
    }
}
