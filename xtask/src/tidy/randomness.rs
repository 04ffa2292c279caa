//! Randomness is the last argument of what draws, is stored nowhere, and how it is drawn is
//! documented.

use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Pat, Signature, Type, TypeParamBound, Visibility};

use super::Violation;
use super::syntax::{self, Found};
use super::tree::Tree;

/// Every public function of the libraries that takes `rng` says how it draws.
pub fn randomness_is_documented(tree: &Tree) -> Vec<Violation> {
    syntax::check(tree.library_sources(), |_, file, found| Draws(found).visit_file(file))
}

/// A generator is `rng: &mut dyn Rng`, the last argument, and no field of a struct.
pub fn generators_are_arguments(tree: &Tree) -> Vec<Violation> {
    syntax::check(tree.library_sources(), |_, file, found| Generators(found).visit_file(file))
}

struct Draws<'a>(&'a mut Found);

impl Draws<'_> {
    fn check(&mut self, visibility: &Visibility, signature: &Signature, attributes: &[Attribute]) {
        let public = matches!(visibility, Visibility::Public(_));
        if public
            && takes_rng(signature)
            && !syntax::has_section(attributes, &["# Source", "# Randomness"])
        {
            let name = &signature.ident;
            let text = format!(
                "`{name}` draws: its docs need `# Source` (paper, algorithm) or `# Randomness` \
                 (what is drawn, how often)"
            );
            self.0.push((name.span().start().line, text));
        }
    }
}

impl<'ast> Visit<'ast> for Draws<'_> {
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

struct Generators<'a>(&'a mut Found);

impl<'ast> Visit<'ast> for Generators<'_> {
    fn visit_signature(&mut self, signature: &'ast Signature) {
        let name = &signature.ident;
        let mut wrong = |text| self.0.push((name.span().start().line, text));
        let last = signature.inputs.len().saturating_sub(1);
        for (i, argument) in signature.inputs.iter().enumerate() {
            let FnArg::Typed(typed) = argument else { continue };
            if names_a_generator(&typed.ty) && !(i == last && is_dyn_rng(&typed.ty)) {
                wrong(format!("`{name}`: a generator is the last argument, `rng: &mut dyn Rng`"));
            }
        }
        for parameter in signature.generics.type_params() {
            let drawn = |bound: &TypeParamBound| match bound {
                TypeParamBound::Trait(bound) => is_generator(&bound.path),
                _ => false,
            };
            if parameter.bounds.iter().any(drawn) {
                let remedy = "take `rng: &mut dyn Rng`, last";
                wrong(format!("`{name}` is generic over the generator: {remedy}"));
            }
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if names_a_generator(&field.ty) {
            let line = syn::spanned::Spanned::span(field).start().line;
            let text = "a generator is an argument and never stored: keep a key, `Streams`";
            self.0.push((line, text.into()));
        }
    }
}

fn is_generator(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        matches!(name.as_str(), "Rng" | "RngExt" | "RngCore" | "SeedableRng")
            || name.ends_with("Rng")
            || matches!(name.as_str(), "Pcg32" | "Pcg64" | "Pcg64Mcg")
    })
}

/// Whether the type is a generator, or holds one; the arguments of closures do not count.
fn names_a_generator(ty: &Type) -> bool {
    struct Search(bool);
    impl<'ast> Visit<'ast> for Search {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            self.0 |= is_generator(path);
            let is_closure = |segment: &syn::PathSegment| {
                matches!(segment.arguments, syn::PathArguments::Parenthesized(_))
            };
            if !path.segments.iter().any(is_closure) {
                visit::visit_path(self, path);
            }
        }
    }
    let mut search = Search(false);
    search.visit_type(ty);
    search.0
}

/// `&mut dyn Rng`, by any path.
fn is_dyn_rng(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::TraitObject(object) = &*reference.elem else { return false };
    let is_rng = |bound: &TypeParamBound| {
        matches!(bound, TypeParamBound::Trait(bound)
            if bound.path.segments.last().is_some_and(|s| s.ident == "Rng"))
    };
    reference.mutability.is_some() && object.bounds.len() == 1 && object.bounds.iter().all(is_rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the texts breaks the rule in just this line, or in none.
    fn check(rule: fn(&Tree) -> Vec<Violation>, line: Option<usize>, texts: &[&str]) {
        for text in texts {
            let found = rule(&Tree::of(&[("crates/a/src/lib.rs", text)]));
            let lines: Vec<usize> = found.into_iter().map(|violation| violation.line).collect();
            assert_eq!(lines, Vec::from_iter(line), "{text}");
        }
    }

    #[test]
    fn public_functions_that_draw_need_a_section() {
        let check = |line, texts| check(randomness_is_documented, line, texts);
        check(Some(2), &["/// Draws.\npub fn f(n: usize, rng: &mut dyn Rng) {}"]);
        check(Some(3), &["impl A {\n    /// Draws.\n    pub fn f(&self, rng: &mut dyn Rng) {}\n}"]);
        check(
            None,
            &[
                "/// Draws.\n///\n/// # Randomness\n/// One draw.\npub fn f(rng: &mut dyn Rng) {}",
                "/// Draws.\n///\n/// # Source\n/// Algorithm 1.\npub fn f(rng: &mut dyn Rng) {}",
            ],
        );
    }

    #[test]
    fn others_do_not() {
        check(
            randomness_is_documented,
            None,
            &[
                "fn f(rng: &mut dyn Rng) {}\npub(crate) fn g(rng: &mut dyn Rng) {}",
                "pub fn h(n: usize) {}",
                "impl Select for A { fn select(&self, rng: &mut dyn Rng) {} }",
                "#[cfg(test)]\nmod tests { pub fn f(rng: &mut dyn Rng) {} }",
            ],
        );
    }

    #[test]
    fn generators_elsewhere_than_last_are_found() {
        let check = |line, texts| check(generators_are_arguments, Some(line), texts);
        check(
            1,
            &[
                "fn f(rng: &mut dyn Rng, n: usize) {}",
                "fn f(n: usize, rng: &mut impl Rng) {}",
                "fn f<R: Rng + ?Sized>(n: usize, rng: &mut R) {}",
                "struct A<'a>(&'a mut dyn Rng);",
            ],
        );
        check(2, &["trait A {\n    fn f(&self, rng: &mut Pcg64) -> u8;\n}"]);
        check(3, &["struct A {\n    n: usize,\n    rng: Option<rand_pcg::Pcg64>,\n}"]);
    }

    #[test]
    fn generators_in_their_place_and_closures_that_take_one_are_fine() {
        check(
            generators_are_arguments,
            None,
            &[
                "fn f(n: usize, rng: &mut dyn rand::Rng) {}\nfn g(_: &mut dyn Rng) {}",
                "fn f(draw: impl Fn(&mut dyn Rng) -> u8, n: usize) {}",
                "fn h(seed: u64) -> Pcg64 { g() }",
                "#[cfg(test)]\nmod tests { struct A { rng: Pcg64 } }",
            ],
        );
    }
}
