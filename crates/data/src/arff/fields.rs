//! Comma-separated ARFF fields with quotes and backslashes.

use std::borrow::Cow;

use crate::error::Problem;

/// One field without its quotes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field<'a> {
    pub text: Cow<'a, str>,
    /// A quoted `?` is text, a bare one means "missing".
    pub quoted: bool,
}

/// The fields of a row or of a list of nominal values.
pub(super) fn split_fields(line: &str) -> Result<Vec<Field<'_>>, Problem> {
    if !line.contains(['\'', '"']) {
        return Ok(line
            .split(',')
            .map(|text| Field { text: Cow::Borrowed(text.trim()), quoted: false })
            .collect());
    }
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        if let Some(quote @ ('\'' | '"')) = rest.chars().next() {
            let (text, after) = unquote(&rest[1..], quote).ok_or(Problem::UnclosedQuote)?;
            fields.push(Field { text: Cow::Owned(text), quoted: true });
            rest = after.trim_start();
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            fields.push(Field { text: Cow::Borrowed(rest[..end].trim()), quoted: false });
            rest = &rest[end..];
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(fields),
            // Text behind a closing quote: the quote did not end the field.
            None => return Err(Problem::UnclosedQuote),
        }
    }
}

/// The name and the type of an attribute; `None` if there is no name.
pub(super) fn split_name(text: &str) -> Option<(String, &str)> {
    let text = text.trim();
    match text.chars().next()? {
        quote @ ('\'' | '"') => unquote(&text[1..], quote).map(|(name, rest)| (name, rest.trim())),
        _ => {
            let end = text.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(text.len());
            (end > 0).then(|| (text[..end].to_owned(), text[end..].trim()))
        }
    }
}

/// The text up to the closing quote, and what follows it; `None` if the quote is not closed.
fn unquote(text: &str, quote: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => out.push(match chars.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            }),
            _ if c == quote => return Some((out, &text[i + 1..])),
            _ => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<(String, bool)> {
        split_fields(line)
            .unwrap()
            .into_iter()
            .map(|field| (field.text.into_owned(), field.quoted))
            .collect()
    }

    #[test]
    fn fields_with_and_without_quotes() {
        let plain = |text: &str| (text.to_owned(), false);
        let quoted = |text: &str| (text.to_owned(), true);
        assert_eq!(texts("1, a b ,?"), [plain("1"), plain("a b"), plain("?")]);
        assert_eq!(
            texts(r#"'a, b' , "it's", '\'', '?', x"#),
            [quoted("a, b"), quoted("it's"), quoted("'"), quoted("?"), plain("x")]
        );
        assert_eq!(texts("'',"), [quoted(""), plain("")]);
    }

    #[test]
    fn unclosed_quotes_are_refused() {
        for line in ["'a", "'a\\'", "'a'b, c", "\"a', b"] {
            assert_eq!(split_fields(line), Err(Problem::UnclosedQuote), "{line}");
        }
    }

    #[test]
    fn names() {
        assert_eq!(split_name("x real"), Some(("x".into(), "real")));
        assert_eq!(split_name("  'a b'\t{p,q}"), Some(("a b".into(), "{p,q}")));
        assert_eq!(split_name("x{p,q}"), Some(("x".into(), "{p,q}")));
        assert_eq!(split_name("x"), Some(("x".into(), "")));
        assert_eq!(split_name("  "), None);
        assert_eq!(split_name("{p}"), None);
    }
}
