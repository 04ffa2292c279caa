//! The tokens of a Rust file that are compiled into a library: no comments, no docs, nothing under `#[cfg(test)]`.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A token and the line it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// As written; `::` is two tokens.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
}

/// The tokens of a file; an error says where it does not lex.
pub fn library_tokens(text: &str) -> Result<Vec<Token>, (usize, String)> {
    let stream: TokenStream =
        text.parse().map_err(|e: proc_macro2::LexError| (e.span().start().line, e.to_string()))?;
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut i = 0;
    while i < trees.len() {
        if let Some((attribute, after)) = attribute(&trees, i) {
            let words = words(attribute);
            let is_test = words.first().is_some_and(|word| word == "cfg")
                && words.contains(&"test".into())
                && !words.contains(&"not".into());
            i = if is_test { end_of_item(&trees, after) } else { after };
            continue;
        }
        match &trees[i] {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    _ => ("(", ")"),
                };
                tokens.push(Token { text: open.into(), line: group.span_open().start().line });
                flatten(group.stream(), tokens);
                tokens.push(Token { text: close.into(), line: group.span_close().start().line });
            }
            other => tokens.push(Token { text: other.to_string(), line: other.span().start().line }),
        }
        i += 1;
    }
}

/// The brackets of an attribute that begins at `i`, and the place after it.
fn attribute(trees: &[TokenTree], i: usize) -> Option<(&Group, usize)> {
    let is = |at: usize, c: char| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
    let at = if is(i + 1, '!') { i + 2 } else { i + 1 };
    match trees.get(at) {
        Some(TokenTree::Group(group)) if is(i, '#') && group.delimiter() == Delimiter::Bracket => Some((group, at + 1)),
        _ => None,
    }
}

fn words(group: &Group) -> Vec<String> {
    let mut tokens = Vec::new();
    flatten(group.stream(), &mut tokens);
    tokens.into_iter().map(|token| token.text).collect()
}

/// The place after the item that begins at `i`: after its braces or its semicolon.
fn end_of_item(trees: &[TokenTree], mut i: usize) -> usize {
    while let Some((_, after)) = attribute(trees, i) {
        i = after;
    }
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    trees[i..].iter().position(ends).map_or(trees.len(), |at| i + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_docs_strings_and_tests_are_not_tokens() {
        let text = "
            //! println!
            /// SystemTime
            #[derive(Clone)]
            fn f() -> &'static str { \"dbg!\" } // dbg!
            /* thread_rng */
            #[cfg(test)]
            #[allow(unused)]
            mod tests { fn g() { println!(); } }
            #[cfg(all(test, unix))] use std::fs;
            #[cfg(not(test))] fn kept() {}
            fn h() {}";
        let tokens = library_tokens(text).unwrap();
        let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        for absent in ["println", "SystemTime", "dbg", "thread_rng", "std", "tests", "g"] {
            assert!(!words.contains(&absent), "{absent} in {words:?}");
        }
        assert!(words.contains(&"kept") && words.contains(&"h") && words.contains(&"\"dbg!\""));
        assert_eq!(tokens.iter().find(|token| token.text == "h").unwrap().line, 12);
    }

    #[test]
    fn what_does_not_lex_says_where() {
        assert_eq!(library_tokens("fn f() {\n  )\n}").unwrap_err().0, 2);
    }
}
