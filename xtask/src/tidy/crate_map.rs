//! Which crate of ours may depend on which, as drawn in docs/ARCHITECTURE.md.

use super::Violation;
use super::tree::Tree;

/// A package, and those of ours that it may depend on. Development dependencies are free.
const MAP: &[(&str, &[&str])] = &[
    ("nystrom-linalg-core", &[]),
    ("nystrom-data", &[]),
    ("nystrom-workspace-hack", &[]),
    ("nystrom-kernels", &["nystrom-linalg-core"]),
    ("nystrom-sketch", &["nystrom-linalg-core"]),
    ("nystrom-dpp", &["nystrom-linalg-core", "nystrom-sketch"]),
    // kernels only where a method needs points: SQUEAK, spectral density
    ("nystrom-leverage", &["nystrom-linalg-core", "nystrom-kernels", "nystrom-sketch"]),
    (
        "nystrom-krr",
        &["nystrom-linalg-core", "nystrom-kernels", "nystrom-sketch", "nystrom-leverage"],
    ),
    (
        "nystrom",
        &[
            "nystrom-linalg-core",
            "nystrom-kernels",
            "nystrom-sketch",
            "nystrom-dpp",
            "nystrom-leverage",
            "nystrom-krr",
        ],
    ),
    ("nystrom-pipeline", &["nystrom", "nystrom-data"]),
    ("nystrom-page", &["nystrom-pipeline"]),
    ("nystrom-cli", &["nystrom", "nystrom-data", "nystrom-pipeline", "nystrom-page"]),
    // these two with `nystrom-workspace-hack`, which has no code: they share what it compiles
    ("nystrom-mpi", &["nystrom", "nystrom-pipeline", "nystrom-cli", "nystrom-workspace-hack"]),
    (
        "nystrom-python",
        &["nystrom", "nystrom-data", "nystrom-page", "nystrom-pipeline", "nystrom-workspace-hack"],
    ),
    ("xtask", &["nystrom", "nystrom-data", "nystrom-page"]),
];

/// Every package under `crates/` and `xtask/` depends on ours as [`MAP`] allows, and is on the map.
pub fn dependencies_follow_the_map(tree: &Tree) -> Vec<Violation> {
    let of = |folder| tree.files(folder, "/Cargo.toml");
    of("crates/").chain(of("xtask/")).flat_map(|(path, text)| check(path, text)).collect()
}

fn check(path: &str, text: &str) -> Vec<Violation> {
    let manifest: toml::Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Violation::new(path, 0, error.to_string())],
    };
    let name = manifest.get("package").and_then(|package| package.get("name"));
    let name = name.and_then(toml::Value::as_str).unwrap_or("?");
    let Some((_, allowed)) = MAP.iter().find(|(package, _)| *package == name) else {
        let text = format!(
            "`{name}` is not on the map of crates: add it in xtask/src/tidy/crate_map.rs and \
             docs/ARCHITECTURE.md"
        );
        return vec![Violation::new(path, 0, text)];
    };
    let Some(dependencies) = manifest.get("dependencies").and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    let ours =
        dependencies.keys().filter(|key| key.as_str() == "xtask" || key.starts_with("nystrom"));
    let refused = ours.filter(|key| !allowed.contains(&key.as_str()));
    let violation = |key: &String| {
        let why = "the map of crates in docs/ARCHITECTURE.md points the other way";
        let what = format!("`{name}` must not depend on `{key}`: {why}");
        Violation::new(path, line_of(text, key), what)
    };
    refused.map(violation).collect()
}

/// The first line under `[dependencies]` that begins with this key.
fn line_of(text: &str, key: &str) -> usize {
    let lines = text.lines().enumerate().skip_while(|(_, line)| line.trim() != "[dependencies]");
    let is_key =
        |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', '.']));
    lines.map(|(i, line)| (i + 1, line)).find(|(_, line)| is_key(line)).map_or(0, |(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, package: &str, dependencies: &str) -> Vec<Violation> {
        let text = format!(
            "[package]\nname = \"{package}\"\n[dependencies]\nfaer = \"1\"\n{dependencies}"
        );
        dependencies_follow_the_map(&Tree::of(&[(path, &text)]))
    }

    #[test]
    fn the_map_has_no_cycle() {
        for (i, (package, allowed)) in MAP.iter().enumerate() {
            for dependency in *allowed {
                assert!(
                    MAP[..i].iter().any(|(earlier, _)| earlier == dependency),
                    "{package} -> {dependency}"
                );
            }
        }
    }

    #[test]
    fn a_dependency_against_the_map_is_found_with_its_line() {
        let upside_down = "nystrom-kernels = { workspace = true }\n";
        let violations = found("crates/sketch/Cargo.toml", "nystrom-sketch", upside_down);
        assert_eq!((violations.len(), violations[0].line), (1, 5));
        let text = "`nystrom-sketch` must not depend on `nystrom-kernels`";
        assert!(violations[0].text.contains(text));
    }

    #[test]
    fn allowed_development_and_foreign_dependencies_are_fine() {
        let fine =
            "nystrom-sketch.workspace = true\n[dev-dependencies]\nnystrom-krr.workspace = true\n";
        assert_eq!(found("crates/leverage/Cargo.toml", "nystrom-leverage", fine), []);
        assert_eq!(found("benches/Cargo.toml", "benches", "nystrom = \"1\""), []);
    }

    #[test]
    fn a_package_off_the_map_and_a_broken_manifest_are_found() {
        let off = found("crates/new/Cargo.toml", "nystrom-new", "");
        assert!(off[0].text.contains("not on the map"));
        let broken = Tree::of(&[("crates/a/Cargo.toml", "[package")]);
        assert_eq!(dependencies_follow_the_map(&broken).len(), 1);
    }
}
