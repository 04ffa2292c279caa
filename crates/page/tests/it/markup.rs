//! Checks that HTML is well-formed and self-contained.

/// Elements without an end tag.
const VOID: [&str; 4] = ["meta", "br", "hr", "input"];

/// Asserts that elements are properly nested, attributes are quoted, captions and ids are right,
/// and nothing is loaded or run.
pub fn check(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a page");
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag that ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "the end of <{name}>");
        } else {
            assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
            if name == "style" {
                rest = &rest[rest.find("</style>").expect("its end")..];
            }
            if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    assert!(!rest.contains('>') || rest.trim().is_empty());
    let forbidden = ["<script", "<link", "<img", "src=", "@import", "url(", "http://", "https://"];
    for word in forbidden {
        assert!(!html.contains(word), "{word}");
    }
    assert_eq!(html.matches("<h1").count(), 1);
    assert_eq!(html.matches("<table").count(), html.matches("<caption").count());
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "an id twice: {ids:?}");
    for bad in ["NaN,", "inf,", "NaN\"", "inf\""] {
        assert!(!html.contains(bad), "{bad}: a drawing with no place");
    }
}
