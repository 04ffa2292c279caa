//! Figure 1 (left) of Alaoui & Mahoney 2015: λ-ridge leverage scores on the synthetic problem.

use super::bernoulli_problem::BernoulliProblem;
use crate::experiment::{Axis, Context, Outcome, Plot, Point, measured};
use crate::lab::{D_EFF, D_MOF, Draw, Grid, Measure};
use crate::method::EXACT;

/// The points of the design, as in the paper.
const N: usize = 500;
const DESIGN: &str = "the design";

const HIGH: Measure = Measure::named("share of points with a score ≥ 0.5");
const CENTRAL: Measure =
    Measure::named("share of the ten highest scores that belong to the ten points nearest ½");

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let results = Grid::new(ctx, "scores", &[DESIGN]).at(&[N]).run(scores)?;
    let here = results.on(&DESIGN);
    let of = |measure: Measure| measured(measure.key, here.get(N, EXACT, measure));
    // ours: the paper leaves β and the design open
    let claims = vec![
        of(HIGH).at_most("few (picture)", 0.1),
        of(CENTRAL).at_least("those at the centre (picture)", 0.8),
        of(D_EFF).near(24.0, 0.5),
        of(D_MOF).near(500.0, 0.5),
    ];
    Ok(Outcome { claims, ..results.outcome("n = 500 as in the paper, at every scale") })
}

fn scores(draw: &mut Draw<'_>) -> anyhow::Result<()> {
    let problem = BernoulliProblem::new(draw.size)?;
    let (n, exact) = (draw.size as f64, &problem.leverage);
    let mut by_score: Vec<(f64, f64)> =
        problem.x.iter().copied().zip(exact.scores.iter().copied()).collect();
    let (x, y) = (Axis::linear("design point x"), Axis::log("leverage score l(x)"));
    let mut plot = Plot::new("scores", "Ridge leverage scores of the 500 design points", x, y);
    plot.points("exact score", EXACT.key, by_score.iter().map(|(x, l)| Point::new(*x, *l)));
    plot.horizontal("mean d_eff/n", exact.d_eff() / n);
    draw.show(plot);

    by_score.sort_by(|a, b| b.1.total_cmp(&a.1));
    let high = by_score.iter().filter(|(_, l)| *l >= 0.5).count() as f64 / n;
    let from_the_centre = |x: f64| (x - 0.5).abs();
    let mut distances: Vec<f64> = problem.x.iter().map(|&x| from_the_centre(x)).collect();
    distances.sort_by(f64::total_cmp);
    let nearest = |x: f64| from_the_centre(x) <= distances[9];
    let central = by_score[..10].iter().filter(|(x, _)| nearest(*x)).count() as f64 / 10.0;
    let values = [(HIGH, high), (CENTRAL, central)];
    draw.put_all(draw.size, EXACT, values);
    draw.put_all(draw.size, EXACT, [(D_EFF, exact.d_eff()), (D_MOF, exact.d_mof())]);
    Ok(())
}
