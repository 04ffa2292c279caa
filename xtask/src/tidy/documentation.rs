//! What documentation must be there.

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, FnArg, Lit, Meta, Pat, Signature, Visibility};

use super::Violation;
use super::tree::Tree;
use crate::{experiments, listing};

/// Every crate's `lib.rs` begins with a front page; with a program on it, if the crate exports anything.
pub fn front_pages(tree: &Tree) -> Vec<Violation> {
    let roots = tree.rust().filter(|(path, _)| path.starts_with("crates/") && path.ends_with("/src/lib.rs"));
    roots.filter_map(|(path, text)| Some(Violation::new(path, 1, front_page_lacks(text)?))).collect()
}

fn front_page_lacks(text: &str) -> Option<&'static str> {
    let page: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let exports = text.lines().any(|line| line.starts_with("pub "));
    if page.is_empty() {
        Some("no front page: begin with `//!`, the equation the crate computes and the types that matter")
    } else if exports && !page.iter().any(|line| line.contains("```")) {
        Some("the front page shows no program: add one that a user would copy")
    } else {
        None
    }
}

/// Every public function of the libraries that takes `rng` says where its law comes from.
pub fn randomness_is_documented(tree: &Tree) -> Vec<Violation> {
    tree.library_sources().flat_map(|(path, text)| undocumented_draws(path, text)).collect()
}

fn undocumented_draws(path: &str, text: &str) -> Vec<Violation> {
    match syn::parse_file(text) {
        Ok(file) => {
            let mut visitor = Draws { path, violations: Vec::new() };
            visitor.visit_file(&file);
            visitor.violations
        }
        Err(error) => vec![Violation::new(path, error.span().start().line, error.to_string())],
    }
}

struct Draws<'a> {
    path: &'a str,
    violations: Vec<Violation>,
}

impl Draws<'_> {
    fn check(&mut self, visibility: &Visibility, signature: &Signature, attributes: &[Attribute]) {
        let public = matches!(visibility, Visibility::Public(_));
        if public && takes_rng(signature) && !has_section(attributes) {
            let name = &signature.ident;
            let text = format!(
                "`{name}` draws: its docs need `# Source` (paper, algorithm) or `# Randomness` (what is drawn, how often)"
            );
            self.violations.push(Violation::new(self.path, name.span().start().line, text));
        }
    }
}

impl<'ast> Visit<'ast> for Draws<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = module
            .attrs
            .iter()
            .any(|a| a.path().is_ident("cfg") && a.parse_args::<syn::Path>().is_ok_and(|p| p.is_ident("test")));
        if !is_test {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.check(&function.vis, &function.sig, &function.attrs);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.check(&method.vis, &method.sig, &method.attrs);
    }
}

fn takes_rng(signature: &Signature) -> bool {
    signature.inputs.iter().any(|argument| match argument {
        FnArg::Typed(typed) => matches!(&*typed.pat, Pat::Ident(pat) if pat.ident == "rng"),
        _ => false,
    })
}

fn has_section(attributes: &[Attribute]) -> bool {
    let is_section = |line: &str| matches!(line.trim(), "# Source" | "# Randomness");
    attributes.iter().filter_map(doc).any(|text| text.lines().any(is_section))
}

fn doc(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// docs/EXPERIMENTS.md is what `cargo xtask docs` would write.
pub fn experiments_are_listed(tree: &Tree) -> Vec<Violation> {
    let fresh = tree.text(listing::DOC_PATH) == Some(listing::markdown(experiments::ALL).as_str());
    if fresh { Vec::new() } else { vec![Violation::new(listing::DOC_PATH, 0, "out of date: run `cargo xtask docs`")] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_page_is_asked_for() {
        let lacks = |text| front_page_lacks(text).map(|why| why.split(':').next().unwrap());
        assert_eq!(lacks("mod a;"), Some("no front page"));
        assert_eq!(lacks("//! A crate.\npub mod a;"), Some("the front page shows no program"));
        assert_eq!(lacks("//! A crate that is still empty."), None);
        assert_eq!(lacks("//! A crate.\n//! ```\n//! f();\n//! ```\npub mod a;"), None);
    }

    const NONE: [usize; 0] = [];

    fn lines(text: &str) -> Vec<usize> {
        let tree = Tree::of(&[("crates/a/src/lib.rs", text)]);
        randomness_is_documented(&tree).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn public_functions_that_draw_need_a_section() {
        assert_eq!(lines("/// Draws.\npub fn f(n: usize, rng: &mut dyn Rng) {}"), [2]);
        assert_eq!(lines("impl A {\n    /// Draws.\n    pub fn f(&self, rng: &mut dyn Rng) {}\n}"), [3]);
        assert_eq!(lines("/// Draws.\n///\n/// # Randomness\n/// One draw.\npub fn f(rng: &mut dyn Rng) {}"), NONE);
        assert_eq!(lines("/// Draws.\n///\n/// # Source\n/// Algorithm 1.\npub fn f(rng: &mut dyn Rng) {}"), NONE);
    }

    #[test]
    fn others_do_not() {
        assert_eq!(
            lines("fn f(rng: &mut dyn Rng) {}\npub(crate) fn g(rng: &mut dyn Rng) {}\npub fn h(n: usize) {}"),
            NONE
        );
        assert_eq!(lines("impl Select for A { fn select(&self, rng: &mut dyn Rng) {} }"), NONE);
        assert_eq!(lines("#[cfg(test)]\nmod tests { pub fn f(rng: &mut dyn Rng) {} }"), NONE);
    }

    #[test]
    fn the_list_of_experiments_must_be_fresh() {
        assert_eq!(experiments_are_listed(&Tree::of(&[(listing::DOC_PATH, "old")])).len(), 1);
        assert_eq!(experiments_are_listed(&Tree::default()).len(), 1);
        assert_eq!(experiments_are_listed(&Tree::of(&[(listing::DOC_PATH, &listing::markdown(experiments::ALL))])), []);
    }
}
