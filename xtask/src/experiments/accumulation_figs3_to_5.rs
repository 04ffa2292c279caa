//! Figures 3, 4 and 5 of Chen & Yang 2021 (accumulations): test error and time on RQA; on CASP and
//! GAS too; and with Falkon as the solver.

use super::accumulation_data::{
    ACCUMULATION, COLUMNS, ERROR, FALKON_ERROR, FALKON_SECONDS, GAUSSIAN, ITERATIONS, METHODS,
    NYSTROM, SECONDS, Set, VERY_SPARSE, cell,
};
use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Grid, LAMBDA, Results, Setting};
use crate::statistics::{Estimate, geometric_mean, largest};

/// The experiment on these data sets; those that are missing are reported as missing.
pub fn figs3_to_5(ctx: &Context, sets: &[Set], falkon: bool) -> anyhow::Result<Outcome> {
    let at_default: &[(usize, usize)] = if falkon {
        &[(1000, 10), (2000, 8), (4000, 4), (8000, 3)]
    } else {
        &[(1000, 15), (2000, 10), (4000, 6), (8000, 5), (15_000, 4)]
    };
    let sizes: &[(usize, usize)] = ctx.pick(
        &[(200, 2), (400, 2)],
        at_default,
        &[(1000, 30), (2000, 30), (4000, 30), (8000, 30), (15_000, 30)],
    );
    let grid = Grid::new(ctx, "splits", sets).sizes(sizes);
    let results = grid.run_on(Set::load, |data, draw| cell(data, draw, falkon))?;
    let note = "The paper: 30 random splits each, n from 1000 to 15,000 (a full run)";
    let mut out = results.outcome(format!("{}. {note}", results.draws("n")));
    for set in results.measured(sets) {
        let (id, label) = (format!("-{}", set.data), set.label());
        let prefix = [id.as_str(), &format!("{label}: ")];
        if falkon {
            out.plots.extend(results.trade_off(prefix, set, FALKON_ERROR, FALKON_SECONDS));
            let title = format!("{label}: iterations of Falkon to a residual of 1e-6");
            let n = Axis::log("number of points n");
            out.plots.extend(results.plot(&format!("iterations{id}"), &title, n, set, ITERATIONS));
            let title = format!("{label}: mean test error, median time, mean iterations");
            let measures = [ERROR, FALKON_ERROR, SECONDS, FALKON_SECONDS, ITERATIONS];
            let table = results.table(&format!("falkon{id}"), &title, [set], &measures);
            let table = table.by_x("n").by_method("sketch").facts(&[COLUMNS, LAMBDA]);
            out.tables.extend(table.build());
            out.claims.extend(claims_by_falkon(&results, set));
        } else {
            out.plots.extend(results.trade_off(prefix, set, ERROR, SECONDS));
            let title = format!("{label}: mean test error and median time");
            let table = results.table(&format!("test{id}"), &title, [set], &[ERROR, SECONDS]);
            out.tables.extend(table.by_x("n").facts(&[COLUMNS, LAMBDA]).build());
            out.claims.extend(claims_directly(&results, set, sizes[sizes.len() - 1].0));
        }
    }
    Ok(out)
}

fn claims_directly(results: &Results, set: &Set, n: usize) -> Vec<Claim> {
    let mean = |measure, b| {
        results.compare_all(set, ("mean over n", geometric_mean), measure, ACCUMULATION, b)
    };
    let last = |measure, a, b| results.compare(set, ("n", n), measure, a, b);
    let claims = [
        mean(ERROR, GAUSSIAN).at_most("nearly 1", 1.03),
        mean(ERROR, NYSTROM).at_most("at most 1", 1.01),
        last(ERROR, ACCUMULATION, GAUSSIAN).at_most("nearly 1", 1.05),
        last(ERROR, ACCUMULATION, NYSTROM).at_most("at most 1", 1.02),
        mean(SECONDS, NYSTROM).at_most("nearly 1", 1.5),
        last(SECONDS, GAUSSIAN, ACCUMULATION).at_least("many times", 5.0),
        last(SECONDS, VERY_SPARSE, ACCUMULATION).at_least("between the two", 1.0),
        last(SECONDS, GAUSSIAN, VERY_SPARSE).at_least("between the two", 1.0),
    ];
    claims.map(Claim::picture).into()
}

fn claims_by_falkon(results: &Results, set: &Set) -> Vec<Claim> {
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
        measured(
            words(
                "relative difference of the test errors with Falkon and directly, largest over n \
                 and methods",
            ),
            largest(places().map(change)),
        )
        .at_most("no change", 0.01),
        results
            .compare_all(set, ("largest over n", largest), FALKON_ERROR, ACCUMULATION, GAUSSIAN)
            .at_most("the same order for m ≤ 32", 1.1),
        measured(
            words(
                "test error of the accumulation over that of another method in the same time, \
                 largest",
            ),
            largest(others.filter_map(at_the_same_time)),
        )
        .at_most("at most 1", 1.01),
        measured(words(faster), geometric_mean(xs.iter().map(speed_up))).at_most("little", 1.25),
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
