//! Made-up experiments and outcomes for the tests of the framework; none of them is in the
//! registry.

use std::sync::Mutex;

use rand::RngExt;

use crate::context::Scale;
use crate::datasets::MissingData;
use crate::experiment::{
    Axis, Cell, Claim, Column, Context, Experiment, Outcome, Paper, Plot, Point, Table, measured,
};
use crate::lab::{Grid, Measure};
use crate::method::THEORY;
use crate::progress::Progress;
use crate::record::{Record, Run, Status, Versions};
use crate::statistics::Estimate;

/// A paper that nobody wrote.
pub const PAPER: Paper = Paper {
    short: "Nobody & No One 1901",
    full: "N. Nobody and N. O. One, On the Mean of <Uniform> Numbers, Proceedings of Nowhere, 1901",
    url: "https://example.org/",
};

/// Draws uniform numbers and claims that their mean is near ½.
pub const SELF_CHECK: Experiment = Experiment {
    name: "self-check",
    paper: &PAPER,
    figure: "Table 0",
    page: "The mean of uniform numbers\nis 1/2.\n\nDrawn {n} times.\n",
    data: &[],
    run: self_check,
};

const MEAN: Measure = Measure::named("mean of the draws");

/// [`SELF_CHECK`]'s function.
pub fn self_check(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, mut rng) = (100, ctx.rng("draws"));
    let stage = ctx.progress.begin("drawing", n);
    let mut table = Table::new("draws", "The draws", [Column::new("u"), Column::paper("E u")]);
    let mut sum = 0.0;
    for _ in 0..n {
        let u: f64 = rng.random();
        sum += u;
        table.push([u.into(), 0.5.into()]);
        stage.inc(1);
    }
    let results = Grid::new(ctx, "mean", &["uniform"], [(0, 1)]).run(|trial| {
        trial.put(n, THEORY, MEAN, sum / n as f64);
        Ok(())
    })?;
    let mean = results.on(&"uniform").get(n, THEORY, MEAN);
    Ok(Outcome {
        scale_note: format!("{n} draws; the paper does not say how many"),
        tables: vec![table],
        claims: vec![measured(MEAN.key, mean).near(0.5, 0.2)],
        values: vec![("n", n.to_string())],
        ..Outcome::default()
    })
}

/// What an experiment of the smoke scale is given.
pub fn context(progress: &Progress) -> Context<'_> {
    let tape = Mutex::default();
    Context { scale: Scale::Smoke, progress, data_dir: None, peers: None, seed: 5, tape }
}

/// An estimate with its standard error.
pub fn estimate(value: f64, error: f64) -> Estimate {
    Estimate { value, error: Some(error), time: false }
}

/// A record with everything in it that is hard to store or to show.
pub fn record() -> Record {
    let mut table = Table::new(
        "odd",
        "Odd <cells>",
        [Column::new("λ"), Column::with_unit("time", "s"), Column::paper("d_eff")],
    );
    table.push([Cell::from("a, \"b\"\n<c>"), f64::NAN.into(), Cell::Missing]);
    table.push([0.1.into(), f64::INFINITY.into(), 1e-300.into()]);
    let mut plot = Plot::new("odd", "Odd points", Axis::log("x & y"), Axis::log("y < z"));
    plot.line("empty", "exact", []);
    plot.line_and_points(
        "some",
        "uniform",
        [Point::new(0.0, 1.0), Point::with_range(1.0, f64::NAN, 0.0, 2.0)],
    );
    let outcome = Outcome {
        scale_note: "n = 3 & no more".into(),
        tables: vec![table],
        plots: vec![plot],
        claims: vec![
            Claim {
                text: "a < b & c > \"d\"".into(),
                measured: "≤ 1".into(),
                ..measured("", 1.0).at_most("<1>", 1.0).printed()
            },
            measured("risk ratio", f64::NAN).at_most("1.1", 1.2).picture(),
            measured("open", estimate(1.25, 0.25)).at_least("1", 1.0),
        ],
        notes: vec!["A note with <b>markup</b>.".into()],
        missing: vec![missing()],
        ..Outcome::default()
    };
    Record {
        name: SELF_CHECK.name.into(),
        paper: PAPER.short.into(),
        figure: SELF_CHECK.figure.into(),
        status: Status::Done,
        scale: Scale::Smoke,
        seconds: 0.1 + 0.2,
        peak_mb: Some(12.5),
        threads: 2,
        instruction_set: "V3".into(),
        started: "2026-01-01T00:00:00Z".into(),
        error: None,
        outcome,
    }
}

/// A data set that is not there.
pub fn missing() -> MissingData {
    MissingData {
        name: "nowhere-32fh".into(),
        needed_for: "row <Nowhere>".into(),
        where_to_get: "https://example.org/nowhere".into(),
        files: vec!["nowhere/nowhere-32fh.csv".into()],
        expected_shape: "8192 × 33".into(),
        checksum: Some("0".repeat(64)),
    }
}

/// A run of two experiments of which one has this record.
pub fn run_with(record: Record) -> Run {
    const REGISTRY: &[Experiment] =
        &[SELF_CHECK, Experiment { name: "not-run", figure: "Figure 9", ..SELF_CHECK }];
    Run {
        seed: 3,
        scale: Scale::Smoke,
        versions: Versions {
            nystrom: "0.0.0".into(),
            rustc: None,
            git: None,
            build: "0123456789abcdef".into(),
        },
        cpu: Some("Abacus".into()),
        instruction_set: "V4".into(),
        threads: 2,
        started: "2026-01-01T00:00:00Z".into(),
        finished: None,
        data_dir: Some("../my data".into()),
        registry: REGISTRY,
        records: vec![record],
    }
}
