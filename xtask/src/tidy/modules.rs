//! What needs what: crates as the map says, and no two modules each other.

use std::collections::{BTreeMap, BTreeSet};

use super::Found;
use super::documents::MAP;
use super::tree::{Tree, code, find};

/// Every crate is on the map of docs/ARCHITECTURE.md, `krr -> linalg-core kernels`, and depends on
/// ours as the map allows. Development dependencies are free.
pub fn dependencies_follow_the_map(tree: &Tree, found: &mut Found) {
    let map = find(tree.text(MAP).unwrap_or_default(), r"(?m)^([\w-]+) -> (.*)$");
    let map: BTreeMap<&str, &str> =
        map.iter().map(|(_, line)| line.extract::<2>().1.into()).collect();
    for (path, text) in tree.files("crates/", "/Cargo.toml").chain(tree.files("xtask/Cargo", "")) {
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let name = name.unwrap_or_default().trim_start_matches("nystrom-");
        let Some(allowed) = map.get(name) else {
            found.add(path, 0, format!("`{name}` is not on the map of crates: add it in {MAP}"));
            continue;
        };
        let lines = text.lines().enumerate().skip_while(|(_, line)| *line != "[dependencies]");
        for (i, line) in lines.skip(1).take_while(|(_, line)| !line.starts_with('[')) {
            let dependency = line.split([' ', '.', '=']).next().unwrap_or(line);
            let ours = dependency.starts_with("nystrom") || dependency == "xtask";
            let short = dependency.trim_start_matches("nystrom-");
            if ours && !allowed.split(' ').any(|other| other == short) {
                let text = format!("`{name}` must not depend on `{dependency}`");
                found.add(path, i + 1, format!("{text}: the map of crates in {MAP} forbids it"));
            }
        }
    }
}

/// For two modules of one parent the places where the first uses the second.
type Uses<'a> = BTreeMap<(String, String), BTreeSet<(&'a str, usize)>>;

/// No modules of one parent use each other in a circle. A parent and its children may.
pub fn modules_go_one_way(tree: &Tree, found: &mut Found) {
    let sources: Vec<(&str, &str)> = tree.sources().collect();
    let home = |path: &str| path.find("/src/").map(|end| path[..end].to_owned());
    for files in sources.chunk_by(|(file, _), (next, _)| home(file) == home(next)) {
        let uses = uses(files);
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

/// What the modules of a crate use. A path that a module names is followed through the imports and
/// exports of the modules on its way.
fn uses<'a>(files: &[(&'a str, &str)]) -> Uses<'a> {
    let pattern = r"(?m)^ *(?:pub(?:\([^)]+\))? )?use ([^;]+);|\b(?:crate|self|super)(?:::\w+)+";
    let modules: BTreeSet<String> = files.iter().map(|(file, _)| module(file)).collect();
    let (mut imports, mut named) = (BTreeMap::new(), Vec::new());
    for &(file, text) in files {
        let by = module(file);
        for (line, path) in find(&code(text), pattern) {
            let mut written = Vec::new();
            match path.get(1) {
                Some(tree) => expand("", tree.as_str(), &mut written),
                None => written.push((path[0].to_owned(), None)),
            }
            for (path, name) in written {
                let Some(path) = absolute(&modules, &by, &path) else { continue };
                imports.extend(name.map(|name| (format!("{by}::{name}"), path.clone())));
                named.push((path, by.clone(), (file, line)));
            }
        }
    }
    let mut uses = Uses::new();
    for (path, by, place) in &named {
        let used = owner(&modules, &imports, path, 16);
        let [by, used]: [Vec<&str>; 2] = [by, used].map(|module| module.split("::").collect());
        let common = by.iter().zip(&used).take_while(|(a, b)| a == b).count();
        if common < by.len().min(used.len()) {
            let pair = (by[..=common].join("::"), used[..=common].join("::"));
            uses.entry(pair).or_default().insert(*place);
        }
    }
    uses
}

/// A path as it is written in a module, from the root of the crate; `None` if it leads to another
/// crate.
fn absolute(modules: &BTreeSet<String>, by: &str, path: &str) -> Option<String> {
    let (mut home, mut rest) = (by, path.trim_start_matches("self::"));
    if let Some(path) = path.strip_prefix("crate::") {
        (home, rest) = ("crate", path);
    } else if rest == path && !path.starts_with("super::") {
        modules.get(&format!("{by}::{}", path.split("::").next()?))?;
    }
    while let Some(path) = rest.strip_prefix("super::") {
        (home, rest) = (home.rsplit_once("::")?.0, path);
    }
    Some(format!("{home}::{rest}"))
}

/// The module that has what a path names, past at most so many imports.
fn owner<'a>(
    modules: &BTreeSet<String>,
    imports: &'a BTreeMap<String, String>,
    path: &'a str,
    most: usize,
) -> &'a str {
    let mut home = path;
    while let (false, Some((parent, _))) = (modules.contains(home), home.rsplit_once("::")) {
        home = parent;
    }
    let mut ends = path[home.len()..].match_indices("::").map(|(end, _)| home.len() + end);
    let name = &path[..ends.nth(1).unwrap_or(path.len())];
    match imports.get(name) {
        Some(further) if most > 0 => owner(modules, imports, further, most - 1),
        _ => home,
    }
}

/// The module of a file: `crate::a::b` for `src/a/b.rs` and `src/a/b/mod.rs`.
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
