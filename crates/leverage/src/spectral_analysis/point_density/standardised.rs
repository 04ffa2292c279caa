//! Points with every coordinate divided by its standard deviation.

use nystrom_kernels::Points;
use nystrom_linalg_core::Scalar;

/// Number of points whose median is taken for that of all points.
const PROBES: usize = 32;

/// The coordinates that vary, each divided by its standard deviation, point after point in `f64`.
pub(crate) struct Standardised {
    /// The coordinates, n·d numbers, point after point.
    pub(crate) coords: Vec<f64>,
    /// n, the number of points.
    pub(crate) n: usize,
    /// The coordinates of the points that vary, in increasing order.
    pub(crate) kept: Vec<usize>,
    /// Σ ln of their standard deviations: ln of the volume of a unit cube of the new coordinates.
    pub(crate) ln_volume: f64,
}

impl Standardised {
    /// Standardises the points, in O(nd) time.
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

    /// 32 points with evenly spaced indices, or all points if there are fewer.
    pub(crate) fn probes(&self) -> Vec<usize> {
        let count = PROBES.min(self.n);
        (0..count).map(|t| t * self.n / count).collect()
    }

    /// Point `i`.
    pub(crate) fn point(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim()..(i + 1) * self.dim()]
    }
}

/// Mean and standard deviation (divisor n), computed with shifted and scaled values, so that
/// neither overflows.
fn mean_and_deviation(values: &(impl Iterator<Item = f64> + Clone), n: usize) -> (f64, f64) {
    let first = values.clone().next().unwrap_or(0.0);
    let mean = first + values.clone().map(|x| (x - first) / n as f64).sum::<f64>();
    let largest = values.clone().map(|x| (x - mean).abs()).fold(0.0, f64::max);
    let variance = values.clone().map(|x| ((x - mean) / largest).powi(2)).sum::<f64>() / n as f64;
    (mean, largest * variance.sqrt())
}
