//! What documentation must be there.

use super::Violation;
use super::tree::Tree;
use crate::listing::References;
use crate::reference::{REFERENCE, Reference};
use crate::{experiments, listing, numbers};

/// Every crate's `lib.rs` begins with a front page; with a program on it, if the crate exports
/// anything.
pub fn front_pages(tree: &Tree) -> Vec<Violation> {
    let lacks = |(path, text)| Some(Violation::new(path, 1, front_page_lacks(text)?));
    tree.files("crates/", "/src/lib.rs").filter_map(lacks).collect()
}

fn front_page_lacks(text: &str) -> Option<&'static str> {
    let page: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let exports = text.lines().any(|line| line.starts_with("pub "));
    if page.is_empty() {
        Some(
            "no front page: begin with `//!`, the equation the crate computes and the types that \
             matter",
        )
    } else if exports && !page.iter().any(|line| line.contains("```")) {
        Some("the front page shows no program: add one that a user would copy")
    } else {
        None
    }
}

/// The lines of a library's `lib.rs` that have clippy refuse what `clippy.toml` lists.
const LISTED: [&str; 2] = [
    "#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]",
    "#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]",
];

/// Every package takes the workspace's lints, which refuse an undocumented public item; every
/// library those of `clippy.toml`.
pub fn lints_are_inherited(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let root = tree.text("Cargo.toml").unwrap_or_default();
    let manifest: toml::Table = root.parse().unwrap_or_default();
    let lints = manifest.get("workspace").and_then(|w| w.get("lints")).and_then(|l| l.get("rust"));
    if lints.and_then(|rust| rust.get("missing_docs")).and_then(toml::Value::as_str) != Some("deny")
    {
        let text = "`missing_docs` must be denied in [workspace.lints.rust]";
        violations.push(Violation::new("Cargo.toml", 0, text));
    }
    for (path, text) in tree.files("crates/", "/Cargo.toml") {
        let manifest: toml::Table = text.parse().unwrap_or_default();
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace"));
        if inherits.and_then(toml::Value::as_bool) != Some(true) {
            let text = "lacks `[lints] workspace = true`: its public items go undocumented";
            violations.push(Violation::new(path, 0, text));
        }
    }
    let unlisted = tree
        .files("crates/", "/src/lib.rs")
        .filter(|(_, text)| !LISTED.iter().all(|line| text.lines().any(|other| other == *line)));
    violations.extend(unlisted.map(|(path, _)| {
        let lines = LISTED.join(" and ");
        Violation::new(path, 0, format!("lacks {lines}: clippy then checks nothing of clippy.toml"))
    }));
    violations
}

/// docs/EXPERIMENTS.md is what `cargo xtask docs` would write.
pub fn experiments_are_listed(tree: &Tree) -> Vec<Violation> {
    let references = match References::find(|path| tree.text(path).map(str::to_owned)) {
        Ok(references) => references,
        Err(error) => return vec![Violation::new(REFERENCE, 0, format!("{error:#}"))],
    };
    let text = listing::markdown(experiments::ALL, &references);
    let fresh = tree.text(listing::DOC_PATH) == Some(text.as_str());
    let old = || Violation::new(listing::DOC_PATH, 0, "out of date: run `cargo xtask docs`");
    (!fresh).then(old).into_iter().collect()
}

/// The measured numbers in documents are what `cargo xtask docs` would write, if there is a
/// reference run.
pub fn numbers_are_measured(tree: &Tree) -> Vec<Violation> {
    let Some(text) = tree.text(REFERENCE).filter(|text| !text.is_empty()) else {
        return Vec::new();
    };
    let reference = match serde_json::from_str::<Reference>(text) {
        Ok(reference) => reference,
        Err(error) => return vec![Violation::new(REFERENCE, error.line(), error.to_string())],
    };
    let documents = numbers::DOCUMENTS.iter().filter_map(|path| Some((*path, tree.text(path)?)));
    let stale = documents.filter_map(|(path, text)| match numbers::fill(text, &reference) {
        Ok(fresh) if fresh == text => None,
        Ok(_) => Some(Violation::new(path, 0, "numbers out of date: run `cargo xtask docs`")),
        Err(error) => Some(Violation::new(path, 0, format!("{error:#}"))),
    });
    stale.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_page_is_asked_for() {
        let lacks = |text| front_page_lacks(text).map(|why| why.split(':').next().unwrap());
        assert_eq!(lacks("mod a;"), Some("no front page"));
        assert_eq!(lacks("//! A crate.\npub mod a;"), Some("the front page shows no program"));
        assert_eq!(lacks("//! A crate that is still empty."), None);
        assert_eq!(lacks("//! A crate.\n//! ```\n//! f();\n//! ```\npub mod a;"), None);
    }

    #[test]
    fn packages_without_the_lints_are_found() {
        let root = "[workspace.lints.rust]\nmissing_docs = \"deny\"\n";
        let places = |root, manifest| -> Vec<String> {
            let tree = Tree::of(&[("Cargo.toml", root), ("crates/a/Cargo.toml", manifest)]);
            lints_are_inherited(&tree).into_iter().map(|violation| violation.path).collect()
        };
        assert_eq!(places(root, "[lints]\nworkspace = true\n"), [""; 0]);
        assert_eq!(places(root, "[package]\n"), ["crates/a/Cargo.toml"]);
        assert_eq!(places("[workspace]\n", "[lints]\nworkspace = true\n"), ["Cargo.toml"]);
    }

    #[test]
    fn libraries_that_clippy_would_not_look_at_are_found() {
        let root = "[workspace.lints.rust]\nmissing_docs = \"deny\"\n";
        let found = |text: &str| {
            let tree = Tree::of(&[("Cargo.toml", root), ("crates/a/src/lib.rs", text)]);
            lints_are_inherited(&tree).len()
        };
        assert_eq!((found(&LISTED.join("\n")), found(LISTED[0]), found("//! A crate.")), (0, 1, 1));
    }

    #[test]
    fn numbers_must_be_those_of_the_reference() {
        let run = r#"{"scale": "default", "seed": 0, "experiments": [{"name": "fig", "status": "done", "missing": [], "claims": [{"text": "x ≤ 2",
            "paper": "", "measured": "", "holds": true, "kind": "ours", "value": 1.5,
            "standard_error": null, "time": false}]}]}"#;
        let document = |number: &str| format!("<!-- number: fig | x -->{number}<!-- /number -->");
        let stale = |number: &str| {
            let tree = Tree::of(&[(REFERENCE, run), ("README.md", &document(number))]);
            numbers_are_measured(&tree).len()
        };
        assert_eq!((stale("1.5"), stale("1.4")), (0, 1));
        let without = Tree::of(&[("README.md", &document("1.4"))]);
        assert_eq!(numbers_are_measured(&without), [], "no reference yet");
    }

    #[test]
    fn the_list_of_experiments_must_be_fresh() {
        let with = |text: &str| Tree::of(&[(listing::DOC_PATH, text)]);
        assert_eq!(experiments_are_listed(&with("old")).len(), 1);
        assert_eq!(experiments_are_listed(&Tree::default()).len(), 1);
        let fresh = with(&listing::markdown(experiments::ALL, &References::default()));
        assert_eq!(experiments_are_listed(&fresh), []);
    }
}
