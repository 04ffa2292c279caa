//! The rules of the house that clippy cannot check; `clippy.toml` lists what clippy refuses.
//!
//! One function per rule reads the [`Tree`] and adds what breaks the rule; `RULES` lists them.
//! `tests.rs` runs each on a made-up tree, and `the_repository_is_tidy` all of them on the real
//! one.

mod code;
mod documents;
mod modules;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use tree::Tree;

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    path: String,
    /// Counted from 1; 0 if the whole file is meant.
    line: usize,
    /// What is wrong, and why that is a rule.
    text: String,
}

/// What rules have found so far.
#[derive(Default)]
pub struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, path: &str, line: usize, text: impl Into<String>) {
        self.0.push(Violation { path: path.into(), line, text: text.into() });
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

type Rule = fn(&Tree, &mut Found);

const RULES: &[Rule] = &[
    code::files_are_short,
    code::lines_are_short,
    code::generators_are_arguments,
    code::methods_have_cost_and_source,
    code::lints_are_switched_on,
    modules::dependencies_follow_the_map,
    modules::modules_go_one_way,
    documents::links_lead_somewhere,
    documents::the_map_is_true,
    documents::items_exist,
    documents::readme_shows_examples,
    documents::documents_are_fresh,
];

/// Checks the tree under `root`, prints what breaks a rule, and fails if anything does.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let violations = check(RULES, &Tree::read(root)?);
    for violation in &violations {
        eprintln!("{violation}");
    }
    match violations.len() {
        0 => println!("tidy: {} rules hold", RULES.len()),
        n => eprintln!("tidy: {n} to mend"),
    }
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check(rules: &[Rule], tree: &Tree) -> Vec<Violation> {
    let mut found = Found::default();
    rules.iter().for_each(|rule| rule(tree, &mut found));
    found.0.sort();
    found.0
}
