//! Figure 1 (left) of Alaoui & Mahoney 2015: λ-ridge leverage scores on the synthetic problem.

use super::bernoulli_problem::BernoulliProblem;
use crate::experiment::{Axis, Context, Outcome, Plot, Point, measured};
use crate::method::EXACT;

pub fn run(_: &Context) -> anyhow::Result<Outcome> {
    let n = 500;
    let problem = BernoulliProblem::new(n)?;
    let exact = &problem.leverage;
    let mut by_score: Vec<(f64, f64)> =
        problem.x.iter().copied().zip(exact.scores.iter().copied()).collect();
    let (x, y) = (Axis::linear("design point x"), Axis::log("leverage score l(x)"));
    let mut plot = Plot::new("scores", "Ridge leverage scores of the 500 design points", x, y);
    plot.points("exact score", EXACT.key, by_score.iter().map(|(x, l)| Point::new(*x, *l)));
    plot.horizontal("mean d_eff/n", exact.d_eff() / n as f64);

    by_score.sort_by(|a, b| b.1.total_cmp(&a.1));
    let high = by_score.iter().filter(|(_, l)| *l >= 0.5).count() as f64 / n as f64;
    let from_the_centre = |x: f64| (x - 0.5).abs();
    let mut distances: Vec<f64> = problem.x.iter().map(|&x| from_the_centre(x)).collect();
    distances.sort_by(f64::total_cmp);
    let central = by_score[..10].iter().filter(|(x, _)| from_the_centre(*x) <= distances[9]).count()
        as f64
        / 10.0;
    let claims = vec![
        measured("share of points with a score ≥ 0.5", high)
            .at_most("few (picture)", 0.1)
            .picture(),
        measured(
            "share of the ten highest scores that belong to the ten points nearest ½",
            central,
        )
        .at_least("those at the centre (picture)", 0.8)
        .picture(),
        // ours: the paper leaves β and the design open
        measured("d_eff", exact.d_eff()).near(24.0, 0.5),
        measured("d_mof", exact.d_mof()).near(500.0, 0.5),
    ];
    Ok(Outcome {
        scale_note: "n = 500 as in the paper, at every scale".into(),
        plots: vec![plot],
        claims,
        ..Outcome::default()
    })
}
