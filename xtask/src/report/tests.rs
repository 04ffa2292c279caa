use super::*;
use crate::experiment::Outcome;
use crate::testing::{record, run_with};

/// The pages of a run with the odd record: the verdicts and the paper.
fn pages() -> Vec<String> {
    let pages = html::pages(&run_with(record())).unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["index.html", "nobody-no-one-1901.html"]);
    pages.into_iter().map(|(_, text)| text).collect()
}

/// The text between tags, character references resolved as far as maud writes them.
fn text(html: &str) -> String {
    let visible = html
        .split('<')
        .filter_map(|piece| piece.split_once('>'))
        .map(|(_, text)| text)
        .collect::<String>();
    visible.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn the_pages_hold_every_text_escaped() {
    let [index, paper] = &pages()[..] else { panic!("two pages") };
    let verdicts = [
        "a < b & c > \"d\"",
        "risk ratio ≤ 1.2",
        "row <Nowhere>",
        "Mean of <Uniform> Numbers",
        "not run",
        "1 claim holds",
        "1 of our own",
    ];
    let findings = [
        "a < b & c > \"d\"",
        "A note with <b>markup</b>.",
        "n = 3 & no more",
        "Odd <cells>",
        "a, \"b\"\n<c>",
        "https://example.org/nowhere",
        "8192 × 33",
        "Mean of <Uniform> Numbers",
        "cargo xtask reproduce --only self-check --smoke --seed 3 --fresh",
        "0.30 s on 2 threads, peak memory 13 MB",
        "Not run yet",
    ];
    for (html, texts) in [(index, &verdicts[..]), (paper, &findings[..])] {
        let text = text(html);
        for expected in texts {
            assert!(text.contains(expected), "{expected}");
        }
        assert!(
            !html.contains("<b>markup") && !html.contains("<cells>") && !html.contains("<Nowhere>")
        );
    }
}

#[test]
fn the_pages_need_no_network_and_no_script() {
    for html in pages() {
        for forbidden in ["<script", "<link", "src=", "@import", "url(", "<img"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }
}

#[test]
fn every_link_within_the_report_leads_somewhere() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &run_with(record())).unwrap();
    let mut seen = 0;
    for page in ["index.html", "nobody-no-one-1901.html"] {
        let html = std::fs::read_to_string(dir.path().join(page)).unwrap();
        let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.filter(|link| !link.starts_with("http")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { page } else { file };
            let target = std::fs::read_to_string(dir.path().join(file))
                .unwrap_or_else(|_| panic!("{page}: {link}"));
            assert!(
                anchor.is_empty() || target.contains(&format!("id=\"{anchor}\"")),
                "{page}: {link}"
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} links");
}

#[test]
fn the_pages_are_sane_for_a_screen_reader() {
    for html in pages() {
        assert!(html.contains("<html lang=\"en\">"));
        assert_eq!(html.matches("<h1").count(), 1);
        assert_eq!(html.matches("<table").count(), html.matches("<caption").count());
        for svg in html.split("<svg").skip(1) {
            let tag = svg.split('>').next().unwrap();
            assert!(tag.contains("aria-label=") || tag.contains("aria-hidden=\"true\""), "{tag}");
        }
        let ids: Vec<&str> =
            html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "an id twice: {ids:?}");
    }
}

#[test]
fn the_index_folds_what_holds_and_shows_what_does_not() {
    let index = &pages()[0];
    let folded = |claim: &str| {
        let before = &index[..index.find(claim).unwrap_or_else(|| panic!("no {claim}"))];
        before.matches("<details").count() > before.matches("</details>").count()
    };
    assert!(folded("a &lt; b &amp; c"), "what holds is folded");
    assert!(folded("open ≥ 1"), "what is ours does not stand among what counts");
    assert!(
        !folded("risk ratio ≤ 1.2") && !folded("row &lt;Nowhere&gt;"),
        "what does not, and what is missing, is not"
    );
}

#[test]
fn the_gallery_links_every_figure_that_was_computed() {
    fn gallery(index: &str) -> &str {
        index.split("<ul class=\"gallery\">").nth(1).unwrap().split("</ul>").next().unwrap()
    }
    let index = &pages()[0];
    let shown = gallery(index);
    assert_eq!(shown.matches("<svg class=\"thumbnail\"").count(), 1);
    assert!(shown.contains("href=\"nobody-no-one-1901.html#self-check\""), "{shown}");
    assert!(text(shown).contains("1 does not") && !shown.contains("class=\"badge error\""));
    let (pictures, words) = (index.find("class=\"gallery\""), index.find("id=\"verdicts\""));
    assert!(pictures < words, "people look before they read");
    let failed = Record { outcome: Outcome::default(), status: Status::Failed, ..record() };
    let index = &html::pages(&run_with(failed)).unwrap()[0].1;
    let shown = gallery(index);
    assert_eq!(shown.matches("<svg class=\"thumbnail\"").count(), 1, "what has nothing to show");
    assert!(shown.contains("class=\"badge error\""), "{shown}");
}

#[test]
fn a_page_shows_the_figure_then_the_claims_that_count_then_ours() {
    let page = &pages()[1];
    let order = ["<svg class=\"plot\"", "risk ratio ≤ 1.2", "Claims of our own", "open ≥ 1"];
    let places = order.map(|piece| page.find(piece).unwrap_or_else(|| panic!("no {piece}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn what_no_paper_shows_is_headed_so() {
    let beyond = crate::experiment::Experiment {
        figure: "none: the boundary",
        ..crate::testing::SELF_CHECK
    };
    assert_eq!(beyond.heading(), "Beyond the paper: the boundary");
    assert_eq!(crate::testing::SELF_CHECK.heading(), "Table 0");
}

#[test]
fn nan_and_missing_cells_are_shown() {
    let html = &pages()[1];
    assert!(
        html.contains(">NaN</td>") && html.contains(">∞</td>") && html.contains(">1e−300</td>")
    );
    assert!(html.contains("aria-label=\"none\""));
}

#[test]
fn counts_are_right() {
    let run = run_with(record());
    let tally = |hold, do_not, open| Tally { hold, do_not, open };
    let kinds = [tally(1, 0, 0), tally(0, 1, 0), tally(0, 0, 0)];
    assert_eq!(
        count(&run),
        Count { kinds, lack_data: 1, failed: 0 },
        "claims of our own are not counted"
    );
    assert!(
        summary(&run, Path::new("out"))
            .contains("claims printed: 1 holds; picture: 1 does not; theorem: none\n")
    );
}

#[test]
fn every_file_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    let run = run_with(record());
    write(dir.path(), &run).unwrap();
    let folder = folder(dir.path(), "self-check");
    assert!(folder.join("odd.csv").is_file() && folder.join("odd.svg").is_file());
    assert!(dir.path().join("run.json").is_file());
    let modified = || std::fs::metadata(dir.path().join("run.json")).unwrap().modified().unwrap();
    let before = modified();
    write(dir.path(), &run).unwrap();
    assert_eq!(modified(), before);
}
