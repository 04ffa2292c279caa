//! Cost of fast against exact scores (Alaoui & Mahoney 2015, section 3.5): O(np²) against O(n³), by
//! fitted exponents.

use nystrom::linalg_core::random;
use nystrom::prelude::*;

use crate::experiment::{Axis, Claim, Context, Outcome, measured};
use crate::lab::{Grid, Measure, Results, labelled};
use crate::method::{EXACT, FAST_LEVERAGE, Method};

const RIDGE: Ridge<f64> = Ridge::PerSample(1e-4);
/// Timings of each size; their median counts.
const REPEATS: usize = 3;
const TIME: Measure = Measure::time("time", "time of all n scores / s");

/// What grows: n or p, and its values.
struct Series {
    label: &'static str,
    method: Method,
    grows: &'static str,
    values: &'static [usize],
    /// n and p, where the other grows.
    fixed: (usize, usize),
}

labelled!(Series);

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let exact: &[usize] = ctx.pick(
        &[100, 200],
        ctx.short(&[1000, 1500, 2250, 3375], &[1000, 1500, 2250, 3375, 5000]),
        &[1000, 2000, 4000, 8000, 12_000],
    );
    let fast: &[usize] = ctx.pick(
        &[500, 1000],
        ctx.short(&[30_000, 60_000, 120_000], &[30_000, 60_000, 120_000, 240_000]),
        &[30_000, 90_000, 270_000, 810_000],
    );
    let in_p: &[usize] = ctx.pick(&[20, 40], &[400, 600, 900, 1350], &[400, 800, 1600, 3200]);
    let fixed = ctx.pick((500, 30), (30_000, 300), (30_000, 300));
    let series = |label, method, grows, values| Series { label, method, grows, values, fixed };
    let series = [
        series("exact scores", EXACT.called("exact"), "n", exact),
        series("fast scores, n grows", FAST_LEVERAGE, "n", fast),
        series("fast scores, p grows", FAST_LEVERAGE, "p", in_p),
    ];
    let results = Grid::new(ctx, "timings", &series).repetitions(REPEATS).run(|draw| {
        let Series { method, grows, values, fixed: (n_fixed, p_fixed), .. } = *draw.setting;
        for &size in values {
            let (n, columns) = if grows == "n" { (size, p_fixed) } else { (n_fixed, size) };
            let rng = &mut draw.rng(&format!("{size}"));
            let x = random::standard_normal::<f64>(3, n, rng);
            let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_cols(x.as_ref()))?;
            draw.timed(size, method, TIME, || {
                if method == EXACT {
                    exact_scores(&k, RIDGE)?;
                } else {
                    AlaouiMahoney { columns }.scores(&k, RIDGE, rng)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;

    let mut out = results.outcome(format!(
        "The paper gives no timings, only the orders; sizes are ours, {REPEATS} timings of each."
    ));
    for s in &series {
        let (id, title) =
            (s.label.replace(", ", "-").replace(' ', "-"), format!("{}: time", s.label));
        out.plots.extend(results.on(s).plot(&id, &title, Axis::log(s.grows), TIME));
    }
    let table = results.table("time", "Medians", &series, &[TIME]);
    out.tables.extend(table.by_setting("scores").by_x("n or p").build());
    out.claims = claims(&results, &series);
    out.values = vec![("p", fixed.1.to_string()), ("n", fixed.0.to_string())];
    Ok(out)
}

fn claims(results: &Results, [exact, fast, in_p]: &[Series; 3]) -> Vec<Claim> {
    let exponent = |s: &Series| results.on(s).exponent(s.method, TIME);
    // ours: the paper prints the orders, sizes and tolerances are ours
    vec![
        measured("exponent of n, fast scores", exponent(fast)).between("1", [0.85, 1.15]),
        measured("exponent of p, fast scores", exponent(in_p)).between("at most 2", [1.0, 2.2]),
        measured("exponent of n, exact scores", exponent(exact)).between("3", [2.5, 3.5]),
    ]
}
