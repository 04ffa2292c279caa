//! Files are short enough to be read at a sitting, and lines fit on a page; for functions,
//! `clippy.toml` says how long they may be.

use super::Violation;
use super::tree::Tree;
use crate::width::{MOST_COLUMNS, width};

const MOST_LINES: usize = 400;
/// A string of so many characters is left whole.
const LONG_STRING: usize = 60;

/// No Rust file is longer than 400 lines.
pub fn files_are_short(tree: &Tree) -> Vec<Violation> {
    let long = tree
        .rust()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|&(_, lines)| lines > MOST_LINES);
    long.map(|(path, lines)| {
        let text = format!("{lines} lines, more than {MOST_LINES}: one idea per file, split it");
        Violation::new(path, MOST_LINES + 1, text)
    })
    .collect()
}

/// No line of Rust or Markdown is wider than 100 columns, where it can be broken. Addresses, table
/// rows, images, markers of measured numbers, what a program prints and long strings in code
/// cannot.
pub fn lines_are_short(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.rust().chain(tree.documents()) {
        let mut printed = false; // between "```text" and "```"
        for (i, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                printed = line == "```text";
            }
            if width(line) > MOST_COLUMNS && can_break(path, line) && !printed {
                let text = format!("{} columns, more than {MOST_COLUMNS}", width(line));
                found.push(Violation::new(path, i + 1, format!("{text}: break the line")));
            }
        }
    }
    found
}

fn can_break(path: &str, line: &str) -> bool {
    let text = line.trim_start_matches([' ', '/', '!']);
    let table_or_image = text.starts_with('|') || line.trim_start().starts_with("![");
    let code = path.ends_with(".rs") && !line.trim_start().starts_with("//");
    let mut strings = line.split('"').skip(1).step_by(2);
    let long_string = line.contains("r#\"") || strings.any(|s| width(s) > LONG_STRING);
    let whole = line.contains("://") || line.contains("<!-- number:");
    !(table_or_image || whole || code && long_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_hundred_lines_are_fine_and_one_more_is_not() {
        let (fine, long) = ("\n".repeat(400), "\n".repeat(401));
        let tree = Tree::of(&[("a.rs", &fine), ("b.rs", &long), ("c.md", &long)]);
        let violations = files_are_short(&tree);
        assert_eq!(violations.len(), 1);
        assert_eq!((violations[0].path.as_str(), violations[0].line), ("b.rs", 401));
    }

    #[test]
    fn a_hundred_columns_are_fine_and_one_more_is_not() {
        let words = "word ".repeat(20);
        let (fine, accents) = (words.clone(), format!("{words}\u{302}"));
        let (prose, comment) = (format!("\n{words}x"), format!("/// {words}"));
        let code = format!("    f({}1)", "1 + ".repeat(30));
        let table = format!("| {words} |");
        let address = format!("see https://example.org/{words}");
        let image = format!("![{words}](x.svg)");
        let string = format!("    let x = \"{words}\";");
        let printed = format!("```text\n{words}x\n```\n{words}x");
        let tree = Tree::of(&[
            ("accents.md", &accents),
            ("address.md", &address),
            ("code.rs", &code),
            ("comment.rs", &comment),
            ("fine.md", &fine),
            ("image.md", &image),
            ("other.py", &prose),
            ("printed.md", &printed),
            ("prose.md", &prose),
            ("string.rs", &string),
            ("table.md", &table),
        ]);
        let found = lines_are_short(&tree);
        let places: Vec<_> = found.iter().map(|v| (v.path.as_str(), v.line)).collect();
        assert_eq!(places, [("code.rs", 1), ("comment.rs", 1), ("printed.md", 4), ("prose.md", 2)]);
    }
}
