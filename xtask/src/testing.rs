//! Made-up experiments and outcomes for the tests of the framework; none of them is in the registry.

use rand::RngExt;

use crate::experiment::{
    Axis, Cell, Claim, Column, Context, Experiment, MissingData, Outcome, Paper, Plot, Point, Scale, Table,
};
use crate::lab::statistics::Estimate;
use crate::record::{Entry, Record, Run, Status};
use crate::resume::Key;

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
    says: "The mean of uniform numbers is 1/2.",
    data: &[],
    run: self_check,
};

/// [`SELF_CHECK`]'s function.
pub fn self_check(ctx: &Context) -> anyhow::Result<Outcome> {
    let n = ctx.pick(100, 1000, 10_000);
    let stage = ctx.progress.begin("drawing", n);
    let mut rng = ctx.rng("draws");
    let draws: Vec<f64> = (0..n)
        .map(|_| {
            stage.inc(1);
            rng.random()
        })
        .collect();
    let mean = draws.iter().sum::<f64>() / n as f64;

    let mut table = Table::new("draws", "The draws", [Column::new("i"), Column::new("u"), Column::paper("E u")]);
    for (i, &u) in draws.iter().enumerate().take(5) {
        table.push([i.into(), u.into(), 0.5.into()]);
    }
    let mut plot = Plot::new("path", "Running draws", Axis::linear("draw"), Axis::linear("value"));
    plot.points("draws", "uniform", draws.iter().enumerate().map(|(i, &u)| Point::new(i as f64, u)));
    plot.horizontal("mean", mean);
    Ok(Outcome {
        scale_note: format!("{n} draws; the paper does not say how many"),
        tables: vec![table],
        plots: vec![plot],
        claims: vec![Claim::near("mean of the draws", 0.5, mean, 0.2)],
        ..Outcome::default()
    })
}

/// A key for the tests of resuming.
pub fn key() -> Key {
    Key {
        name: "self-check".into(),
        build: "0123456789abcdef".into(),
        scale: Scale::Smoke,
        seed: 0,
        data: String::new(),
    }
}

/// A record with everything in it that is hard to store or to show.
pub fn record() -> Record {
    let mut table =
        Table::new("odd", "Odd <cells>", [Column::new("λ"), Column::with_unit("time", "s"), Column::paper("d_eff")]);
    table.push([Cell::from("a, \"b\"\n<c>"), f64::NAN.into(), Cell::Missing]);
    table.push([0.1.into(), f64::INFINITY.into(), 1e-300.into()]);
    let mut plot = Plot::new("odd", "Odd points", Axis::log("x & y"), Axis::log("y < z"));
    plot.line("empty", "exact", []);
    plot.line_and_points("some", "uniform", [Point::new(0.0, 1.0), Point::with_range(1.0, f64::NAN, 0.0, 2.0)]);
    let outcome = Outcome {
        scale_note: "n = 3 & no more".into(),
        tables: vec![table],
        plots: vec![plot],
        claims: vec![
            Claim::new("a < b & c > \"d\"", "<1>", "≤ 1", true).printed(),
            Claim::at_most("risk ratio", "1.1", f64::NAN, 1.2).picture(),
            Claim::at_least("open", "1", Estimate { value: 1.25, error: Some(0.25), time: false }, 1.0),
        ],
        notes: vec!["A note with <b>markup</b>.".into()],
        missing: vec![missing()],
    };
    Record {
        status: Status::Done,
        error: None,
        scale: Scale::Smoke,
        seconds: 0.1 + 0.2,
        peak_mb: Some(12.5),
        started: "2026-01-01T00:00:00Z".into(),
        threads: 2,
        build: "0123456789abcdef".into(),
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
    let other = Experiment { name: "not-run", figure: "Figure 9", ..SELF_CHECK };
    Run {
        seed: 3,
        scale: Scale::Smoke,
        threads: 2,
        data_dir: Some("../my data".into()),
        cpu: Some("Abacus".into()),
        revision: None,
        build: "0123456789abcdef".into(),
        started: "2026-01-01T00:00:00Z".into(),
        finished: None,
        entries: vec![
            Entry { experiment: SELF_CHECK, record: Some(record) },
            Entry { experiment: other, record: None },
        ],
    }
}

/// A run with one of everything, for looking at the report.
pub fn gallery() -> Run {
    let curve = |a: f64, p: f64, n: i32| (1..=n).map(move |i| (f64::from(i) * 50.0, a * (f64::from(i) * 50.0).powf(p)));
    let bars = |a: f64, p: f64| curve(a, p, 8).map(|(x, y)| Point::with_range(x, y, y * 0.7, y * 1.5));
    let mut risk = Plot::new(
        "risk",
        "Risk against the number of columns p; error bars are 5 % and 95 % quantiles of 100 repetitions",
        Axis::linear("columns p"),
        Axis::log("risk R(f)"),
    );
    risk.line_and_points("uniform", "uniform", bars(3.0, -0.9));
    risk.line_and_points("diagonal", "diagonal", bars(3.3, -1.0));
    risk.line_and_points("exact leverage scores", "leverage", bars(8.0, -1.4));
    risk.line_and_points("approximate leverage scores", "fast-leverage", bars(8.2, -1.35));
    risk.line_and_points("rank-k scores", "rank-k", bars(4.0, -1.2));
    risk.line_and_points("RPCholesky", "rp-cholesky", bars(7.0, -1.5));
    risk.line_and_points("BLESS", "bless", bars(1.0, -0.8));
    risk.line_and_points("recursive", "recursive", bars(1.5, -0.8));
    risk.line_and_points("k-means", "k-means", bars(0.8, -1.1));
    risk.line_and_points("adaptive", "adaptive", bars(1.0, -1.2));
    risk.horizontal("exact kernel ridge regression", 1e-3);

    let mut scores =
        Plot::new("scores", "Leverage scores on the Bernoulli problem", Axis::linear("x"), Axis::linear("ℓ(x)"));
    let bump =
        (0..500).map(|i| f64::from(i) / 499.0).map(|x| Point::new(x, 0.05 + 0.9 * (-(x - 0.5).powi(2) / 0.005).exp()));
    scores.points("λ-ridge leverage scores", "leverage", bump);
    let mut time = Plot::new("time", "Time of exact and fast scores", Axis::log("points n"), Axis::log("time / s"));
    time.line_and_points("exact", "exact", curve(1e-9, 3.0, 60).step_by(6).map(|(x, y)| Point::new(x, y)));
    time.line_and_points("fast", "fast-leverage", curve(1e-6, 1.1, 60).step_by(6).map(|(x, y)| Point::new(x, y)));
    time.line("n³", "theory", curve(2e-9, 3.0, 60).map(|(x, y)| Point::new(x, y)));

    let columns = ["data set", "n", "d", "λ"].map(Column::new).into_iter();
    let pairs = ["d_eff", "d_mof", "risk ratio"].into_iter().flat_map(|name| [Column::paper(name), Column::new(name)]);
    let mut table = Table::new(
        "table-1",
        "Table 1: dimensions and risk ratios",
        columns.chain(pairs).chain([Column::with_unit("time", "s")]),
    );
    for (name, n, d) in
        [("Gas drift, batch 2", 1244_usize, 128_usize), ("Gas drift, batch 3", 1586, 128), ("Pumadyn-32nm", 2000, 32)]
    {
        let measured: [Cell; 7] =
            [126.0.into(), 121.83.into(), 1244.0.into(), 1201.4.into(), 1.1.into(), 1.08.into(), 12.3.into()];
        table.push([name.into(), n.into(), d.into(), 1e-3.into()].into_iter().chain(measured));
    }
    table.push(
        [Cell::from("Pumadyn-32fh"), 2000_usize.into(), 32_usize.into(), 4.5e-4.into(), 31.0.into()]
            .into_iter()
            .chain(vec![Cell::Missing; 6]),
    );

    let outcome = |plots, tables, missing| Outcome {
        scale_note:
            "n = 500 as in the paper; 20 of its 100 repetitions, which widens the error bars by a factor of about two."
                .into(),
        plots,
        tables,
        claims: vec![
            Claim::near("risk ratio of leverage sampling at p = 2 d_eff on Gas drift, batch 2", 1.1, 1.08, 0.1)
                .printed(),
            Claim::at_most(
                "median over repetitions of risk(leverage) / risk(uniform) at p = 100",
                "needs far fewer columns",
                Estimate { value: 0.95, error: Some(0.05), time: false },
                1.0,
            )
            .picture(),
            Claim::at_least("fitted exponent of the exact scores' time", "O(n³)", 2.41, 2.7),
        ],
        notes: vec!["The paper does not give the law of the design points; Beta(0.03, 0.03) is our choice.".into()],
        missing,
    };
    let done = |outcome| Record { outcome, peak_mb: Some(412.7), seconds: 83.2, ..record() };
    let no_data =
        Outcome { missing: vec![MissingData { needed_for: String::new(), ..missing() }], ..Outcome::default() };
    let entry = |name, figure, record| Entry {
        experiment: Experiment {
            name,
            figure,
            data: &["gas-drift"],
            says: "Only points near ½ have high scores, and leverage sampling needs far fewer columns than uniform sampling for the same risk.",
            ..SELF_CHECK
        },
        record,
    };
    let entries = vec![
        entry("nobody-fig1", "Figure 1", Some(done(outcome(vec![scores, risk, time], vec![], vec![])))),
        entry("nobody-table1", "Table 1", Some(done(outcome(vec![], vec![table], vec![missing()])))),
        entry("nobody-odd", "Figure 2, with odd values", Some(record())),
        entry("nobody-table2", "Table 2", Some(Record { status: Status::NoData, outcome: no_data, ..record() })),
        entry(
            "nobody-table3",
            "Table 3",
            Some(Record {
                status: Status::Failed,
                error: Some("panicked: index 7 out of bounds".into()),
                outcome: Outcome::default(),
                ..record()
            }),
        ),
        entry("nobody-table4", "Table 4", None),
    ];
    Run { entries, scale: Scale::Default, seed: 0, finished: Some("2026-01-01T00:05:00Z".into()), ..run_with(record()) }
}
