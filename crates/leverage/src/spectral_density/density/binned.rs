//! The kernel density estimate on a grid that exists only near points: cubic splines onto the grid,
//! separable Gaussian filter, cubic splines back.

use super::blocks::{Block, BlockSet, NODES, moved};
use super::{Standardised, Sums};
use rayon::prelude::*;
use std::ops::Range;

/// Grid cells per bandwidth, h/δ, on the line, in the plane and in space.
const CELLS_PER_BANDWIDTH: [f64; 3] = [4.0, 4.0, 3.0];
/// Nodes along each side of a block, so that a block has `NODES`.
const SIDE: [usize; 3] = [64, 8, 4];
/// What the filter cuts off is less than this share of a point's own contribution, whatever the
/// other points.
const CUT: f64 = 0.01;
/// More nodes than this in memory are refused: 8 bytes each, 1 GiB.
const MOST_NODES: usize = 1 << 27;
/// Coordinates beyond this many blocks from the first are refused.
const FARTHEST: f64 = 1e9;

/// A grid of spacing δ over points in one to three dimensions, in blocks that exist only where
/// points are.
pub(crate) struct Grid<'x> {
    x: &'x Standardised,
    origin: Vec<f64>,
    spacing: f64,
    /// Points by the block of the lowest node each touches.
    order: Vec<usize>,
    /// The points of one block, as a range of `order`.
    runs: Vec<(Block, Range<usize>)>,
    /// The blocks that exist before the first pass of the filter and after each.
    stages: Vec<BlockSet>,
    /// The filter at 0, δ, 2δ, …
    taps: Vec<f64>,
}

impl<'x> Grid<'x> {
    /// The grid for bandwidth `h`; `None` in more than three dimensions, or if 2²⁷ nodes would have
    /// to be in memory at a time.
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
        // before and after a pass
        let two = |stages: &[BlockSet]| (stages[0].len() + stages[1].len()) * NODES;
        grid.stages.windows(2).all(|pair| two(pair) <= MOST_NODES).then_some(grid)
    }

    /// Number of nodes, over all stages.
    pub(crate) fn nodes(&self) -> usize {
        self.stages.iter().map(|stage| stage.len() * NODES).sum()
    }

    /// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i: O(n 4^d + nodes·h/δ) time.
    ///
    /// A cubic spline spreads a point with variance δ²/3 per dimension wherever in its cell it
    /// lies, and interpolation does the same. So the filter has variance h² − 2δ²/3. What is left
    /// is of fourth order. At z bandwidths along an axis the contribution is off by (z⁴ − 6z² +
    /// 3)(δ/h)⁴/360 of it from the fourth cumulant. It is off by about 4(zδ/(2πh))⁴ at most from
    /// aliasing.
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

    /// The blocks that must exist between passes along axes d − 1, …, 0.
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

    /// How many blocks the filter reaches.
    fn reach(&self) -> i32 {
        (self.taps.len() - 1).div_ceil(SIDE[self.x.dim() - 1]) as i32
    }

    /// The points in the order of their blocks, and where each block begins and ends in it.
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

    /// Every point spread over 4^d nodes, in the order of the sorted points.
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

    /// The grid interpolated at every point.
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

    /// Numbers of the blocks that points with lowest node in `block` touch: itself, and the next
    /// ones along the axes.
    fn corners(&self, block: Block) -> [usize; 8] {
        // beyond 2^d never asked for
        std::array::from_fn(|c| self.stages[0].number(corner(block, c)).unwrap_or(0))
    }

    /// Calls `visit(which of the corner blocks, node in it, weight)` for the 4^d nodes around point
    /// `i`; weights add up to 1.
    fn visit(&self, i: usize, mut visit: impl FnMut(usize, usize, f64)) {
        let d = self.x.dim();
        let side = SIDE[d - 1];
        // per axis and node: share of `which`, of the node's number, weight
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

    /// One pass of the filter along `axis`, which is the slowest within a block (`REST` nodes
    /// apart); it becomes the fastest. Also how many multiplications that took. Every node sums in
    /// the same order.
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

/// sum_i += Σ_j taps_{|shift + j − i|} source_j, and how many terms that are.
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

/// The block one further along the axes whose bits are set in `c`.
fn corner(block: Block, c: usize) -> Block {
    std::array::from_fn(|k| block[k] + (c >> k & 1) as i32)
}

/// The Gaussian of variance h² − 2δ²/3 at 0, δ, 2δ, …, scaled as if h² and no splines. It goes up
/// to where n points together weigh less than `CUT`.
fn taps(n: usize, h: f64, spacing: f64) -> Vec<f64> {
    let variance = h * h - 2.0 / 3.0 * spacing * spacing;
    let front = (h * h / variance).sqrt();
    let reach = (h / spacing * (2.0 * (n as f64 / CUT).ln()).sqrt()).ceil() as usize;
    (0..=reach).map(|k| front * (-0.5 * (k as f64 * spacing).powi(2) / variance).exp()).collect()
}

/// Weights of the cubic B-spline at the four nodes around a point, `f` behind the second.
fn spline(f: f64) -> [f64; 4] {
    let g = 1.0 - f;
    let middle = |f: f64| (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    [g * g * g / 6.0, middle(f), middle(g), f * f * f / 6.0]
}
