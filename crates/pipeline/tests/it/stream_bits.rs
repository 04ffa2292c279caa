//! Fingerprints of tables that come block by block.

use crate::bits::{hex, molecules, of_bits};
use crate::columns::table;
use crate::fit::{quick, text};
use crate::ranks::{Thread, job, part};
use crate::stream::{LAMBDAS, stream};
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{
    Alone, ColumnOptions, Error, Family, Fit, Missing, PointRecipe, Ranks, Recipe, StreamPoints,
    TableBlocks, TableSurvey,
};

fn points() -> StreamPoints {
    StreamPoints { columns: of_bits(), reservoir: 300, leaves: 8 }
}

fn surveyed(
    stream: &StreamPoints,
    ranks: &dyn Ranks,
    table: &Table,
    rows: std::ops::Range<usize>,
) -> Result<Option<TableSurvey>, Error> {
    let mine = table.select_rows(&rows.clone().collect::<Vec<_>>()).unwrap();
    let source = (&mut TableBlocks::new(&mine, 170) as _, rows.start as u64);
    stream.survey_over(ranks, source, &mut Pcg64::seed_from_u64(3))
}

/// Rows chosen greedily and the scores of all rows, for the process that has them, and the points.
type Found = (Option<Vec<u64>>, Vec<f64>, Vec<f64>);

fn found(ranks: &dyn Ranks, table: &Table, rows: std::ops::Range<usize>) -> Found {
    let stream = points();
    let survey = surveyed(&stream, ranks, table, rows).unwrap();
    let bytes = survey.map(|survey| {
        let columns = stream.columns(&survey).unwrap();
        let kernel = Family::Tanimoto.kernel(1.0, columns.dim()).unwrap();
        stream.recipe(&survey, columns, kernel).to_bytes().unwrap()
    });
    let bytes = ranks.broadcast(bytes.unwrap_or_default());
    let recipe = PointRecipe::from_bytes(&stream, &bytes).unwrap();
    let source = &mut TableBlocks::new(table, 130);
    let greedy = recipe.greedy_over(ranks, source, 12, 1).unwrap();
    let rng = &mut Pcg64::seed_from_u64(4);
    let how = (1e-2, SqueakParams::new(8));
    let dictionary = recipe.disqueak_over(ranks, source, how, rng).unwrap();
    let (mut scores, mut x) = (Vec::new(), Vec::new());
    let take = |tile: &nystrom_pipeline::PointRows, of: &[f64]| {
        scores.extend_from_slice(of);
        let points = tile.points();
        for i in 0..points.len() {
            x.extend((0..points.dim()).map(|k| points.coordinate(i, k)));
        }
        Ok::<(), Error>(())
    };
    recipe.scores_over(ranks, source, (&dictionary, 1e-2), take).unwrap();
    (greedy.map(|greedy| greedy.rows), scores, x)
}

/// The points are the packed bits, so that the greedy choice is that in memory, and any number of
/// processes finds the same to the bit.
#[test]
fn points_of_blocks_are_the_bits() {
    let (n, table) = (2500, molecules(2500));
    let bits = Bits::<f64>::from_hex(hex(n), 64).unwrap();
    let (greedy, scores, x) = found(&Alone, &table, 0..n);
    let expected = (0..n).flat_map(|i| (0..2).map(move |k| (i, k)));
    assert!(x.iter().copied().eq(expected.map(|(i, k)| bits.points().coordinate(i, k))));
    let k = KernelMatrix::new(Tanimoto, bits.points()).unwrap();
    let memory = Greedy::default().factor(&k, 12).unwrap();
    let memory = memory.pivots().iter().map(|&i| i as u64).collect::<Vec<_>>();
    assert_eq!(greedy.as_ref(), Some(&memory));
    for size in [2, 3] {
        let all = job(size, |ranks: &Thread| found(ranks, &table, part(n, ranks)));
        assert_eq!(all[0].0, greedy, "{size} processes");
        let together = |of: fn(&Found) -> &Vec<f64>| all.iter().flat_map(of).copied().collect();
        let [s, p]: [Vec<f64>; 2] = [together(|f| &f.1), together(|f| &f.2)];
        assert!(s == scores && p == x, "{size} processes");
    }
}

/// The first pass reads every text: it names the row, of whichever process.
#[test]
fn other_widths_are_told_in_the_first_pass() {
    let of = |texts: Vec<String>| table(vec![text("fp", texts)]);
    let mut texts: Vec<String> = (0..600).map(|i| format!("{i:04x}")).collect();
    texts[411] = "00ff00".into();
    let words = |table: &Table| {
        let error = surveyed(&points(), &Alone, table, 0..600).unwrap_err();
        assert!(matches!(error, Error::Fingerprint { .. }), "{error}");
        error.to_string()
    };
    // the fourth block has rows 341 to 510
    let error = words(&of(texts.clone()));
    for part in ["\"fp\"", "row 72 of a block of t", "6 hexadecimal digits, but 16 bits are 4"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    texts[411] = "xyzt".into();
    assert!(words(&of(texts.clone())).contains("'x' at position 0"));
    // all rows of a process have another width
    let wide = (0..600).map(|i| if i < 250 { format!("{i:04x}") } else { format!("{i:06x}") });
    let wide = of(wide.collect());
    let all = job(3, |ranks: &Thread| {
        let (a, b) = [(0, 250), (250, 400), (400, 600)][ranks.rank()];
        surveyed(&points(), ranks, &wide, a..b).map(|survey| survey.is_some())
    });
    let error = all[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("row 1 of a block of t: 6 hexadecimal digits, but 16"), "{error}");
    assert!(all[1..].iter().all(|found| matches!(found, Ok(false))));
    // a missing text is an error, or leaves its row out
    let gap = |i: usize| if i == 9 { String::new() } else { format!("{i:04x}") };
    let mut column = text("fp", (0..600).map(gap));
    if let nystrom_data::Values::Categories(text) = &mut column.values {
        text.codes[9] = None;
    }
    let gap = table(vec![column]);
    let error = surveyed(&points(), &Alone, &gap, 0..600).unwrap_err().to_string();
    assert!(error.contains("row 10 of a block of t") && error.contains("--drop-missing"));
    let columns = ColumnOptions { missing: Missing::DropRows, ..of_bits() };
    let survey = surveyed(&StreamPoints { columns, ..points() }, &Alone, &gap, 0..600).unwrap();
    assert_eq!(survey.unwrap().used(), 599);
}

/// Whether all rows are alike is known of all rows, not only of the sample.
#[test]
fn one_row_that_differs_is_enough() {
    let few = StreamPoints { reservoir: 3, ..points() };
    let of = |last: &str| {
        let mut texts = vec!["00ff".to_owned(); 900];
        texts[899] = last.to_owned();
        let survey = surveyed(&few, &Alone, &table(vec![text("fp", texts)]), 0..900).unwrap();
        few.columns(&survey.unwrap())
    };
    assert!(matches!(of("00ff"), Err(Error::NoFeatures { .. })));
    assert_eq!(of("0100").unwrap().fingerprint(), Some(("fp", 16)));
    let numbers = table(vec![Column::numbers("fp", vec![1.0, 10.0, 11.0])]);
    let error = surveyed(&few, &Alone, &numbers, 0..3).unwrap_err().to_string();
    assert!(error.contains("read the column as text"), "{error}");
}

/// A fit in blocks is the library's with the same centres and ridge, and its recipe can be sent.
#[test]
fn a_fit_in_blocks_is_that_in_memory() {
    let (n, table) = (700, molecules(700));
    let fit = Fit { columns: of_bits(), ..quick() };
    let stream = nystrom_pipeline::StreamFit { landmarks: 60, ..stream(fit) };
    let rng = &mut Pcg64::seed_from_u64(1);
    let source = &mut TableBlocks::new(&table, 190);
    let survey = stream.survey(source, ["y"], rng).unwrap();
    let found = stream.search(&survey, &mut (), rng).unwrap();
    assert!(found.report.trials.iter().all(|trial| trial.family == Family::Tanimoto));
    let recipe = stream.recipe(&survey, found.model, rng).unwrap();
    let sent = Recipe::from_bytes(&stream.fit, "t", &recipe.to_bytes("t").unwrap()).unwrap();
    let models = [recipe, sent].map(|recipe| {
        let mut sum = recipe.sum().unwrap();
        sum.run(&mut TableBlocks::new(&table, 190), &mut |_| Ok(())).unwrap();
        sum.finish(&LAMBDAS).unwrap()
    });
    let [(model, report), (other, _)] = models;
    assert_eq!(model.to_bytes().unwrap(), other.to_bytes().unwrap());

    let bits = Bits::<f64>::from_hex(hex(n), 64).unwrap();
    let (target, y) = (&model.targets()[0], table.numbers("y").unwrap());
    let z = Mat::from_fn(n, 1, |i, _| (y[i] - target.mean) / target.scale);
    let krr = NystromKrr::new(Tanimoto, Ridge::PerSample(report.lambda));
    let memory = krr.fit((bits.points(), z.as_ref()), model.regression().centers()).unwrap();
    let (memory, blocks) = (memory.predict(bits.points()).unwrap(), model.predict(&table).unwrap());
    for i in 0..n {
        let (m, b) = (target.mean + target.scale * memory[(i, 0)], blocks.values[(i, 0)]);
        assert!((m - b).abs() < 1e-6, "row {i}: {m} in memory, {b} in blocks");
    }
}
