//! The kernel density estimate on a grid: linear binning, separable Gaussian filtering, linear interpolation.

use super::Standardised;
use rayon::prelude::*;

/// Grid cells per bandwidth, h/δ: the first for which the grid has at most four nodes per point, otherwise the last.
const RESOLUTIONS: [f64; 7] = [16.0, 12.0, 8.0, 6.0, 5.0, 4.0, 3.0];
const NODES_PER_POINT: f64 = 4.0;
/// A grid of this many nodes is always considered small.
const SMALL: f64 = 65_536.0;
/// Rows at least this long are added as a whole; shorter ones together with their neighbours.
const LONG_ROW: usize = 64;
/// The Gaussian is cut where it is e^{−24.5} of its peak: 10⁶ points beyond weigh less than 3e-5 of the point itself.
const REACH: f64 = 7.0;
/// More grid cells than this are refused: two grids of 8 bytes a cell, 256 MiB.
const MAX_CELLS: f64 = 16_777_216.0;

/// A grid over the points with spacing δ, from h/16 to h/3.
pub(crate) struct Grid {
    origin: Vec<f64>,
    /// Nodes along each coordinate.
    shape: Vec<usize>,
    spacing: f64,
    bandwidth: f64,
}

impl Grid {
    /// The grid for bandwidth `h`; `None` if even with δ = h/3 it would have more than 2²⁴ nodes, or more than three dimensions.
    pub(crate) fn new(x: &Standardised, h: f64) -> Option<Self> {
        let d = x.dim();
        if !(1..=3).contains(&d) {
            return None;
        }
        let column = |k: usize| (0..x.n).map(move |i| x.coords[i * d + k]);
        let origin: Vec<f64> = (0..d).map(|k| column(k).fold(f64::INFINITY, f64::min)).collect();
        let extent: Vec<f64> = (0..d).map(|k| column(k).fold(f64::NEG_INFINITY, f64::max) - origin[k]).collect();
        let nodes = |spacing: f64| extent.iter().map(move |e| (e / spacing).floor() + 2.0);
        let cells = |resolution: f64| nodes(h / resolution).product::<f64>();
        let enough = (NODES_PER_POINT * x.n as f64).clamp(SMALL, MAX_CELLS);
        let fine = RESOLUTIONS.into_iter().find(|&r| cells(r) <= enough);
        let resolution = fine.unwrap_or(RESOLUTIONS[RESOLUTIONS.len() - 1]);
        let spacing = h / resolution;
        let shape = || nodes(spacing).map(|m| m as usize).collect();
        (cells(resolution) <= MAX_CELLS).then(|| Grid { shape: shape(), origin, spacing, bandwidth: h })
    }

    /// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i: O(n 2^d + cells·d·14h/δ).
    ///
    /// Linear binning spreads a point with variance t(1 − t)δ² per dimension, t its place in the cell, and linear interpolation does
    /// the same: δ²/3 together on average over places, so the filter has variance h² − δ²/3. What is left, at most δ²/3 per
    /// dimension, changes the contribution of a point at distance u by at most (1 + u²/h²)δ²/(6h²) of it.
    pub(crate) fn sums(&self, x: &Standardised) -> Vec<f64> {
        let mut grid = vec![0.0; self.shape.iter().product()];
        for i in 0..x.n {
            self.corners(x.point(i), |node, weight| grid[node] += weight);
        }
        let variance = self.bandwidth.powi(2) - self.spacing.powi(2) / 3.0;
        let front = (self.bandwidth.powi(2) / variance).sqrt(); // the sum is normalised for variance h²
        let reach = (REACH * self.bandwidth / self.spacing).ceil() as usize;
        let taps: Vec<f64> =
            (0..=reach).map(|k| front * (-0.5 * (k as f64 * self.spacing).powi(2) / variance).exp()).collect();
        for axis in 0..self.shape.len() {
            grid = self.filter(&grid, axis, &taps);
        }
        let interpolate = |i: usize| {
            let mut sum = 0.0;
            self.corners(x.point(i), |node, weight| sum += weight * grid[node]);
            sum
        };
        (0..x.n).into_par_iter().map(interpolate).collect()
    }

    /// Calls `visit(node, weight)` for the 2^d nodes around `point`; weights add up to 1.
    fn corners(&self, point: &[f64], mut visit: impl FnMut(usize, f64)) {
        let d = point.len();
        let mut base = 0;
        let mut fraction = [0.0; 3];
        let mut stride = [0; 3];
        let mut size = 1;
        for k in 0..d {
            let t = (point[k] - self.origin[k]) / self.spacing;
            let cell = (t as usize).min(self.shape[k] - 2);
            fraction[k] = (t - cell as f64).clamp(0.0, 1.0);
            stride[k] = size;
            base += cell * size;
            size *= self.shape[k];
        }
        for corner in 0..1_usize << d {
            let mut node = base;
            let mut weight = 1.0;
            for k in 0..d {
                let upper = corner >> k & 1;
                node += upper * stride[k];
                weight *= if upper == 1 { fraction[k] } else { 1.0 - fraction[k] };
            }
            visit(node, weight);
        }
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.shape.iter().product()
    }

    /// The grid convolved along one axis with the symmetric filter `taps`. Every node sums in the same order.
    fn filter(&self, grid: &[f64], axis: usize, taps: &[f64]) -> Vec<f64> {
        let inner: usize = self.shape[..axis].iter().product();
        let slab = inner * self.shape[axis];
        let mut out = vec![0.0; grid.len()];
        if inner < LONG_ROW {
            out.par_chunks_mut(slab)
                .zip(grid.par_chunks(slab))
                .for_each(|(out, slab)| shift_and_add(out, slab, inner, taps));
            return out;
        }
        out.par_chunks_mut(inner).enumerate().for_each(|(row, out)| {
            let (line, position) = (row * inner / slab * slab, row % self.shape[axis]);
            let last = (position + taps.len() - 1).min(self.shape[axis] - 1);
            for source in position.saturating_sub(taps.len() - 1)..=last {
                let from = &grid[line + source * inner..][..inner];
                axpy(out, taps[position.abs_diff(source)], from);
            }
        });
        out
    }
}

/// out_i = Σ_k taps_k (slab_{i − k·inner} + slab_{i + k·inner}), what lies outside being 0.
fn shift_and_add(out: &mut [f64], slab: &[f64], inner: usize, taps: &[f64]) {
    axpy(out, taps[0], slab);
    for (k, &weight) in taps.iter().enumerate().skip(1) {
        let shift = k * inner;
        if shift >= slab.len() {
            break;
        }
        axpy(&mut out[shift..], weight, slab);
        axpy(out, weight, &slab[shift..]);
    }
}

/// out += weight·from, as far as both reach.
fn axpy(out: &mut [f64], weight: f64, from: &[f64]) {
    out.iter_mut().zip(from).for_each(|(out, value)| *out += weight * value);
}
