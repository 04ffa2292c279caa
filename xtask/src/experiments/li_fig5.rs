//! Figures 5, 9, 10 and 11 of Li, Jegelka & Sra 2016: error of the Nyström approximation and of the
//! regression along the swap chain.

use nystrom::krr::metrics::mse;
use nystrom::linalg_core::SymmetricEigen;
use nystrom::prelude::*;
use nystrom::sketch::Uniform;

use super::li_problem::{
    AILERONS, AtHand, FROBENIUS, Problem, SPECTRAL, Set, TRAIN, Whole, relative_errors,
};
use crate::experiment::{Axis, Claim, Column, Context, Outcome, Plot, Table, measured};
use crate::lab::{Draw, Grid, Measure, Results, Setting, labelled};
use crate::method::{K_DPP, LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4, LEVEL_5, LEVEL_6};
use crate::statistics::{Estimate, Sample};

const TEST: Measure = Measure::new("test error", "mean squared test error").log();
const MEASURES: [(Measure, &str); 4] =
    [(FROBENIUS, "frobenius"), (SPECTRAL, "spectral"), (TRAIN, "train"), (TEST, "test")];

/// The chain is looked at after so many steps.
const LOOKS: [usize; 12] = [0, 50, 100, 200, 300, 400, 500, 750, 1000, 2000, 3500, 5000];
/// "A few hundred": what must have happened by then.
const FEW_HUNDRED: usize = 500;
/// The end of the chain.
const LAST: usize = LOOKS[LOOKS.len() - 1];

/// One line of the figures: a number of rows with a number of landmarks.
struct Trace {
    set: Set,
    n: usize,
    c: usize,
}

labelled!(Trace, |t| format!("{}, c = {}, N = {}", t.set.label, t.c, t.n));

/// A subset with K, stored, and ‖K − K_c‖.
struct Stored {
    problem: Problem,
    k: Mat<f64>,
    best: ErrorNorms,
}

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let usual = ctx.short(([1000, 2000], 3), ([1000, 2500], 4));
    let (ns, chains) = ctx.pick(([100, 200], 2), usual, ([1000, 4000], 10));
    let sizes = ctx.pick([5, 10, 20], [50, 100, 200], [50, 100, 200]);
    let found = AtHand::of(ctx, &[AILERONS])?;
    let pairs = ns.into_iter().flat_map(|n| sizes.map(|c| (n, c)));
    let traces: Vec<Trace> =
        pairs.flat_map(|(n, c)| found.sets.iter().map(move |&set| Trace { set, n, c })).collect();
    let results =
        Grid::new(ctx, "chains", &traces).repetitions(chains).parallel().run_on(prepare, follow)?;

    let note = format!(
        "N = {} and {} (1000 and 4000 in the paper), c = {sizes:?}, {chains} chains of {LAST} \
         steps from uniform starts",
        ns[0], ns[1]
    );
    let mut out = found.outcome(&results, note);
    out.plots = MEASURES.map(|(measure, id)| plot(&results, &traces, measure, id)).into();
    out.tables.push(fall(&results, &traces));
    let measures = MEASURES.map(|(measure, _)| measure);
    let table = results.table("errors", "Errors along the chain", &traces, &measures);
    out.tables.extend(table.by_setting("line").by_x("steps").build());
    out.claims = found.judge(claims(&results, &traces));
    Ok(out)
}

fn prepare(ctx: &Context, trace: &Trace) -> anyhow::Result<Stored> {
    let problem = Whole::new(ctx, &trace.set)?.subset(0, trace.n, trace.n / 4)?;
    let k = problem.stored()?;
    let best = ErrorNorms::of_best_rank(SymmetricEigen::new(k.as_ref())?.values(), trace.c);
    Ok(Stored { problem, best, k })
}

/// One chain, looked at now and then.
fn follow(stored: &Stored, draw: &mut Draw<'_, Trace>) -> anyhow::Result<()> {
    let Stored { problem, k, best } = stored;
    let k = Dense::new(k.as_ref())?;
    let rng = &mut draw.rng("chain");
    let mut walk =
        SwapChain::start(&k, draw.setting.c, &Uniform::default(), SwapRule::LazyGibbs, rng)?;
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
        let of_k = relative_errors(&k, &l, best, &mut draw.rng("norm"))?;
        let values = of_k.into_iter().chain([(TRAIN, train?), (TEST, test?)]);
        draw.put_all(steps, K_DPP, values);
    }
    Ok(())
}

fn plot(results: &Results, traces: &[Trace], measure: Measure, id: &str) -> Plot {
    let title =
        format!("{} along the chain, {}, with standard errors", measure.label, traces[0].set.label);
    let mut plot = Plot::new(id, &title, Axis::linear("steps of the chain"), measure.axis());
    for (trace, look) in traces.iter().zip([LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4, LEVEL_5, LEVEL_6]) {
        let name = format!("c = {}, N = {}", trace.c, trace.n);
        plot.line_and_points(&name, look.key, results.on(trace).curve(K_DPP, measure));
    }
    plot
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

fn fall(results: &Results, traces: &[Trace]) -> Table {
    let columns =
        ["line", "share of the fall by 500 steps", "standard error", "steps to 90 % of it"]
            .map(Column::new);
    let mut table = Table::new("fall", "How fast the relative Frobenius error falls", columns);
    for trace in traces {
        let share = fallen(results, trace, FEW_HUNDRED);
        let steps = steps_to_fall(results, trace).into();
        table.push([trace.label().into(), share.value.into(), share.error.into(), steps]);
    }
    table
}

fn claims(results: &Results, traces: &[Trace]) -> Vec<Claim> {
    let share = |trace: &Trace| fallen(results, trace, FEW_HUNDRED);
    let by_then = traces.iter().map(|trace| {
        let words = format!("share of the error's fall that has happened by step {FEW_HUNDRED}");
        let share = results.on(trace).measured(words, share(trace));
        share.at_least("falls within the first few hundred steps", 0.8).picture()
    });
    let first = &traces[0];
    let by_rows = traces.iter().filter(|small| small.n == first.n).filter_map(|small| {
        let large = traces.iter().find(|trace| trace.c == small.c && trace.n > small.n)?;
        let ratio = steps_to_fall(results, large) / steps_to_fall(results, small);
        let text = format!(
            "c = {}: steps to nine tenths of the fall, N = {} over N = {}",
            small.c, large.n, small.n
        );
        Some(measured(text, ratio).between("mixing hardly depends on N", [0.5, 2.0]).picture())
    });
    let by_landmarks = traces.iter().filter(|few| few.c == first.c).filter_map(|few| {
        let many = traces.iter().rfind(|trace| trace.n == few.n)?;
        let of = format!("share of the fall by step {FEW_HUNDRED}, less that for c = {}", many.c);
        let less = results.on(few).measured(of, share(few).minus(share(many)));
        Some(less.at_least("the mixing time grows with the number of landmarks", 0.0).printed())
    });
    by_then.chain(by_rows).chain(by_landmarks).collect()
}
