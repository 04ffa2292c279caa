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

use std::path::Path;
use std::process::ExitCode;

use tree::Tree;

/// What breaks rules: file and line, what is wrong, and why that is a rule.
#[derive(Default)]
pub struct Found(Vec<(String, usize, String)>);

impl Found {
    /// `line` is counted from 1; it is 0 if the whole file is meant.
    fn add(&mut self, path: &str, line: usize, text: impl Into<String>) {
        self.0.push((path.into(), line, text.into()));
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
    documents::documents_show_examples,
    documents::documents_are_fresh,
];

/// Checks the tree under `root`, prints what breaks a rule, and fails if anything does.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let violations = check(RULES, &Tree::read(root)?);
    violations.iter().for_each(|violation| eprintln!("{violation}"));
    match violations.len() {
        0 => println!("tidy: {} rules hold", RULES.len()),
        n => eprintln!("tidy: {n} to mend"),
    }
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What breaks these rules, a line each, in the order of files and lines.
fn check(rules: &[Rule], tree: &Tree) -> Vec<String> {
    let mut found = Found::default();
    rules.iter().for_each(|rule| rule(tree, &mut found));
    found.0.sort();
    let shown = |(path, line, text): (String, usize, String)| match line {
        0 => format!("{path}: {text}"),
        line => format!("{path}:{line}: {text}"),
    };
    found.0.into_iter().map(shown).collect()
}
