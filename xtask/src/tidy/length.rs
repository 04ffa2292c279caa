//! Files and functions are short enough to be read at a sitting.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Violation;
use super::syntax::{self, Syntax};
use super::tree::Tree;

const MOST_LINES: usize = 400;
/// Of a function in a library crate, signature and closing brace included.
const LIBRARY: usize = 45;
/// Of a function in the tools, whose experiments lay out a table or a list of claims in one go.
const TOOLS: usize = 80;

/// No Rust file is longer than 400 lines.
pub fn files_are_short(tree: &Tree) -> Vec<Violation> {
    let long = tree.rust().map(|(path, text)| (path, text.lines().count())).filter(|&(_, lines)| lines > MOST_LINES);
    long.map(|(path, lines)| {
        let text = format!("{lines} lines, more than {MOST_LINES}: one idea per file, split it");
        Violation::new(path, MOST_LINES + 1, text)
    })
    .collect()
}

/// No function outside tests is longer than 45 lines in a library, 80 in the tools.
pub fn functions_are_short(tree: &Tree) -> Vec<Violation> {
    let libraries = tree.library_sources().map(|source| (source, LIBRARY));
    let tools = tree.tool_sources().map(|source| (source, TOOLS));
    syntax::check(libraries.chain(tools), |most| Functions { most, long: Vec::new() })
}

struct Functions {
    most: usize,
    /// Line and what is wrong.
    long: Vec<(usize, String)>,
}

impl Functions {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (first, last) = (signature.span().start().line, block.span().end().line);
        let lines = last + 1 - first;
        if lines > self.most {
            let (name, most) = (&signature.ident, self.most);
            self.long.push((first, format!("`{name}` has {lines} lines, more than {most}: name its parts")));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !syntax::is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.measure(&method.sig, &method.block);
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        if let Some(block) = &method.default {
            self.measure(&method.sig, block);
        }
        visit::visit_trait_item_fn(self, method);
    }
}

impl Syntax for Functions {
    fn found(self) -> Vec<(usize, String)> {
        self.long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_hundred_lines_are_fine_and_one_more_is_not() {
        let (fine, long) = ("\n".repeat(400), "\n".repeat(401));
        let tree = Tree::of(&[("a.rs", &fine), ("b.rs", &long), ("c.md", &long)]);
        let violations = files_are_short(&tree);
        assert_eq!(violations.len(), 1);
        assert_eq!((violations[0].path.as_str(), violations[0].line), ("b.rs", 401));
    }

    /// A function of so many lines, its second line the signature.
    fn function(lines: usize) -> String {
        format!("/// Long.\nfn f() {{\n{}}}", "    g();\n".repeat(lines - 2))
    }

    #[test]
    fn long_functions_are_found_with_their_line() {
        for (path, most) in [("crates/a/src/lib.rs", LIBRARY), ("xtask/src/experiments/a.rs", TOOLS)] {
            assert_eq!(functions_are_short(&Tree::of(&[(path, &function(most))])), []);
            let violations = functions_are_short(&Tree::of(&[(path, &function(most + 1))]));
            assert_eq!(violations.len(), 1, "{path}");
            assert_eq!((violations[0].line, violations[0].path.as_str()), (2, path));
        }
    }

    #[test]
    fn methods_count_and_tests_do_not() {
        let long = function(LIBRARY + 1);
        let lengths = |text: &str| functions_are_short(&Tree::of(&[("crates/a/src/lib.rs", text)])).len();
        assert_eq!(lengths(&format!("impl A {{ {long} }}")), 1);
        assert_eq!(lengths(&format!("trait A {{ {long} }}")), 1);
        assert_eq!(lengths(&format!("#[cfg(test)]\nmod tests {{ {long} }}")), 0);
    }
}
