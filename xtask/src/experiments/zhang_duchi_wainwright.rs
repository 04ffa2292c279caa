//! Divide and conquer on the simulation of Zhang, Duchi & Wainwright: error against the number of
//! parts, with the full and with the local λ.

use nystrom::kernels::FromFn;

use crate::lab::*;

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
    let grid = Grid::new(ctx, "samples", sizes, [(0, samples)]).parallel();
    let results = grid.run(cell)?;
    let mut out =
        results.outcome(format!("n up to {largest} (8192 in a full run), {samples} samples"));
    let here = results.on(&largest);
    let title = format!("n = {largest}: mean squared error, with standard errors");
    let parts = Axis::log("number of parts m");
    out.plots.extend(here.plot("error", &title, parts, ERROR));
    let keys = ["points", "parts", ""];
    out.tables.extend(results.table(["error", "Mean squared error"], sizes, keys, &[], &[ERROR]));
    // the power of two at or below n^0.4
    let moderate = 1_usize << (0.4 * (largest as f64).log2()) as u32;
    let text = format!("error in {moderate} ≈ n^0.4 parts over error in one, full λ");
    let [few, one] = [moderate, 1].map(|parts| here.sample(parts, FULL, ERROR));
    let in_one = |n: &usize| (*n as f64, results.on(n).get(1_usize, FULL, ERROR));
    let in_one: Vec<_> = sizes.iter().map(in_one).collect();
    // ours: the paper's own text was not compared
    out.claims = vec![
        here.measured(text, few.over(&one)).at_most("about 1", 1.1),
        here.compare(("parts", moderate), ERROR, LOCAL, FULL).at_least("larger", 1.25),
        // the rate over a ball of functions in this kernel's space
        measured("exponent of n in the error in one part", exponent(&in_one))
            .at_most("O(n^(−2/3))", -2.0 / 3.0),
    ];
    Ok(out)
}

/// One sample, in 1, 2, 4, … parts of at least four points.
fn cell(trial: &mut Trial<'_, usize>) -> anyhow::Result<()> {
    let (n, rng) = (*trial.setting, &mut trial.rng("problem"));
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
            let rng = &mut trial.rng(&format!("{parts} parts"));
            let model = krr.fit((Points::from_slice(&x), y.as_ref()), rng)?;
            let f = model.predict(Points::from_slice(&grid))?;
            let squares = (0..GRID).map(|i| (f[(i, 0)] - truth(grid[i])).powi(2));
            trial.put(parts, method, ERROR, squares.sum::<f64>() / GRID as f64);
        }
    }
    Ok(())
}
