//! Time against size on logarithmic axes, with the fitted exponent of each series in the legend.

use super::criterion::Measurements;
use crate::plot::{Axis, Plot, Point};
use crate::statistics::fitted_exponent;

/// A curve: its name, the look it has in every plot, and the benchmarks it joins, up to the size at
/// their end.
type Curve = (&'static str, &'static str, &'static str);

const AGAINST_N: &[Curve] = &[
    ("exact scores", "exact", "exact_scores_f64"),
    ("exact regression", "leverage", "exact_krr_f64"),
    ("Nyström fit, m = 1000", "uniform", "nystrom_fit_f64/m1000"),
    ("Recursive-RLS, q = 1.5", "recursive", "recursive_bless_f64/recursive q=1.5"),
    ("BLESS, q = 2", "bless", "recursive_bless_f64/bless q=2"),
    ("SA, estimated density", "spectral", "spectral_scores/auto, bimodal"),
    ("SQUEAK", "squeak", "squeak/stream"),
];

const AGAINST_C: &[Curve] = &[
    ("n = 4000", "k-dpp", "k_dpp_200_swap_steps/metropolis n=4000"),
    ("n = 1,000,000", "uniform", "k_dpp_200_swap_steps/metropolis n=1000000"),
    ("a matrix-vector product of order c", "theory", "k_dpp_200_swap_steps/matvec"),
];

/// The plots of a run.
pub fn plots(ours: &Measurements) -> Vec<Plot> {
    let plot = |id, title, x, y| Plot::new(id, title, Axis::log(x), Axis::log(y));
    let title = "Time against the number of points";
    let n = plot("scaling-n", title, "points n", "time / s");
    let title = "Time of the k-DPP swap chain against the size of the subset";
    let c = plot("scaling-c", title, "size of the subset c", "time of 200 steps / s");
    [(n, AGAINST_N), (c, AGAINST_C)].map(|(plot, curves)| draw(plot, curves, ours)).into()
}

fn draw(mut plot: Plot, curves: &[Curve], ours: &Measurements) -> Plot {
    let series = ours.series();
    for (name, look, benchmark) in curves {
        if let Some(points) = series.get(benchmark) {
            let name = format!("{name}: exponent {:.2}", fitted_exponent(points));
            plot.line_and_points(&name, look, points.iter().map(|&(x, y)| Point::new(x, y)));
        }
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_names_its_exponent() {
        let name = |n: u32| format!("exact_scores_f64/{n}");
        let names = [10, 100, 1000].map(name);
        let ours = Measurements::from([(&*names[0], 1e-3), (&*names[1], 1.0), (&*names[2], 1e3)]);
        let plots = plots(&ours);
        assert_eq!(plots[0].series[0].name, "exact scores: exponent 3.00");
        assert!(plots[1].series.is_empty());
    }
}
