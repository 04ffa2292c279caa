//! A page: one file that needs no network and no script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The CSS of every page: light and dark colours, for screens of at least 360 pixels.
pub const STYLE: &str = include_str!("style.css");

/// A complete HTML page with this title, header and main part. `more` is CSS that is added to
/// [`STYLE`] on this page.
///
/// ```
/// use maud::html;
/// let page = nystrom_page::document("A < B", &html! { h1 { "A < B" } }, &html! { p { "…" } }, "");
/// assert!(page.contains("<title>A &lt; B</title>"));
/// ```
pub fn document(title: &str, header: &Markup, main: &Markup, more: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(more)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header { (header) }
                main id="main" tabindex="-1" { (main) }
            }
        }
    };
    page.into_string()
}
