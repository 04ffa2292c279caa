//! Figures 6, 12 and 13 of Li, Jegelka & Sra 2016: time against error of twenty landmarks, on
//! Ailerons and California Housing.

use std::time::Instant;

use nystrom::dpp::{KDppChain, SwapRule};
use nystrom::kernels::{Gaussian, KMeans, KernelMatrix};
use nystrom::leverage::{
    AlaouiMahoney, ExactSpectrum, FastRankLeverage, LeverageProportional, exact_scores,
};
use nystrom::linalg_core::{PsdMatrix, Ridge};
use nystrom::sketch::{
    AdaptiveFull, AdaptivePartial, Draw as Drawing, KMeansPlusPlus, LandmarkSelector, Landmarks,
    Nystrom, RpCholesky, Uniform, Whitening, frobenius_error,
};
use rand::Rng;

use super::li_methods::{ADAP_FULL, KDPP, LEV, REG_LEV, RP_CHOLESKY, UNIF};
use super::li_problem::{AILERONS, AtHand, CALIFORNIA, CHOICES, Problem, Set, Whole};
use super::papers;
use crate::experiment::{Claim, Context, Experiment, Outcome};
use crate::lab::{Draw, Grid, Measure, Results};
use crate::method::{ADAPTIVE_PARTIAL, APPROXIMATE_RANK_K, FAST_LEVERAGE, K_MEANS, Method};
use crate::statistics::{Sample, smallest};

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-fig6",
    paper: &papers::LI_2016,
    figure: "Figures 6, 12 and 13",
    says: "The figures show time against relative error with 20 landmarks. On 4,000 rows of \
           Ailerons k-means landmarks are slightly more accurate than k-DPP and slower. On 12,000 \
           rows of California Housing k-DPP sampling is best at every time.",
    data: &["ailerons", "california-housing", "abalone"],
    run,
};

const KMEANS: Method = K_MEANS.called("Kmeans");
const APP_LEV: Method = APPROXIMATE_RANK_K.called("AppLev");
const APP_REG_LEV: Method = FAST_LEVERAGE.called("AppRegLev");
const ADAP_PART: Method = ADAPTIVE_PARTIAL.called("AdapPart");
/// Those that kDPP is measured against.
const RIVALS: [Method; 7] = [UNIF, LEV, REG_LEV, APP_LEV, APP_REG_LEV, ADAP_FULL, ADAP_PART];

const SECONDS: Measure = Measure::time("time", "seconds to choose the landmarks");
const ERROR: Measure = Measure::new("relative error", "‖K − K̃‖_F / ‖K‖_F").log();

/// Landmarks, in both of the paper's figures.
const C: usize = 20;

/// Rows, columns of the approximate scores, and steps of the chain.
fn sizes(ctx: &Context, set: Set) -> (usize, &'static [usize], &'static [usize]) {
    if set == CALIFORNIA {
        (ctx.pick(300, 2500, 12_000), &[20, 60, 140], &[20, 50, 100])
    } else {
        (ctx.pick(300, 1500, 4000), &[20, 60, 180, 340], &[20, 60, 200])
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let repetitions = ctx.pick(2, 6, 10);
    let found = AtHand::of(ctx, &[AILERONS, CALIFORNIA])?;
    let grid = Grid::new(ctx, "repetitions", &found.sets).repetitions(repetitions);
    let results = grid.run_on(|ctx, set| Prepared::new(ctx, *set), cell)?;

    let note = format!(
        "{} rows of Ailerons and {} of California Housing (4000 and 12,000 in the paper), c = \
         {C}, {repetitions} repetitions; times are of choosing \
         landmarks, kernel entries included, K not stored; scores that do not vary are computed \
         once, their time counted in each repetition",
        sizes(ctx, AILERONS).0,
        sizes(ctx, CALIFORNIA).0
    );
    let mut out = results.outcome(note);
    for set in &found.sets {
        let title =
            format!("{}, n = {}, c = {C}: time against error", set.label, sizes(ctx, *set).0);
        let id = format!("time-{}", set.name);
        out.plots.extend(results.plot_against(&id, &title, set, SECONDS, ERROR));
        out.claims.extend(found.judge(claims(ctx, &results, set)));
    }
    let table = results.table("time", &format!("{C} landmarks"), &found.sets, &[SECONDS, ERROR]);
    let table = table.by_setting("data set").by_method("method").by_x("columns or steps");
    out.tables.extend(table.build());
    out.notes = vec![CHOICES.into()];
    out.missing = found.missing;
    Ok(out)
}

/// A problem, with the scores that are the same in every repetition.
///
/// An eigendecomposition at n = 12,000 takes minutes.
struct Prepared {
    problem: Problem,
    norm: f64,
    /// Each with the time it took.
    scores: Vec<(Method, Vec<f64>, f64)>,
}

impl Prepared {
    fn new(ctx: &Context, set: Set) -> anyhow::Result<Self> {
        let problem = Whole::new(ctx, &set)?.subset(0, sizes(ctx, set).0, 0)?;
        let k = problem.matrix()?;
        let timed = |method, scores: &dyn Fn() -> anyhow::Result<Vec<f64>>| {
            let start = Instant::now();
            anyhow::Ok((method, scores()?, start.elapsed().as_secs_f64()))
        };
        // of rank C, or of the numerical rank if that is less
        let rank = timed(LEV, &|| {
            let spectrum = ExactSpectrum::new(&k)?;
            Ok(spectrum.rank_k_scores(C.min(spectrum.rank()).max(1))?)
        })?;
        let ridge = timed(REG_LEV, &|| Ok(exact_scores(&k, problem.ridge())?.scores))?;
        Ok(Prepared { norm: frobenius_norm(&k), scores: vec![rank, ridge], problem })
    }
}

/// ‖K‖_F, a row of K at a time.
fn frobenius_norm(k: &dyn PsdMatrix<f64>) -> f64 {
    let n = k.dim();
    (0..n).map(|i| k.block((i..i + 1).into(), (0..n).into()).squared_norm_l2()).sum::<f64>().sqrt()
}

/// Every method, at every value of its parameter.
fn cell(prepared: &Prepared, draw: &mut Draw<'_, Set>) -> anyhow::Result<()> {
    let Prepared { problem, norm, scores } = prepared;
    let k = problem.matrix()?;
    k_means(draw, problem, &k, *norm)?;
    for (method, scores, before) in scores {
        let choose =
            |rng: &mut dyn Rng| Ok(Landmarks::draw(scores, C, Drawing::WithoutReplacement, rng)?);
        one(draw, (*method, 0), &k, *norm, *before, &choose)?;
    }
    for (method, parameter, selector) in selectors(draw, problem.ridge()) {
        one(draw, (method, parameter), &k, *norm, 0.0, &|rng| Ok(selector.select(&k, C, rng)?))?;
    }
    Ok(())
}

type Selector = Box<dyn LandmarkSelector<f64>>;

fn selectors(draw: &Draw<'_, Set>, ridge: Ridge<f64>) -> Vec<(Method, usize, Selector)> {
    let (_, columns, steps) = sizes(draw.ctx, *draw.setting);
    let drawing = Drawing::WithoutReplacement;
    let mut all: Vec<(Method, usize, Selector)> = vec![
        (UNIF, 0, Box::new(Uniform::default())),
        (ADAP_FULL, 0, Box::new(AdaptiveFull::default())),
        (ADAP_PART, 0, Box::new(AdaptivePartial::default())),
        (RP_CHOLESKY, 0, Box::new(RpCholesky::default())),
    ];
    for &columns in columns {
        let estimator = AlaouiMahoney { columns };
        let by_rank = FastRankLeverage { columns, rank: None, draw: drawing };
        all.push((APP_LEV, columns, Box::new(by_rank)));
        let by_ridge = LeverageProportional { estimator, ridge, draw: drawing };
        all.push((APP_REG_LEV, columns, Box::new(by_ridge)));
    }
    for &steps in steps {
        let chain = KDppChain { start: KMeansPlusPlus, steps, rule: SwapRule::LazyGibbs };
        all.push((KDPP, steps, Box::new(chain)));
    }
    all
}

/// One choice of landmarks, timed, and its error.
fn one(
    draw: &mut Draw<'_, Set>,
    (method, parameter): (Method, usize),
    k: &dyn PsdMatrix<f64>,
    norm: f64,
    before: f64,
    choose: &dyn Fn(&mut dyn Rng) -> anyhow::Result<Landmarks>,
) -> anyhow::Result<()> {
    let rng = &mut draw.rng(&format!("{}, {parameter}", method.key));
    let start = Instant::now();
    let landmarks = choose(rng)?;
    let seconds = before + start.elapsed().as_secs_f64();
    let error = frobenius_error(k, &Nystrom::new(k, &landmarks)?)? / norm;
    draw.put_all(parameter as f64, method, [(SECONDS, seconds), (ERROR, error)]);
    Ok(())
}

/// Centroids are no rows of K: they have kernel values of their own.
fn k_means(
    draw: &mut Draw<'_, Set>,
    problem: &Problem,
    k: &KernelMatrix<'_, f64, Gaussian>,
    norm: f64,
) -> anyhow::Result<()> {
    let rng = &mut draw.rng(KMEANS.key);
    let start = Instant::now();
    let clusters = KMeans::default().run(problem.points(), C, rng)?;
    draw.put_at(0.0, KMEANS, SECONDS, start.elapsed().as_secs_f64());
    let (c, w) = k.against(clusters.centers())?;
    let l = Nystrom::from_blocks(c.as_ref(), w.as_ref(), Whitening::default())?;
    draw.put_at(0.0, KMEANS, ERROR, frobenius_error(k, &l)? / norm);
    Ok(())
}

fn claims(ctx: &Context, results: &Results, set: &Set) -> Vec<Claim> {
    let (_, _, steps) = sizes(ctx, *set);
    let longest = steps[steps.len() - 1];
    let at = |method: Method, measure: Measure| -> Sample {
        let x = if method == KDPP { longest } else { 0 };
        results.sample(set, x, method, measure)
    };
    let over = |measure: Measure, a: Method, b: Method| at(a, measure).over(&at(b, measure));
    let text = |what: &str| format!("{}: {what}", set.label);
    let rivals = RIVALS.iter().flat_map(|&rival| {
        let all = results.abscissae(set, rival, ERROR);
        all.into_iter().map(move |x| results.get(set, x, rival, ERROR))
    });
    let best = smallest(rivals);
    let dpp = at(KDPP, ERROR).estimate();
    let what = format!(
        "error of kDPP after {longest} steps over the least of Unif, Lev, RegLev, AppLev, \
         AppRegLev, AdapFull, AdapPart"
    );
    let below = Claim::at_most(&text(&what), "k-DPP below them all", dpp.over(best), 1.0).picture();
    let what = text("error of RPCholesky over that of kDPP");
    let other = Claim::at_most(&what, "ours", over(ERROR, RP_CHOLESKY, KDPP), 1.0);
    let k_means = |what: &str| text(&format!("{what} of Kmeans over that of kDPP"));
    let (error, time) = (over(ERROR, KMEANS, KDPP), over(SECONDS, KMEANS, KDPP));
    let mut claims = vec![below, other];
    let text = k_means("error");
    if *set == CALIFORNIA {
        let words = "k-DPP dominates on the larger set";
        claims.push(Claim::at_least(&text, words, error, 1.0).picture());
    } else {
        let words = "Kmeans slightly more accurate";
        claims.push(Claim::between(&text, words, error, [0.5, 1.0]).picture());
        claims.push(Claim::at_least(&k_means("time"), "Kmeans slower", time, 1.0).picture());
    }
    claims
}
