//! Exact kernel ridge regression.

use crate::Problem;
use crate::feature_sums::condition;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{JitterLadder, PackedCholesky, Result, Ridge, Scalar, ops};
use std::ops::Range;

/// Kernel ridge regression as defined: the minimiser of
///
/// ```text
/// (1/n) Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖²      over all f in the space of k and,
///     if `intercept`, all b,
/// ```
///
/// f = Σ_i α_i k(·, x_i) with α = (K + nλI)⁻¹y. With weights (K + nλD⁻¹)α = y, D = diag(w), solved
/// as (√D K √D + nλI)γ = √D y, α = √D γ, which leaves samples of weight 0 out (α_i = 0). With an
/// intercept 1ᵀα = 0, so that b = (uᵀM⁻¹√D y)/(uᵀM⁻¹u) for u = √D 1 and M the matrix just named:
/// exact, at the price of one more right-hand side.
///
/// # Cost
/// n × n by definition: n²/2 kernel values, n³/3 flops, and **half an n × n matrix of memory** (4n²
/// bytes in `f64`: 400 MB at n = 10,000). [`NystromKrr`](crate::NystromKrr) needs O(m²).
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::ExactKrr;
/// use nystrom_linalg_core::Ridge;
/// let (x, y) = (mat![[0.0], [1.0], [2.0]], mat![[0.0], [1.0], [0.0]]);
/// let model = ExactKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-10))
///     .fit((Points::from_rows(x.as_ref()), &y))?;
/// let f = model.predict(Points::from_rows(x.as_ref()))?;
/// assert!((f[(1, 0)] - 1.0_f64).abs() < 1e-8); // nearly interpolates
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExactKrr<K, R> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]) for `fit`, `()` for `path`.
    pub ridge: R,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
}

impl<K, T> ExactKrr<K, Ridge<T>> {
    /// Without intercept.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        ExactKrr { kernel, ridge, intercept: false }
    }
}

impl<K> ExactKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges.
    pub fn without_ridge(kernel: K) -> Self {
        ExactKrr { kernel, ridge: (), intercept: false }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> ExactKrr<K, Ridge<T>> {
    /// Fits y (n × t) at the n points x of the problem.
    ///
    /// # Errors
    /// As [`NystromKrr::fit`](crate::NystromKrr::fit); `NotPositiveDefinite` if nλ is below the
    /// rounding errors of K, about ε·λ_max(K).
    pub fn fit<'a>(&self, problem: impl Into<Problem<'a, T>>) -> Result<KrrModel<K, T>> {
        let samples = problem.into();
        samples.check(&self.kernel)?;
        let (n, t) = (samples.x.len(), samples.y.ncols());
        let mu = self.ridge.absolute(n)?;
        let factor = self.factor(samples, mu)?; //                             M = √D K √D + nλI
        let shift = if self.intercept { samples.mean_target() } else { vec![0.0; t] };
        let mut rhs = Mat::from_fn(n, t + usize::from(self.intercept), |i, j| {
            let entry = if j < t { T::lit(samples.y[(i, j)].f64() - shift[j]) } else { T::one() };
            samples.root_weight(i) * entry //                                  [√D y, u]
        });
        factor.solve_in_place(rhs.as_mut()); //                                [M⁻¹√D y, M⁻¹u]
        let b: Vec<f64> = (0..t)
            .map(|j| if self.intercept { constant(samples, rhs.as_ref(), j) } else { 0.0 })
            .collect();
        let alpha = Mat::from_fn(n, t, |i, j| {
            let solved =
                rhs[(i, j)].f64() - if self.intercept { b[j] * rhs[(i, t)].f64() } else { 0.0 };
            samples.root_weight(i).f64() * solved //                           α = √D M⁻¹√D(y − b)
        });
        let report = FitReport {
            n,
            m: n,
            d: samples.x.dim(),
            t,
            ridge: mu.f64(),
            jitter: 0.0,
            solver: SolvedBy::ExactCholesky,
            reason: "exact kernel ridge regression".into(),
            condition: condition(n, |i| factor.pivot(i).f64()),
            kernel_entries: PackedCholesky::<T>::entries(n),
        };
        let b: Vec<f64> = b.iter().zip(&shift).map(|(b, shift)| b + shift).collect();
        KrrModel::from_parts(self.kernel.clone(), samples.x, alpha.as_ref(), &b, report)
    }

    /// The Cholesky factor of √D K √D + nλI.
    fn factor(&self, samples: Problem<'_, T>, mu: T) -> Result<PackedCholesky<T>> {
        let fill = |mut out: MatMut<'_, T>, rows: Range<usize>, cols: Range<usize>| {
            let diagonal = cols.len();
            self.kernel.eval_into(
                out.rb_mut(),
                samples.x.slice(rows.clone()),
                samples.x.slice(cols.clone()),
            );
            if samples.weights.is_some() {
                for (j, col) in cols.enumerate() {
                    let root_j = samples.root_weight(col);
                    for (i, row) in rows.clone().enumerate() {
                        out[(i, j)] *= samples.root_weight(row) * root_j;
                    }
                }
            }
            ops::add_to_diagonal(out.subrows_mut(0, diagonal), mu);
        };
        PackedCholesky::from_fill(samples.x.len(), fill, JitterLadder::none())
    }
}

/// b_j = (uᵀM⁻¹√D y_j)/(uᵀM⁻¹u); the columns of `solved` are M⁻¹√D y and, last, M⁻¹u.
fn constant<T: Scalar>(samples: Problem<'_, T>, solved: MatRef<'_, T>, j: usize) -> f64 {
    let last = solved.ncols() - 1;
    let dot = |col: usize| {
        (0..solved.nrows())
            .map(|i| samples.root_weight(i).f64() * solved[(i, col)].f64())
            .sum::<f64>()
    };
    dot(j) / dot(last)
}

use faer::reborrow::*;
