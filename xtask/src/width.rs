//! How wide lines are, and may be.

/// The width of a line of code or prose; rustfmt.toml has the same number.
pub const MOST_COLUMNS: usize = 100;

/// Characters of a line without the accents that combine with the one before.
pub fn width(line: &str) -> usize {
    line.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

/// The words in lines of at most 100 characters, a line break at the end; lines after the first
/// begin with `indent`.
pub fn wrapped(text: &str, indent: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if width(&line) + 1 + width(word) > MOST_COLUMNS {
            lines += &format!("{line}\n");
            line = indent.to_owned();
        } else if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped() {
        let words = format!("- Data: {}", "word ".repeat(40));
        let text = wrapped(&words, "  ");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= 100) && lines[0].len() > 95, "{text}");
        assert!(lines[1..].iter().all(|line| line.starts_with("  word")), "{text}");
        assert!(text.split_whitespace().eq(words.split_whitespace()));
        assert_eq!(wrapped("one", "  "), "one\n");
    }
}
