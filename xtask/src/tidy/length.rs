//! Files are short enough to be read at a sitting; for functions, `clippy.toml` says how long they
//! may be.

use super::Violation;
use super::tree::Tree;

const MOST_LINES: usize = 400;

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
}
