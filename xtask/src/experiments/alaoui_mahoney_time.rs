//! Cost of fast against exact scores (Alaoui & Mahoney 2015, section 3.5): O(np²) against O(n³), by fitted exponents.

use std::time::Instant;

use nystrom::kernels::{Gaussian, KernelMatrix, Points};
use nystrom::leverage::{AlaouiMahoney, RidgeLeverage, exact_scores};
use nystrom::linalg_core::{Ridge, random};

use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::fitted_exponent;

pub const EXPERIMENT: Experiment = Experiment {
    name: "alaoui-mahoney-time",
    paper: &papers::ALAOUI_MAHONEY_2015,
    figure: "Section 3.5, running time",
    says: "Approximate scores take O(np²) time, exact ones O(n³).",
    data: &[],
    run,
};

const RIDGE: Ridge<f64> = Ridge::PerSample(1e-4);
/// Repetitions of each timing; the fastest counts.
const REPEATS: usize = 3;

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let exact_n: &[usize] = ctx.pick(&[100, 200], &[1000, 1500, 2250, 3375, 5000], &[1000, 2000, 4000, 8000, 12_000]);
    let fast_n: &[usize] =
        ctx.pick(&[500, 1000], &[30_000, 60_000, 120_000, 240_000], &[30_000, 90_000, 270_000, 810_000]);
    let p_grid: &[usize] = ctx.pick(&[20, 40], &[400, 600, 900, 1350], &[400, 800, 1600, 3200]);
    let (p_fixed, n_fixed) = ctx.pick((30, 500), (300, 30_000), (300, 30_000));
    let stage = ctx.progress.begin("timings", exact_n.len() + fast_n.len() + p_grid.len());

    let timed = |n: usize, p: Option<usize>| {
        let seconds = time_scores(ctx, n, p);
        stage.inc(1);
        seconds
    };
    let exact: Vec<(f64, f64)> =
        exact_n.iter().map(|&n| Ok((n as f64, timed(n, None)?))).collect::<anyhow::Result<_>>()?;
    let fast: Vec<(f64, f64)> =
        fast_n.iter().map(|&n| Ok((n as f64, timed(n, Some(p_fixed))?))).collect::<anyhow::Result<_>>()?;
    let in_p: Vec<(f64, f64)> =
        p_grid.iter().map(|&p| Ok((p as f64, timed(n_fixed, Some(p))?))).collect::<anyhow::Result<_>>()?;

    let [cubic, linear, square] = [&exact, &fast, &in_p].map(|series| fitted_exponent(series));
    let mut plot = Plot::new("time-n", "Time of all n scores", Axis::log("number of points n"), Axis::log("time / s"));
    let points = |series: &[(f64, f64)]| series.iter().map(|&(x, y)| Point::new(x, y)).collect::<Vec<_>>();
    plot.line_and_points(&format!("exact: n^{cubic:.2}"), "exact", points(&exact));
    plot.line_and_points(&format!("fast, p = {p_fixed}: n^{linear:.2}"), "fast-leverage", points(&fast));
    let mut plot_p = Plot::new(
        "time-p",
        &format!("Time of fast scores at n = {n_fixed}"),
        Axis::log("number of columns p"),
        Axis::log("time / s"),
    );
    plot_p.line_and_points(&format!("fast: p^{square:.2}"), "fast-leverage", points(&in_p));

    let mut table = Table::new(
        "time",
        "Fastest of three",
        [Column::new("scores"), Column::new("n"), Column::new("p"), Column::with_unit("time", "s")],
    );
    for (n, s) in &exact {
        table.push([Cell::from("exact"), (*n).into(), Cell::Missing, (*s).into()]);
    }
    for (n, s) in &fast {
        table.push([Cell::from("fast"), (*n).into(), (p_fixed as f64).into(), (*s).into()]);
    }
    for (p, s) in &in_p {
        table.push([Cell::from("fast"), (n_fixed as f64).into(), (*p).into(), (*s).into()]);
    }
    Ok(Outcome {
        scale_note: "The paper gives no timings, only the orders; sizes are ours.".into(),
        claims: vec![
            Claim::at_most("exponent of n, fast scores", "1", linear, 1.15),
            Claim::at_most("exponent of p, fast scores", "2", square, 2.2),
            Claim::at_most("|exponent of n, exact scores − 3|", "3", (cubic - 3.0).abs(), 0.5),
        ],
        tables: vec![table],
        plots: vec![plot, plot_p],
        notes: vec!["All sizes are beyond those at which B is kept between its two passes, so that one code path is timed.".into(), "Below p of about a thousand the np kernel evaluations weigh as much as the np² products, so the exponent of p is below 2.".into()],
        ..Outcome::default()
    })
}

/// Seconds for the scores of n points in ℝ³: exact, or fast with p columns.
fn time_scores(ctx: &Context, n: usize, p: Option<usize>) -> anyhow::Result<f64> {
    let rng = &mut ctx.rng(&format!("points, n = {n}"));
    let x = random::standard_normal::<f64>(3, n, rng);
    let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_cols(x.as_ref()))?;
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        match p {
            None => drop(exact_scores(&k, RIDGE)?),
            Some(columns) => drop(AlaouiMahoney { columns }.scores(&k, RIDGE, rng)?),
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
