//! Divide and conquer on the simulation of Zhang, Duchi & Wainwright: error against the number of
//! parts, with the full and with the local λ.

use nystrom::kernels::FromFn;
use nystrom::linalg_core::random;
use nystrom::prelude::*;

use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Draw, Grid, Measure, Results};
use crate::method::{LEVEL_2, LEVEL_4, Method};
use crate::statistics::exponent;

/// Variance of the noise.
const NOISE: f64 = 0.2;
/// Points of the grid on which errors are taken.
const GRID: usize = 200;
const FULL: Method = LEVEL_4.called("λ = n^(−2/3)");
const LOCAL: Method = LEVEL_2.called("λ = (n/m)^(−2/3)");
const ERROR: Measure = Measure::new("error", "mean squared error").log();

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let sizes: &[usize] = ctx.pick(
        &[64, 128],
        ctx.short(&[256, 512, 1024], &[256, 512, 1024, 2048]),
        &[256, 512, 1024, 2048, 4096, 8192],
    );
    let (samples, largest) = (ctx.pick(3, 60, 60), sizes[sizes.len() - 1]);
    let results = Grid::new(ctx, "samples", sizes).repetitions(samples).parallel().run(cell)?;
    let mut out =
        results.outcome(format!("n up to {largest} (8192 in a full run), {samples} samples"));
    let title = format!("n = {largest}: mean squared error, with standard errors");
    let parts = Axis::log("number of parts m");
    out.plots.extend(results.on(&largest).plot("error", &title, parts, ERROR));
    let table = results.table("error", "Mean squared error", sizes, &[ERROR]);
    out.tables.extend(table.by_setting("points").by_x("parts").build());
    out.claims = claims(&results, sizes, largest);
    Ok(out)
}

/// One sample, in 1, 2, 4, … parts of at least four points.
fn cell(draw: &mut Draw<'_, usize>) -> anyhow::Result<()> {
    let (n, rng) = (*draw.setting, &mut draw.rng("problem"));
    let x: Vec<f64> = (0..n).map(|_| rng.random()).collect();
    let noise = random::standard_normal::<f64>(n, 1, rng);
    let truth = |x: f64| x.min(1.0 - x);
    let y = Mat::from_fn(n, 1, |i, _| truth(x[i]) + NOISE.sqrt() * noise[(i, 0)]);
    let grid: Vec<f64> = (0..GRID).map(|i| (i as f64 + 0.5) / GRID as f64).collect();
    for parts in (0..).map(|e| 1 << e).take_while(|parts| parts * 4 <= n) {
        for (method, size) in [(FULL, n as f64), (LOCAL, n as f64 / parts as f64)] {
            let kernel = FromFn::new(|x: &[f64], y: &[f64]| 1.0 + x[0].min(y[0]));
            let ridge = Ridge::PerSample(size.powf(-2.0 / 3.0));
            let krr = DivideAndConquerKrr { parts, ..DivideAndConquerKrr::new(kernel, ridge) };
            let rng = &mut draw.rng(&format!("{parts} parts"));
            let f = krr
                .fit((Points::from_slice(&x), y.as_ref()), rng)?
                .predict(Points::from_slice(&grid))?;
            let error =
                (0..GRID).map(|i| (f[(i, 0)] - truth(grid[i])).powi(2)).sum::<f64>() / GRID as f64;
            draw.put(parts, method, ERROR, error);
        }
    }
    Ok(())
}

fn claims(results: &Results, sizes: &[usize], n: usize) -> Vec<Claim> {
    // the power of two at or below n^0.4
    let moderate = 1_usize << (0.4 * (n as f64).log2()) as u32;
    let sample = |parts: usize| results.on(&n).sample(parts, FULL, ERROR);
    let text = format!("n = {n}: error in {moderate} ≈ n^0.4 parts over error in one, full λ");
    let errors: Vec<_> = sizes
        .iter()
        .map(|size| (*size as f64, results.on(size).get(1_usize, FULL, ERROR)))
        .collect();
    let local = results.on(&n).compare(("parts", moderate), ERROR, LOCAL, FULL);
    let (rate, b) = ("exponent of n in the error in one part", exponent(&errors));
    // ours: the paper's own text was not compared
    vec![
        measured(text, sample(moderate).over(&sample(1))).at_most("about 1", 1.1),
        local.at_least("larger", 1.25),
        // the rate over a ball of functions in this kernel's space
        measured(rate, b).at_most("O(n^(−2/3))", -2.0 / 3.0),
    ]
}
