//! What documents name is there, and what they show is true.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::Found;
use super::tree::{Tree, line_at, whole};
use crate::listing;
use crate::reference::REFERENCE;

const MAP: &str = "docs/ARCHITECTURE.md";
const CRATES: [&str; 6] = ["linalg_core", "kernels", "sketch", "leverage", "dpp", "krr"];

/// The lines of a document that are not in a block of code, from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        in_code ^= line.trim_start().starts_with("```");
        (!in_code).then_some((i + 1, line))
    })
}

/// What stands between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Every relative link of a Markdown document names a file or a folder that is there.
pub fn links_lead_somewhere(tree: &Tree, found: &mut Found) {
    for (document, text) in tree.files("", ".md") {
        for (line, text) in prose(text) {
            for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let mut folders: Vec<&str> = document.split('/').collect();
                folders.pop();
                for part in link.split('/').filter(|part| !matches!(*part, "" | ".")) {
                    match part {
                        ".." => drop(folders.pop()),
                        name => folders.push(name),
                    }
                }
                let path = folders.join("/");
                let inside = format!("{path}/");
                let there = tree.text(&path).is_some() || tree.files(&inside, "").next().is_some();
                if !(link.is_empty() || link.contains(':') || there) {
                    found.add(document, line, format!("the link to `{link}` leads nowhere"));
                }
            }
        }
    }
}

/// Under the heading of a crate, docs/ARCHITECTURE.md names files and folders of its source that
/// exist, and all at the top.
pub fn the_map_is_true(tree: &Tree, found: &mut Found) {
    let lines: Vec<(usize, &str)> = prose(tree.text(MAP).unwrap_or_default()).collect();
    for section in lines.chunk_by(|_, (_, next)| !next.starts_with('#')) {
        let (heading, title) = section[0];
        let home = title.strip_prefix("### `").and_then(|rest| rest.split('`').next());
        let Some(home) = home.filter(|home| home.starts_with("crates/") || *home == "xtask") else {
            continue;
        };
        let source = format!("{home}/src/");
        let is_name = |name: &&str| name.ends_with(".rs") || name.ends_with('/');
        let mut named = BTreeSet::new();
        for (line, text) in &section[1..] {
            for name in quoted(text).filter(is_name) {
                named.insert(name.trim_end_matches(".rs").trim_end_matches('/'));
                let mut files = tree.files(&source, "").map(|(path, _)| path);
                if !files.any(|path| format!("{path}/").contains(&format!("/{name}"))) {
                    found.add(MAP, *line, format!("there is no `{name}` in {source}"));
                }
            }
        }
        let inside = tree.library_sources().filter_map(|(path, _)| path.strip_prefix(&source));
        let top = inside.filter_map(|path| path.split('/').next());
        let modules: BTreeSet<&str> = top.map(|name| name.trim_end_matches(".rs")).collect();
        for module in modules.iter().filter(|name| **name != "lib" && !named.contains(*name)) {
            found.add(MAP, heading, format!("the map leaves out `{module}` of {source}"));
        }
    }
}

/// Items that documents write as `` `krr::Falkon` `` or `` `sketch::{Greedy, rp_cholesky}` `` occur
/// in that crate's source.
pub fn items_exist(tree: &Tree, found: &mut Found) {
    let word = Regex::new(r"\w+").expect("it is valid");
    let mut words: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in tree.library_sources() {
        let home = path.split('/').nth(1).unwrap_or_default().replace('-', "_");
        words.entry(home).or_default().extend(word.find_iter(text).map(|word| word.as_str()));
    }
    for (document, text) in tree.files("", ".md") {
        for (i, line) in text.lines().enumerate() {
            let paths = quoted(line).filter_map(|code| code.split_once("::"));
            for (home, items) in paths.filter(|(home, _)| CRATES.contains(home)) {
                let is_there = |item: &str| words.get(home).is_some_and(|all| all.contains(item));
                for item in word.find_iter(items).filter(|item| !is_there(item.as_str())) {
                    let text = format!("there is no `{}` in the crate {home}", item.as_str());
                    found.add(document, i + 1, text);
                }
            }
        }
    }
}

/// A Rust snippet of a document stands under a comment `<!-- example: NAME -->` and equals, but for
/// indentation, `crates/nystrom/examples/NAME.rs`: what is between `// shown: begin` and
/// `// shown: end` there, or all of it.
pub fn documents_show_examples(tree: &Tree, found: &mut Found) {
    let snippet = r"(?s)(?:<!-- example: (\w+) -->\s*)?```rust\n(.*?)```";
    let snippet = Regex::new(snippet).expect("it is valid");
    for (document, text) in tree.files("", ".md") {
        for shown in snippet.captures_iter(text) {
            let name = shown.get(1).map_or("", |name| name.as_str());
            let path = format!("crates/nystrom/examples/{name}.rs");
            let example = tree.text(&path).unwrap_or_default();
            let part = example.split("// shown: begin\n").last().unwrap_or_default();
            let part = part.split("// shown: end\n").next().unwrap_or_default();
            if !lines_of(part).eq(lines_of(&shown[2])) {
                let line = line_at(text, whole(&shown).start());
                let what = format!("not the text of the example {name:?} that is named above it");
                found.add(document, line, format!("{what}: nothing proves that it compiles"));
            }
        }
    }
}

/// Lines without indentation, and without those that are blank.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// docs/EXPERIMENTS.md and the measured numbers in documents are what `cargo xtask docs` would
/// write.
pub fn documents_are_fresh(tree: &Tree, found: &mut Found) {
    match listing::documents(|path| tree.text(path).map(str::to_owned)) {
        Ok(fresh) => {
            for (path, _) in fresh.iter().filter(|(path, text)| tree.text(path) != Some(text)) {
                found.add(path, 0, "out of date: run `cargo xtask docs`");
            }
        }
        Err(error) => found.add(REFERENCE, 0, format!("{error:#}")),
    }
}
