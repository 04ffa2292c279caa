//! The documents speak of files and items that are there, and the map of the source leaves none
//! out.

use std::collections::BTreeSet;

use super::Violation;
use super::tree::Tree;

const MAP: &str = "docs/ARCHITECTURE.md";
const CRATES: [&str; 6] = ["linalg_core", "kernels", "sketch", "leverage", "dpp", "krr"];

/// Under the heading of a crate, docs/ARCHITECTURE.md names files and folders of its source that
/// exist, and all at the top.
pub fn the_map_is_true(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for section in sections(tree.text(MAP).unwrap_or_default()) {
        let source = format!("{}/src/", section.home);
        let files: Vec<&str> = tree.paths().filter_map(|path| path.strip_prefix(&source)).collect();
        let is_there = |name: &str| match name.strip_suffix('/') {
            Some(folder) => {
                files.iter().any(|file| format!("/{file}").contains(&format!("/{folder}/")))
            }
            None => files.iter().any(|file| format!("/{file}").ends_with(&format!("/{name}"))),
        };
        for (line, name) in section.names.iter().filter(|(_, name)| !is_there(name)) {
            let text = format!("there is no `{name}` in {source}");
            violations.push(Violation::new(MAP, *line, text));
        }
        let named: BTreeSet<&str> = section.names.iter().map(|(_, name)| module(name)).collect();
        let modules: BTreeSet<String> =
            tree.library_sources().filter_map(|(path, _)| top(path, &source)).collect();
        for module in modules.iter().filter(|name| !named.contains(name.as_str())) {
            let text = format!("the map leaves out `{module}` of {source}");
            violations.push(Violation::new(MAP, section.line, text));
        }
    }
    violations
}

/// A part of the map: a crate, and the files and folders named under it.
struct Section<'a> {
    home: &'a str,
    line: usize,
    names: Vec<(usize, &'a str)>,
}

fn sections(map: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section> = Vec::new();
    let mut inside = false;
    for (i, line) in map.lines().enumerate() {
        if line.starts_with('#') {
            let home = line.strip_prefix("### `").and_then(|rest| rest.split('`').next());
            inside = home.is_some_and(|home| home.starts_with("crates/") || home == "xtask");
            if let Some(home) = home.filter(|_| inside) {
                sections.push(Section { home, line: i + 1, names: Vec::new() });
            }
        } else if inside && let Some(section) = sections.last_mut() {
            let names = quoted(line).filter(|name| name.ends_with(".rs") || name.ends_with('/'));
            section.names.extend(names.map(|name| (i + 1, name)));
        }
    }
    sections
}

/// The module at the top of the source that a path belongs to.
fn top(path: &str, source: &str) -> Option<String> {
    let rest = path.strip_prefix(source)?;
    let name = module(rest.split('/').next()?);
    (name != "lib").then(|| name.to_owned())
}

/// `exact` of `exact.rs` and of `exact/`.
fn module(name: &str) -> &str {
    name.strip_suffix(".rs").or_else(|| name.strip_suffix('/')).unwrap_or(name)
}

/// What stands between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Items that the documents write as `` `krr::Falkon` `` or `` `sketch::{Greedy, rp_cholesky}` ``
/// occur in that crate's source.
pub fn items_exist(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (document, text) in tree.documents() {
        for (i, line) in text.lines().enumerate() {
            for (home, word) in quoted(line).flat_map(items) {
                let source = format!("crates/{}/src/", home.replace('_', "-"));
                if !tree.files(&source, ".rs").any(|(_, text)| has_word(text, word)) {
                    let text = format!("there is no `{word}` in {source}");
                    violations.push(Violation::new(document, i + 1, text));
                }
            }
        }
    }
    violations
}

/// The crate and every word of `crate::…`.
fn items(code: &str) -> Vec<(&str, &str)> {
    let Some((home, rest)) = code.split_once("::") else { return Vec::new() };
    let words =
        rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    if CRATES.contains(&home) { words.map(|word| (home, word)).collect() } else { Vec::new() }
}

fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: [(&str, &str); 4] = [
        ("crates/krr/src/lib.rs", "pub struct Falkon;\n#[cfg(test)]\nmod tests;"),
        ("crates/krr/src/tests.rs", ""),
        ("crates/krr/src/exact.rs", ""),
        ("crates/krr/src/path/family.rs", "impl Falkon { pub fn fit() {} }"),
    ];

    fn tree(path: &'static str, text: &'static str) -> Tree {
        Tree::of(&[&SOURCE[..], &[(path, text)]].concat())
    }

    #[test]
    fn a_map_that_names_what_is_not_there_is_found() {
        let map = "# A\n`nothing.rs`\n### `crates/krr` — regression\n- `exact.rs`, `path/`: \
                   `family.rs`.\n- `gone.rs`, `old/`\n## B\n`none.rs`";
        let found: Vec<_> =
            the_map_is_true(&tree(MAP, map)).into_iter().map(|v| (v.line, v.text)).collect();
        let gone = |name: &str| (5, format!("there is no `{name}` in crates/krr/src/"));
        assert_eq!(found, [gone("gone.rs"), gone("old/")]);
    }

    #[test]
    fn a_map_that_leaves_a_module_out_is_found() {
        let found = the_map_is_true(&tree(MAP, "### `crates/krr`\n`path/`"));
        assert_eq!(
            found,
            [Violation::new(MAP, 1, "the map leaves out `exact` of crates/krr/src/")]
        );
    }

    #[test]
    fn items_that_are_not_there_are_found() {
        let text = "`krr::Falkon`, `krr::{Falkon::fit, Falkonry}`, `std::fs`, `sketch::Nystrom`\n";
        let found: Vec<_> =
            items_exist(&tree("README.md", text)).into_iter().map(|v| v.text).collect();
        let expected = [
            "there is no `Falkonry` in crates/krr/src/",
            "there is no `Nystrom` in crates/sketch/src/",
        ];
        assert_eq!(found, expected);
    }
}
