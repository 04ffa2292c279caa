//! docs/THEOREMS.md: the tests it names exist, and it names every method.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands between backticks in the tables.
fn quoted(document: &str) -> impl Iterator<Item = &str> {
    document
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Whether `source` has a function of this name that is marked as a test.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let Some(at) = lines.iter().position(|line| line.starts_with(&format!("fn {name}("))) else {
        return false;
    };
    let above = lines[..at]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("//") || line.starts_with("#["));
    above.into_iter().any(|line| *line == "#[test]")
}

#[test]
fn every_test_that_is_named_exists() {
    let document = text("docs/THEOREMS.md");
    let tests: Vec<_> = quoted(&document).filter_map(|word| word.split_once("::")).collect();
    assert!(tests.len() > 40, "{} tests found in the tables", tests.len());
    let missing: Vec<_> =
        tests.into_iter().filter(|(path, name)| !has_test(&text(path), name)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

/// Identifiers that follow one of `before` in the source of the crates.
fn named_after(before: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for home in ["sketch", "leverage", "dpp", "krr"] {
        sources(&root().join("crates").join(home).join("src"), &mut |source| {
            for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for rest in
                    before.iter().filter_map(|before| line.split_once(before)).map(|(_, rest)| rest)
                {
                    names.insert(
                        rest.split(|c: char| !c.is_alphanumeric())
                            .next()
                            .unwrap_or_default()
                            .to_owned(),
                    );
                }
            }
        });
    }
    names
}

fn sources(folder: &Path, visit: &mut impl FnMut(&str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, visit);
        } else {
            visit(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_method_stands_in_a_table() {
    let document = text("docs/THEOREMS.md");
    let listed: BTreeSet<&str> = quoted(&document).collect();
    let mut methods = named_after(&[
        "> LandmarkSelector<T> for ",
        "> RidgeLeverage<T> for ",
        "distribution!(",
        "by_path!(",
    ]);
    let solver =
        |name: &String| name.ends_with("Krr") || ["Falkon", "Krill"].contains(&name.as_str());
    methods.extend(named_after(&["pub struct "]).into_iter().filter(solver));
    methods.remove(""); // references
    methods.remove("Box");
    assert!(
        methods.len() > 30 && methods.contains("Bless") && methods.contains("SparseSign"),
        "{methods:?}"
    );
    let missing: Vec<_> = methods.iter().filter(|name| !listed.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in docs/THEOREMS.md: {missing:?}");
}
