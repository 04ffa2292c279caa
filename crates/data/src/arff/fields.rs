//! Splitting ARFF rows into fields, with quotes, backslashes and comments.

use std::borrow::Cow;

use crate::error::Problem;

/// One field without its quotes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field<'a> {
    pub text: Cow<'a, str>,
    /// Whether it was quoted: a quoted `?` is text, a bare one means "missing".
    pub quoted: bool,
}

/// The fields of a dense row of `width` cells, separated by commas, or by blanks and tabs in a row
/// without commas. A comma may follow the last field.
pub(super) fn row_fields(line: &str, width: usize) -> Result<Vec<Field<'_>>, Problem> {
    let mut fields = split_fields(line);
    if let Ok(fields) = &mut fields
        && fields.len() == width + 1
        && fields[width].text.is_empty()
    {
        fields.pop_if(|last| !last.quoted);
    }
    if width == 1 || fields.as_ref().is_ok_and(|fields| fields.len() > 1) {
        return fields;
    }
    split_words(line).ok().filter(|words| words.len() == width).map_or(fields, Ok)
}

/// The values of a nominal attribute, from the text between its braces. They are separated by
/// commas, or by blanks and tabs if there is no comma.
pub(super) fn list_fields(list: &str) -> Result<Vec<Field<'_>>, Problem> {
    match split_fields(list) {
        Ok(fields) if fields.len() > 1 => Ok(fields),
        _ => split_words(list),
    }
}

/// The fields between commas.
fn split_fields(line: &str) -> Result<Vec<Field<'_>>, Problem> {
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
            // Text after a closing quote: the quote did not end the field.
            None => return Err(Problem::UnclosedQuote),
        }
    }
}

/// The fields between any run of commas, blanks and tabs, as Weka reads them.
pub(super) fn split_words(line: &str) -> Result<Vec<Field<'_>>, Problem> {
    let is_separator = |c: char| c == ',' || c.is_whitespace();
    let mut fields = Vec::new();
    let mut rest = line.trim_start_matches(is_separator);
    while let Some(first) = rest.chars().next() {
        if let quote @ ('\'' | '"') = first {
            let (text, after) = unquote(&rest[1..], quote).ok_or(Problem::UnclosedQuote)?;
            fields.push(Field { text: Cow::Owned(text), quoted: true });
            rest = after;
        } else {
            let end = rest.find(is_separator).unwrap_or(rest.len());
            fields.push(Field { text: Cow::Borrowed(&rest[..end]), quoted: false });
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(is_separator);
    }
    Ok(fields)
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

/// The line without its comment. A comment starts with a `%` outside quotes, at the start of the
/// line or after a blank or comma.
pub(super) fn without_comment(line: &str) -> &str {
    if !line.contains('%') {
        return line;
    }
    let end = find_unquoted(line, |before, c| c == '%' && is_boundary(before));
    &line[..end.unwrap_or(line.len())]
}

/// The text before the first `}` outside quotes; `None` if there is none.
pub(super) fn up_to_brace(text: &str) -> Option<&str> {
    find_unquoted(text, |_, c| c == '}').map(|end| &text[..end])
}

/// The weight of a row: a number in braces at its end, after a cell. `None` if the row has none.
pub(super) fn weight(row: &str) -> Option<&str> {
    let (before, weight) = row.strip_suffix('}')?.rsplit_once('{')?;
    let apart = before.ends_with(|c: char| is_boundary(c) || "}'\"".contains(c));
    (apart && weight.trim().parse::<f64>().is_ok()).then_some(weight)
}

/// Whether a field may start after this character.
fn is_boundary(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// The first place outside quotes where `is_wanted` holds for a character and the one before it.
fn find_unquoted(text: &str, is_wanted: impl Fn(char, char) -> bool) -> Option<usize> {
    let (mut quote, mut before) = (None, ' ');
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match quote {
            Some(_) if c == '\\' => drop(chars.next()),
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if is_wanted(before, c) => return Some(i),
            None if (c == '\'' || c == '"') && (is_boundary(before) || before == '{') => {
                quote = Some(c);
            }
            None => {}
        }
        before = c;
    }
    None
}

/// The text up to the closing quote, and the rest after the quote; `None` if the quote is not
/// closed.
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
    fn blanks_separate_where_there_is_no_comma() {
        let row = |line: &'static str, width| {
            let fields = row_fields(line, width).unwrap().into_iter();
            fields.map(|field| field.text.into_owned()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(row("1\t2  'a b'", 3), "1|2|a b");
        assert_eq!(row("a b", 1), "a b");
        assert_eq!(row("a b,c", 2), "a b|c");
        assert_eq!(row("a b,c", 3), "a b|c"); // one cell is missing
        assert_eq!(row("1,2,", 2), "1|2");
        assert_eq!(row("1,", 2), "1|");
        assert_eq!(row("1,''", 1), "1|");
        assert_eq!(list_fields("a b 'c d'").unwrap().len(), 3);
        assert_eq!(list_fields("a b, c").unwrap().len(), 2);
    }

    #[test]
    fn comments_braces_and_weights() {
        assert_eq!(without_comment("1, 'a % b', 5% % c, %"), "1, 'a % b', 5% ");
        assert_eq!(without_comment("% all"), "");
        assert_eq!(without_comment("it's, 2 % c"), "it's, 2 ");
        assert_eq!(up_to_brace("a, '}' , b} {5} % }"), Some("a, '}' , b"));
        assert_eq!(up_to_brace("a, b"), None);
        let weighed = ["1,2,{5}", "1,2 { 0.5 }", "{0 1}, {2}", "{0 1}{2}", "'a'{1}"];
        assert!(weighed.iter().all(|row| weight(row).is_some()));
        let others = ["{5}", "{0 1}", "1,'{5}'", "a{5}", "1, {x}"];
        assert!(others.iter().all(|row| weight(row).is_none()));
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
