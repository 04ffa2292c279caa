//! Where a crate that otherwise sees only K may name the kernels' crate.

use syn::visit::Visit;

use super::Violation;
use super::syntax::{self, Found};
use super::tree::Tree;

const KNOW_POINTS: [&str; 2] =
    ["crates/leverage/src/squeak/", "crates/leverage/src/spectral_density/"];

/// In `leverage`, only the methods that need points name `nystrom_kernels`.
pub fn kernels_stay_where_points_are(tree: &Tree) -> Vec<Violation> {
    let elsewhere = tree.library_sources().filter(|(path, _)| {
        path.starts_with("crates/leverage/")
            && !KNOW_POINTS.iter().any(|home| path.starts_with(home))
    });
    syntax::check(elsewhere, |_, file, found| Kernels(found).visit_file(file))
}

struct Kernels<'a>(&'a mut Found);

impl Kernels<'_> {
    fn at(&mut self, place: proc_macro2::Span) {
        let why = "`nystrom_kernels`: only squeak/ and spectral_density/ know points: everything \
                   else takes a `PsdMatrix`";
        self.0.push((place.start().line, why.to_owned()));
    }
}

impl<'ast> Visit<'ast> for Kernels<'_> {
    fn visit_ident(&mut self, ident: &'ast syn::Ident) {
        if ident == "nystrom_kernels" {
            self.at(ident.span());
        }
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if called.tokens.to_string().contains("nystrom_kernels") {
            self.at(syn::spanned::Spanned::span(called));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_where_only_matrices_are_known() {
        let text = "use nystrom_kernels::Points;\n\nfn f() { g!(nystrom_kernels::Gaussian) \
                    }\n#[cfg(test)]\nmod tests { use nystrom_kernels::Kernel; }";
        let paths = [
            "crates/leverage/src/exact.rs",
            "crates/leverage/src/squeak/mod.rs",
            "crates/krr/src/exact.rs",
        ];
        let found = kernels_stay_where_points_are(&Tree::of(&paths.map(|path| (path, text))));
        let places: Vec<_> =
            found.iter().map(|violation| (violation.path.as_str(), violation.line)).collect();
        assert_eq!(places, [(paths[0], 1), (paths[0], 3)]);
    }
}
