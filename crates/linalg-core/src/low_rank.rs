//! P = FFᵀ + μI and its inverse.

use crate::kept_triangle::{by_blocks, from_blocks};
use crate::symmetric_block::{Block, SIDE};
use crate::{Cholesky, JitterLadder, Result, RowTree, Scalar, ops, validate};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

/// The smallest μ in units of ε·tr FᵀF.
const LEAST_SHIFT: f64 = 20.0;

/// An n × k matrix F, k ≤ n, given by its products. `Mat` implements the trait for a stored F.
pub trait TallFactor: Sync {
    /// FᵀF, k × k; only the lower triangle is used.
    ///
    /// # Errors
    /// Those of the computation of F.
    fn gram_lower(&self) -> Result<Mat<f64>>;
    /// Fᵀr, k × t, for r (n × t).
    fn transpose_times(&self, r: MatRef<'_, f64>) -> Mat<f64>;
    /// F·h, n × t, for h (k × t).
    fn times(&self, h: MatRef<'_, f64>) -> Mat<f64>;
}

/// P⁻¹ = (FFᵀ + μI)⁻¹ for F (n × k) and one or several μ, by the Woodbury identity.
///
/// The preconditioner for a system K + μI of ridge regression, with K ≈ FFᵀ. All μ share FᵀF; each
/// has its own Cholesky factor.
///
/// For small μ the identity subtracts nearly equal numbers and then divides by μ: the relative
/// rounding error of P⁻¹ is about ε‖F‖²/μ. A μ below 20ε·tr FᵀF is therefore raised to 20ε·tr FᵀF,
/// or further if FᵀF + μI has no Cholesky factor. [`shifts`](Self::shifts) returns the μ in use.
///
/// # Cost
/// Once, nk² flops for a stored F, and for each μ k³/3 flops and k² numbers of memory. A solve with
/// t right-hand sides takes 4nkt + 2k²t flops.
///
/// ```
/// use faer::{Mat, mat};
/// use nystrom_linalg_core::ShiftedLowRank;
/// let P = ShiftedLowRank::new(mat![[1.0], [2.0_f64]], &[0.5, 5.0])?; // FFᵀ = [[1, 2], [2, 4]]
/// let r = mat![[1.5, 6.0], [2.0, 2.0]]; // the first column of each P
/// assert!((P.solve(r.as_ref()) - mat![[1.0, 1.0], [0.0, 0.0]]).norm_max() < 1e-12);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ShiftedLowRank<F> {
    F: F,
    /// Each μ in use with its Cholesky factor G, GGᵀ = FᵀF + μI.
    shifts: Vec<(f64, Cholesky<f64>)>,
    /// ‖FᵀF‖_F.
    norm: f64,
}

impl<F: TallFactor> ShiftedLowRank<F> {
    /// Computes FᵀF and a Cholesky factor for each μ in `shifts`.
    ///
    /// # Errors
    /// [`Empty`](crate::Error::Empty) without a shift,
    /// [`InvalidParameter`](crate::Error::InvalidParameter) for a shift that is not positive and
    /// finite, and those of F and of the factorisation of FᵀF + μI.
    pub fn new(F: F, shifts: &[f64]) -> Result<Self> {
        validate::not_empty("shifts", shifts.len())?;
        let gram = F.gram_lower()?;
        let entry = |i: usize, j: usize| gram[(i.max(j), i.min(j))];
        let norm = Mat::from_fn(gram.nrows(), gram.ncols(), entry).norm_l2();
        let least: f64 = (0..gram.nrows()).map(|i| LEAST_SHIFT * f64::EPSILON * gram[(i, i)]).sum();
        let factor = |&mu: &f64| {
            validate::positive("shift", mu)?;
            let (mu, mut shifted) = (mu.max(least), gram.clone());
            ops::add_to_diagonal(shifted.as_mut(), mu);
            let G = Cholesky::with_jitter(shifted.as_ref(), JitterLadder::default())?;
            Ok((mu + G.jitter(), G))
        };
        let shifts = shifts.iter().map(factor).collect::<Result<_>>()?;
        Ok(ShiftedLowRank { F, shifts, norm })
    }

    /// P⁻¹r = (r − F(FᵀF + μI)⁻¹Fᵀr)/μ, n × t. With s shifts, the first t/s columns of r are solved
    /// with the first μ, the next t/s columns with the second, and so on.
    ///
    /// # Panics
    /// If r does not have n rows, or its number of columns is not a multiple of s.
    pub fn solve(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        assert!(r.ncols().is_multiple_of(self.shifts.len()), "as many columns for every shift");
        let width = r.ncols() / self.shifts.len();
        let mut h = self.F.transpose_times(r);
        for (s, (_, G)) in self.shifts.iter().enumerate() {
            G.solve_in_place(h.as_mut().subcols_mut(s * width, width)); //  h = (FᵀF + μI)⁻¹Fᵀr
        }
        let mut out = self.F.times(h.as_ref());
        for j in 0..r.ncols() {
            let mu = self.shifts[j / width].0;
            for i in 0..r.nrows() {
                out[(i, j)] = (r[(i, j)] - out[(i, j)]) / mu;
            }
        }
        out
    }

    /// out = P⁻¹r, as [`solve`](Self::solve).
    ///
    /// # Panics
    /// As [`solve`](Self::solve), and if `out` is not n × t.
    pub fn solve_into(&self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(self.solve(r));
    }

    /// ‖FFᵀ‖_F, an upper bound on ‖FFᵀ‖₂.
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// Each μ in use: as given, or raised if it was too small for a P⁻¹ with correct digits.
    pub fn shifts(&self) -> impl Iterator<Item = f64> {
        self.shifts.iter().map(|(mu, _)| *mu)
    }
}

impl<T: Scalar> TallFactor for Mat<T> {
    /// Summed in `f64` along the row tree: nk² flops.
    fn gram_lower(&self) -> Result<Mat<f64>> {
        let k = self.ncols();
        let leaf = |rows| {
            let (mut gram, mut wide) = (Mat::zeros(k, k), Mat::new());
            for rows in RowTree::tiles(rows, SIDE) {
                let F = ops::widened(self.as_ref().subrows(rows.start, rows.len()), &mut wide);
                ops::gram_lower(gram.as_mut(), Accum::Add, F, 1.0);
            }
            gram
        };
        let gram = RowTree::new(self.nrows()).reduce_in_order(leaf, |a, b| a + b);
        Ok(gram.unwrap_or_else(|| Mat::zeros(k, k)))
    }

    /// Summed along the row tree.
    fn transpose_times(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        let (k, t) = (self.ncols(), r.ncols());
        let (r, none) = (by_blocks(r), Mat::zeros(SIDE, t));
        let leaf = |rows: std::ops::Range<usize>| {
            let (mut sum, mut block) = (Mat::zeros(SIDE, k.div_ceil(SIDE) * t), Block::<T>::new());
            for rows in RowTree::tiles(rows, SIDE) {
                let r = r.as_ref().subcols(rows.start / SIDE * t, t);
                for (j, cols) in RowTree::tiles(0..k, SIDE).enumerate() {
                    let F = self.as_ref();
                    let F = F.submatrix(rows.start, cols.start, rows.len(), cols.len());
                    let out = sum.as_mut().subcols_mut(j * t, t);
                    block.add_products(F, [r, none.as_ref()], [None, Some(out)]);
                }
            }
            sum
        };
        let mut out = Mat::zeros(k, t);
        if let Some(sum) = RowTree::new(self.nrows()).reduce(leaf, |a, b| a + b) {
            from_blocks(out.as_mut(), sum.as_ref());
        }
        out
    }

    fn times(&self, h: MatRef<'_, f64>) -> Mat<f64> {
        let (n, k, t) = (self.nrows(), self.ncols(), h.ncols());
        let (h, none) = (by_blocks(h), Mat::zeros(SIDE, t));
        let mut sums = Mat::zeros(SIDE, n.div_ceil(SIDE) * t);
        if t > 0 {
            let parts = sums.as_mut().par_col_chunks_mut(t).enumerate();
            parts.for_each_init(Block::<T>::new, |block, (i, mut out)| {
                let rows = i * SIDE..((i + 1) * SIDE).min(n);
                for (j, cols) in RowTree::tiles(0..k, SIDE).enumerate() {
                    let F = self.as_ref();
                    let F = F.submatrix(rows.start, cols.start, rows.len(), cols.len());
                    let h = h.as_ref().subcols(j * t, t);
                    block.add_products(F, [none.as_ref(), h], [Some(out.rb_mut()), None]);
                }
            });
        }
        let mut out = Mat::zeros(n, t);
        from_blocks(out.as_mut(), sums.as_ref());
        out
    }
}

impl<F: TallFactor + ?Sized> TallFactor for Box<F> {
    fn gram_lower(&self) -> Result<Mat<f64>> {
        (**self).gram_lower()
    }
    fn transpose_times(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        (**self).transpose_times(r)
    }
    fn times(&self, h: MatRef<'_, f64>) -> Mat<f64> {
        (**self).times(h)
    }
}
