//! What documents name is there, and what they show is true.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::Found;
use super::tree::{Tree, find};
use crate::listing;
use crate::reference::REFERENCE;

/// The map of the source.
pub const MAP: &str = "docs/ARCHITECTURE.md";
const CRATES: [&str; 6] = ["linalg_core", "kernels", "sketch", "leverage", "dpp", "krr"];

/// The lines of a document that are not in a block of code, from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        in_code ^= line.trim_start().starts_with("```");
        (!in_code).then_some((i + 1, line))
    })
}

/// Every relative link of a Markdown document names a file or a folder that is there.
pub fn links_lead_somewhere(tree: &Tree, found: &mut Found) {
    for (document, text) in tree.files("", ".md") {
        for (line, text) in prose(text) {
            for (_, link) in find(text, r"\]\(([^)#:]+)[)#]") {
                let mut folders: Vec<&str> = document.split('/').collect();
                folders.pop();
                for part in link[1].split('/') {
                    match part {
                        "" | "." => {}
                        ".." => drop(folders.pop()),
                        name => folders.push(name),
                    }
                }
                let path = folders.join("/");
                let inside = format!("{path}/");
                if tree.text(&path).is_none() && tree.files(&inside, "").next().is_none() {
                    found.add(document, line, format!("the link to `{}` leads nowhere", &link[1]));
                }
            }
        }
    }
}

/// Under the heading of a crate, docs/ARCHITECTURE.md names files and folders of its source that
/// exist, and all at the top.
pub fn the_map_is_true(tree: &Tree, found: &mut Found) {
    let section = r"(?m)^### `(crates/[\w-]+|xtask)`.*\n((?:[^#\n].*\n|\n)*)";
    for (heading, section) in find(tree.text(MAP).unwrap_or_default(), section) {
        let source = format!("{}/src/", &section[1]);
        let mut named = BTreeSet::new();
        for (line, quoted) in find(&section[2], r"`([^`\s]+(?:\.rs|/))`") {
            let (_, [name]) = quoted.extract();
            named.insert(name.trim_end_matches(".rs").trim_end_matches('/'));
            let mut files = tree.files(&source, "").map(|(path, _)| path);
            if !files.any(|path| format!("{path}/").contains(&format!("/{name}"))) {
                found.add(MAP, heading + line, format!("there is no `{name}` in {source}"));
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
        for (line, path) in find(text, r"`(\w+)::([^`\n]+)`") {
            let (_, [home, items]) = path.extract();
            let is_there = |item: &str| words.get(home).is_some_and(|all| all.contains(item));
            for item in word.find_iter(items).map(|item| item.as_str()) {
                if CRATES.contains(&home) && !is_there(item) {
                    let text = format!("there is no `{item}` in the crate {home}");
                    found.add(document, line, text);
                }
            }
        }
    }
}

/// A Rust snippet of a document stands under a comment `<!-- example: NAME -->` and equals, but for
/// indentation, `crates/nystrom/examples/NAME.rs`: what is between `// shown: begin` and
/// `// shown: end` there, or all of it.
pub fn documents_show_examples(tree: &Tree, found: &mut Found) {
    for (document, text) in tree.files("", ".md") {
        for (line, shown) in find(text, r"(?s)(?:<!-- example: (\w+) -->\s*)?```rust\n(.*?)```") {
            let name = shown.get(1).map_or("", |name| name.as_str());
            let path = format!("crates/nystrom/examples/{name}.rs");
            let example = tree.text(&path).unwrap_or_default();
            let part = example.split("// shown: begin\n").last().unwrap_or_default();
            let part = part.split("// shown: end\n").next().unwrap_or_default();
            if !lines_of(part).eq(lines_of(&shown[2])) {
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
