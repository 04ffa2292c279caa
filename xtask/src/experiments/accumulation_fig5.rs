//! Figure 5 of Chen & Yang 2021 (accumulations): the sketches of Figure 4 with Falkon as the
//! solver.

use super::accumulation_data::{
    ACCUMULATION, CASP, CHOICES, COLUMNS, ERROR, FALKON_ERROR, FALKON_SECONDS, GAS, GAUSSIAN,
    ITERATIONS, METHODS, RQA, SECONDS, Set, cell,
};
use super::papers;
use crate::experiment::{Axis, Claim, Context, Experiment, Outcome, paragraphs};
use crate::lab::{Grid, LAMBDA, Results, Setting};
use crate::statistics::{Estimate, geometric_mean, largest};

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig5",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 5",
    says: "Solved by Falkon, every sketch keeps the test error it has when solved directly. At \
           these n there is not much of a gain in time. The accumulation has the best error for \
           its time.",
    data: &[RQA.data, CASP.data, GAS.data],
    run,
};

const SETS: [Set; 3] = [RQA, CASP, GAS];

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(200, 2), (400, 2)],
        &[(1000, 10), (2000, 8), (4000, 4), (8000, 3)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (15_000, 30)],
    );
    let grid = Grid::new(ctx, "splits", &SETS).sizes(sizes);
    let results = grid.run_on(Set::load, |data, draw| cell(data, draw, true, false))?;
    let note = "The paper: 30 random splits each, n from 1000 to 15,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws("n")));
    for set in results.measured(&SETS) {
        let (id, label) = (format!("-{}", set.data), set.label());
        let title = format!("{label}: ");
        out.plots.extend(results.trade_off([&id, &title], set, FALKON_ERROR, FALKON_SECONDS));
        let title = format!("{label}: iterations of Falkon to a residual of 1e-6");
        let n = Axis::log("number of points n");
        out.plots.extend(results.plot(&format!("iterations{id}"), &title, n, set, ITERATIONS));
        let title = format!("{label}: mean test error, median time, mean iterations");
        let measures = [ERROR, FALKON_ERROR, SECONDS, FALKON_SECONDS, ITERATIONS];
        let table = results.table(&format!("falkon{id}"), &title, [set], &measures);
        out.tables.extend(table.by_x("n").by_method("sketch").facts(&[COLUMNS, LAMBDA]).build());
        out.claims.extend(claims(&results, set));
    }
    out.notes = paragraphs([
        CHOICES,
        "Both solvers have the same sketch. Falkon stops at a true relative residual of 1e-6 or \
         after 100 iterations and keeps KS in memory; the direct solver is \
         that of Figures 3 and 4. For the claim on error for time, the accumulation's error at a \
         time is read off the line that the plot draws through its \
         points; points of others faster than all of its own are left out.",
    ]);
    Ok(out)
}

/// "Keeps the test error": relative difference at most this.
const KEPT: f64 = 0.01;
/// "Of the Gaussian sketch's order": within this factor.
const ORDER: f64 = 1.1;
/// "Best error for its time": no other is smaller by more than this factor.
const BEST: f64 = 1.01;
/// "Without much of a gain": at most this factor.
const LITTLE: f64 = 1.25;

fn claims(results: &Results, set: &Set) -> Vec<Claim> {
    let xs = results.abscissae(set, ACCUMULATION, ERROR);
    let sample = |x: &f64, method, measure| results.sample(set, *x, method, measure);
    let change =
        |(x, method)| sample(x, method, FALKON_ERROR).over(&sample(x, method, ERROR)).off(1.0);
    let speed_up =
        |x| sample(x, ACCUMULATION, SECONDS).over(&sample(x, ACCUMULATION, FALKON_SECONDS));
    let of = |x: &f64, method, measure| results.get(set, *x, method, measure);
    let mut line: Vec<(f64, Estimate)> = xs
        .iter()
        .map(|x| (of(x, ACCUMULATION, FALKON_SECONDS).value, of(x, ACCUMULATION, FALKON_ERROR)))
        .collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at_the_same_time = |(x, method)| {
        let accumulation = at_time(&line, of(x, method, FALKON_SECONDS).value)?;
        Some(Estimate { time: true, ..accumulation.over(of(x, method, FALKON_ERROR)) })
    };
    let places = || xs.iter().flat_map(|x| METHODS.map(|method| (x, method)));
    let others = places().filter(|(_, method)| *method != ACCUMULATION);
    let words = |what: &str| format!("{}: {what}", set.label());
    let faster = "speed-up of the accumulation by Falkon, mean over n";
    let claims = [
        Claim::at_most(
            &words(
                "relative difference of the test errors with Falkon and directly, largest over n \
                 and methods",
            ),
            "no change",
            largest(places().map(change)),
            KEPT,
        ),
        results
            .compare_all(set, ("largest over n", largest), FALKON_ERROR, ACCUMULATION, GAUSSIAN)
            .at_most("the same order for m ≤ 32", ORDER),
        Claim::at_most(
            &words(
                "test error of the accumulation over that of another method in the same time, \
                 largest",
            ),
            "at most 1",
            largest(others.filter_map(at_the_same_time)),
            BEST,
        ),
        Claim::at_most(&words(faster), "little", geometric_mean(xs.iter().map(speed_up)), LITTLE),
    ];
    claims.map(Claim::picture).into()
}

/// The error at a time on the line through points in order of time, as the plot draws it; later,
/// that of the last point.
fn at_time(line: &[(f64, Estimate)], seconds: f64) -> Option<Estimate> {
    let (first, last) = (line.first()?, line.last()?);
    let around = line.windows(2).find(|pair| pair[0].0 <= seconds && seconds < pair[1].0);
    let Some([before, after]) = around else { return (seconds >= first.0).then_some(last.1) };
    let share = (seconds / before.0).ln() / (after.0 / before.0).ln();
    let part = |error: Estimate, weight: f64| error.map(|value| value * weight, weight);
    Some(part(before.1, 1.0 - share).minus(part(after.1, -share)))
}
