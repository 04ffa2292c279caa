use super::*;
use crate::datasets::MissingData;
use crate::progress::Progress;
use crate::testing::context;

const ERROR: Measure = Measure::new("error", "error of the made-up methods").log();
const SECONDS: Measure = Measure::time("time", "time / s");
const SETTINGS: [&str; 2] = ["A", "B"];

/// Uniform has the error u/n for a random u, leverage half of it.
fn run(settings: &[&'static str], parallel: bool) -> Results {
    let progress = Progress::captured();
    let ctx = context(&progress);
    let grid = Grid::new(&ctx, "draws", settings, [(100, 4), (200, 3)]);
    let grid = if parallel { grid.parallel() } else { grid };
    let run = grid.run(|trial| {
        let u: f64 = trial.rng("problem").random();
        trial.facts(trial.size, [("λ", 1.0 / trial.size as f64)]);
        for (method, factor) in [(UNIFORM, 1.0), (LEVERAGE, 0.5)] {
            trial.timed(trial.size, method, SECONDS, || Ok(()))?;
            trial.put(trial.size, method, ERROR, factor * (1.0 + u) / trial.size as f64);
        }
        Ok(())
    });
    run.unwrap()
}

fn errors(results: &Results) -> Vec<f64> {
    results.on(&"B").of(ERROR).map(|row| row.value).collect()
}

#[test]
fn a_cell_has_its_bits_from_its_coordinates_alone() {
    let both = run(&SETTINGS, false);
    assert_eq!(errors(&both), errors(&run(&SETTINGS[1..], false)));
    assert_eq!(errors(&both), errors(&run(&SETTINGS, true)));
    let first: Vec<f64> = both.on(&"A").of(ERROR).map(|row| row.value).collect();
    assert_ne!(first, errors(&both));
}

#[test]
fn ratios_are_paired_and_exponents_fitted() {
    let results = run(&SETTINGS, false);
    let compared = results.on(&"A").compare(("n", 200_usize), ERROR, LEVERAGE, UNIFORM);
    assert_eq!(compared.text, "A, n = 200: error of exact scores over that of uniform");
    assert!(
        (compared.value.value - 0.5).abs() < 1e-15
            && compared.value.error.is_none_or(|error| error < 1e-15)
    );
    assert_eq!(results.on(&"A").sample(100_usize, UNIFORM, ERROR).draws.len(), 4);
    let exponent = results.on(&"A").exponent(UNIFORM, ERROR);
    assert!((exponent.value + 1.0).abs() < 0.7 && exponent.error.unwrap() > 0.0);
    assert!(results.on(&"A").get(100_usize, UNIFORM, SECONDS).time);
    assert_eq!(results.on(&"A").fact(200_usize, "λ"), 0.005.into());
}

#[test]
fn plots_carry_standard_errors_and_are_absent_without_values() {
    let results = run(&SETTINGS, false);
    let plot = results.on(&"A").plot("error", "Error", Axis::log("n"), ERROR).unwrap();
    assert_eq!(
        plot.series.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(),
        ["uniform", "exact scores"]
    );
    assert!(plot.series[0].points.iter().all(|point| point.range.is_some()) && plot.y.log);
    assert!(results.on(&"C").plot("error", "Error", Axis::log("n"), ERROR).is_none());
    let both = results.on(&"A").plot_against("both", "Error against time", SECONDS, ERROR).unwrap();
    assert_eq!(both.series[1].points.len(), 2);
}

#[test]
fn wide_and_long_tables_hold_means_errors_and_printed_values() {
    let results = run(&SETTINGS, false);
    let names =
        |table: &Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let (keys, facts) = (["set", "n", ""], results.facts());
    let wide = results.table(["t", "T"], &SETTINGS, keys, &facts, &[SECONDS, ERROR]);
    let wide = wide.into_iter().next().unwrap();
    let of = |name: &str| {
        [format!("{name}: time"), format!("{name}: error"), format!("{name}: error, s.e.")]
    };
    let expected: Vec<String> =
        ["set", "n", "λ"].map(String::from).into_iter().chain(of("uniform")).collect();
    assert_eq!(names(&wide)[..6], expected);
    assert_eq!((wide.rows.len(), &wide.rows[0][2]), (4, &Cell::Number(0.01)));

    let long = results.table(["t", "T"], &SETTINGS[..1], ["", "n", "method"], &[], &[ERROR]);
    let long = long.extra(Column::paper("error, printed"), |place| {
        (place.method == UNIFORM).then_some(place.x)
    });
    let long = long.into_iter().next().unwrap();
    assert_eq!(names(&long), ["n", "method", "error", "error, s.e.", "error, printed"]);
    assert_eq!(long.rows.len(), 4);
    assert_eq!((&long.rows[0][4], &long.rows[1][4]), (&Cell::Number(100.0), &Cell::Missing));
}

#[test]
fn a_setting_without_its_data_is_left_out_and_named() {
    let progress = Progress::captured();
    let ctx = context(&progress);
    let grid = Grid::new(&ctx, "sets", &SETTINGS, [(0, 2)]);
    let missing = |name: &str| MissingData { name: name.into(), ..crate::testing::missing() };
    let prepare =
        |_: &Context<'_>, set: &&str| if *set == "A" { Err(missing("a").into()) } else { Ok(1.0) };
    let results = grid.run_on(prepare, |one, trial| {
        trial.put(trial.size, UNIFORM, ERROR, *one);
        Ok(())
    });
    let results = results.unwrap();
    assert_eq!((results.measured(&SETTINGS), results.missing.len()), (vec![&"B"], 1));
    assert_eq!(
        (results.missing[0].name.as_str(), results.missing[0].needed_for.as_str()),
        ("a", "A")
    );
    let broken = grid.run(|_| anyhow::bail!("no luck"));
    assert_eq!(broken.err().unwrap().to_string(), "no luck");
}
