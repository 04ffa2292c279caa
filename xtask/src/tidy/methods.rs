//! A method says what it costs and where it comes from.

use std::collections::BTreeMap;

use syn::visit::Visit;
use syn::{ItemImpl, ItemStruct, Type, Visibility};

use super::Violation;
use super::syntax;
use super::tree::Tree;

/// The traits whose implementations are methods of the literature.
const STAGES: [&str; 2] = ["LandmarkSelector", "RidgeLeverage"];

/// Every public type that selects landmarks, estimates scores or is a regression (`…Krr`) has `#
/// Cost`; the first two also `# Source`.
pub fn methods_have_cost_and_source(tree: &Tree) -> Vec<Violation> {
    let mut types = Types::default();
    let mut violations = syntax::check(tree.library_sources(), |path, file, _| {
        types.path = path.to_owned();
        types.visit_file(file);
    });
    violations.extend(types.lacking());
    violations
}

/// The public structs of the libraries, and which of them implement a stage.
#[derive(Default)]
struct Types {
    path: String,
    structs: BTreeMap<String, Struct>,
    stages: Vec<String>,
}

struct Struct {
    path: String,
    line: usize,
    cost: bool,
    source: bool,
}

impl Types {
    fn lacking(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (name, found) in &self.structs {
            let stage = self.stages.contains(name);
            let lacks = |needed: bool, has: bool, heading: &str, what: &str| {
                let text = format!("`{name}` is a method: its docs need `{heading}` ({what})");
                (needed && !has).then(|| Violation::new(&found.path, found.line, text))
            };
            let cost = "entries of K, flops, memory";
            violations.extend(lacks(stage || name.ends_with("Krr"), found.cost, "# Cost", cost));
            violations.extend(lacks(stage, found.source, "# Source", "paper, algorithm"));
        }
        violations
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        if matches!(item.vis, Visibility::Public(_)) {
            let has = |heading| syntax::has_section(&item.attrs, &[heading]);
            let found = Struct {
                path: self.path.clone(),
                line: item.ident.span().start().line,
                cost: has("# Cost"),
                source: has("# Source"),
            };
            self.structs.insert(item.ident.to_string(), found);
        }
    }

    /// References and boxes implement the traits too; they are no path with a name of ours.
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let Some((path, _)) = &item.trait_ else { return };
        let is_stage =
            path.segments.last().is_some_and(|last| STAGES.iter().any(|stage| last.ident == stage));
        if let Type::Path(ty) = &*item.self_ty
            && is_stage
            && let Some(last) = ty.path.segments.last()
        {
            self.stages.push(last.ident.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking(text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", text),
            ("xtask/src/main.rs", "pub struct XtaskKrr;"),
        ]);
        methods_have_cost_and_source(&tree).into_iter().map(|violation| violation.text).collect()
    }

    #[test]
    fn methods_without_cost_or_source_are_found() {
        let bare = "/// Picks.\npub struct A;\nimpl<T: Scalar> LandmarkSelector<T> for A {}";
        let found = lacking(bare);
        assert!(
            found.len() == 2 && found[0].contains("`# Cost`") && found[1].contains("`# Source`"),
            "{found:?}"
        );
        let costed = "/// Scores.\n///\n/// # Cost\n/// 1\npub struct A<T>(T);\nimpl \
                      RidgeLeverage<f64> for A<f64> {}";
        assert!(lacking(costed)[0].contains("`# Source`"));
        assert!(lacking("/// Fits.\npub struct NewKrr;")[0].contains("`# Cost`"));
    }

    #[test]
    fn documented_methods_private_ones_and_pointers_are_fine() {
        let whole = "/// Picks.\n///\n/// # Cost\n/// 1\n///\n/// # Source\n/// A.\npub struct \
                     A;\nimpl LandmarkSelector<f64> for A {}\n\
                     impl<S> LandmarkSelector<f64> for &S {}\nimpl<S> LandmarkSelector<f64> for \
                     Box<S> {}\nstruct B;\nimpl RidgeLeverage<f64> for B {}";
        assert_eq!(lacking(whole), [""; 0]);
    }
}
