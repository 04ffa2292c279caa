//! The files of the repository: their paths, and the text of those that rules read.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use regex_lite::{Captures, Regex};

/// Paths relative to the root, with `/`, in order, and the text of each file.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// The files that git tracks or would track.
    pub fn read(root: &Path) -> anyhow::Result<Tree> {
        let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
        let git = Command::new("git").arg("-C").arg(root).args(arguments).output();
        let output = git.context("cannot run git")?;
        ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr).trim());
        let paths = String::from_utf8(output.stdout)?;
        let file = |path: &str| {
            let bytes = std::fs::read(root.join(path)).ok()?; // else deleted, not yet committed
            Some((path.to_owned(), String::from_utf8(bytes).unwrap_or_default()))
        };
        Ok(Tree { files: paths.split_terminator('\0').filter_map(file).collect() })
    }

    /// A made-up tree.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|&(path, text)| (path.into(), text.into())).collect() }
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Files whose paths begin and end so, with their text.
    pub fn files(&self, begin: &str, end: &str) -> impl Iterator<Item = (&str, &str)> {
        let all = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        all.filter(move |(path, _)| path.starts_with(begin) && path.ends_with(end))
    }

    /// Rust files of the crates and of xtask that are not tests, benches or examples.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files("", ".rs").filter(|(path, _)| {
            let source = path.starts_with("crates/") && path.split('/').nth(2) == Some("src");
            let test = path.ends_with("/tests.rs") || path.contains("/tests/");
            (source || path.starts_with("xtask/src/")) && !test
        })
    }

    /// Those of the library crates.
    pub fn library_sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let tools = ["crates/cli/", "xtask/"];
        self.sources().filter(move |(path, _)| !tools.iter().any(|tool| path.starts_with(tool)))
    }
}

/// The lines before the module of tests, which comes last; comments are blank.
pub fn code(text: &str) -> String {
    let end = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let code = text[..end].lines().map(|line| if is_comment(line) { "" } else { line });
    code.collect::<Vec<_>>().join("\n")
}

/// What a pattern finds in a text, with the lines, from 1, where it begins.
pub fn find<'t>(text: &'t str, pattern: &str) -> Vec<(usize, Captures<'t>)> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let all = Regex::new(pattern).expect("it is valid");
    let all = all.captures_iter(text);
    all.map(|found| (line(found.get(0).map_or(0, |whole| whole.start())), found)).collect()
}
