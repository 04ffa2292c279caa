//! Figure 1 (left) of Alaoui & Mahoney 2015: λ-ridge leverage scores on the synthetic problem.

use nystrom::leverage::exact_scores;

use super::bernoulli_problem::{BernoulliProblem, CHOICES, RIDGE};
use super::papers;
use crate::experiment::{Axis, Claim, Context, Experiment, Outcome, Plot, Point};

pub const EXPERIMENT: Experiment = Experiment {
    name: "alaoui-mahoney-fig1-left",
    paper: &papers::ALAOUI_MAHONEY_2015,
    figure: "Figure 1, left",
    says: "With an asymmetric design, dense at the borders of (0, 1) and sparse at its centre, few points have a high leverage score, those at \
        the centre: n = 500, λ = 1e-6, d_eff = 24, d_mof = 500.",
    data: &[],
    run,
};

fn run(_: &Context) -> anyhow::Result<Outcome> {
    let n = 500;
    let problem = BernoulliProblem::new(n)?;
    let exact = exact_scores(&problem.matrix()?, RIDGE)?;
    let scores = &exact.scores;
    let mut plot = Plot::new(
        "scores",
        "Ridge leverage scores of the 500 design points",
        Axis::linear("design point x"),
        Axis::log("leverage score l(x)"),
    );
    plot.points("exact score", "exact", problem.x.iter().zip(scores).map(|(x, l)| Point::new(*x, *l)));
    plot.horizontal("mean d_eff/n", exact.d_eff() / n as f64);

    let central = |x: &f64| (0.1..0.9).contains(x);
    let mean_of = |keep: &dyn Fn(&f64) -> bool| {
        let kept: Vec<f64> = problem.x.iter().zip(scores).filter(|(x, _)| keep(x)).map(|(_, l)| *l).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let contrast = mean_of(&central) / mean_of(&|x| !central(x));
    let top: Vec<f64> = {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        order[..n / 50].iter().map(|&i| problem.x[i]).collect()
    };
    let top_central = top.iter().filter(|x| central(x)).count() as f64 / top.len() as f64;
    let claims = vec![
        Claim::at_least(
            "mean score on (0.1, 0.9) over mean score outside",
            "high only near 1/2 (picture)",
            contrast,
            10.0,
        ),
        Claim::at_least("share of the ten highest scores that lie in (0.1, 0.9)", "all (picture)", top_central, 1.0),
        Claim::near("d_eff", 24.0, exact.d_eff(), 3.0),
        Claim::near("d_mof", 500.0, exact.d_mof(), 50.0),
    ];
    Ok(Outcome {
        scale_note: "n = 500 as in the paper, at every scale".into(),
        plots: vec![plot],
        claims,
        notes: vec![CHOICES.into(), "Only d_eff was used to choose the design; d_mof follows from it.".into()],
        ..Outcome::default()
    })
}
