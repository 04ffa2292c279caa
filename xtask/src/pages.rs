//! The pages of the experiments, `docs/experiments/<name>.md`: the first paragraph is what the
//! paper says, the others are the notes of the report.

use anyhow::ensure;

/// A page by its name.
macro_rules! page {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/experiments/", $name, ".md"))
    };
}
pub(crate) use page;

/// Notes that several pages have: a link to one of these, a paragraph by itself, stands for it.
pub const SHARED: [(&str, &str); 7] = [
    ("accumulation-data", page!("accumulation-data")),
    ("accumulation-design", page!("accumulation-design")),
    ("bernoulli-problem", page!("bernoulli-problem")),
    ("bimodal-design", page!("bimodal-design")),
    ("li-problem", page!("li-problem")),
    ("squeak-copies", page!("squeak-copies")),
    ("squeak-problem", page!("squeak-problem")),
];

/// What the paper says, and the notes, each in one line.
pub fn paragraphs(page: &str) -> (String, Vec<String>) {
    let is_link = |text: &str, name| text.ends_with(&format!("]({name}.md)"));
    let shown = |text| SHARED.iter().find(|(name, _)| is_link(text, name)).map_or(text, |s| s.1);
    let one_line = |text| shown(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut all = page.trim_end().split("\n\n").map(one_line);
    (all.next().unwrap_or_default(), all.collect())
}

/// The notes, with the values of this run where `{name}` stands.
///
/// # Errors
/// If the run has no value of such a name.
pub fn notes(page: &str, values: &[(&str, String)]) -> anyhow::Result<Vec<String>> {
    let mut notes = paragraphs(page).1;
    for note in &mut notes {
        for (name, value) in values {
            *note = note.replace(&format!("{{{name}}}"), value);
        }
        ensure!(!note.contains('{'), "there is no value for this note: {note}");
    }
    Ok(notes)
}
