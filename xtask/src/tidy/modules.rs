//! What needs what: crates as the map says, and no two modules each other.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::Violation;
use super::tree::{Tree, code, line_at};

/// A crate with those of ours that it may depend on, as drawn in docs/ARCHITECTURE.md. Development
/// dependencies are free.
const MAP: &[(&str, &str)] = &[
    ("nystrom-linalg-core", ""),
    ("nystrom-data", ""),
    ("nystrom-workspace-hack", ""),
    ("nystrom-kernels", "linalg-core"),
    ("nystrom-sketch", "linalg-core"),
    ("nystrom-dpp", "linalg-core sketch"),
    ("nystrom-leverage", "linalg-core kernels sketch"), // kernels for SQUEAK, spectral density
    ("nystrom-krr", "linalg-core kernels sketch leverage"),
    ("nystrom", "linalg-core kernels sketch dpp leverage krr"),
    ("nystrom-pipeline", "nystrom data"),
    ("nystrom-page", "pipeline"),
    ("nystrom-cli", "nystrom data pipeline page"),
    // these two with `workspace-hack`, which has no code: they share what it compiles
    ("nystrom-mpi", "nystrom pipeline cli workspace-hack"),
    ("nystrom-python", "nystrom data page pipeline workspace-hack"),
    ("xtask", "nystrom data page"),
];

/// Every crate depends on ours as [`MAP`] allows, and is on the map.
pub fn dependencies_follow_the_map(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.files("crates/", "/Cargo.toml").chain(tree.files("xtask/Cargo", "")) {
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let Some((name, allowed)) = MAP.iter().find(|(package, _)| Some(*package) == name) else {
            let remedy = "add it in xtask/src/tidy/modules.rs and docs/ARCHITECTURE.md";
            let text = format!("{name:?} is not on the map of crates: {remedy}");
            violations.push(Violation::new(path, 0, text));
            continue;
        };
        let lines = text.lines().enumerate().skip_while(|(_, line)| *line != "[dependencies]");
        for (i, line) in lines.skip(1).take_while(|(_, line)| !line.starts_with('[')) {
            let crate_name = line.split([' ', '.', '=']).next().unwrap_or(line);
            let ours = crate_name.starts_with("nystrom") || crate_name == "xtask";
            let short = crate_name.trim_start_matches("nystrom-");
            if ours && !allowed.split(' ').any(|other| other == short) {
                let why = "the map of crates in docs/ARCHITECTURE.md points the other way";
                let text = format!("`{name}` must not depend on `{crate_name}`: {why}");
                violations.push(Violation::new(path, i + 1, text));
            }
        }
    }
    violations
}

/// No modules of one parent use each other in a circle. A parent and its children may.
pub fn modules_go_one_way(tree: &Tree) -> Vec<Violation> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in tree.sources() {
        let home = path.split_once("/src/").map_or(path, |(home, _)| home);
        crates.entry(home).or_default().push((path, text));
    }
    crates.values().flat_map(|files| circles(files)).collect()
}

/// `crate::a::b` for `src/a/b.rs` and `src/a/b/mod.rs`.
fn module(path: &str) -> String {
    let file = path.split_once("/src/").map_or(path, |(_, file)| file).trim_end_matches(".rs");
    let names = file.split('/').filter(|name| !matches!(*name, "lib" | "main" | "mod"));
    ["crate"].into_iter().chain(names).collect::<Vec<_>>().join("::")
}

/// For two modules of one parent the places where the first uses the second.
type Uses<'a> = BTreeMap<(String, String), BTreeSet<(&'a str, usize)>>;

pub fn uses<'a>(files: &[(&'a str, &str)]) -> Uses<'a> {
    let (paths, mut uses) = (Paths::of(files), Uses::new());
    for Named { by, path, file, line } in &paths.named {
        let used = paths.home(path);
        let (by, used): (Vec<&str>, Vec<&str>) =
            (by.split("::").collect(), used.split("::").collect());
        let common = by.iter().zip(&used).take_while(|(a, b)| a == b).count();
        if common < by.len().min(used.len()) {
            let [by, used] = [by, used].map(|names| names[..=common].join("::"));
            uses.entry((by, used)).or_default().insert((file, *line));
        }
    }
    uses
}

/// The uses from which a way leads back.
fn circles(files: &[(&str, &str)]) -> Vec<Violation> {
    let uses = uses(files);
    let mut violations = Vec::new();
    for ((by, used), places) in uses.iter().filter(|((by, used), _)| leads(&uses, used, by)) {
        let remedy = "move what both sides need below both";
        let text = format!("`{by}` uses `{used}`, which needs `{by}` in turn: {remedy}");
        violations.extend(places.iter().map(|(file, line)| Violation::new(file, *line, &*text)));
    }
    violations
}

/// Whether there is a way from one module to another.
fn leads(uses: &Uses, from: &String, to: &String) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(module) = open.pop() {
        let used = uses.keys().filter(|(by, _)| by == module).map(|(_, used)| used);
        open.extend(used.filter(|used| seen.insert(used)));
    }
    seen.contains(to)
}

/// The paths of a crate from its root, a parent or a child on.
#[derive(Default)]
struct Paths<'a> {
    modules: BTreeSet<String>,
    /// Names that a module imports or exports, with the paths behind them.
    imports: BTreeMap<String, String>,
    named: Vec<Named<'a>>,
}

/// A path from the root of the crate, and where it is written.
struct Named<'a> {
    by: String,
    path: String,
    file: &'a str,
    line: usize,
}

impl<'a> Paths<'a> {
    fn of(files: &[(&'a str, &str)]) -> Self {
        let pattern =
            r"(?m)^ *(?:pub(?:\([^)]+\))? )?use ([^;]+);|\b(?:crate|self|super)(?:::\w+)+";
        let pattern = Regex::new(pattern).expect("it is valid");
        let modules = files.iter().map(|(path, _)| module(path)).collect();
        let mut paths = Paths { modules, ..Paths::default() };
        for (file, text) in files {
            let (by, code) = (module(file), code(text));
            for found in pattern.captures_iter(&code) {
                let mut written = Vec::new();
                match found.get(1) {
                    Some(tree) => expand("", tree.as_str(), &mut written),
                    None => written.push((found[0].to_owned(), None)),
                }
                let line = line_at(&code, found.get_match().start());
                for (path, name) in written {
                    let Some(path) = paths.from_root(&by, &path) else { continue };
                    if let Some(name) = name {
                        paths.imports.insert(format!("{by}::{name}"), path.clone());
                    }
                    paths.named.push(Named { by: by.clone(), path, file, line });
                }
            }
        }
        paths
    }

    /// A path as it is written in a module; `None` if it leads to another crate.
    fn from_root(&self, by: &str, path: &str) -> Option<String> {
        let (mut home, mut rest) = (by, path);
        if let Some(path) = path.strip_prefix("crate::") {
            (home, rest) = ("crate", path);
        } else if let Some(path) = path.strip_prefix("self::") {
            rest = path;
        } else if !path.starts_with("super::") {
            let child = format!("{by}::{}", path.split("::").next()?);
            self.modules.get(&child)?;
        }
        while let Some(path) = rest.strip_prefix("super::") {
            (home, rest) = (home.rsplit_once("::")?.0, path);
        }
        Some(format!("{home}::{rest}"))
    }

    /// The module that has what a path from the root names, past all imports.
    fn home(&self, path: &str) -> String {
        let (mut home, mut path) = (String::new(), path);
        for _ in 0..16 {
            let ends = path.match_indices("::").map(|(end, _)| end).chain([path.len()]);
            let ends: Vec<usize> = ends.collect();
            let inside = ends.iter().rposition(|&end| self.modules.contains(&path[..end]));
            let Some(inside) = inside else { break };
            home = path[..ends[inside]].to_owned();
            let name = ends.get(inside + 1).map(|&end| &path[..end]);
            match name.and_then(|name| self.imports.get(name)) {
                Some(further) => path = further,
                None => break,
            }
        }
        home
    }
}

/// The paths of `a::{b, c::{self, d as e}}` with the names that they have afterwards.
fn expand(before: &str, tree: &str, found: &mut Vec<(String, Option<String>)>) {
    let tree = tree.trim();
    if let Some((path, group)) = tree.split_once('{') {
        let mut depth = 0;
        let between = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        };
        let group = group.strip_suffix('}').unwrap_or(group);
        group.split(between).for_each(|tree| expand(&format!("{before}{path}"), tree, found));
    } else if !tree.is_empty() && !tree.ends_with('*') {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path = format!("{before}{path}");
        let path = path.trim_end_matches("::self");
        let name = if name.is_empty() { path.rsplit("::").next() } else { Some(name) };
        found.push((path.to_owned(), name.map(str::to_owned)));
    }
}
