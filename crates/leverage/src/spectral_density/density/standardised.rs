//! Points in units in which every coordinate has variance 1.

use nystrom_kernels::Points;
use nystrom_linalg_core::Scalar;

/// Points that stand for all in a median.
const PROBES: usize = 32;

/// The coordinates that vary, each divided by its standard deviation, point after point in `f64`.
pub(crate) struct Standardised {
    /// n·d numbers.
    pub(crate) coords: Vec<f64>,
    /// n.
    pub(crate) n: usize,
    /// Which coordinates of the points vary, in order.
    pub(crate) kept: Vec<usize>,
    /// Σ ln of their standard deviations: ln of the volume of a unit cube of the new coordinates.
    pub(crate) ln_volume: f64,
}

impl Standardised {
    /// O(nd), in the order of the points.
    ///
    /// A coordinate counts as constant if all its values are equal; such coordinates do not enter
    /// distances.
    pub(crate) fn new<T: Scalar>(points: Points<'_, T>) -> Self {
        let n = points.len();
        let column = |k: usize| (0..n).map(move |i| points.coordinate(i, k).f64());
        let varies = |k: &usize| column(*k).any(|x| x != points.coordinate(0, *k).f64());
        let kept: Vec<usize> = (0..points.dim()).filter(varies).collect();
        let moments: Vec<(f64, f64)> =
            kept.iter().map(|&k| mean_and_deviation(&column(k), n)).collect();
        let mut coords = Vec::with_capacity(n * kept.len());
        for i in 0..n {
            for (&k, (mean, deviation)) in kept.iter().zip(&moments) {
                coords.push((points.coordinate(i, k).f64() - mean) / deviation);
            }
        }
        let ln_volume = moments.iter().map(|(_, deviation)| deviation.ln()).sum();
        Standardised { coords, n, kept, ln_volume }
    }

    /// d, the number of coordinates that vary.
    pub(crate) fn dim(&self) -> usize {
        self.kept.len()
    }

    /// All points.
    pub(crate) fn points(&self) -> Points<'_, f64> {
        Points::from_row_major(&self.coords, self.dim())
    }

    /// 32 of the points, or all, spread evenly over their numbers.
    pub(crate) fn probes(&self) -> Vec<usize> {
        let count = PROBES.min(self.n);
        (0..count).map(|t| t * self.n / count).collect()
    }

    /// Point `i`.
    pub(crate) fn point(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim()..(i + 1) * self.dim()]
    }
}

/// Mean and standard deviation (divisor n), shifted and scaled by the largest deviation so that
/// neither overflows.
fn mean_and_deviation(values: &(impl Iterator<Item = f64> + Clone), n: usize) -> (f64, f64) {
    let first = values.clone().next().unwrap_or(0.0);
    let mean = first + values.clone().map(|x| (x - first) / n as f64).sum::<f64>();
    let largest = values.clone().map(|x| (x - mean).abs()).fold(0.0, f64::max);
    let variance = values.clone().map(|x| ((x - mean) / largest).powi(2)).sum::<f64>() / n as f64;
    (mean, largest * variance.sqrt())
}
