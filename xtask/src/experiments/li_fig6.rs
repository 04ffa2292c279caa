//! Figures 6, 12 and 13 of Li, Jegelka & Sra 2016: time against error of twenty landmarks, on Ailerons and California Housing.

use std::time::Instant;

use nystrom::dpp::{KDppChain, SwapRule};
use nystrom::kernels::{Gaussian, KMeans, KernelMatrix};
use nystrom::leverage::{AlaouiMahoney, ExactSpectrum, FastRankLeverage, LeverageProportional, exact_scores};
use nystrom::linalg_core::{PsdMatrix, Ridge};
use nystrom::sketch::{
    AdaptiveFull, AdaptivePartial, Draw, KMeansPlusPlus, LandmarkSelector, Landmarks, Nystrom, RpCholesky, Uniform,
    Whitening, frobenius_error,
};

use super::li_problem::{Problem, SETS, Set, problem};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-fig6",
    paper: &papers::LI_2016,
    figure: "Figures 6, 12 and 13",
    says: "Time against relative error with 20 landmarks: on 4,000 rows of Ailerons k-means landmarks are slightly more accurate than k-DPP and slower; \
        on 12,000 rows of California Housing k-DPP sampling is best at every time.",
    data: &["ailerons", "california-housing"],
    run,
};

/// Landmarks, in both of the paper's figures.
const C: usize = 20;
const PANELS: [Panel; 2] = [
    Panel { set: SETS[1], rows: [300, 1500, 4000], columns: &[20, 60, 180, 340], steps: &[20, 60, 200] },
    Panel { set: SETS[7], rows: [300, 2500, 12_000], columns: &[20, 60, 140], steps: &[20, 50, 100] },
];

/// One plot.
struct Panel {
    set: Set,
    /// Rows in a smoke, default and full run.
    rows: [usize; 3],
    /// p of the approximate scores.
    columns: &'static [usize],
    /// Steps of the chain.
    steps: &'static [usize],
}

/// A family of methods, one point for each value of its parameter.
struct Series {
    name: &'static str,
    style: &'static str,
    /// What varies along it.
    settings: Vec<(String, Chooser)>,
}

/// How landmarks are chosen.
enum Chooser {
    Selector(Box<dyn LandmarkSelector<f64>>),
    /// In proportion to scores that are the same in every repetition: computed once, their time counted in each. An eigendecomposition at n = 12,000
    /// takes minutes.
    Scores(ScoresOf),
}

type ScoresOf = Box<dyn Fn(&dyn PsdMatrix<f64>) -> nystrom::linalg_core::Result<Vec<f64>>>;

/// Time and error of one setting, over the repetitions.
struct Measured {
    series: &'static str,
    style: &'static str,
    setting: String,
    seconds: Vec<f64>,
    errors: Vec<f64>,
}

impl Measured {
    fn time(&self) -> f64 {
        mean_and_error(&self.seconds).0
    }
    fn error(&self) -> f64 {
        mean_and_error(&self.errors).0
    }
}

fn families(panel: &Panel, ridge: Ridge<f64>) -> Vec<Series> {
    let draw = Draw::WithoutReplacement;
    fn one(name: &'static str, style: &'static str, selector: impl LandmarkSelector<f64> + 'static) -> Series {
        Series { name, style, settings: vec![(String::new(), Chooser::Selector(Box::new(selector)))] }
    }
    fn scored(name: &'static str, style: &'static str, scores: ScoresOf) -> Series {
        Series { name, style, settings: vec![(String::new(), Chooser::Scores(scores))] }
    }
    let approximate = |selector: &dyn Fn(usize) -> Box<dyn LandmarkSelector<f64>>| {
        panel.columns.iter().map(|&p| (format!("p = {p}"), Chooser::Selector(selector(p)))).collect()
    };
    let regularised = |p| -> Box<dyn LandmarkSelector<f64>> {
        Box::new(LeverageProportional { estimator: AlaouiMahoney { columns: p }, ridge, draw })
    };
    let chains = panel.steps.iter().map(|&steps| {
        let chain = KDppChain { start: KMeansPlusPlus, steps, rule: SwapRule::LazyGibbs };
        (format!("{steps} steps"), Chooser::Selector(Box::new(chain)))
    });
    vec![
        one("Unif", "uniform", Uniform::default()),
        scored("Lev", "rank-k", Box::new(rank_scores)),
        scored("RegLev", "leverage", Box::new(move |k| Ok(exact_scores(k, ridge)?.scores))),
        Series {
            name: "AppLev",
            style: "approximate-rank-k",
            settings: approximate(&|columns| Box::new(FastRankLeverage { columns, rank: None, draw })),
        },
        Series { name: "AppRegLev", style: "fast-leverage", settings: approximate(&regularised) },
        one("AdapFull", "adaptive", AdaptiveFull::default()),
        one("AdapPart", "adaptive-partial", AdaptivePartial::default()),
        Series { name: "kDPP", style: "k-dpp", settings: chains.collect() },
        one("RPCholesky", "rp-cholesky", RpCholesky::default()),
    ]
}

/// Scores of rank C, or of the numerical rank if that is less.
fn rank_scores(k: &dyn PsdMatrix<f64>) -> nystrom::linalg_core::Result<Vec<f64>> {
    let spectrum = ExactSpectrum::new(k)?;
    spectrum.rank_k_scores(C.min(spectrum.rank()).max(1))
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let repetitions = ctx.pick(1, 3, 10);
    let mut out = Outcome::default();
    for panel in &PANELS {
        let n = ctx.pick(panel.rows[0], panel.rows[1], panel.rows[2]);
        match problem(ctx, panel.set, 0, n, 0)? {
            Ok(problem) => {
                let measured = panel_run(ctx, panel, &problem, repetitions)?;
                out.plots.push(plot(panel, n, &measured));
                out.tables.push(table(panel, n, &measured));
                out.claims.extend(claims(panel, &measured));
            }
            Err(missing) => out.missing.push(missing.needed_for(format!("the plot of {}", panel.set.label))),
        }
    }
    out.scale_note = format!(
        "{} and {} rows (4000 and 12,000 in the paper), c = {C}, {repetitions} repetitions; times are of choosing landmarks, kernel entries included, \
         K not stored; scores that do not vary are computed once, their time counted in each repetition",
        ctx.pick(300, 1500, 4000),
        ctx.pick(300, 2500, 12_000)
    );
    Ok(out)
}

fn panel_run(ctx: &Context, panel: &Panel, problem: &Problem, repetitions: usize) -> anyhow::Result<Vec<Measured>> {
    let k = problem.matrix()?;
    let norm = frobenius_norm(&k);
    let families = families(panel, problem.ridge());
    let total = families.iter().map(|f| f.settings.len()).sum::<usize>() + 1;
    let stage = ctx.progress.begin(panel.set.label, total);
    let mut all = vec![k_means(ctx, panel, problem, &k, norm, repetitions)?];
    stage.inc(1);
    for Series { name, style, settings } in families {
        for (setting, chooser) in settings {
            let start = Instant::now();
            let scores = match &chooser {
                Chooser::Scores(scores) => scores(&k)?,
                Chooser::Selector(_) => vec![],
            };
            let before = start.elapsed().as_secs_f64();
            let (mut seconds, mut errors) = (vec![], vec![]);
            for r in 0..repetitions {
                let rng = &mut ctx.rng(&format!("{}, {name}, {setting}, repetition {r}", panel.set.name));
                let start = Instant::now();
                let landmarks = match &chooser {
                    Chooser::Scores(_) => Landmarks::draw(&scores, C, Draw::WithoutReplacement, rng)?,
                    Chooser::Selector(selector) => selector.select(&k, C, rng)?,
                };
                seconds.push(before + start.elapsed().as_secs_f64());
                errors.push(frobenius_error(&k, &Nystrom::new(&k, &landmarks)?)? / norm);
            }
            all.push(Measured { series: name, style, setting, seconds, errors });
            stage.inc(1);
        }
    }
    Ok(all)
}

/// Centroids are no rows of K: they have kernel values of their own, whose time counts too.
fn k_means(
    ctx: &Context,
    panel: &Panel,
    problem: &Problem,
    k: &KernelMatrix<'_, f64, Gaussian>,
    norm: f64,
    repetitions: usize,
) -> anyhow::Result<Measured> {
    let (mut seconds, mut errors) = (vec![], vec![]);
    for r in 0..repetitions {
        let rng = &mut ctx.rng(&format!("{}, Kmeans, repetition {r}", panel.set.name));
        let start = Instant::now();
        let clusters = KMeans::default().run(problem.points(), C, rng)?;
        seconds.push(start.elapsed().as_secs_f64());
        let (c, w) = k.against(clusters.centers())?;
        let l = Nystrom::from_blocks(c.as_ref(), w.as_ref(), Whitening::default())?;
        errors.push(frobenius_error(k, &l)? / norm);
    }
    Ok(Measured { series: "Kmeans", style: "k-means", setting: String::new(), seconds, errors })
}

/// ‖K‖_F, a row of K at a time.
fn frobenius_norm(k: &dyn PsdMatrix<f64>) -> f64 {
    let n = k.dim();
    (0..n).map(|i| k.block((i..i + 1).into(), (0..n).into()).squared_norm_l2()).sum::<f64>().sqrt()
}

fn plot(panel: &Panel, n: usize, measured: &[Measured]) -> Plot {
    let (x, y) = (Axis::log("seconds to choose the landmarks"), Axis::log("‖K − K̃‖_F / ‖K‖_F"));
    let title = format!("{}, n = {n}, c = {C}: time against error, with standard errors of the error", panel.set.label);
    let mut plot = Plot::new(&format!("time-{}", panel.set.name), &title, x, y);
    let mut names: Vec<(&str, &str)> = vec![];
    for m in measured {
        if !names.contains(&(m.series, m.style)) {
            names.push((m.series, m.style));
        }
    }
    for (name, style) in names {
        let point = |m: &Measured| {
            let (mean, s) = mean_and_error(&m.errors);
            Point::with_range(m.time(), mean, mean - s, mean + s)
        };
        plot.line_and_points(name, style, measured.iter().filter(|m| m.series == name).map(point));
    }
    plot
}

fn table(panel: &Panel, n: usize, measured: &[Measured]) -> Table {
    let columns = [
        Column::new("method"),
        Column::new("setting"),
        Column::with_unit("time", "s"),
        Column::new("relative error"),
        Column::new("standard error"),
    ];
    let title = format!("{}, n = {n}: {C} landmarks", panel.set.label);
    let mut table = Table::new(&format!("time-{}", panel.set.name), &title, columns);
    for m in measured {
        let (error, s) = mean_and_error(&m.errors);
        table.push([Cell::from(m.series), m.setting.as_str().into(), m.time().into(), error.into(), s.into()]);
    }
    table
}

fn claims(panel: &Panel, measured: &[Measured]) -> Vec<Claim> {
    let label = panel.set.label;
    let best = |name: &str| {
        let those = measured.iter().filter(|m| m.series == name);
        those.min_by(|a, b| a.error().total_cmp(&b.error()))
    };
    let (Some(dpp), Some(k_means), Some(rpc)) = (best("kDPP"), best("Kmeans"), best("RPCholesky")) else {
        return vec![];
    };
    let rivals = measured.iter().filter(|m| !["kDPP", "Kmeans", "RPCholesky"].contains(&m.series));
    let rival = rivals.map(Measured::error).fold(f64::INFINITY, f64::min);
    let mut claims = vec![
        Claim::at_most(
            &format!(
                "{label}: error of kDPP over the best of Unif, Lev, RegLev, AppLev, AppRegLev, AdapFull, AdapPart,"
            ),
            "k-DPP below them all",
            dpp.error() / rival,
            1.0,
        ),
        Claim::at_most(
            &format!("{label}, ours added: error of RPCholesky over that of kDPP"),
            "not in the paper",
            rpc.error() / dpp.error(),
            1.0,
        ),
    ];
    if panel.set.name == "ailerons" {
        let error = format!("{label}: error of Kmeans over that of kDPP");
        claims.push(Claim::at_most(&error, "Kmeans slightly more accurate", k_means.error() / dpp.error(), 1.0));
        let time = format!("{label}: time of Kmeans over that of kDPP");
        claims.push(Claim::at_least(&time, "Kmeans slower", k_means.time() / dpp.time(), 1.0));
    } else {
        let error = format!("{label}: error of kDPP over that of Kmeans");
        claims.push(Claim::at_most(&error, "k-DPP dominates on the larger set", dpp.error() / k_means.error(), 1.0));
    }
    claims
}
