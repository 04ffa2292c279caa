//! φ(x) = R⁻¹k_Z(x), W + δI = RRᵀ: features in which the penalty is the identity.

use faer::{Accum, ColMut, Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, Scalar, ops};
use rayon::prelude::*;

/// The first shift δ tried, in units of ε·tr W with ε of the scalar type.
///
/// Rounding each kernel value perturbs W by about ε√m in norm. A tenth of ε·tr W covers that for m
/// ≥ 100. If the factorisation fails, larger shifts are tried. The customary first shift, a hundred
/// times larger, is measurably less accurate. In `f32` at m = 400 and λ = 1e-4, in three dimensions
/// with ℓ = 1, the test error is 4.8 % above that of `f64` instead of 2.2 %. In `f64` the error of
/// the weighted reference problem at λ = 1e-12 is 2.3e-2 instead of 6.5e-4
/// (`tests/it/small_lambda.rs`).
const FIRST_SHIFT: f64 = 0.1;

/// The shifts to try on a W of kernel values in T that is factored in `f64`.
fn ladder<T: Scalar>() -> JitterLadder {
    JitterLadder { first: FIRST_SHIFT * T::EPS / f64::EPS, ..JitterLadder::shifted() }
}

/// R of RRᵀ = W + δI in `f64`, of a W of which the lower triangle is read, for iterative fits.
pub(crate) fn factor<T: Scalar>(W: MatRef<'_, impl Scalar>) -> Result<Cholesky<f64>> {
    Cholesky::with_diagonal(W, |_| 0.0, ladder::<T>())
}

/// β = Rᵀθ.
pub(crate) fn whitened(R: MatRef<'_, f64>, theta: MatRef<'_, f64>) -> Mat<f64> {
    ops::times(R.transpose(), theta)
}

/// The factor R of W + δI = RRᵀ for the Gram matrix W of the centres (or SᵀKS for a sketch). δ is
/// ε·tr W/10 or the first tenfold of it that succeeds.
///
/// f = Σ θ_j k(·, z_j) is φᵀβ with β = Rᵀθ, and ‖β‖² = θᵀ(W + δI)θ = ‖f‖² + δ‖θ‖². The triangular
/// solve is backward stable. The computed φ(x) is R⁻¹(k_Z(x) + e) with |e| of the order of ε·max
/// k(z, z). The kernel values themselves carry that error.
///
/// W is factored in `f64` even for `f32` points and R rounded once; β ↦ θ uses the rounded R, so
/// that the pair is consistent.
#[derive(Debug, Clone)]
pub(crate) struct Whitener<T> {
    R: Mat<T>,
    pub jitter: f64,
    /// ‖W‖²_F.
    pub squared_norm: f64,
    /// tr (W + δI)⁻¹ ≥ 1/λ_min(W + δI); ∞ unless a solver is to be chosen by it.
    pub inverse_trace: f64,
}

impl<T: Scalar> Whitener<T> {
    /// The factor of W, whose lower triangle is read: m³/3 flops; 3m² numbers of memory while it
    /// runs, m² after. Also tr (W + δI)⁻¹ if `is_auto`: the solver is chosen by it. Another m³/3
    /// flops.
    pub fn new(W: MatRef<'_, impl Scalar>, is_auto: bool) -> Result<Self> {
        Self::of(W, |_| 0.0, ladder::<T>(), is_auto)
    }

    /// The factor of W + diag(d), d > 0, for an automatic choice of the solver. There is a shift
    /// only if the factorisation fails.
    pub fn regularised(W: MatRef<'_, T>, d: impl Fn(usize) -> f64) -> Result<Self> {
        Self::of(W, d, JitterLadder::default(), true)
    }

    /// R of W + diag(d), of which the lower triangle is read.
    fn of<V: Scalar>(
        W: MatRef<'_, V>,
        d: impl Fn(usize) -> f64,
        ladder: JitterLadder,
        is_auto: bool,
    ) -> Result<Self> {
        let m = W.nrows();
        let square = |i: usize, j: usize| W[(i, j)].f64().powi(2);
        let column = |j: usize| square(j, j) + (j + 1..m).map(|i| 2.0 * square(i, j)).sum::<f64>();
        let squared_norm = (0..m).map(column).sum();
        let factor = Cholesky::<f64>::with_diagonal(W, d, ladder)?;
        let inverse_trace =
            if is_auto { factor.inverse_diagonal().iter().sum() } else { f64::INFINITY };
        let R = Mat::from_fn(m, m, |i, j| T::lit(factor.lower()[(i, j)]));
        Ok(Whitener { R, jitter: factor.jitter(), squared_norm, inverse_trace })
    }

    /// m.
    pub fn order(&self) -> usize {
        self.R.nrows()
    }

    /// k ← R⁻¹k for an m × b tile whose columns are k_Z(x_i). m²b flops.
    pub fn whiten(&self, k: MatMut<'_, T>) {
        ops::solve_lower(self.R.as_ref(), k);
    }

    /// b ← R⁻¹b, in `f64`; of an `f32` R it takes m² numbers of memory while it runs.
    pub fn whiten_wide(&self, b: MatMut<'_, f64>) {
        ops::solve_lower(self.wide(&mut Mat::new()), b);
    }

    /// θ = R⁻ᵀβ, in `f64`; of an `f32` R it takes m² numbers of memory while it runs.
    pub fn unwhiten(&self, mut beta: Mat<f64>) -> Mat<f64> {
        ops::solve_upper(self.wide(&mut Mat::new()).transpose(), beta.as_mut());
        beta
    }

    /// (W + δI)⁻¹b, in `f64`; of an `f32` R it takes m² numbers of memory while it runs.
    pub fn solve(&self, mut b: Mat<f64>) -> Mat<f64> {
        self.whiten_wide(b.as_mut());
        self.unwhiten(b)
    }

    /// β = Rᵀθ, in `f64`; of an `f32` R it takes m² numbers of memory while it runs.
    pub fn whitened(&self, theta: MatRef<'_, f64>) -> Mat<f64> {
        whitened(self.wide(&mut Mat::new()), theta)
    }

    /// RRᵀθ = Rβ, in `f64`; of an `f32` R it takes m² numbers of memory while it runs.
    pub fn gram_times(&self, beta: MatRef<'_, f64>) -> Mat<f64> {
        ops::times(self.wide(&mut Mat::new()), beta)
    }

    /// A ← A + nλRRᵀ in the lower triangle, in `f64`. m³/3 flops; of an `f32` R it takes m² numbers
    /// of memory while it runs.
    pub fn add_gram(&self, A: MatMut<'_, f64>, mu: f64) {
        let mut scratch = Mat::new();
        let R = self.wide(&mut scratch);
        ops::lower_blocks(A, ops::gram_side(self.order())).into_par_iter().for_each(|block| {
            // R is zero beyond it in the rows of the block's columns
            let depth = block.col + block.out.ncols();
            ops::gram_block(block, Accum::Add, R.subcols(0, depth).transpose(), mu);
        });
    }

    /// R_jj, …, R_mj.
    pub fn column(&self, j: usize) -> &[T] {
        &self.R.col_as_slice(j)[j..]
    }

    /// R_ii.
    pub fn diagonal(&self, i: usize) -> f64 {
        self.R[(i, i)].f64()
    }

    /// R in `f64`; in `scratch` if it is not so already.
    fn wide<'a>(&'a self, scratch: &'a mut Mat<f64>) -> MatRef<'a, f64> {
        ops::widened(self.R.as_ref(), scratch)
    }
}

/// E_ii = k(x_i, x_i) − ‖φ(x_i)‖², not below the rounding errors of the former.
pub(crate) fn residual_diagonal<T: Scalar>(
    kernel: &impl Kernel<T>,
    x: Points<'_, T>,
    phi: MatRef<'_, T>,
    out: &mut [f64],
) {
    let mut diagonal = vec![T::zero(); x.len()];
    kernel.diag_into(ColMut::from_slice_mut(&mut diagonal), x);
    for (i, e) in out.iter_mut().enumerate() {
        let (k_ii, norm2) =
            (diagonal[i].f64(), phi.col(i).iter().map(|v| v.f64().powi(2)).sum::<f64>());
        *e = (k_ii - norm2).max(4.0 * T::EPS * k_ii);
    }
}
