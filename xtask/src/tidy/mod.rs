//! The rules of the house that clippy cannot check; `clippy.toml` lists what clippy refuses.
//!
//! One small function per rule takes the [`Tree`] and returns what breaks the rule; `RULES` lists
//! them. The tests of a rule run it on made-up trees, and `the_repository_is_tidy` runs all of them
//! on the real one.

mod circles;
mod crate_map;
mod data_files;
mod documentation;
mod examples;
mod length;
mod links;
mod methods;
mod names;
mod points;
mod randomness;
mod syntax;
mod tree;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use tree::Tree;

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    path: String,
    /// Counted from 1; 0 if the whole file is meant.
    line: usize,
    /// What is wrong, and why that is a rule.
    text: String,
}

impl Violation {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Violation { path: path.into(), line, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text),
            line => write!(f, "{}:{line}: {}", self.path, self.text),
        }
    }
}

type Rule = fn(&Tree) -> Vec<Violation>;

const RULES: &[(&str, Rule)] = &[
    ("a generator is the last argument and never stored", randomness::generators_are_arguments),
    ("files are short", length::files_are_short),
    ("lines are short", length::lines_are_short),
    ("crates depend on one another as the map says", crate_map::dependencies_follow_the_map),
    ("modules beside each other go one way", circles::modules_go_one_way),
    ("only methods that need points know kernels", points::kernels_stay_where_points_are),
    (
        "every crate inherits the lints, and libraries switch on those of clippy.toml",
        documentation::lints_are_inherited,
    ),
    ("every crate has a front page", documentation::front_pages),
    ("functions that draw say how", randomness::randomness_is_documented),
    ("methods say their cost and source", methods::methods_have_cost_and_source),
    ("links in documents lead to files", links::links_lead_somewhere),
    ("the map of the source names what is there", names::the_map_is_true),
    ("documents name items that exist", names::items_exist),
    ("data sets are not in the repository", data_files::no_data_files),
    ("the README shows examples that compile", examples::readme_shows_examples),
    ("docs/EXPERIMENTS.md is what the registry says", documentation::experiments_are_listed),
    ("numbers in documents are those of the reference run", documentation::numbers_are_measured),
];

/// Checks the tree under `root`, prints what breaks a rule, and fails if anything does.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let violations = check(&Tree::read(root)?);
    for violation in &violations {
        eprintln!("{violation}");
    }
    match violations.len() {
        0 => println!("tidy: {} rules hold", RULES.len()),
        n => eprintln!("tidy: {n} to mend"),
    }
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|(_, rule)| rule(tree)).collect();
    violations.sort();
    violations.dedup(); // several rules find a file that does not parse
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let violations = check(&Tree::read(&crate::workspace::root()).unwrap());
        let list: String = violations.iter().map(|violation| format!("\n{violation}")).collect();
        assert!(violations.is_empty(), "{list}");
    }

    #[test]
    fn a_violation_names_its_place() {
        assert_eq!(Violation::new("a/b.rs", 7, "too long").to_string(), "a/b.rs:7: too long");
        assert_eq!(Violation::new("a/b.rs", 0, "too long").to_string(), "a/b.rs: too long");
    }
}
