//! Modules beside each other do not need each other, directly or around: what two of them need lies
//! below both.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Ident, UseTree};

use super::Violation;
use super::syntax;
use super::tree::Tree;

/// No modules of one parent use each other in a circle. A parent and its children may.
pub fn modules_go_one_way(tree: &Tree) -> Vec<Violation> {
    let mut crates: BTreeMap<&str, Crate> = BTreeMap::new();
    let mut violations = syntax::check(tree.sources(), |path, parsed, _| {
        let Some((home, file)) = path.split_once("/src/") else { return };
        let here = module(file);
        let of_crate = crates.entry(home).or_default();
        of_crate.modules.entry(here.clone()).or_default();
        Reader { of_crate, file: path, here }.visit_file(parsed);
    });
    violations.extend(crates.values().flat_map(Crate::circles));
    violations
}

/// From the root of a crate down.
type Module = Vec<String>;
/// For two modules of one parent the places where the first uses the second.
type Uses = BTreeMap<(String, String), BTreeSet<(String, usize)>>;

fn module(file: &str) -> Module {
    let mut names: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

#[derive(Default)]
struct Crate {
    /// Each module with the names that it imports, and their paths.
    modules: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
    named: Vec<Named>,
}

/// A path as it stands in a file.
struct Named {
    by: Module,
    path: Vec<String>,
    file: String,
    line: usize,
}

impl Crate {
    /// The module of this crate that holds what a path names, past all imports.
    fn home(&self, by: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut rest = path.iter().peekable();
        let mut home = by.clone();
        match path.first()?.as_str() {
            "crate" => {
                rest.next();
                home.clear();
            }
            "self" | "super" => {
                while let Some(name) =
                    rest.next_if(|name| matches!(name.as_str(), "self" | "super"))
                {
                    if name == "super" {
                        home.pop()?;
                    }
                }
            }
            first => drop(self.child(by, first)?),
        }
        while let Some(child) = rest.peek().and_then(|name| self.child(&home, name)) {
            home = child;
            rest.next();
        }
        let imported = rest.peek().and_then(|name| self.modules.get(&home)?.get(*name));
        let further = imported.filter(|_| depth < 16);
        Some(further.and_then(|path| self.home(&home, path, depth + 1)).unwrap_or(home))
    }

    fn child(&self, parent: &Module, name: &str) -> Option<Module> {
        let child = [&parent[..], &[name.to_owned()]].concat();
        self.modules.contains_key(&child).then_some(child)
    }

    fn circles(&self) -> Vec<Violation> {
        let mut parents: BTreeMap<&[String], Uses> = BTreeMap::new();
        for Named { by, path, file, line } in &self.named {
            let Some(home) = self.home(by, path, 0) else { continue };
            let common = by.iter().zip(&home).take_while(|(a, b)| a == b).count();
            if let (Some(user), Some(used)) = (by.get(common), home.get(common)) {
                let uses = parents.entry(&by[..common]).or_default();
                let places = uses.entry((user.clone(), used.clone())).or_default();
                places.insert((file.clone(), *line));
            }
        }
        parents.values().flat_map(in_circles).collect()
    }
}

/// Uses from which a way leads back.
fn in_circles(uses: &Uses) -> Vec<Violation> {
    let mut found = Vec::new();
    for ((user, used), places) in uses {
        let Some(back) = way(uses, used, user) else { continue };
        let circle: Vec<String> =
            [user].into_iter().chain(back).map(|m| format!("`{m}`")).collect();
        let text = format!(
            "modules use each other in a circle, {}: move what both sides need below both",
            circle.join(" → ")
        );
        found.extend(places.iter().map(|(file, line)| Violation::new(file, *line, &*text)));
    }
    found
}

/// One of the shortest ways, with both its ends.
fn way<'a>(uses: &'a Uses, from: &'a String, to: &'a String) -> Option<Vec<&'a String>> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::from([from]);
    let mut i = 0;
    while let Some(way) = ways.get(i).cloned() {
        let end = *way.last()?;
        if end == to {
            return Some(way);
        }
        for (_, next) in uses.keys().filter(|(user, _)| user == end) {
            if seen.insert(next) {
                ways.push([&way[..], &[next]].concat());
            }
        }
        i += 1;
    }
    None
}

/// Gathers the modules, imports and paths of a file, tests excepted.
struct Reader<'a> {
    of_crate: &'a mut Crate,
    file: &'a str,
    here: Module,
}

impl Reader<'_> {
    fn name(&mut self, path: Vec<String>, line: usize) {
        let (by, file) = (self.here.clone(), self.file.to_owned());
        self.of_crate.named.push(Named { by, path, file, line });
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |ident: &Ident| [before, &[ident.to_string()]].concat();
        let (ident, called) = match tree {
            UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, before));
            }
            UseTree::Glob(_) => return, // of a parent or of another crate
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(name) => (&name.ident, &name.rename),
        };
        let path = if ident == "self" { before.to_vec() } else { with(ident) };
        let name = if called == "self" { before.last().cloned() } else { None };
        let imports = self.of_crate.modules.entry(self.here.clone()).or_default();
        imports.insert(name.unwrap_or_else(|| called.to_string()), path.clone());
        self.name(path, ident.span().start().line);
    }

    /// Paths from the root or a parent in what `syn` leaves as tokens.
    fn tokens(&mut self, tokens: &TokenStream, line: usize) {
        let text = tokens.to_string().replace(" ::", "::").replace(":: ", "::");
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            let mut path: Vec<String> = word.split("::").map(str::to_owned).collect();
            path.retain(|name| !name.is_empty());
            if path.len() > 1 && matches!(&*path[0], "crate" | "self" | "super") {
                self.name(path, line);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() {
            self.here.push(item.ident.to_string());
            self.of_crate.modules.entry(self.here.clone()).or_default();
            visit::visit_item_mod(self, item);
            self.here.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !syntax::is_test(&item.attrs) {
            self.import(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if names.len() > 1 {
            self.name(names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.tokens(&called.tokens, called.path.span().start().line);
    }

    /// Serde takes paths in attributes.
    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        self.tokens(&list.tokens, list.path.span().start().line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of each use in a circle, with the circle.
    fn found(files: &[(&str, &str)]) -> Vec<(String, usize, String)> {
        let circle = |text: &str| text[text.find('`').unwrap()..text.find(':').unwrap()].to_owned();
        let found = modules_go_one_way(&Tree::of(files)).into_iter();
        found.map(|v| (v.path, v.line, circle(&v.text).replace('`', ""))).collect()
    }

    #[test]
    fn modules_that_use_each_other_are_found_directly_and_around() {
        let [a, b, c] = ["a", "b", "c"].map(|name| format!("crates/x/src/{name}.rs"));
        let found = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
            (&a, "use std::fmt;\nuse crate::{b::{self, B}, d::D as E};"),
            (&b, "fn f() { g!(1, crate::c::C::<u8>::new()) }"),
            (&c, "struct C {\n    #[serde(with = \"super::a\")]\n    a: u8,\n}"),
            ("crates/x/src/d.rs", "struct D;"),
        ]);
        let circle = |way: &str| way.to_owned();
        let expected = [
            (a, 2, circle("a → b → c → a")),
            (b, 1, circle("b → c → a → b")),
            (c, 2, circle("c → a → b → c")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_is_where_it_is_defined_and_not_where_it_is_exported() {
        let root = ("xtask/src/main.rs", "mod a;\nmod b;\npub use b::Item;\nuse a::inner::Deep;");
        let a = ("xtask/src/a/mod.rs", "mod inner;\nfn f(item: crate::Item) {}");
        let b = ("xtask/src/b.rs", "fn f() -> super::Deep {}");
        let inner = ("xtask/src/a/inner.rs", "struct Deep;");
        let circle = |path: &str, line, way: &str| (path.to_owned(), line, way.to_owned());
        let both = [circle(a.0, 2, "a → b → a"), circle(b.0, 1, "b → a → b")];
        assert_eq!(found(&[root, a, b, inner]), both);
    }

    #[test]
    fn parents_children_tests_and_other_crates_are_fine() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;\nmod b;\nuse a::A;"),
            ("crates/x/src/a/mod.rs", "mod one;\nuse crate::b::B;\nuse one::One;"),
            ("crates/x/src/a/one.rs", "use super::A;\nuse crate::A as Same;"),
            ("crates/x/src/b.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }"),
            ("crates/x/tests/it/b.rs", "use crate::a::A;"),
            ("crates/y/src/b.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), []);
    }
}
