//! Links in the documents lead to files of the repository.

use super::Violation;
use super::tree::Tree;

/// Every relative link of a Markdown document names a file or a folder that is there.
pub fn links_lead_somewhere(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (document, text) in tree.documents() {
        let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut in_code = false;
        for (i, line) in text.lines().enumerate() {
            in_code ^= line.trim_start().starts_with("```");
            for target in targets(line).filter(|_| !in_code) {
                let (path, inside) = (resolve(folder, target), resolve(folder, target) + "/");
                if !tree.paths().any(|other| other == path || other.starts_with(&inside)) {
                    let text = format!("the link to `{target}` leads nowhere");
                    violations.push(Violation::new(document, i + 1, text));
                }
            }
        }
    }
    violations
}

/// The targets of `[text](target)` that are files, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let all = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = all.filter(|target| {
        !target.contains("://") && !target.starts_with('#') && !target.starts_with("mailto:")
    });
    files.map(|target| target.split('#').next().unwrap_or(target))
}

/// `../a/b.md` seen from `docs` is `a/b.md`.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_nothing_are_found_with_their_line() {
        let readme = "See [a](docs/a.md#top), [b](docs), [c](https://example.org/x) and \
                      [d](#here).\n\n![e](docs/e.svg)";
        let text = "[up](../README.md), [gone](b.md)\n```\n[code](c.md)\n```\n";
        let tree = Tree::of(&[("README.md", readme), ("docs/a.md", text)]);
        let found: Vec<_> =
            links_lead_somewhere(&tree).into_iter().map(|v| (v.path, v.line, v.text)).collect();
        let expected = [("README.md", 3, "docs/e.svg"), ("docs/a.md", 1, "b.md")];
        let expected = expected.map(|(path, line, to)| {
            (path.to_owned(), line, format!("the link to `{to}` leads nowhere"))
        });
        assert_eq!(found, expected);
    }
}
