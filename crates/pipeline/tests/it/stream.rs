//! Fits of tables that come block by block.

use crate::fit::{table, text};
use nystrom::krr::Problem;
use nystrom::prelude::{Rng, *};
use nystrom_data::{Categories, Column, Table, Values};
use nystrom_pipeline::{
    ColumnOptions, Columns, Error, Family, Fit, Missing, Model, Recipe, Shape, StreamFit, Summing,
    TableBlocks, TableSource,
};

pub const LAMBDAS: [f64; 4] = [1e-2, 1e-4, 1e-6, 1e-8];

pub fn stream(fit: Fit) -> StreamFit {
    StreamFit { fit, reservoir: 400, landmarks: 40 }
}

/// Numbers with gaps, a text, a column that numbers the rows, weights of which some are 0, and
/// targets of which some are missing.
pub fn mixed(n: usize) -> Table {
    let plain = table(n, 5);
    let number = |name: &str| plain.numbers(name).unwrap().to_vec();
    let gaps = |every: usize, name: &str| {
        let values = number(name).into_iter().enumerate();
        values.map(|(i, v)| if i % every == 2 { f64::NAN } else { v }).collect::<Vec<_>>()
    };
    let levels: Vec<String> = ["blue", "green", "red"].map(String::from).to_vec();
    let code = |i: usize| {
        (i % 11 != 4).then_some(if i.is_multiple_of(13) { 0 } else { 1 + (i % 2) as u32 })
    };
    let codes = (0..n).map(code).collect();
    let weights = (0..n).map(|i| if i % 17 == 0 { 0.0 } else { 1.0 + (i % 3) as f64 }).collect();
    let columns = vec![
        Column::numbers("id", (1..=n).map(|i| i as f64).collect()),
        Column::numbers("a", gaps(29, "a")),
        Column::numbers("b", number("b")),
        Column::numbers("c", number("c")),
        Column { name: "colour".into(), values: Values::Categories(Categories { levels, codes }) },
        Column::numbers("w", weights),
        Column::numbers("y", gaps(37, "y")),
    ];
    Table::new("mixed", columns).unwrap()
}

pub fn recipe(stream: &StreamFit, source: &mut dyn TableSource) -> Recipe {
    let rng = &mut Pcg64::seed_from_u64(3);
    let survey = stream.survey(source, ["y"], rng).unwrap();
    let named = (Family::Gaussian, None);
    let (model, _) = stream.with_kernel(&survey, named, rng).unwrap();
    stream.recipe(&survey, model, rng).unwrap()
}

pub fn fitted(stream: &StreamFit, source: &mut dyn TableSource) -> Model {
    finished(&recipe(stream, source), source)
}

pub fn finished(recipe: &Recipe, source: &mut dyn TableSource) -> Model {
    let mut sum = recipe.sum().unwrap();
    sum.run(source, &mut |_| Ok(())).unwrap();
    sum.finish(&LAMBDAS).unwrap().0
}

pub fn weighted() -> Fit {
    Fit { weights: Some("w".into()), ..Fit::default() }
}

/// The rows of a [`mixed`] table that a [`weighted`] fit uses: features, targets in units of the
/// model, weights of mean 1.
pub struct Used {
    x: Mat<f64>,
    y: Mat<f64>,
    w: Vec<f64>,
}

impl Used {
    pub fn of(model: &Model, table: &Table) -> Used {
        let used = |i: &usize| !i.is_multiple_of(17) && i % 37 != 2;
        let used = table.select_rows(&(0..table.rows()).filter(used).collect::<Vec<_>>()).unwrap();
        let (target, y, w) =
            (&model.targets()[0], used.numbers("y").unwrap(), used.numbers("w").unwrap());
        let mean = w.iter().sum::<f64>() / w.len() as f64;
        Used {
            x: model.columns().apply(&used).unwrap().x,
            y: Mat::from_fn(y.len(), 1, |i, _| (y[i] - target.mean) / target.scale),
            w: w.iter().map(|w| w / mean).collect(),
        }
    }

    pub fn problem(&self) -> Problem<'_, f64> {
        Problem::new(Points::from_rows(self.x.as_ref()), self.y.as_ref()).weighted(&self.w)
    }
}

#[test]
fn blocks_and_threads_leave_no_trace() {
    let table = mixed(9000); // more than a leaf
    for fit in [
        weighted(),
        Fit {
            columns: ColumnOptions { missing: Missing::DropRows, ..ColumnOptions::default() },
            ..Fit::default()
        },
    ] {
        let stream = stream(fit);
        let whole = fitted(&stream, &mut TableBlocks::new(&table, 9000)).to_bytes().unwrap();
        for rows in [777, 1024, 5000] {
            let model = fitted(&stream, &mut TableBlocks::new(&table, rows));
            assert_eq!(model.to_bytes().unwrap(), whole, "blocks of {rows}");
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let model = pool.install(|| fitted(&stream, &mut TableBlocks::new(&table, 1000)));
        assert_eq!(model.to_bytes().unwrap(), whole);
    }
}

/// With the same features, centres, targets and weights the fit in memory gives the same function.
#[test]
fn it_is_the_fit_in_memory() {
    let all = mixed(9000);
    let stream = stream(weighted());
    let model = fitted(&stream, &mut TableBlocks::new(&all, 1000));
    let used = Used::of(&model, &all);
    let Used { y, w, .. } = &used;
    let of_y = |f: &dyn Fn(f64) -> f64| -> f64 { (0..w.len()).map(|i| w[i] * f(y[(i, 0)])).sum() };
    assert!(of_y(&|y| y).abs() < 1e-6, "the mean of all rows");
    assert!((of_y(&|y| y * y) / w.len() as f64 - 1.0).abs() < 1e-9, "their deviation");
    let regression = model.regression();
    let krr = NystromKrr::new(regression.kernel().clone(), Ridge::PerSample(model.made.lambda));
    let memory = krr.fit(used.problem(), regression.centers()).unwrap();
    let new = model.columns().apply(&mixed(100)).unwrap().x;
    let predict =
        |model: &KrrModel<_, f64>| model.predict(Points::from_rows(new.as_ref())).unwrap();
    let (f, g) = (predict(regression), predict(&memory));
    let apart = (0..100).map(|i| (f[(i, 0)] - g[(i, 0)]).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-7, "{apart}");
    assert_eq!(regression.report().n, w.len());
}

/// Means, deviations, shares, gaps and identifiers are those of all rows, though the sample is
/// small.
#[test]
fn columns_are_those_of_all_rows() {
    let all = mixed(6000);
    let stream = StreamFit { reservoir: 50, ..stream(Fit::default()) };
    let recipe = recipe(&stream, &mut TableBlocks::new(&all, 1000));
    let used: Vec<usize> = (0..6000).filter(|i| i % 37 != 2).collect();
    let used = all.select_rows(&used).unwrap();
    let options = ColumnOptions::default();
    let exact = Columns::fit(&used, &options, &["y"], Shape::PLAIN).unwrap();
    let ours = recipe.model().columns();
    assert_eq!(ours.features(), exact.features());
    assert_eq!(ours.dropped(), exact.dropped());
    let complete = used.drop_columns(["a"]).unwrap(); // whose median is the sample's
    let complete = complete.drop_missing_rows();
    let apply = |columns: &Columns, table: &Table| columns.apply(table).unwrap().x;
    let with_a = |table: &Table| {
        let a = Column::numbers("a", vec![0.25; table.rows()]);
        Table::new("t", [table.columns(), &[a]].concat()).unwrap()
    };
    let (x, z) = (apply(ours, &with_a(&complete)), apply(&exact, &with_a(&complete)));
    let a = exact.features().iter().position(|name| name == "a").unwrap();
    for j in (0..x.ncols()).filter(|j| *j != a) {
        let apart = (0..x.nrows()).map(|i| (x[(i, j)] - z[(i, j)]).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-9, "{}: {apart}", exact.features()[j]);
    }
}

/// Stopped at any pause and gone on from its bytes: the same model, to the bit.
#[test]
fn any_checkpoint_continues_to_the_same_bits() {
    let all = mixed(9000);
    let stream = stream(weighted());
    let source = &mut TableBlocks::new(&all, 700);
    let recipe = recipe(&stream, source);
    let bytes = recipe.to_bytes("data and options").unwrap();
    let mut saved: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut sum = recipe.sum().unwrap();
    let mut pause = |sum: &mut Summing<'_>| {
        saved.push((sum.row(), sum.to_bytes(&bytes)?));
        Ok(())
    };
    sum.run(source, &mut pause).unwrap();
    let undisturbed = sum.finish(&LAMBDAS).unwrap().0.to_bytes().unwrap();
    assert!(saved.len() >= 8, "{}", saved.len());
    assert_eq!(undisturbed, fitted(&stream, source).to_bytes().unwrap());
    let loaded = Recipe::from_bytes(&stream.fit, "data and options", &bytes).unwrap();
    for (row, state) in &saved {
        let mut sum = loaded.sum().unwrap().resume(&bytes, state).unwrap();
        assert_eq!(sum.row(), *row);
        // in other blocks
        sum.run(&mut TableBlocks::new(&all, 999), &mut |_| Ok(())).unwrap();
        let model = sum.finish(&LAMBDAS).unwrap().0;
        assert_eq!(model.to_bytes().unwrap(), undisturbed, "from row {row}");
    }
}

#[test]
fn checkpoints_of_something_else_are_refused() {
    let all = table(3000, 1);
    let stream = stream(Fit::default());
    let source = &mut TableBlocks::new(&all, 1500);
    let ours = recipe(&stream, source);
    let bytes = ours.to_bytes("ours").unwrap();
    let state = ours.sum().unwrap().to_bytes(&bytes).unwrap();
    let read = |identity: &str, bytes: &[u8]| Recipe::from_bytes(&stream.fit, identity, bytes);
    assert!(read("ours", &bytes).is_ok());
    let wrong = |result: Result<(), Error>, part: &str| match result {
        Err(Error::Checkpoint { problem }) => assert!(problem.contains(part), "{problem}"),
        other => panic!("{other:?} for {part}"),
    };
    wrong(read("theirs", &bytes).map(drop), "other data or options (ours, not theirs)");
    wrong(read("ours", &state).map(drop), "holds something else");
    wrong(read("ours", b"{}").map(drop), "does not begin");
    let mut other = bytes.clone();
    other[8] = 9;
    wrong(read("ours", &other).map(drop), "layout 9");
    let resume = |state: &[u8]| ours.sum().unwrap().resume(&bytes, state).map(drop);
    assert!(resume(&state).is_ok());
    let theirs = ours.to_bytes("theirs").unwrap();
    wrong(ours.sum().unwrap().resume(&theirs, &state).map(drop), "another recipe");
    for place in (16..state.len()).step_by(state.len() / 50) {
        let mut damaged = state.clone();
        damaged[place] ^= 4;
        wrong(resume(&damaged), "checksum");
        wrong(resume(&state[..place]), "");
    }
}

#[test]
fn classes_are_told_apart_beyond_memory() {
    let plain = table(4000, 2);
    let kind = |y: &f64| if *y > 0.3 { "high" } else { "low" }.to_owned();
    let y = plain.numbers("y").unwrap().to_vec();
    let levels = vec!["high".to_owned(), "low".to_owned()];
    let codes = y.iter().map(|y| Some(u32::from(kind(y) == "low"))).collect();
    let label =
        Column { name: "k".into(), values: Values::Categories(Categories { levels, codes }) };
    let columns = [plain.drop_columns(["y"]).unwrap().columns(), &[label]].concat();
    let all = Table::new("t", columns).unwrap();
    let stream = stream(Fit { work: Some(1e9), ..Fit::default() });
    let rng = &mut Pcg64::seed_from_u64(3);
    let source = &mut TableBlocks::new(&all, 1000);
    let survey = stream.survey(source, ["k"], rng).unwrap();
    let found = stream.search(&survey, &mut (), rng).unwrap();
    let recipe = stream.recipe(&survey, found.model, rng).unwrap();
    let model = finished(&recipe, source);
    let p = model.predict(&all).unwrap().probabilities.unwrap();
    let right = (0..4000).filter(|&i| (p[(i, 0)] > 0.5) == (y[i] > 0.3)).count();
    assert!(right > 3700, "{right} of 4000: the noise blurs the border");
}

/// A source that has other rows when it is read again.
struct Fickle<'a>(TableBlocks<'a>, TableBlocks<'a>, usize);

impl TableSource for Fickle<'_> {
    fn start(&mut self, row: u64) -> nystrom_data::Result<()> {
        self.2 += 1;
        if self.2 > 1 { self.1.start(row) } else { self.0.start(row) }
    }
    fn next_block(&mut self) -> nystrom_data::Result<Option<Table>> {
        if self.2 > 1 { self.1.next_block() } else { self.0.next_block() }
    }
}

#[test]
fn what_is_wrong_is_said_before_or_with_its_place() {
    let all = table(3000, 1);
    let survey = |stream: &StreamFit, table: &Table, rng: &mut dyn Rng| {
        stream.survey(&mut TableBlocks::new(table, 100), ["y"], rng).map(drop)
    };
    let rng = &mut Pcg64::seed_from_u64(3);
    for fit in [
        Fit { calibrate: Some(nystrom_pipeline::Calibrate::Share(0.1)), ..Fit::default() },
        Fit { split: nystrom_pipeline::Split::Group("a".into()), ..Fit::default() },
        Fit { class_weights: nystrom_pipeline::ClassWeights::Balanced, ..Fit::default() },
    ] {
        let refused = survey(&stream(fit), &all, rng);
        assert!(matches!(refused, Err(Error::Option { .. })), "{refused:?}");
    }
    let usual = stream(Fit::default());
    let constant = Column::numbers("y", vec![1.0; 3000]);
    let columns = [all.clone().drop_columns(["y"]).unwrap().columns(), &[constant]].concat();
    let refused = survey(&usual, &Table::new("t", columns).unwrap(), rng);
    assert!(matches!(refused, Err(Error::ConstantTarget { .. })));
    let refused = survey(&usual, &all.select_rows(&[0, 1]).unwrap(), rng);
    assert!(matches!(refused, Err(Error::TooFewRows { rows: 2 })));
    for (other, part) in
        [(table(2999, 1), "2999"), (table(3001, 1), "3001"), (table(9000, 1), "3001")]
    {
        let mut fickle = Fickle(TableBlocks::new(&all, 500), TableBlocks::new(&other, 500), 0);
        let recipe = recipe(&usual, &mut fickle);
        let error = recipe.sum().unwrap().run(&mut fickle, &mut |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// A cell that settles the order of day and month does so where the sample lacks it.
#[test]
fn all_rows_say_how_a_column_is_read() {
    let n = 2000;
    let day = |i: usize| match i {
        1999 => "25/04/2019".to_owned(),
        _ => format!("{:02}/{:02}/2019", i % 12 + 1, i % 11 + 1),
    };
    let y = Column::numbers("y", (0..n).map(|i| (i as f64).sin()).collect());
    let table = Table::new("t", vec![text("when", (0..n).map(day)), y]).unwrap();
    let stream = StreamFit { reservoir: 100, ..stream(Fit::default()) };
    let rng = &mut Pcg64::seed_from_u64(1);
    let survey = stream.survey(&mut TableBlocks::new(&table, 300), ["y"], rng).unwrap();
    assert!(!survey.sampled().iter().any(|(row, _)| *row == 1999));
    let (_, notes) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
    assert!(notes.concat().contains("day, month, year"), "{notes:?}");
}

/// A target that is read as its first rows were, and a later cell that is no number.
#[test]
fn a_stray_target_ends_the_pass_with_its_place() {
    let prices =
        |cells: [&str; 4]| Table::new("t", vec![text("y", cells.map(String::from))]).unwrap();
    let head = prices(["$1.5", "$2", "$1,000", "NA"]);
    let fit = Fit { task: nystrom_pipeline::Task::Regression, ..Fit::default() };
    let readings = nystrom_pipeline::Readings::of(&fit, &head, &["y".into()]).unwrap();
    let read = readings.read(head).unwrap();
    assert_eq!(read.numbers("y").unwrap()[..3], [1.5, 2.0, 1000.0]);
    let stray = readings.read(prices(["$3", "-", "three", "$4"])).unwrap_err().to_string();
    assert!(stray.contains("\"three\"") && stray.contains("\"y\""), "{stray}");
}
