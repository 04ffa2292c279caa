//! Every estimator of leverage scores on three real sets: accuracy against time. Our own figure.

use std::time::Instant;

use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern32, Points};
use nystrom::leverage::{
    AlaouiMahoney, Bless, BlessR, Density, DensityMethod, Disqueak, KernelDensity, RecursiveRls, RecursiveRlsOfSize,
    RidgeLeverage, SpectralAnalysis, SqueakParams, exact_scores,
};
use nystrom::linalg_core::{Ridge, random};
use rand::Rng;

use super::papers;
use crate::datasets::standardized;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Lookup, Outcome, Plot, Point, Table, number};
use crate::lab::statistics::quantile;

pub const EXPERIMENT: Experiment = Experiment {
    name: "leverage-summary",
    paper: &papers::OURS,
    figure: "Leverage scores: accuracy against time",
    says: "Not from a paper: every estimator of ridge leverage scores in this workspace, with one parameter varied, on three real sets, against exact scores.",
    data: &["ccpp", "casp", "california-housing"],
    run,
};

/// Matérn ν = 3/2 on standardised features, ℓ and λ.
const LENGTH_SCALE: f64 = 2.0;
const LAMBDA: f64 = 1e-3;

/// An estimator with the meaning of its parameter, the values tried, and its style.
struct Entry {
    name: &'static str,
    parameter: &'static str,
    values: [u32; 3],
    style: &'static str,
}

const fn entry(name: &'static str, parameter: &'static str, values: [u32; 3], style: &'static str) -> Entry {
    Entry { name, parameter, values, style }
}

const ESTIMATORS: [Entry; 7] = [
    entry("Alaoui–Mahoney", "columns", [100, 300, 1000], "fast-leverage"),
    entry("Recursive-RLS, given ridge", "oversampling", [1, 3, 10], "recursive"),
    entry("Recursive-RLS, given size", "rows", [100, 300, 1000], "recursive-size"),
    entry("BLESS", "q1 = q2", [2, 5, 15], "bless"),
    entry("BLESS-R", "q2", [2, 5, 15], "bless-r"),
    entry("SQUEAK", "copies", [2, 5, 10], "squeak"),
    entry("DISQUEAK, 8 chunks", "copies", [2, 5, 10], "disqueak"),
];

/// One run: r_i = l̃_i/l_i over the points.
struct Accuracy {
    seconds: f64,
    low: f64,
    high: f64,
    mean_relative_error: f64,
    largest: f64,
}

impl Accuracy {
    fn new(seconds: f64, scores: &[f64], exact: &[f64]) -> Self {
        let mut r: Vec<f64> = scores.iter().zip(exact).map(|(a, b)| a / b).collect();
        r.sort_by(f64::total_cmp);
        let mean_relative_error = r.iter().map(|r| (r - 1.0).abs()).sum::<f64>() / r.len() as f64;
        let (low, high) = (quantile(&r, 0.05), quantile(&r, 0.95));
        Accuracy { seconds, low, high, mean_relative_error, largest: quantile(&r, 1.0) }
    }

    fn spread(&self) -> f64 {
        self.high / self.low
    }
}

type Matrix<'a> = KernelMatrix<'a, f64, Matern32>;

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let n = ctx.pick(300, 4000, 10_000);
    let mut out = Outcome::default();
    let heads = ["data set", "n", "features", "d_eff", "estimator", "parameter", "value"].map(Column::new).into_iter();
    let measured = ["r: 5 %", "r: 95 %", "spread, 95 %/5 %", "mean |r − 1|"].map(Column::new);
    let time = std::iter::once(Column::with_unit("time", "s"));
    let mut table = Table::new("summary", "r = estimated over exact score", heads.chain(time).chain(measured));
    let stage = ctx.progress.begin("estimators", EXPERIMENT.data.len() * (ESTIMATORS.len() * 3 + 1));
    for name in EXPERIMENT.data {
        let data = match ctx.dataset(name)? {
            Lookup::Found(data) => data,
            Lookup::Missing(missing) => {
                out.missing.push(missing.needed_for(format!("figure of {name}")));
                continue;
            }
        };
        let rng = &mut ctx.rng(&format!("{name}, rows"));
        let rows = random::uniform_subset(data.x.nrows(), n.min(data.x.nrows()), rng)?;
        let x = standardized(Mat::from_fn(rows.len(), data.x.ncols(), |i, j| data.x[(rows[i], j)]).as_ref())?;
        one_set(ctx, name, &x, &mut table, &mut out, &|| stage.inc(1))?;
    }
    if !table.rows.is_empty() {
        out.tables.push(table);
    }
    out.scale_note = format!("{n} random rows of each set; 10,000 (CCPP: all 9568) in a full run");
    out.notes = notes();
    Ok(out)
}

fn one_set(
    ctx: &Context,
    name: &str,
    x: &Mat<f64>,
    table: &mut Table,
    out: &mut Outcome,
    done: &dyn Fn(),
) -> anyhow::Result<()> {
    let points = Points::from_rows(x.as_ref());
    let (kernel, ridge) = (Matern32::new(LENGTH_SCALE)?, Ridge::PerSample(LAMBDA));
    let k = KernelMatrix::new(kernel, points)?;
    let start = Instant::now();
    let exact = exact_scores(&k, ridge)?;
    let exact_seconds = start.elapsed().as_secs_f64();
    let d_eff = exact.d_eff();
    let head = |estimator: &str, parameter: &str, value: Cell| {
        let size = [Cell::from(x.nrows()), x.ncols().into(), d_eff.into()];
        [Cell::from(name)]
            .into_iter()
            .chain(size)
            .chain([estimator.into(), parameter.into(), value])
            .collect::<Vec<_>>()
    };
    let row = |a: &Accuracy| {
        let time = Cell::from(a.seconds.is_finite().then_some(a.seconds));
        [time, a.low.into(), a.high.into(), a.spread().into(), a.mean_relative_error.into()]
    };
    let mut spread = Plot::new(
        &format!("spread-{name}"),
        &format!("{name}: n = {}, {} features, d_eff = {}", x.nrows(), x.ncols(), number(d_eff.round())),
        Axis::log("time of all n scores / s"),
        Axis::log("spread of r: 95 % over 5 % quantile"),
    );
    for entry in &ESTIMATORS {
        let mut along = vec![];
        for value in entry.values {
            let rng = &mut ctx.rng(&format!("{name}, {}, {value}", entry.name));
            let start = Instant::now();
            let scores = scores(entry, value, &k, ridge, rng)?;
            let accuracy = Accuracy::new(start.elapsed().as_secs_f64(), &scores, &exact.scores);
            table.push(head(entry.name, entry.parameter, (value as usize).into()).into_iter().chain(row(&accuracy)));
            along.push(accuracy);
            done();
        }
        spread.line_and_points(entry.name, entry.style, along.iter().map(|a| Point::new(a.seconds, a.spread())));
        out.claims.extend(claims(name, entry, &along));
    }
    let start = Instant::now();
    let density = Density::Estimated(KernelDensity { method: DensityMethod::Exact, ..KernelDensity::default() });
    let spectral = SpectralAnalysis { density, ..SpectralAnalysis::default() }.scores(&kernel, points, ridge)?;
    let spectral = Accuracy::new(start.elapsed().as_secs_f64(), &spectral.scores, &exact.scores);
    let uniform = Accuracy::new(f64::NAN, &vec![d_eff / x.nrows() as f64; x.nrows()], &exact.scores);
    done();
    spread.points("SA", "spectral", [Point::new(spectral.seconds, spectral.spread())]);
    spread.horizontal("uniform", uniform.spread());
    spread.vertical("exact scores", exact_seconds);
    let text = format!(
        "{name}: spread of SA, whose density is estimated in {} dimensions, over that of uniform scores",
        x.ncols()
    );
    out.claims.push(Claim::at_most(&text, "ours", spectral.spread() / uniform.spread(), 1.0));
    table.push(head("SA", "", Cell::Missing).into_iter().chain(row(&spectral)));
    table.push(head("uniform, at the exact mean", "", Cell::Missing).into_iter().chain(row(&uniform)));
    let timed = [Cell::from(exact_seconds), 1.0.into(), 1.0.into(), 1.0.into(), 0.0.into()];
    table.push(head("exact", "", Cell::Missing).into_iter().chain(timed));
    out.plots.push(spread);
    Ok(())
}

fn scores(entry: &Entry, value: u32, k: &Matrix<'_>, ridge: Ridge<f64>, rng: &mut dyn Rng) -> anyhow::Result<Vec<f64>> {
    let (size, q) = ((value as usize).min(k.points().len()), f64::from(value));
    Ok(match entry.style {
        "fast-leverage" => AlaouiMahoney { columns: size }.scores(k, ridge, rng)?,
        "recursive" => RecursiveRls::with_oversampling(q).scores(k, ridge, rng)?,
        "recursive-size" => RecursiveRlsOfSize { size, accelerated: false }.scores(k, ridge, rng)?,
        "bless" => Bless { candidates: q, oversampling: q, ..Bless::default() }.scores(k, ridge, rng)?,
        "bless-r" => BlessR { oversampling: q, ..BlessR::default() }.scores(k, ridge, rng)?,
        "squeak" => SqueakParams { max_dictionary: 20_000, ..SqueakParams::new(value) }.scores(k, ridge, rng)?,
        _ => {
            let params = SqueakParams { max_dictionary: 20_000, ..SqueakParams::new(value) };
            Disqueak::new(params, 8).scores(k, ridge, rng)?
        }
    })
}

/// At its largest parameter, every estimator's scores spread less than this.
const SPREAD: f64 = 2.0;

fn claims(data: &str, entry: &Entry, along: &[Accuracy]) -> Vec<Claim> {
    let last = &along[along.len() - 1];
    let text = format!("{data}: spread of {} at {} = {}", entry.name, entry.parameter, entry.values[2]);
    let mut claims = vec![Claim::at_most(&text, "ours", last.spread(), SPREAD)];
    if entry.style == "fast-leverage" {
        let largest = along.iter().map(|a| a.largest).fold(0.0, f64::max);
        let text = format!("{data}: largest r of {}, whatever the columns", entry.name);
        claims.push(Claim::at_most(&text, "1 (Alaoui & Mahoney, Theorem 4)", largest, 1.0 + 1e-9));
    }
    claims
}

fn notes() -> Vec<String> {
    vec![
        format!(
            "Matérn ν = 3/2, ℓ = {LENGTH_SCALE}, λ = {LAMBDA} in K + nλI, features scaled to unit variance. Times are of single runs on all threads, and \
             include the scores of all points; lines join the three values of a parameter."
        ),
        "SA estimates the density in as many dimensions as there are features, by summing over all pairs; the library's automatic choice would refuse where the \
         estimate means nothing. Its one point is the default bandwidth."
            .into(),
        "INK-Estimate is not here: it keeps all columns of its dictionary and takes O(t·m² + m³) for the t-th point, hours at these sizes.".into(),
    ]
}
