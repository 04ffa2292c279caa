//! The README shows the text of examples, which compile and run.
//!
//! A Rust snippet stands under a comment `<!-- example: NAME -->` and equals
//! `crates/nystrom/examples/NAME.rs`. Where that file has the lines `// readme: begin` and
//! `// readme: end`, the snippet equals what is between them, unindented.

use super::Violation;
use super::tree::Tree;

const README: &str = "README.md";

/// Every Rust snippet of the README is an example, word for word.
pub fn readme_shows_examples(tree: &Tree) -> Vec<Violation> {
    let Some(readme) = tree.text(README) else { return Vec::new() };
    let wrong = snippets(readme)
        .into_iter()
        .filter_map(|snippet| Some((snippet.line, wrong(tree, &snippet)?)));
    wrong.map(|(line, text)| Violation::new(README, line, text)).collect()
}

fn wrong(tree: &Tree, snippet: &Snippet) -> Option<String> {
    let Some(name) = &snippet.example else {
        return Some(
            "a Rust snippet without `<!-- example: NAME -->` above it: nothing proves that it \
             compiles"
                .into(),
        );
    };
    let path = format!("crates/nystrom/examples/{name}.rs");
    let Some(text) = tree.text(&path) else { return Some(format!("there is no {path}")) };
    (snippet.text.trim() != shown_part(text).trim())
        .then(|| format!("this snippet is not the text of {path}"))
}

struct Snippet {
    line: usize,
    example: Option<String>,
    text: String,
}

/// The fenced blocks that are marked as Rust.
fn snippets(readme: &str) -> Vec<Snippet> {
    let mut found = Vec::new();
    let mut marker = None;
    let mut lines = readme.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        if let Some(language) = line.trim().strip_prefix("```") {
            let text: Vec<&str> = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| line.trim() != "```")
                .collect();
            if language.starts_with("rust") {
                found.push(Snippet { line: i + 1, example: marker.take(), text: text.join("\n") });
            }
        }
        if !line.trim().is_empty() {
            marker = line
                .trim()
                .strip_prefix("<!-- example:")
                .and_then(|rest| rest.strip_suffix("-->"))
                .map(|name| name.trim().to_owned());
        }
    }
    found
}

fn shown_part(example: &str) -> String {
    let lines: Vec<&str> = example.lines().collect();
    let place = |mark: &str| lines.iter().position(|line| line.trim() == mark);
    let (Some(begin), Some(end)) = (place("// readme: begin"), place("// readme: end")) else {
        return example.into();
    };
    let part = lines.get(begin + 1..end).unwrap_or_default();
    let blank = |line: &&&str| !line.trim().is_empty();
    let indent = part
        .iter()
        .filter(blank)
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    part.iter().map(|line| line.get(indent..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "fn main() {\n    // readme: begin\n    let x = 1;\n\n    if x > 0 {\n        f(x);\n    }\n    // readme: end\n}\n";

    fn violations(readme: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[
            ("README.md", readme),
            ("crates/nystrom/examples/whole.rs", "fn main() {}\n"),
            ("crates/nystrom/examples/part.rs", EXAMPLE),
        ]);
        readme_shows_examples(&tree)
            .into_iter()
            .map(|violation| (violation.line, violation.text))
            .collect()
    }

    #[test]
    fn equal_snippets_and_other_languages_are_fine() {
        for fine in [
            "# A\n\n<!-- example: whole -->\n```rust\nfn main() {}\n```\n\n```sh\ncargo run\n```\n",
            "<!-- example: part -->\n\n```rust\nlet x = 1;\n\nif x > 0 {\n    f(x);\n}\n```\n",
        ] {
            assert_eq!(violations(fine), []);
        }
    }

    #[test]
    fn a_snippet_that_differs_has_no_marker_or_no_example_is_found() {
        let found =
            violations("text\n<!-- example: whole -->\n```rust\nfn main() { old() }\n```\n");
        assert_eq!((found.len(), found[0].0), (1, 3));
        for (before, text) in [
            ("", "without `<!-- example"),
            ("<!-- example: gone -->\n", "there is no crates/nystrom/examples/gone.rs"),
            ("<!-- example: whole -->\nwords between\n", "without"),
        ] {
            let found = violations(&format!("{before}```rust\nfn main() {{}}\n```"));
            assert!(found[0].1.contains(text), "{found:?}");
        }
    }
}
