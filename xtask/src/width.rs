//! How wide lines are, and may be.

/// The width of a line of code or prose; rustfmt.toml has the same number.
pub const MOST_COLUMNS: usize = 100;

/// Characters of a line without the accents that combine with the one before.
pub fn width(line: &str) -> usize {
    line.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}
