//! The comparison table of the SQUEAK papers, measured: time, space, accuracy and incrementality of six ways to find columns.

use nystrom::faer::Mat;
use nystrom::kernels::{Gaussian, KernelMatrix, Points};
use nystrom::krr::risk::FixedDesign;
use nystrom::leverage::{Dictionary, ExactSpectrum, Projector, exact_scores};
use nystrom::linalg_core::{PsdMatrix, Ridge};
use nystrom::sketch::Nystrom;

use super::counting::Counting;
use super::papers;
use super::squeak_methods::{COPIES, EPSILON, METHODS, Measured, Reach, Setting};
use super::squeak_problem::{self, SqueakProblem};
use super::truth::{Truth, standard};
use crate::datasets::standardized;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Lookup, Outcome, Plot, Point, Table};
use crate::lab::statistics::fitted_exponent;
use crate::progress::Stage;

pub const EXPERIMENT: Experiment = Experiment {
    name: "squeak-table",
    paper: &papers::CALANDRIELLO_2017,
    figure: "Comparison of methods",
    says: "Uniform columns must number d_mof, which may be n; Alaoui & Mahoney's approximate scores need tr K/(με) columns; INK-Estimate is incremental, \
        but its space depends on the largest eigenvalue; SQUEAK is incremental, linear in n, Õ(n d_eff³), with a dictionary that depends on d_eff alone; \
        distributed, Õ(log n · d_eff³). Sampling by leverage scores keeps the accuracy of exact KRR up to a constant.",
    data: &["ccpp"],
    run,
};

/// The numbers of points, by the reach of a method; all methods are judged at the largest of the slow ones.
struct Grids([(Reach, &'static [usize]); 3]);

impl Grids {
    fn new(ctx: &Context) -> Self {
        Grids([
            (Reach::Slow, ctx.pick(&[60, 120], &[400, 800, 1600], &[1000, 2000, 4000])),
            (Reach::Batch, ctx.pick(&[60, 120], &[800, 1600, 3200], &[2000, 4000, 8000])),
            (Reach::Stream, ctx.pick(&[200, 400], &[2000, 8000, 32_000], &[10_000, 40_000, 160_000, 640_000])),
        ])
    }

    fn has(&self, reach: Reach, n: usize) -> bool {
        self.0.iter().any(|(of, grid)| *of == reach && grid.contains(&n))
    }

    fn judged(&self) -> usize {
        self.0[0].1[self.0[0].1.len() - 1]
    }

    /// Every n, once.
    fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.0.iter().flat_map(|(_, grid)| grid.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let grids = Grids::new(ctx);
    let mut out = Outcome {
        scale_note: "The paper has the orders only; problems and sizes are ours.".into(),
        ..Outcome::default()
    };
    let stage = ctx.progress.begin("problems", grids.all().len() + 1);
    synthetic(ctx, &stage, &grids, &mut out)?;
    real(ctx, &mut out)?;
    stage.inc(1);
    out.notes.extend(notes());
    Ok(out)
}

fn notes() -> [String; 4] {
    [
        squeak_problem::CHOICES.into(),
        format!(
            "q̄ = {COPIES} and ε = {EPSILON}: far fewer copies than the theorem's (thousands), so its guarantee is measured here, not implied. INK-Estimate, whose \
             copies are normalised, has 4q̄·d_eff in all, which gives a point about as many; with q̄·d_eff its dictionary starved. Uniform sampling is told d_mof and INK-Estimate d_eff, which cost n³ to know."
        ),
        "Kernel values and memory are counted, the memory by an allocator that counts: data and results of earlier steps excluded. Both cover the choice of columns and \
         kernel ridge regression through them. Times are of this machine. The papers' orders are given as far as recalled, without constants and logarithms."
            .into(),
        "Scores are those measured against the chosen dictionary (for Alaoui–Mahoney its own, from p columns); ε = ‖P − P̃‖ is computed. A row's largest τ̃/τ at most 1/(1 − ε) \
         and its least at least 1/(1 + ε) follow from it where ε < 1."
            .into(),
    ]
}

/// What the methods are told about a problem.
fn setting<'a>(
    ctx: &Context,
    x: Points<'a, f64>,
    y: &'a Mat<f64>,
    kernel: Gaussian,
    ridge: Ridge<f64>,
) -> anyhow::Result<Setting<'a>> {
    let exact = exact_scores(&KernelMatrix::new(kernel, x)?, ridge)?;
    let mut setting = without_exact_scores(x, y, kernel, ridge);
    (setting.d_eff, setting.d_mof) = (exact.d_eff(), exact.d_mof());
    let squeak = METHODS.iter().find(|method| method.name == "SQUEAK").expect("SQUEAK is a method");
    let rng = &mut ctx.rng(&format!("SQUEAK, n = {}", x.len())); // the run that is measured later
    setting.m = (squeak.choose)(&setting, rng)?.dictionary.map_or(0, |dictionary| dictionary.len());
    Ok(setting)
}

/// Enough for methods that take a stream.
fn without_exact_scores<'a>(x: Points<'a, f64>, y: &'a Mat<f64>, kernel: Gaussian, ridge: Ridge<f64>) -> Setting<'a> {
    Setting { x, y: y.as_ref(), kernel: Counting::new(kernel), ridge, d_eff: f64::NAN, d_mof: f64::NAN, m: 0 }
}

/// n, seconds, kernel values, floats, columns; last, kernel values of choosing alone.
type Sizes = [f64; 6];

fn sizes(n: usize, measured: &Measured) -> Sizes {
    let floats = measured.floats[0].max(measured.floats[1]);
    let [chosen, fitted] = measured.values.map(|values| values as f64);
    [n as f64, measured.choose + measured.fit, chosen + fitted, floats, measured.columns as f64, chosen]
}

fn synthetic(ctx: &Context, stage: &Stage<'_>, grids: &Grids, out: &mut Outcome) -> anyhow::Result<()> {
    let mut series: Vec<Vec<Sizes>> = METHODS.iter().map(|_| vec![]).collect();
    let (kernel, ridge) = (squeak_problem::kernel()?, squeak_problem::ridge());
    for n in grids.all() {
        let problem = SqueakProblem::new(n, &mut ctx.rng(&format!("points, n = {n}")));
        let y = problem.y(&mut ctx.rng(&format!("noise, n = {n}")));
        let setting = match grids.has(Reach::Slow, n) || grids.has(Reach::Batch, n) {
            true => setting(ctx, problem.first(n), &y, kernel, ridge)?,
            false => without_exact_scores(problem.first(n), &y, kernel, ridge),
        };
        let mut all = vec![];
        for (method, series) in METHODS.iter().zip(&mut series) {
            let wanted = grids.has(method.reach, n);
            if wanted || n == grids.judged() {
                let measured = setting.measure(method, ctx)?;
                series.extend(wanted.then(|| sizes(n, &measured)));
                all.push(measured);
            }
        }
        if n == grids.judged() {
            let truth = Truth::known(&setting.matrix()?, ridge, problem.f_star.clone(), squeak_problem::NOISE)?;
            let judged = judge(&setting, &truth, &all)?;
            report("synthetic", "A crowd and 40 far points", &setting, &all, &judged, out);
            claims_on_columns(&setting, &judged, out);
        }
        stage.inc(1);
    }
    growth(&series, out);
    Ok(())
}

fn real(ctx: &Context, out: &mut Outcome) -> anyhow::Result<()> {
    let data = match ctx.dataset("ccpp")? {
        Lookup::Found(data) => data,
        Lookup::Missing(missing) => {
            out.missing.push(missing.needed_for("the table on CCPP"));
            return Ok(());
        }
    };
    let n = ctx.pick(120, 1000, 4000).min(data.y.len());
    let rows = nystrom::linalg_core::random::uniform_subset(data.y.len(), n, &mut ctx.rng("rows of CCPP"))?;
    let all = standardized(data.x.as_ref())?;
    let x = Mat::from_fn(n, all.ncols(), |i, j| all[(rows[i], j)]);
    let targets: Vec<f64> = rows.iter().map(|&i| data.y[i]).collect();
    let y = standard(&targets);
    let setting = setting(ctx, Points::from_rows(x.as_ref()), &y, Gaussian::new(1.0)?, Ridge::Absolute(1.0))?;
    let all: Vec<Measured> =
        METHODS.iter().map(|method| setting.measure(method, ctx)).collect::<anyhow::Result<_>>()?;
    let truth = Truth::plug_in(&setting.matrix()?, setting.ridge, &targets)?;
    let judged = judge(&setting, &truth, &all)?;
    report("ccpp", "CCPP", &setting, &all, &judged, out);
    out.notes.push(format!(
        "CCPP: {n} of its rows, four features of variance 1, Gaussian kernel with σ = 1, γ = μ = 1. Its f* is not known: f* is the exact fit, and the noise's variance \
         ‖y − f̂‖²/tr((I − H)²)."
    ));
    Ok(())
}

/// What a choice of columns is worth.
struct Judged {
    epsilon: f64,
    ratio: f64,
    /// max and min of τ̃/τ.
    over: f64,
    under: f64,
}

fn judge(setting: &Setting<'_>, truth: &Truth, all: &[Measured]) -> anyhow::Result<Vec<Judged>> {
    let k = setting.matrix()?;
    let spectrum = ExactSpectrum::new(&k)?;
    let tau = spectrum.scores(setting.ridge)?.scores;
    let one = |measured: &Measured| {
        let full = Dictionary::full(setting.n())?;
        let dictionary = measured.choice.dictionary.as_ref().unwrap_or(&full);
        let scores = match &measured.choice.scores {
            Some(scores) => scores.clone(),
            None => Projector::new(&k, dictionary, setting.ridge)?.scores(&k, (0..k.dim()).into())?,
        };
        let ratio = match measured.choice.dictionary {
            None => 1.0,
            Some(_) => {
                let nystrom = Nystrom::regularized(&k, dictionary, setting.ridge)?;
                FixedDesign::low_rank(nystrom.factor(), &truth.f_star)?
                    .risk(setting.ridge, truth.noise)?
                    .ratio(truth.risk)
            }
        };
        let ratios = || scores.iter().zip(&tau).map(|(a, b)| a / b);
        let (over, under) = (ratios().fold(0.0, f64::max), ratios().fold(f64::INFINITY, f64::min));
        Ok(Judged { epsilon: spectrum.accuracy(dictionary, setting.ridge)?, ratio, over, under })
    };
    all.iter().map(one).collect()
}

/// The table at one n, and the claim that every method with a guarantee keeps the risk.
fn report(id: &str, title: &str, setting: &Setting<'_>, all: &[Measured], judged: &[Judged], out: &mut Outcome) {
    let n = setting.n();
    let title = format!("{title}: n = {n}, d_eff = {:.1}, d_mof = {:.0}", setting.d_eff, setting.d_mof);
    let columns = [
        Column::new("method"),
        Column::with_unit("time to choose", "s"),
        Column::with_unit("time to fit", "s"),
        Column::new("columns"),
        Column::new("points held"),
        Column::new("kernel values to choose / n²"),
        Column::new("to fit / n²"),
        Column::new("floats to choose / n²"),
        Column::new("floats to fit / n²"),
        Column::new("ε"),
        Column::new("risk ratio"),
        Column::new("max τ̃/τ"),
        Column::new("min τ̃/τ"),
        Column::paper("incremental"),
    ];
    let mut table = Table::new(id, &title, columns);
    let square = (n * n) as f64;
    let bound = (1.0 + 1.0 / (1.0 - EPSILON)).powi(2);
    for ((method, m), j) in METHODS.iter().zip(all).zip(judged) {
        let cost = [m.choose, m.fit, m.columns as f64, m.held as f64];
        let [chosen, fitted] = m.values.map(|values| values as f64 / square);
        let space = m.floats.map(|floats| floats / square);
        let numbers = cost
            .into_iter()
            .chain([chosen, fitted])
            .chain(space)
            .chain([j.epsilon, j.ratio, j.over, j.under])
            .map(Cell::from);
        table.push(std::iter::once(Cell::from(method.name)).chain(numbers).chain([method.incremental.into()]));
        if ["INK-Estimate", "SQUEAK", "DISQUEAK"].contains(&method.name) {
            let text = format!("{id}: risk of KRR with the columns of {} over that of exact KRR", method.name);
            out.claims.push(Claim::at_most(&text, "≤ (1 + (γ/μ)/(1 − ε))², ε = ½", j.ratio, bound));
        }
    }
    out.tables.push(table);
}

/// What the synthetic problem is made for: d_mof near n, and uniform columns that miss the far points.
fn claims_on_columns(setting: &Setting<'_>, judged: &[Judged], out: &mut Outcome) {
    let ratio =
        |name: &str| METHODS.iter().zip(judged).find(|(m, _)| m.name == name).map_or(f64::NAN, |(_, j)| j.ratio);
    out.claims.push(Claim::at_least("d_mof/n", "d_mof may be n", setting.d_mof / setting.n() as f64, 0.9));
    let times = ratio("uniform, m of SQUEAK") / ratio("SQUEAK");
    out.claims.push(Claim::at_least("risk with uniform columns over that with as many of SQUEAK's", "> 1", times, 1.5));
}

/// Exponents of n, beside the papers' orders.
fn growth(series: &[Vec<Sizes>], out: &mut Outcome) {
    let columns = ["method", "n", "time", "kernel values", "floats", "columns"].map(Column::new);
    let printed = ["time (papers)", "space (papers)"].map(Column::paper);
    let mut table = Table::new("growth", "Exponents of n, fitted, at a fixed γ", columns.into_iter().chain(printed));
    let mut time = Plot::new(
        "time",
        "Choosing columns and regression through them",
        Axis::log("number of points n"),
        Axis::log("time / s"),
    );
    let mut space =
        Plot::new("space", "Most numbers held at one time", Axis::log("number of points n"), Axis::log("floats"));
    for (method, sizes) in METHODS.iter().zip(series) {
        let exponent = |of: usize| fitted_exponent(&sizes.iter().map(|s| (s[0], s[of])).collect::<Vec<_>>());
        let exponents = [1, 2, 3, 4].map(exponent);
        let range = format!("{} to {}", sizes[0][0], sizes[sizes.len() - 1][0]);
        let cells = [Cell::from(method.name), range.into()].into_iter().chain(exponents.map(Cell::from));
        table.push(cells.chain([method.time.into(), method.space.into()]));
        time.line_and_points(
            &format!("{}: n^{:.2}", method.name, exponents[0]),
            method.key,
            sizes.iter().map(|s| Point::new(s[0], s[1])),
        );
        space.line_and_points(
            &format!("{}: n^{:.2}", method.name, exponents[2]),
            method.key,
            sizes.iter().map(|s| Point::new(s[0], s[3])),
        );
        if method.reach == Reach::Stream {
            let (name, [time, values, _, columns]) = (method.name, exponents);
            let text = format!("{name}: exponent of n in time, less three times that in columns");
            out.claims.push(Claim::at_most(&text, "1: Õ(n d_eff³)", time - 3.0 * columns, 1.1));
            let text = format!("{name}: exponent of n in kernel values, less that in columns");
            out.claims.push(Claim::at_most(&text, "1", values - columns, 1.1));
            out.claims.push(Claim::at_most(
                &format!("{name}: exponent of n in columns"),
                "0: d_eff alone",
                columns,
                0.25,
            ));
        }
        if method.name == "INK-Estimate" {
            let text = "INK-Estimate: exponent of n in kernel values of choosing";
            out.claims.push(Claim::near(text, 2.0, exponent(5), 0.05));
        }
        if method.name == "exact" {
            out.claims.push(Claim::near("exact: exponent of n in floats", 2.0, exponents[2], 0.1));
        }
    }
    out.tables.push(table);
    out.plots.extend([time, space]);
}
