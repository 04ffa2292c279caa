//! Figure 3 of Chen & Yang 2021 (accumulations): test error and time on RQA; with more data sets,
//! Figure 4.

use super::accumulation_data::{
    ACCUMULATION, CHOICES, COLUMNS, ERROR, GAUSSIAN, LARGEST_EXACT, NYSTROM, RQA, SECONDS, Set,
    VERY_SPARSE, cell,
};
use super::papers;
use crate::experiment::{Claim, Context, Experiment, Outcome, paragraphs};
use crate::lab::{Grid, LAMBDA, Results, Setting};
use crate::statistics::geometric_mean;

pub const EXPERIMENT: Experiment = Experiment {
    name: "accumulation-fig3",
    paper: &papers::ACCUMULATIONS_2021,
    figure: "Figure 3",
    says: "On RQA an accumulation with m = 4 has the test error of the Gaussian sketch at a time \
           near Nyström's; very sparse random projections lie between.",
    data: &[RQA.data],
    run,
};

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    run_sets(ctx, &[RQA])
}

/// The experiment on the given data sets; those that are missing are reported as missing.
pub fn run_sets(ctx: &Context, sets: &[Set]) -> anyhow::Result<Outcome> {
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(200, 2), (400, 2)],
        &[(1000, 15), (2000, 10), (4000, 6), (8000, 5), (15_000, 4)],
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (15_000, 30)],
    );
    let grid = Grid::new(ctx, "splits", sets).sizes(sizes);
    let results =
        grid.run_on(Set::load, |data, draw| cell(data, draw, false, draw.size <= LARGEST_EXACT))?;
    let note = "The paper: 30 random splits each, n from 1000 to 15,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws("n")));
    for set in results.measured(sets) {
        let (id, label) = (format!("-{}", set.data), set.label());
        out.plots.extend(results.trade_off([&id, &format!("{label}: ")], set, ERROR, SECONDS));
        let title = format!("{label}: mean test error and median time");
        let table = results.table(&format!("test{id}"), &title, [set], &[ERROR, SECONDS]);
        out.tables.extend(table.by_x("n").facts(&[COLUMNS, LAMBDA]).build());
        out.claims.extend(claims(&results, set, sizes[sizes.len() - 1].0));
    }
    out.notes = paragraphs([
        CHOICES,
        "Exact KRR, run for n ≤ 4000, is well below all of them: with these d the error is that \
         of the sketches' size.",
    ]);
    Ok(out)
}

/// "The error of" another method: within this factor as a mean over n, and at the largest n.
const EQUAL: [f64; 2] = [1.03, 1.05];
/// "No worse than" another method: the same.
const NO_WORSE: [f64; 2] = [1.01, 1.02];
/// "Near the time of" another method: within this factor.
const NEAR: f64 = 1.5;
/// "Many times" slower: at least this factor.
const MANY: f64 = 5.0;

fn claims(results: &Results, set: &Set, n: usize) -> Vec<Claim> {
    let mean = |measure, b| {
        results.compare_all(set, ("mean over n", geometric_mean), measure, ACCUMULATION, b)
    };
    let last = |measure, a, b| results.compare(set, ("n", n), measure, a, b);
    let claims = [
        mean(ERROR, GAUSSIAN).at_most("nearly 1", EQUAL[0]),
        mean(ERROR, NYSTROM).at_most("at most 1", NO_WORSE[0]),
        last(ERROR, ACCUMULATION, GAUSSIAN).at_most("nearly 1", EQUAL[1]),
        last(ERROR, ACCUMULATION, NYSTROM).at_most("at most 1", NO_WORSE[1]),
        mean(SECONDS, NYSTROM).at_most("nearly 1", NEAR),
        last(SECONDS, GAUSSIAN, ACCUMULATION).at_least("many times", MANY),
        last(SECONDS, VERY_SPARSE, ACCUMULATION).at_least("between the two", 1.0),
        last(SECONDS, GAUSSIAN, VERY_SPARSE).at_least("between the two", 1.0),
    ];
    claims.map(Claim::picture).into()
}
