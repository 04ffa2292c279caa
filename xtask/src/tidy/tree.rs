//! The files of the repository: their paths, and the text of those that rules read.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// Files whose text rules read.
const READ: [&str; 5] =
    [".rs", ".toml", ".md", crate::reference::REFERENCE, crate::reference::FULL_REFERENCE];
/// A program among the crates: it prints, and it reads what its user names.
const COMMAND_LINE: &str = "crates/cli/src/";

/// Paths relative to the root, with `/`, in order.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// The files that git tracks or would track; without git, all that are not hidden or built.
    pub fn read(root: &Path) -> anyhow::Result<Tree> {
        let paths = match git_files(root) {
            Some(paths) => paths,
            None => walk(root, "").context("cannot list the files")?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let text = match std::fs::read_to_string(root.join(&path)) {
                Ok(text) if READ.iter().any(|end| path.ends_with(end)) => text,
                Ok(_) => String::new(),
                // deleted, not yet committed
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) if READ.iter().any(|end| path.ends_with(end)) => {
                    return Err(error).context(path);
                }
                Err(_) => String::new(),
            };
            files.insert(path, text);
        }
        Ok(Tree { files })
    }

    /// A made-up tree.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree {
            files: files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect(),
        }
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Files whose paths begin and end so, with their text.
    pub fn files<'a>(
        &'a self,
        begin: &'a str,
        end: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        all.filter(move |(path, _)| path.starts_with(begin) && path.ends_with(end))
    }

    /// Rust files with their text.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files("", ".rs")
    }

    /// Markdown files with their text.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files("", ".md")
    }

    /// Rust files of the crates and of xtask that are not tests, benches or examples.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let tests: Vec<String> =
            self.rust().flat_map(|(path, text)| test_modules(path, text)).collect();
        self.rust().filter(move |(path, _)| {
            let in_crate = path.starts_with("crates/") && path.split('/').nth(2) == Some("src");
            let in_tests = |test: &String| {
                path.starts_with(&format!("{test}.")) || path.starts_with(&format!("{test}/"))
            };
            (in_crate || path.starts_with("xtask/src/")) && !tests.iter().any(in_tests)
        })
    }

    /// Those of the library crates.
    pub fn library_sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sources()
            .filter(|(path, _)| path.starts_with("crates/") && !path.starts_with(COMMAND_LINE))
    }
}

/// Paths without extension of the modules that a file declares as `#[cfg(test)] mod name;`.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let home = match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = |pair: &[&str]| {
        let name =
            pair[1].trim_start_matches("pub(crate) ").strip_prefix("mod ")?.strip_suffix(';')?;
        (pair[0] == "#[cfg(test)]").then(|| format!("{home}/{name}"))
    };
    lines.windows(2).filter_map(declared).collect()
}

fn git_files(root: &Path) -> Option<Vec<String>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let list = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> =
        list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

fn walk(root: &Path, prefix: &str) -> std::io::Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root.join(prefix))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        let built = prefix.is_empty() && (name == "target" || name == "report");
        if name.starts_with('.') || built {
            continue;
        } else if entry.file_type()?.is_dir() {
            paths.extend(walk(root, &path)?);
        } else {
            paths.push(path);
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_sources_leave_out_tests_and_tools() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod checks;\nmod solve;"),
            ("crates/a/src/checks.rs", ""),
            ("crates/a/src/checks/more.rs", ""),
            ("crates/a/src/solve.rs", "#[cfg(test)]\nmod tests;"),
            ("crates/a/src/solve/tests.rs", ""),
            ("crates/a/src/checksum.rs", ""),
            ("crates/a/tests/laws.rs", ""),
            ("crates/a/examples/use.rs", ""),
            ("crates/cli/src/main.rs", ""),
            ("xtask/src/main.rs", ""),
        ]);
        let sources: Vec<&str> = tree.library_sources().map(|(path, _)| path).collect();
        assert_eq!(
            sources,
            ["crates/a/src/checksum.rs", "crates/a/src/lib.rs", "crates/a/src/solve.rs"]
        );
    }

    #[test]
    fn a_folder_without_git_is_walked() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["crates/a/src/lib.rs", "target/debug/x.rs", ".hidden/y.rs", "README.md"] {
            crate::atomic::write(&dir.path().join(path), b"text").unwrap();
        }
        let mut paths = walk(dir.path(), "").unwrap();
        paths.sort();
        assert_eq!(paths, ["README.md", "crates/a/src/lib.rs"]);
    }
}
