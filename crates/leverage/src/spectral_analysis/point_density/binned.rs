//! The kernel density estimate on a grid that is stored only near points: cubic splines spread the
//! points onto the grid, a separable Gaussian filter follows, and cubic splines interpolate the
//! result at the points.

use super::blocks::{Block, BlockSet, NODES, moved};
use super::{Standardised, Sums};
use rayon::prelude::*;
use std::ops::Range;

/// Grid cells per bandwidth, h/δ, on the line, in the plane and in space.
const CELLS_PER_BANDWIDTH: [f64; 3] = [4.0, 4.0, 3.0];
/// Nodes along each side of a block, which has `NODES` nodes.
const SIDE: [usize; 3] = [64, 8, 4];
/// The truncation of the filter changes a sum by less than this share of the point's own
/// contribution, for any positions of the other points.
const CUT: f64 = 0.01;
/// Most nodes in memory: 8 bytes each, 1 GiB.
const MOST_NODES: usize = 1 << 27;
/// Points this many grid cells or more from the origin of the grid are refused.
const FARTHEST: f64 = 1e9;

/// A grid of spacing δ over points in one to three dimensions, in blocks that are stored only near
/// points.
pub(crate) struct Grid<'x> {
    x: &'x Standardised,
    origin: Vec<f64>,
    spacing: f64,
    /// The points, sorted by the block of the lowest node that each point touches.
    order: Vec<usize>,
    /// Every block with its points, as a range of `order`.
    runs: Vec<(Block, Range<usize>)>,
    /// The blocks that are stored before the first pass of the filter and after each pass.
    stages: Vec<BlockSet>,
    /// The values of the filter at 0, δ, 2δ, …
    taps: Vec<f64>,
}

impl<'x> Grid<'x> {
    /// The grid for bandwidth `h`; `None` in more than three dimensions, if the grid extends too
    /// far, or if more than 2²⁷ nodes would be in memory at a time.
    pub(crate) fn new(x: &'x Standardised, h: f64) -> Option<Self> {
        let d = x.dim();
        if !(1..=3).contains(&d) {
            return None;
        }
        let spacing = h / CELLS_PER_BANDWIDTH[d - 1];
        let column = |k: usize| (0..x.n).map(move |i| x.coords[i * d + k]);
        let origin: Vec<f64> = (0..d).map(|k| column(k).fold(f64::INFINITY, f64::min)).collect();
        let farthest = (0..d)
            .flat_map(|k| column(k).map(move |c| (k, c)))
            .map(|(k, c)| c - origin[k])
            .fold(0.0, f64::max);
        if farthest / spacing >= FARTHEST {
            return None;
        }
        let taps = taps(x.n, h, spacing);
        let mut grid =
            Grid { x, origin, spacing, order: vec![], runs: vec![], stages: vec![], taps };
        (grid.order, grid.runs) = grid.sorted();
        let corners = 0..1 << d;
        let touched = |(block, _): &(Block, _)| {
            corners.clone().map(|c| corner(*block, c)).collect::<Vec<_>>()
        };
        let touched = BlockSet::new(grid.runs.iter().flat_map(touched).collect());
        if touched.len() * NODES > MOST_NODES {
            return None;
        }
        grid.stages = grid.stages(touched);
        // nodes in memory during a pass: those before and after it
        let two = |stages: &[BlockSet]| (stages[0].len() + stages[1].len()) * NODES;
        grid.stages.windows(2).all(|pair| two(pair) <= MOST_NODES).then_some(grid)
    }

    /// Number of nodes, over all stages.
    pub(crate) fn nodes(&self) -> usize {
        self.stages.iter().map(|stage| stage.len() * NODES).sum()
    }

    /// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i: O(n 4^d + nodes·h/δ) time.
    ///
    /// A cubic spline spreads a point with variance δ²/3 per dimension, for any position in its
    /// cell, and so does interpolation. The filter therefore has variance h² − 2δ²/3, and the error
    /// is of fourth order. At a distance of z bandwidths along an axis, the relative error of a
    /// contribution is (z⁴ − 6z² + 3)(δ/h)⁴/360 from the fourth cumulant and at most about
    /// 4(zδ/(2πh))⁴ from aliasing.
    pub(crate) fn sums(&self) -> Sums {
        let d = self.x.dim();
        let mut grid = self.spread();
        let mut operations = 2 * self.x.n as u64 * 4_u64.pow(d as u32);
        for (pass, stage) in self.stages.windows(2).enumerate() {
            let axis = d - 1 - pass; // the slowest within a block, each in turn
            let (filtered, used) = match SIDE[d - 1] {
                64 => self.pass::<1>(axis, &grid, &stage[0], &stage[1]),
                8 => self.pass::<8>(axis, &grid, &stage[0], &stage[1]),
                _ => self.pass::<16>(axis, &grid, &stage[0], &stage[1]),
            };
            (grid, operations) = (filtered, operations + used);
        }
        Sums { values: self.gather(&grid), operations }
    }

    /// The blocks that must be stored before, between and after the passes along axes d − 1, …, 0.
    fn stages(&self, touched: BlockSet) -> Vec<BlockSet> {
        let (d, reach) = (self.x.dim(), self.reach());
        let again = || BlockSet::new(touched.blocks().to_vec());
        match d {
            1 => vec![again(), touched],
            2 => vec![again(), touched.between_passes(1, None, 0, reach).0, touched],
            _ => {
                let (first, second) = touched.between_passes(2, Some(1), 0, reach);
                [again(), first].into_iter().chain(second).chain([touched]).collect()
            }
        }
    }

    /// The number of blocks that the filter reaches in one direction.
    fn reach(&self) -> i32 {
        (self.taps.len() - 1).div_ceil(SIDE[self.x.dim() - 1]) as i32
    }

    /// The points sorted by their blocks, and the range of each block in this order.
    fn sorted(&self) -> (Vec<usize>, Vec<(Block, Range<usize>)>) {
        let mut keyed: Vec<(Block, usize)> =
            (0..self.x.n).into_par_iter().map(|i| (self.block_of(i), i)).collect();
        keyed.par_sort_unstable();
        let mut end = 0;
        let run = |points: &[(Block, usize)]| {
            let start = end;
            end += points.len();
            (points[0].0, start..end)
        };
        let runs = keyed.chunk_by(|a, b| a.0 == b.0).map(run).collect();
        (keyed.into_iter().map(|(_, i)| i).collect(), runs)
    }

    fn block_of(&self, i: usize) -> Block {
        let side = SIDE[self.x.dim() - 1] as i32;
        let mut block = [0; 3];
        for (k, place) in block.iter_mut().enumerate().take(self.x.dim()) {
            *place = self.place(i, k) as i32 / side;
        }
        block
    }

    /// Coordinate `k` of point `i` in grid cells.
    fn place(&self, i: usize, k: usize) -> f64 {
        (self.x.point(i)[k] - self.origin[k]) / self.spacing
    }

    /// The grid before the filter: every point spread over 4^d nodes. Points are taken in the order
    /// of their blocks.
    fn spread(&self) -> Vec<f64> {
        let mut grid = vec![0.0; self.stages[0].len() * NODES];
        for (block, range) in &self.runs {
            let blocks = self.corners(*block);
            for &i in &self.order[range.clone()] {
                self.visit(i, |which, node, weight| grid[blocks[which] * NODES + node] += weight);
            }
        }
        grid
    }

    /// The values of the grid, interpolated at every point.
    fn gather(&self, grid: &[f64]) -> Vec<f64> {
        let of_run = |(block, range): &(Block, Range<usize>)| {
            let blocks = self.corners(*block);
            let at = move |&i: &usize| {
                let mut sum = 0.0;
                self.visit(i, |which, node, weight| {
                    sum += weight * grid[blocks[which] * NODES + node]
                });
                sum
            };
            self.order[range.clone()].iter().map(at)
        };
        let in_order: Vec<f64> = self.runs.par_iter().flat_map_iter(of_run).collect();
        let mut sums = vec![0.0; self.x.n];
        self.order.iter().zip(in_order).for_each(|(&i, sum)| sums[i] = sum);
        sums
    }

    /// The numbers of the blocks that points with lowest node in `block` touch: `block` and the
    /// next blocks along the axes.
    fn corners(&self, block: Block) -> [usize; 8] {
        // entries from 2^d on are never used
        std::array::from_fn(|c| self.stages[0].number(corner(block, c)).unwrap_or(0))
    }

    /// Calls `visit(which of the corner blocks, node in it, weight)` for the 4^d nodes around point
    /// `i`; the weights sum to 1.
    fn visit(&self, i: usize, mut visit: impl FnMut(usize, usize, f64)) {
        let d = self.x.dim();
        let side = SIDE[d - 1];
        // per axis and node: its contribution to `which` and to `node`, and its weight
        let mut along = [[(0, 0, 1.0); 4]; 3];
        let (mut count, mut stride) = ([1; 3], 1);
        for k in 0..d {
            let place = self.place(i, k);
            let cell = place as usize;
            for (m, weight) in spline(place - cell as f64).into_iter().enumerate() {
                let node = cell % side + m;
                along[k][m] = ((node / side) << k, node % side * stride, weight);
            }
            count[k] = 4;
            stride *= side;
        }
        for z in &along[2][..count[2]] {
            for y in &along[1][..count[1]] {
                let (which, node, weight) = (z.0 + y.0, z.1 + y.1, z.2 * y.2);
                for x in &along[0][..count[0]] {
                    visit(which + x.0, node + x.1, weight * x.2);
                }
            }
        }
    }

    /// One pass of the filter along `axis`, whose neighbours are `REST` nodes apart within a block
    /// of `from`; in the result `axis` is the fastest axis. Also returns the number of
    /// multiplications. The order of summation is the same for every node.
    fn pass<const REST: usize>(
        &self,
        axis: usize,
        grid: &[f64],
        from: &BlockSet,
        to: &BlockSet,
    ) -> (Vec<f64>, u64) {
        let (side, reach) = (NODES / REST, self.reach());
        let mut out = vec![0.0; to.len() * NODES];
        let block = |(out, &block): (&mut [f64], &Block)| {
            let mut sum = [0.0; NODES];
            let (rows, _) = sum.as_chunks_mut::<REST>();
            let mut used = 0;
            for offset in -reach..=reach {
                let Some(source) = from.number(moved(block, axis, offset)) else { continue };
                let (source, _) = grid[source * NODES..][..NODES].as_chunks::<REST>();
                used += add_filtered(rows, source, offset as isize * side as isize, &self.taps);
            }
            for (i, row) in rows.iter().enumerate() {
                row.iter().enumerate().for_each(|(j, value)| out[j * side + i] = *value);
            }
            used * REST as u64
        };
        let used = out.par_chunks_mut(NODES).zip(to.blocks()).map(block).sum();
        (out, used)
    }
}

/// sum_i += Σ_j taps_{|shift + j − i|} source_j; returns the number of terms.
fn add_filtered<const REST: usize>(
    sum: &mut [[f64; REST]],
    source: &[[f64; REST]],
    shift: isize,
    taps: &[f64],
) -> u64 {
    let mut used = 0;
    for (i, out) in sum.iter_mut().enumerate() {
        for (j, row) in source.iter().enumerate() {
            if let Some(weight) = taps.get((shift + j as isize - i as isize).unsigned_abs()) {
                out.iter_mut().zip(row).for_each(|(out, value)| *out += weight * value);
                used += 1;
            }
        }
    }
    used
}

/// The block next to `block` along the axes whose bits are set in `c`.
fn corner(block: Block, c: usize) -> Block {
    std::array::from_fn(|k| block[k] + (c >> k & 1) as i32)
}

/// The Gaussian of variance h² − 2δ²/3 at 0, δ, 2δ, …, scaled so that filter and splines together
/// have the scale of exp(−r²/(2h²)). It ends where the sum of n values is below `CUT`.
fn taps(n: usize, h: f64, spacing: f64) -> Vec<f64> {
    let variance = h * h - 2.0 / 3.0 * spacing * spacing;
    let front = (h * h / variance).sqrt();
    let reach = (h / spacing * (2.0 * (n as f64 / CUT).ln()).sqrt()).ceil() as usize;
    (0..=reach).map(|k| front * (-0.5 * (k as f64 * spacing).powi(2) / variance).exp()).collect()
}

/// Weights of the cubic B-spline at the four nodes around a point, which is `f` cells after the
/// second node.
fn spline(f: f64) -> [f64; 4] {
    let g = 1.0 - f;
    let middle = |f: f64| (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    [g * g * g / 6.0, middle(f), middle(g), f * f * f / 6.0]
}
