//! Divide and conquer on the simulation of Zhang, Duchi & Wainwright: error against the number of parts, with the full and with the local λ.

use nystrom::faer::Mat;
use nystrom::kernels::{FromFn, Points};
use nystrom::krr::DivideAndConquerKrr;
use nystrom::linalg_core::{Ridge, random};
use nystrom::rand::RngExt;
use rayon::prelude::*;

use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "zhang-duchi-wainwright-parts",
    paper: &papers::ZHANG_DUCHI_WAINWRIGHT_2013,
    figure: "Simulation, error against the number of parts",
    says: "For f* = min(x, 1 − x) and k = 1 + min(x, y), with the λ = N^(−2/3) of the full problem on every part, the averaged estimate is as \
        good as that of all data up to many parts; with the λ of a part's own size it is not.",
    data: &[],
    run,
};

/// Standard deviation of the noise: its variance is 1/5.
const NOISE: f64 = 0.447_213_595_499_957_9;
/// Points of the grid on which errors are taken.
const GRID: usize = 200;

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(&[64, 128], &[256, 512, 1024, 2048], &[256, 512, 1024, 2048, 4096, 8192]);
    let repetitions = ctx.pick(3, 12, 20);
    let mut rows: Vec<(usize, usize, bool)> = Vec::new();
    for &n in sizes {
        let parts = (0..).map(|e| 1 << e).take_while(|m| m * 4 <= n);
        rows.extend(parts.flat_map(|m| [(n, m, false), (n, m, true)]));
    }
    let stage = ctx.progress.begin("divide and conquer", rows.len() * repetitions);
    let errors: Vec<(f64, f64)> = rows
        .par_iter()
        .map(|&(n, parts, local)| {
            let one = |r: usize| {
                let error = error(ctx, n, parts, local, r);
                stage.inc(1);
                error
            };
            Ok(mean_and_error(&(0..repetitions).map(one).collect::<anyhow::Result<Vec<f64>>>()?))
        })
        .collect::<anyhow::Result<_>>()?;
    drop(stage);
    Ok(report(sizes, repetitions, &rows, &errors))
}

/// Mean squared error of one estimate against f* on a grid. The data depend on n and the repetition only.
fn error(ctx: &Context, n: usize, parts: usize, local: bool, repetition: usize) -> anyhow::Result<f64> {
    let rng = &mut ctx.rng(&format!("data, n = {n}, repetition {repetition}"));
    let x: Vec<f64> = (0..n).map(|_| rng.random()).collect();
    let noise = random::standard_normal::<f64>(n, 1, rng);
    let truth = |x: f64| x.min(1.0 - x);
    let y = Mat::from_fn(n, 1, |i, _| truth(x[i]) + NOISE * noise[(i, 0)]);
    let own = if local { n as f64 / parts as f64 } else { n as f64 };
    let kernel = FromFn::new(|x: &[f64], y: &[f64]| 1.0 + x[0].min(y[0]));
    let krr = DivideAndConquerKrr { parts, ..DivideAndConquerKrr::new(kernel, Ridge::PerSample(own.powf(-2.0 / 3.0))) };
    let model = krr.fit(Points::from_slice(&x), y.as_ref(), rng)?;
    let grid: Vec<f64> = (0..GRID).map(|i| (i as f64 + 0.5) / GRID as f64).collect();
    let f = model.predict(Points::from_slice(&grid))?;
    Ok((0..GRID).map(|i| (f[(i, 0)] - truth(grid[i])).powi(2)).sum::<f64>() / GRID as f64)
}

fn report(sizes: &[usize], repetitions: usize, rows: &[(usize, usize, bool)], errors: &[(f64, f64)]) -> Outcome {
    let title = format!("Mean squared error over {repetitions} samples, with standard errors");
    let columns = ["N", "parts", "lambda", "error", "s.e."].map(Column::new);
    let mut table = Table::new("error", &title, columns);
    for (&(n, parts, local), &(mean, error)) in rows.iter().zip(errors) {
        let lambda = if local { "local" } else { "full" };
        table.push([(n as f64).into(), (parts as f64).into(), Cell::from(lambda), mean.into(), error.into()]);
    }
    let n = *sizes.last().unwrap_or(&0);
    let mut plot = Plot::new(
        "error",
        &format!("{title}, N = {n}"),
        Axis::log("number of parts m"),
        Axis::log("mean squared error"),
    );
    for (local, name, style) in [(false, "λ = N^(−2/3)", "level-4"), (true, "λ = (N/m)^(−2/3)", "level-2")] {
        let chosen = rows.iter().zip(errors).filter(|(row, _)| row.0 == n && row.2 == local);
        let point =
            |(row, e): (&(usize, usize, bool), &(f64, f64))| Point::with_range(row.1 as f64, e.0, e.0 - e.1, e.0 + e.1);
        plot.line_and_points(name, style, chosen.map(point));
    }
    let at = |parts: usize, local: bool| {
        rows.iter().zip(errors).find(|(row, _)| **row == (n, parts, local)).map_or(f64::NAN, |(_, e)| e.0)
    };
    // the power of two at or below N^0.4
    let moderate = 1 << (0.4 * (n as f64).log2()) as u32;
    let whole = at(1, false);
    Outcome {
        scale_note: format!(
            "N up to {n}, {repetitions} samples; the setting is quoted from memory, with N up to 8192 and more parts."
        ),
        claims: vec![
            Claim::at_most(
                &format!("error in {moderate} ≈ N^0.4 parts over error in one, full λ, N = {n}"),
                "about 1 (picture)",
                at(moderate, false) / whole,
                1.25,
            ),
            Claim::at_least(
                &format!("error with the local λ over error with the full λ, in {moderate} parts"),
                "larger",
                at(moderate, true) / at(moderate, false),
                1.25,
            ),
            Claim::at_most(
                &format!("error at N = {n} over error at N = {}, one part", sizes[0]),
                "falls as N^(−2/3)",
                whole
                    / rows
                        .iter()
                        .zip(errors)
                        .find(|(row, _)| **row == (sizes[0], 1, false))
                        .map_or(f64::NAN, |(_, e)| e.0),
                1.5 * (sizes[0] as f64 / n as f64).powf(2.0 / 3.0),
            ),
        ],
        tables: vec![table],
        plots: vec![plot],
        ..Outcome::default()
    }
}
