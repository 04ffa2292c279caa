//! Rules that need the syntax tree of a file: parse it, leave its tests out, name the place.

use syn::{Attribute, Expr, ExprLit, File, Item, ItemMod, Lit, Meta};

use super::Violation;

/// Lines, and what is wrong there.
pub type Found = Vec<(usize, String)>;

/// What a rule finds in each of the sources, without their modules of tests. A file that does not
/// parse is a violation.
pub fn check<'a>(
    sources: impl Iterator<Item = (&'a str, &'a str)>,
    mut rule: impl FnMut(&'a str, &File, &mut Found),
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in sources {
        let mut found = Found::new();
        match syn::parse_file(text) {
            Ok(mut file) => {
                leave_out_tests(&mut file.items);
                rule(path, &file, &mut found);
            }
            Err(error) => found.push((error.span().start().line, error.to_string())),
        }
        violations.extend(found.into_iter().map(|(line, text)| Violation::new(path, line, text)));
    }
    violations
}

fn leave_out_tests(items: &mut Vec<Item>) {
    items.retain(|item| !matches!(item, Item::Mod(module) if is_test(&module.attrs)));
    for item in items {
        if let Item::Mod(ItemMod { content: Some((_, items)), .. }) = item {
            leave_out_tests(items);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_tests_are_left_out_and_what_does_not_parse_is_told() {
        let functions = |_: &str, file: &File, found: &mut Found| {
            let mut items: Vec<&Item> = file.items.iter().collect();
            while let Some(item) = items.pop() {
                match item {
                    Item::Fn(function) => found.push((1, function.sig.ident.to_string())),
                    Item::Mod(ItemMod { content: Some((_, inner)), .. }) => items.extend(inner),
                    _ => {}
                }
            }
        };
        let text = "mod a { fn kept() {} #[cfg(test)] mod tests { fn left_out() {} } }";
        let violations = check([("a.rs", text), ("b.rs", "fn (")].into_iter(), functions);
        assert_eq!(violations.len(), 2, "{violations:?}");
        assert_eq!(violations[0], Violation::new("a.rs", 1, "kept".to_owned()));
        assert!(violations[1] > violations[0]);
    }
}
