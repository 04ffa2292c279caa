//! Rules that need the syntax tree of a file: parse it, walk it, name the place.

use syn::visit::Visit;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::Violation;

/// A walk over a file that gathers what breaks a rule.
pub trait Syntax: for<'ast> Visit<'ast> {
    /// Lines, and what is wrong there.
    fn found(self) -> Vec<(usize, String)>;
}

/// Walks every source with a fresh visitor, made from what comes with the source. A file that does
/// not parse is a violation.
pub fn check<'a, C, V: Syntax>(
    sources: impl Iterator<Item = ((&'a str, &'a str), C)>,
    visitor: impl Fn(C) -> V,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for ((path, text), context) in sources {
        match syn::parse_file(text) {
            Ok(file) => {
                let mut visitor = visitor(context);
                visitor.visit_file(&file);
                violations.extend(
                    visitor
                        .found()
                        .into_iter()
                        .map(|(line, text)| Violation::new(path, line, text)),
                );
            }
            Err(error) => {
                violations.push(Violation::new(path, error.span().start().line, error.to_string()))
            }
        }
    }
    violations
}

/// Whether `#[cfg(test)]` is among the attributes.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg")
            && a.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// Whether the documentation has one of these headings.
pub fn has_section(attributes: &[Attribute], headings: &[&str]) -> bool {
    attributes
        .iter()
        .filter_map(doc)
        .any(|text| text.lines().any(|line| headings.contains(&line.trim())))
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
