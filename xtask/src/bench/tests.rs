use super::*;

const HARNESS_TEXT: &str = include_str!("../../../benches/peers/peerbench.py");

/// The rows and the run of the repository.
fn recorded() -> (Rows, Run) {
    let root = workspace::root();
    let run = atomic::read(&root.join("docs/data/bench.json")).unwrap();
    (Rows::read(&root).unwrap(), run)
}

#[test]
fn the_file_of_the_run_gives_the_page_and_its_plots_again() {
    let (root, (rows, run)) = (workspace::root(), recorded());
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let document = read("docs/performance.md");
    let again = rewritten(&document, &Page::new(&rows, &run).measured()).unwrap();
    assert_eq!(again, document);
    for growth in &rows.plot {
        let plot = report::standalone(&scaling::plot(growth, &run.medians)).unwrap();
        assert!(read(&format!("docs/figures/{}.svg", growth.id)) == plot, "{}", growth.id);
    }
}

#[test]
fn every_sum_of_the_rows_was_measured() {
    let (rows, run) = recorded();
    let page = Page::new(&rows, &run);
    for row in rows.row.iter().chain(&rows.memory) {
        for sum in [Some(&row.ours), row.limit.as_ref()].into_iter().flatten() {
            assert!(page.value(sum).is_some(), "{}: {sum:?}", row.what);
        }
    }
}

#[test]
fn what_was_not_measured_is_not_in_the_table() {
    let (rows, run) = recorded();
    let medians = [("nystrom_predict/2000".into(), 0.05)].into();
    let text = Page::new(&rows, &Run { medians, peers: vec![], ..run }).all();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows, ["| predict 10,000 points, m = 2000 | 50.0 ms | – | – | – |"]);
}

#[test]
fn the_harness_has_every_task_and_tool_and_prints_what_is_read() {
    let rows = recorded().0;
    let has = |word: &str| assert!(HARNESS_TEXT.contains(word), "{word}");
    for rival in rows.row.iter().chain(&rows.memory).flat_map(|row| &row.rivals) {
        if let [_, tool, key] = rival.of.split(": ").collect::<Vec<_>>()[..] {
            has(tool.split(' ').next().unwrap());
            has(key);
        }
    }
    for run in rows.peer_runs() {
        let mut words = run.split(' ');
        has(&format!("{}=", words.next().unwrap()));
        while let Some(word) = words.next() {
            let value = words.next().unwrap();
            match word {
                "--tool" => has(&format!("wanted(\"{value}\")")),
                _ => has(&format!("\"{word}\"")),
            }
        }
    }
}

#[test]
fn a_document_without_marks_is_refused() {
    assert_eq!(
        rewritten(&format!("a\n{BEGIN}-->old{END}\nz"), "new").unwrap(),
        format!("a\n{BEGIN}-->\n\nnew\n{END}\nz")
    );
    assert!(rewritten("a", "").unwrap_err().to_string().contains("begin"));
    assert!(rewritten(&format!("{BEGIN}--> x"), "").unwrap_err().to_string().contains("end"));
}
