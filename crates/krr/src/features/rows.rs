//! Tiles of features and targets, for sums over rows.

use crate::Problem;
use crate::data::{TILE_ROWS, Tiles};
use crate::features::{Totals, Whitener};
use faer::{Accum, ColMut, Mat, MatMut, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{Error, Result, RowTree, Scalar, ops, validate};
use nystrom_sketch::ProductBuffer;
use std::ops::Range;

/// The m features of a row before whitening. For centres Z, g(x_i) is k_Z(x_i); for a sketch S it
/// is row i of KS.
pub(crate) trait Source<T>: Sync {
    /// m.
    fn features(&self) -> usize;
    /// out = [g(x_i)] for the points `x` of `rows`, m × rows.len(); `buffer` is memory that later
    /// calls reuse.
    fn fill(
        &self,
        out: MatMut<'_, T>,
        x: Points<'_, T>,
        rows: Range<usize>,
        buffer: &mut Option<ProductBuffer<T>>,
    );
    /// out = [k(x_i, x_i)].
    fn diagonal(&self, out: ColMut<'_, T>, x: Points<'_, T>);
}

impl Totals {
    /// Adds the rows of a tile.
    pub fn add<T: Scalar>(
        &mut self,
        samples: Problem<'_, T>,
        offset: &[f64],
        source: &dyn Source<T>,
    ) {
        let rows = 0..samples.x.len();
        let mut diagonal = vec![T::zero(); rows.len()];
        source.diagonal(ColMut::from_slice_mut(&mut diagonal), samples.x);
        let weight = |i: usize| samples.weight(i);
        self.rows += rows.len() as u64;
        self.positive += rows.clone().filter(|&i| weight(i) > 0.0).count() as u64;
        self.weight += rows.clone().map(weight).sum::<f64>();
        self.trace += rows.clone().map(|i| weight(i) * diagonal[i].f64()).sum::<f64>();
        for (j, offset) in offset.iter().enumerate() {
            let y = |i: usize| samples.y[(i, j)].f64() - offset;
            self.targets[j] += rows.clone().map(|i| weight(i) * y(i)).sum::<f64>();
            self.squares[j] += rows.clone().map(|i| weight(i) * y(i).powi(2)).sum::<f64>();
        }
    }
}

/// The weighted features and targets of a sample, computed tile by tile. Row i of Z is √w_i [φ(x_i)
/// 1] (the 1 only with an intercept). Row i of Y is √w_i (y_i − shift).
pub(crate) struct FeatureRows<'a, T> {
    pub source: &'a dyn Source<T>,
    pub whitener: &'a Whitener<T>,
    /// Whether tiles hold φ(x_i) or, for whitening later, g(x_i).
    pub whiten_tiles: bool,
    tiles: &'a dyn Tiles<T>,
    pub totals: Totals,
    /// What is subtracted from y if there is an intercept: about its weighted mean.
    pub shift: Option<Vec<f64>>,
}

/// One tile: rows of Z (at most 1024 × p) and of Y (at most 1024 × t).
///
/// Whitened tiles store Z by rows, because triangular solves are then up to twice as fast. Other
/// tiles store Z by columns, because ZᵀZ is then a fifth faster.
pub(crate) struct Tile<T> {
    storage: Mat<T>,
    layout: Layout,
    Y: Mat<T>,
    rows: usize,
    buffer: Option<ProductBuffer<T>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    RowMajor,
    ColMajor,
}

impl<T: Scalar> Tile<T> {
    /// Rows of the tile.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Z, rows × p.
    pub fn Z(&self) -> MatRef<'_, T> {
        match self.layout {
            Layout::RowMajor => self.storage.as_ref().subcols(0, self.rows).transpose(),
            Layout::ColMajor => self.storage.as_ref().subrows(0, self.rows),
        }
    }

    fn Z_mut(&mut self) -> MatMut<'_, T> {
        match self.layout {
            Layout::RowMajor => self.storage.as_mut().subcols_mut(0, self.rows).transpose_mut(),
            Layout::ColMajor => self.storage.as_mut().subrows_mut(0, self.rows),
        }
    }

    /// Z in `f64`: itself, or a copy in `scratch`.
    pub fn wide_Z<'a>(&'a self, scratch: &'a mut Mat<f64>) -> MatRef<'a, f64> {
        match self.layout {
            Layout::RowMajor => {
                ops::widened(self.storage.as_ref().subcols(0, self.rows), scratch).transpose()
            }
            Layout::ColMajor => ops::widened(self.storage.as_ref().subrows(0, self.rows), scratch),
        }
    }

    /// Y, rows × t.
    pub fn Y(&self) -> MatRef<'_, T> {
        self.Y.as_ref().subrows(0, self.rows)
    }
}

impl<'a, T: Scalar> FeatureRows<'a, T> {
    /// Whitened rows, less the mean target if there is an intercept. One pass over the rows.
    ///
    /// # Errors
    /// Those of reading the rows, and typed errors for invalid rows.
    pub fn new(
        tiles: &'a dyn Tiles<T>,
        source: &'a dyn Source<T>,
        whitener: &'a Whitener<T>,
        intercept: bool,
    ) -> Result<Self> {
        let rows = Self::with_shift(tiles, source, whitener, None)?;
        if rows.totals.positive == 0 {
            return Err(Error::Empty { what: "rows of positive weight of the source" });
        }
        let shift = intercept.then(|| rows.totals.mean_targets());
        Ok(FeatureRows { shift, ..rows })
    }

    /// Whitened rows less a given shift, with an intercept if there is one.
    ///
    /// # Errors
    /// As [`new`](Self::new), but for weights that are all 0.
    pub fn with_shift(
        tiles: &'a dyn Tiles<T>,
        source: &'a dyn Source<T>,
        whitener: &'a Whitener<T>,
        shift: Option<Vec<f64>>,
    ) -> Result<Self> {
        let mut totals: Option<Totals> = None;
        tiles.each(&mut |tile| {
            tiles.check(tile)?;
            let zeros = vec![0.0; tile.y.ncols()];
            let totals = totals.get_or_insert_with(|| Totals::zeros(zeros.len()));
            totals.add(tile, shift.as_ref().unwrap_or(&zeros), source);
            Ok(())
        })?;
        let totals = totals.ok_or(Error::Empty { what: "rows of the source" })?;
        Ok(FeatureRows { source, whitener, whiten_tiles: true, tiles, totals, shift })
    }

    /// n.
    pub fn len(&self) -> usize {
        self.totals.rows as usize
    }

    /// t.
    pub fn targets(&self) -> usize {
        self.totals.targets.len()
    }

    /// p = m, or m + 1 with an intercept.
    pub fn features(&self) -> usize {
        self.source.features() + usize::from(self.shift.is_some())
    }

    /// One constant per target: the one of the shifted problem plus the shift, or 0 without an
    /// intercept.
    pub fn intercepts(&self, b: Option<Vec<f64>>) -> Option<Vec<f64>> {
        Some(self.shift.as_ref()?.iter().zip(&b?).map(|(shift, b)| shift + b).collect())
    }

    /// A buffer for [`fill`](Self::fill): (p + t)·1024 numbers.
    pub fn tile(&self) -> Tile<T> {
        let (rows, p) = (TILE_ROWS.min(self.len()), self.features());
        let (storage, layout) = if self.whiten_tiles {
            (Mat::zeros(p, rows), Layout::RowMajor)
        } else {
            (Mat::zeros(rows, p), Layout::ColMajor)
        };
        Tile { storage, layout, Y: Mat::zeros(rows, self.targets()), rows, buffer: None }
    }

    /// Computes every tile, from the first on.
    ///
    /// # Errors
    /// Those of reading the rows, and of `visit`.
    pub fn each(&self, mut visit: impl FnMut(Range<usize>, &Tile<T>) -> Result<()>) -> Result<()> {
        let (mut tile, n, mut at) = (self.tile(), self.len(), 0);
        self.tiles.each(&mut |samples| {
            let rows = at..n.min(at + samples.x.len());
            at = rows.end;
            if rows.is_empty() {
                return Ok(()); // more rows than before
            }
            self.fill(&mut tile, samples.slice(0..rows.len()), rows.clone());
            visit(rows, &tile)
        })?;
        validate::same_size("rows of the source when read again", n, at)
    }

    /// The sum over all rows, along a tree: `zeros` is that over none, `add` adds a tile and
    /// `merge` the sum over later rows.
    ///
    /// # Errors
    /// Those of reading the rows.
    pub fn sum<A>(
        &self,
        tree: RowTree,
        zeros: impl Fn() -> A,
        mut add: impl FnMut(&mut A, &Tile<T>),
        mut merge: impl FnMut(&mut A, A),
    ) -> Result<A> {
        let (mut leaf, mut nodes) = (None, Vec::<(Range<usize>, A)>::new());
        self.each(|rows, tile| {
            let mut sum = leaf.take().unwrap_or_else(&zeros);
            add(&mut sum, tile);
            let number = nodes.last().map_or(0, |(leaves, _)| leaves.end);
            if rows.end < tree.leaf(number).end {
                leaf = Some(sum);
                return Ok(());
            }
            let mut node = (number..number + 1, sum);
            while let Some((left, mut sum)) =
                nodes.pop_if(|(left, _)| tree.is_node(left.start..node.0.end))
            {
                merge(&mut sum, node.1);
                node = (left.start..node.0.end, sum);
            }
            nodes.push(node);
            Ok(())
        })?;
        Ok(nodes.pop().map_or_else(zeros, |(_, sum)| sum))
    }

    /// Zᵀ(Y − Zθ), p × t, and ‖Y_j‖² of the targets, for θ of p × t: one pass, 4npt flops, products
    /// in `f64`.
    ///
    /// # Errors
    /// Those of reading the rows.
    pub fn descent(&self, theta: MatRef<'_, f64>) -> Result<(Mat<f64>, Vec<f64>)> {
        let [mut wide_Z, mut wide_Y] = [Mat::new(), Mat::new()];
        let mut sum = Mat::zeros(theta.nrows(), theta.ncols());
        let mut squares = vec![0.0; theta.ncols()];
        self.each(|_, tile| {
            let (Z, Y) = (tile.wide_Z(&mut wide_Z), ops::widened(tile.Y(), &mut wide_Y));
            squares.iter_mut().zip(Y.col_iter()).for_each(|(s, y)| *s += y.squared_norm_l2());
            let mut r = Y.to_owned();
            ops::matmul(r.as_mut(), Accum::Add, Z, theta, -1.0);
            ops::matmul(sum.as_mut(), Accum::Add, Z.transpose(), r.as_ref(), 1.0);
            Ok(())
        })?;
        Ok((sum, squares))
    }

    /// The tile of `rows`, which are these samples.
    pub fn fill(&self, tile: &mut Tile<T>, samples: Problem<'_, T>, rows: Range<usize>) {
        let m = self.source.features();
        tile.rows = rows.len();
        let mut buffer = tile.buffer.take();
        let mut phi = tile.Z_mut().subcols_mut(0, m).transpose_mut();
        self.source.fill(phi.rb_mut(), samples.x, rows, &mut buffer); // g(x_i)
        if self.whiten_tiles {
            self.whitener.whiten(phi); // φ(x_i) = R⁻¹g(x_i)
        }
        tile.buffer = buffer;
        for i in 0..samples.x.len() {
            let root_w = samples.root_weight(i);
            if samples.weights.is_some() {
                let mut Z = tile.Z_mut();
                (0..m).for_each(|j| Z[(i, j)] *= root_w);
            }
            for j in 0..self.targets() {
                let shift = self.shift.as_ref().map_or(0.0, |mean| mean[j]);
                tile.Y[(i, j)] = root_w * T::lit(samples.y[(i, j)].f64() - shift);
            }
            if self.shift.is_some() {
                tile.Z_mut()[(i, m)] = root_w;
            }
        }
    }
}

use faer::reborrow::*;
