use super::*;
use crate::experiment::{Experiment, Outcome};
use crate::record::Status;
use crate::testing::{SELF_CHECK, record, run_with};

/// The page of a run with the record of `testing`.
fn page() -> String {
    page::page(&run_with(record())).unwrap()
}

/// The text between tags, character references resolved as far as maud writes them.
fn text(html: &str) -> String {
    let pieces = html.split('<').filter_map(|piece| piece.split_once('>'));
    let visible = pieces.map(|(_, text)| text).collect::<String>();
    visible.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// From one mark to the next.
fn between<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    html.split(from).nth(1).unwrap().split(to).next().unwrap()
}

#[test]
fn the_page_holds_every_text_escaped() {
    let html = page();
    let article = text(between(&html, "<article id=\"self-check\"", "</article>"));
    for expected in [
        "a < b & c > \"d\"",
        "risk ratio ≤ 1.2",
        "open ≥ 1",
        "row <Nowhere>",
        "https://example.org/nowhere",
        "8192 × 33",
        "A note with <b>markup</b>.",
        "n = 3 & no more",
        "Odd points",
        "Odd <cells>",
        "a, \"b\"\n<c>",
        "cargo xtask reproduce --only self-check --smoke --seed 3 --fresh",
        "0.30 s on 2 threads, peak memory 13 MB, instruction set V3",
    ] {
        assert!(article.contains(expected), "{expected}: {article}");
    }
    assert!(text(between(&html, "<article id=\"not-run\"", "</article>")).contains("Not run yet"));
    assert!(text(&html).contains("Mean of <Uniform> Numbers"));
    for raw in ["<b>markup", "<cells>", "<Nowhere>", "b < c", "x & y"] {
        assert!(!html.contains(raw), "{raw}");
    }
    for cell in [">NaN</td>", ">∞</td>", ">1e−300</td>", "aria-label=\"none\""] {
        assert!(html.contains(cell), "{cell}");
    }
}

#[test]
fn the_page_needs_no_network_and_no_script() {
    for forbidden in ["<script", "<link", "src=", "@import", "url(", "<img"] {
        assert!(!page().contains(forbidden), "{forbidden}");
    }
}

#[test]
fn every_link_leads_somewhere_and_every_file_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &run_with(record())).unwrap();
    let html = std::fs::read_to_string(dir.path().join("index.html")).unwrap();
    let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let within: Vec<&str> = links.filter(|link| !link.starts_with("http")).collect();
    for link in &within {
        match link.strip_prefix('#') {
            Some(anchor) => assert!(html.contains(&format!("id=\"{anchor}\"")), "{link}"),
            None => assert!(dir.path().join(link).is_file(), "{link}"),
        }
    }
    assert!(within.len() > 6, "{within:?}");
    let modified = || std::fs::metadata(dir.path().join("run.json")).unwrap().modified().unwrap();
    let before = modified();
    write(dir.path(), &run_with(record())).unwrap();
    assert_eq!(modified(), before);
}

#[test]
fn the_page_is_sane_for_a_screen_reader() {
    let html = page();
    assert!(html.contains("<html lang=\"en\">"));
    assert_eq!(html.matches("<h1").count(), 1);
    assert_eq!(html.matches("<table").count(), html.matches("<caption").count());
    for svg in html.split("<svg").skip(1) {
        let tag = svg.split('>').next().unwrap();
        assert!(tag.contains("aria-label=") || tag.contains("aria-hidden=\"true\""), "{tag}");
    }
    let ids: Vec<&str> =
        html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "an id twice: {ids:?}");
}

#[test]
fn the_gallery_shows_every_figure_that_was_computed() {
    let html = page();
    let shown = between(&html, "<ul class=\"gallery\">", "</ul>");
    assert_eq!(shown.matches("<svg").count(), 1);
    assert!(shown.contains("href=\"#self-check\"") && text(shown).contains("1 does not"));
    let failed = Record { outcome: Outcome::default(), status: Status::Failed, ..record() };
    let html = page::page(&run_with(failed)).unwrap();
    let shown = between(&html, "<ul class=\"gallery\">", "</ul>");
    assert!(shown.contains("href=\"#self-check\"") && shown.contains("class=\"badge error\""));
}

#[test]
fn what_does_not_hold_is_listed_and_what_holds_or_is_ours_is_not() {
    let html = page();
    let listed = text(between(&html, "id=\"exceptions\"", "</section>"));
    for expected in ["risk ratio ≤ 1.2", "row <Nowhere>"] {
        assert!(listed.contains(expected), "{expected}: {listed}");
    }
    assert!(!listed.contains("a < b") && !listed.contains("open ≥ 1"), "{listed}");
}

#[test]
fn what_no_paper_shows_is_headed_so() {
    let beyond = Experiment { figure: "none: the boundary", ..SELF_CHECK };
    assert_eq!(beyond.heading(), "Beyond the paper: the boundary");
}

#[test]
fn claims_that_count_are_counted() {
    let failed = Record { error: Some("no luck".into()), ..record() };
    assert_eq!(
        summary(&run_with(failed), Path::new("out")),
        "claims printed: 1 holds; picture: 1 does not; theorem: none\n\
         data sets missing: 1; experiments failed: 1\n  failed: self-check: no luck\n\
         report: out/index.html"
    );
    let line = verdicts(&record().outcome.claims);
    assert_eq!(line, "printed: 1 holds; picture: 1 does not; ours: 1 is open");
    assert_eq!(verdicts(&[]), "no claims");
}
