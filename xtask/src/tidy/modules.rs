//! What needs what: crates as the map says, and no two modules each other.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::Found;
use super::tree::{Tree, code, line_at, whole};

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
    // these three with `workspace-hack`, which has no code: they share what it compiles
    ("nystrom-gpu", "linalg-core kernels krr pipeline cli workspace-hack"),
    ("nystrom-mpi", "nystrom pipeline cli workspace-hack"),
    ("nystrom-python", "nystrom data page pipeline gpu workspace-hack"),
    ("xtask", "nystrom data page"),
];

/// Every crate depends on ours as [`MAP`] allows, and is on the map.
pub fn dependencies_follow_the_map(tree: &Tree, found: &mut Found) {
    for (path, text) in tree.files("crates/", "/Cargo.toml").chain(tree.files("xtask/Cargo", "")) {
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let Some((name, allowed)) = MAP.iter().find(|(package, _)| Some(*package) == name) else {
            let remedy = "add it in xtask/src/tidy/modules.rs and docs/ARCHITECTURE.md";
            found.add(path, 0, format!("{name:?} is not on the map of crates: {remedy}"));
            continue;
        };
        let lines = text.lines().enumerate().skip_while(|(_, line)| *line != "[dependencies]");
        for (i, line) in lines.skip(1).take_while(|(_, line)| !line.starts_with('[')) {
            let dependency = line.split([' ', '.', '=']).next().unwrap_or(line);
            let ours = dependency.starts_with("nystrom") || dependency == "xtask";
            let short = dependency.trim_start_matches("nystrom-");
            if ours && !allowed.split(' ').any(|other| other == short) {
                let why = "the map of crates in docs/ARCHITECTURE.md points the other way";
                found.add(
                    path,
                    i + 1,
                    format!("`{name}` must not depend on `{dependency}`: {why}"),
                );
            }
        }
    }
}

/// For two modules of one parent the places where the first uses the second.
type Uses<'a> = BTreeMap<(String, String), BTreeSet<(&'a str, usize)>>;

/// No modules of one parent use each other in a circle. A parent and its children may.
pub fn modules_go_one_way(tree: &Tree, found: &mut Found) {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in tree.sources() {
        let home = path.split_once("/src/").map_or(path, |(home, _)| home);
        crates.entry(home).or_default().push((path, text));
    }
    for files in crates.values() {
        let uses = Crate::of(files).uses();
        for ((by, used), places) in uses.iter().filter(|((by, used), _)| leads(&uses, used, by)) {
            let remedy = "move what both sides need below both";
            let text = format!("`{by}` uses `{used}`, which needs `{by}` in turn: {remedy}");
            places.iter().for_each(|(file, line)| found.add(file, *line, &*text));
        }
    }
}

/// Whether uses lead from one module to another.
fn leads(uses: &Uses, from: &String, to: &String) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(module) = open.pop() {
        let used = uses.keys().filter(|(by, _)| by == module).map(|(_, used)| used);
        open.extend(used.filter(|used| seen.insert(used)));
    }
    seen.contains(to)
}

/// The modules of a crate, `crate::a::b` for `src/a/b.rs` and `src/a/b/mod.rs`, and the paths in
/// them.
#[derive(Default)]
struct Crate<'a> {
    modules: BTreeSet<String>,
    /// Names that a module imports or exports, with the paths behind them.
    imports: BTreeMap<String, String>,
    paths: Vec<Path<'a>>,
}

/// A path from the root of the crate, the module that names it, and where.
struct Path<'a> {
    path: String,
    by: String,
    place: (&'a str, usize),
}

impl<'a> Crate<'a> {
    fn of(files: &[(&'a str, &str)]) -> Self {
        let pattern =
            r"(?m)^ *(?:pub(?:\([^)]+\))? )?use ([^;]+);|\b(?:crate|self|super)(?:::\w+)+";
        let pattern = Regex::new(pattern).expect("it is valid");
        let modules = files.iter().map(|(file, _)| module(file)).collect();
        let mut this = Crate { modules, ..Crate::default() };
        for (file, text) in files {
            let (by, code) = (module(file), code(text));
            for named in pattern.captures_iter(&code) {
                let mut written = Vec::new();
                match named.get(1) {
                    Some(tree) => expand("", tree.as_str(), &mut written),
                    None => written.push((named[0].to_owned(), None)),
                }
                let place = (*file, line_at(&code, whole(&named).start()));
                for (path, name) in written {
                    let Some(path) = this.absolute(&by, &path) else { continue };
                    if let Some(name) = name {
                        this.imports.insert(format!("{by}::{name}"), path.clone());
                    }
                    this.paths.push(Path { path, by: by.clone(), place });
                }
            }
        }
        this
    }

    /// A path as it is written in a module; `None` if it leads to another crate.
    fn absolute(&self, by: &str, path: &str) -> Option<String> {
        let (mut home, mut rest) = (by, path.trim_start_matches("self::"));
        if let Some(path) = path.strip_prefix("crate::") {
            (home, rest) = ("crate", path);
        } else if rest == path && !path.starts_with("super::") {
            let child = format!("{by}::{}", path.split("::").next()?);
            self.modules.get(&child)?;
        }
        while let Some(path) = rest.strip_prefix("super::") {
            (home, rest) = (home.rsplit_once("::")?.0, path);
        }
        Some(format!("{home}::{rest}"))
    }

    /// The module that has what a path names, past at most so many imports.
    fn home<'b>(&'b self, path: &'b str, imports: usize) -> &'b str {
        let mut home = path;
        while let (false, Some((parent, _))) = (self.modules.contains(home), home.rsplit_once("::"))
        {
            home = parent;
        }
        let mut ends = path[home.len()..].match_indices("::").map(|(end, _)| home.len() + end);
        let name = &path[..ends.nth(1).unwrap_or(path.len())];
        match self.imports.get(name) {
            Some(further) if imports > 0 => self.home(further, imports - 1),
            _ => home,
        }
    }

    fn uses(&self) -> Uses<'a> {
        let mut uses = Uses::new();
        for Path { path, by, place } in &self.paths {
            let [by, used]: [Vec<&str>; 2] =
                [by, self.home(path, 16)].map(|m| m.split("::").collect());
            let common = by.iter().zip(&used).take_while(|(a, b)| a == b).count();
            if common < by.len().min(used.len()) {
                let pair = (by[..=common].join("::"), used[..=common].join("::"));
                uses.entry(pair).or_default().insert(*place);
            }
        }
        uses
    }
}

fn module(file: &str) -> String {
    let file = file.split_once("/src/").map_or(file, |(_, file)| file).trim_end_matches(".rs");
    let names = file.split('/').filter(|name| !matches!(*name, "lib" | "main" | "mod"));
    ["crate"].into_iter().chain(names).collect::<Vec<_>>().join("::")
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
