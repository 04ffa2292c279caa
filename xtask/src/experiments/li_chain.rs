//! The swap chain of Li, Jegelka & Sra 2016. Figures 5, 9, 10 and 11: error of the Nyström
//! approximation and of the regression along it. Section 6.3: its path-coupling coefficient α,
//! estimated from random neighbours.

use nystrom::dpp::{PathCoupling, mixing_time};
use nystrom::krr::metrics::mse;
use nystrom::linalg_core::SymmetricEigen;
use nystrom::sketch::Uniform;

use super::li_problem::*;
use crate::lab::*;

const TEST: Measure = Measure::new("test error", "mean squared test error").log();
const MEASURES: [(Measure, &str); 4] =
    [(FROBENIUS, "frobenius"), (SPECTRAL_NORM, "spectral"), (TRAIN, "train"), (TEST, "test")];

/// The chain is looked at after so many steps.
const LOOKS: [usize; 12] = [0, 50, 100, 200, 300, 400, 500, 750, 1000, 2000, 3500, 5000];
/// "A few hundred": what must have happened by then.
const FEW_HUNDRED: usize = 500;
/// The end of the chain.
const LAST: usize = LOOKS[LOOKS.len() - 1];

/// One line of the figures: a number of rows with a number of landmarks.
#[derive(Clone, Copy)]
struct Trace {
    set: Set,
    n: usize,
    c: usize,
}

labelled!(Trace, |t| format!("{}, c = {}, N = {}", t.set.label, t.c, t.n));

pub fn fig5(ctx: &Context) -> anyhow::Result<Outcome> {
    let usual = ctx.short(([1000, 2000], 3), ([1000, 2500], 4));
    let (ns, chains) = ctx.pick(([100, 200], 2), usual, ([1000, 4000], 10));
    let sizes = ctx.pick([5, 10, 20], [50, 100, 200], [50, 100, 200]);
    let (sets, missing) = at_hand(ctx, &[AILERONS])?;
    let set = sets[0];
    let traces = ns.map(|n| sizes.map(|c| Trace { set, n, c })).concat();
    let grid = Grid::new(ctx, "chains", &traces, [(0, chains)]).parallel();
    let results = grid.run_on(prepare, follow)?;

    let note = format!(
        "N = {} and {} (1000 and 4000 in the paper), c = {sizes:?}, {chains} chains of {LAST} \
         steps from uniform starts",
        ns[0], ns[1]
    );
    let mut out = Outcome { missing, ..results.outcome(note) };
    for (measure, id) in MEASURES {
        let title =
            format!("{} along the chain, {}, with standard errors", measure.label, set.label);
        let mut plot = Plot::new(id, &title, Axis::linear("steps of the chain"), measure.axis());
        let looks = [LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4, LEVEL_5, LEVEL_6];
        for (trace, look) in traces.iter().zip(looks) {
            let name = format!("c = {}, N = {}", trace.c, trace.n);
            plot.line_and_points(&name, look.key, results.on(trace).curve(K_DPP, measure));
        }
        out.plots.push(plot);
    }
    let columns =
        ["line", "share of the fall by 500 steps", "standard error", "steps to 90 % of it"];
    let title = "How fast the relative Frobenius error falls";
    let mut table = Table::new("fall", title, columns.map(Column::new));
    for trace in &traces {
        let share = fallen(&results, trace, FEW_HUNDRED);
        let steps = steps_to_fall(&results, trace).into();
        table.push([trace.label().into(), share.value.into(), share.error.into(), steps]);
    }
    out.tables.push(table);
    let (id_title, keys) = (["errors", "Errors along the chain"], ["line", "steps", ""]);
    let measures = MEASURES.map(|(measure, _)| measure);
    out.tables.extend(results.table(id_title, &traces, keys, &[], &measures));
    out.claims = ours_if(stands_in(&sets), claims_on_mixing(&results, &traces));
    Ok(out)
}

/// A subset with K, stored, and ‖K − K_c‖.
type Stored = (Subset, Mat<f64>, ErrorNorms);

fn prepare(ctx: &Context, trace: &Trace) -> anyhow::Result<Stored> {
    let problem = Whole::new(ctx, &trace.set)?.subset(0, trace.n, trace.n / 4)?;
    let k = problem.stored()?;
    let best = ErrorNorms::of_best_rank(SymmetricEigen::new(k.as_ref())?.values(), trace.c);
    Ok((problem, k, best))
}

/// One chain, looked at now and then.
fn follow((problem, k, best): &Stored, trial: &mut Trial<'_, Trace>) -> anyhow::Result<()> {
    let k = Dense::new(k.as_ref())?;
    let rng = &mut trial.rng("chain");
    let mut walk =
        SwapChain::start(&k, trial.setting.c, &Uniform::default(), SwapRule::LazyGibbs, rng)?;
    let krr = NystromKrr::new(problem.kernel()?, problem.ridge());
    let mut done = 0;
    for steps in LOOKS {
        walk.run(steps - done, rng)?;
        done = steps;
        let landmarks = walk.landmarks();
        let l = Nystrom::new(&k, &landmarks)?;
        let model = krr.fit((problem.points(), problem.y.as_ref()), &landmarks)?;
        let [train, test] =
            [(problem.points(), &problem.y), (problem.test_points(), &problem.y_test)]
                .map(|(x, y)| anyhow::Ok(mse(model.predict(x)?.as_ref(), y.as_ref())?));
        let of_k = relative_errors(&k, &l, best, &mut trial.rng("norm"))?;
        let values = of_k.into_iter().chain([(TRAIN, train?), (TEST, test?)]);
        trial.put_all(steps, K_DPP, values);
    }
    Ok(())
}

/// The share of the whole fall of the error that has happened after so many steps.
fn fallen(results: &Results, trace: &Trace, steps: usize) -> Estimate {
    let at = |steps: usize| results.on(trace).sample(steps, K_DPP, FROBENIUS);
    let fall = |to: usize| {
        let pairs = at(0).draws.into_iter().zip(at(to).draws);
        let draws = pairs.map(|((chain, from), (_, to))| (chain, from - to)).collect();
        Sample { draws, time: false }
    };
    fall(steps).over(&fall(LAST))
}

/// Steps until nine tenths of the fall.
fn steps_to_fall(results: &Results, trace: &Trace) -> f64 {
    let there = |steps: &&usize| fallen(results, trace, **steps).value >= 0.9;
    LOOKS.iter().find(there).map_or(f64::NAN, |steps| *steps as f64)
}

fn claims_on_mixing(results: &Results, traces: &[Trace]) -> Vec<Claim> {
    let share = |trace: &Trace| fallen(results, trace, FEW_HUNDRED);
    let mut claims = vec![];
    for trace in traces {
        let words = format!("share of the error's fall that has happened by step {FEW_HUNDRED}");
        let share = results.on(trace).measured(words, share(trace));
        claims.push(share.at_least("falls within the first few hundred steps", 0.8).picture());
    }
    let (small, large) = traces.split_at(traces.len() / 2);
    for (small, large) in small.iter().zip(large) {
        let ratio = steps_to_fall(results, large) / steps_to_fall(results, small);
        let (Trace { n, c, .. }, more) = (small, large.n);
        let text = format!("c = {c}: steps to nine tenths of the fall, N = {more} over N = {n}");
        let ratio = measured(text, ratio).between("mixing hardly depends on N", [0.5, 2.0]);
        claims.push(ratio.picture());
    }
    for of_n in [small, large] {
        let (few, many) = (&of_n[0], &of_n[of_n.len() - 1]);
        let of = format!("share of the fall by step {FEW_HUNDRED}, less that for c = {}", many.c);
        let less = results.on(few).measured(of, share(few).minus(share(many)));
        let words = "the mixing time grows with the number of landmarks";
        claims.push(less.at_least(words, 0.0).printed());
    }
    claims
}

/// Multiples of the cross-validated bandwidth.
const WIDTHS: [f64; 8] = [0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0];

const LARGEST: Measure = Measure::new("largest α", "largest α seen");
const MEAN: Measure = Measure::named("mean α");
/// How far K is from I: 0 there. The median over points of the largest kernel value with another.
const NEAREST: &str = "nearest";
/// Less than this counts as K near I.
const NEAR: f64 = 0.1;
/// To total variation 0.05; only where α < 1.
const STEPS: Measure = Measure::named("steps of Theorem 5");

/// A set with a number of landmarks.
struct Size {
    set: Set,
    c: usize,
}

labelled!(Size, |s| format!("{}, c = {}", s.set.label, s.c));

pub fn alpha(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, neighbours) = ctx.pick((100, 5), (1000, 60), (1000, 1000));
    let (sets, missing) = at_hand(ctx, &[AILERONS])?;
    let set = sets[0];
    let sizes = ctx.pick([5, 10, 20], [10, 20, 50], [20, 50, 100]).map(|c| Size { set, c });
    let grid = Grid::new(ctx, "numbers of landmarks", &sizes, [(n, 1)]);
    let results = grid.run(|trial| coupling(trial, neighbours))?;

    let note =
        format!("N = {n}, {neighbours} neighbours for each bandwidth and c (1000 in the paper)");
    let mut out = Outcome { missing, ..results.outcome(note) };
    let title = format!("{}: path-coupling coefficient against bandwidth", set.label);
    let mut plot =
        Plot::new("alpha", &title, Axis::log("bandwidth, in cross-validated σ"), LARGEST.axis());
    for (size, look) in sizes.iter().zip([LEVEL_2, LEVEL_3, LEVEL_4]) {
        let curve = results.on(size).curve(K_DPP, LARGEST);
        plot.line_and_points(&format!("c = {}", size.c), look.key, curve);
    }
    plot.horizontal("α = 1", 1.0);
    out.plots.push(plot);
    let id_title = ["alpha", "α and the mixing time to total variation 0.05 that it would give"];
    let keys = ["set, landmarks", "σ / cross-validated σ", ""];
    let measures = [LARGEST, MEAN, STEPS];
    out.tables.extend(results.table(id_title, &sizes, keys, &results.facts(), &measures));
    out.claims = ours_if(stands_in(&sets), claims_on_alpha(&results, &sizes));
    Ok(out)
}

fn coupling(trial: &mut Trial<'_, Size>, neighbours: usize) -> anyhow::Result<()> {
    let (n, c) = (trial.size, trial.setting.c);
    let problem = Whole::new(trial.ctx, &trial.setting.set)?.subset(0, n, 0)?;
    for width in WIDTHS {
        let k = KernelMatrix::new(Gaussian::new(width * problem.chosen.sigma)?, problem.points())?;
        trial.facts(width, [(NEAREST, nearest(&k))]);
        let rng = &mut trial.rng(&format!("width {width}"));
        let alpha = match PathCoupling::sampled(&k, c, neighbours, rng) {
            Err(Error::NotPositiveDefinite { .. }) => continue,
            alpha => alpha?,
        };
        trial.put_all(width, K_DPP, [(LARGEST, alpha.largest), (MEAN, alpha.mean)]);
        if let Some(steps) = mixing_time(n, c, alpha.largest, 0.05)? {
            trial.put(width, K_DPP, STEPS, steps);
        }
    }
    Ok(())
}

/// The median over points of the largest kernel value with another.
fn nearest(k: &dyn PsdMatrix<f64>) -> f64 {
    let n = k.dim();
    let block = k.block((0..n).into(), (0..n).into());
    let others = |i: usize| (0..n).filter(move |&j| j != i);
    let mut largest: Vec<f64> =
        (0..n).map(|i| others(i).map(|j| block[(j, i)]).fold(0.0, f64::max)).collect();
    largest.sort_by(f64::total_cmp);
    quantile(&largest, 0.5)
}

fn claims_on_alpha(results: &Results, sizes: &[Size; 3]) -> Vec<Claim> {
    // NaN where K is near I, or α unknown
    let alpha = |size: &Size, width: f64| {
        let near = results.on(size).fact(width, NEAREST).value < NEAR;
        if near { f64::NAN } else { results.on(size).get(width, K_DPP, LARGEST).value }
    };
    let known = |alphas: [f64; 8]| alphas.into_iter().filter(|alpha| alpha.is_finite());
    // α grows at each of these steps if the least is positive
    let least = |steps: &mut dyn Iterator<Item = f64>| steps.reduce(f64::min).unwrap_or(f64::NAN);
    let mut claims = vec![];
    for size in sizes {
        let here = results.on(size);
        let alphas: Vec<f64> = known(WIDTHS.map(|width| alpha(size, width))).collect();
        let narrow = *alphas.first().unwrap_or(&f64::NAN);
        let narrow = here.measured("α at the smallest σ at which K is not near I", narrow);
        claims.push(narrow.at_most("ours: α < 1 for small bandwidths", 1.0));
        let mut steps = alphas.windows(2).map(|pair| pair[1] - pair[0]);
        let growth = here.measured("least growth of α from one σ to the next", least(&mut steps));
        claims.push(growth.at_least("ours: α grows with the bandwidth", 0.0));
    }
    for [few, many] in sizes.array_windows() {
        let mut growth = known(WIDTHS.map(|width| alpha(many, width) - alpha(few, width)));
        let (label, c) = (few.set.label, many.c);
        let text = format!("{label}: least over σ of α for c = {c} less α for c = {}", few.c);
        let words = "ours: α grows with c at every σ (the paper: \"in general grows with c\")";
        claims.push(measured(text, least(&mut growth)).at_least(words, 0.0));
    }
    claims
}
