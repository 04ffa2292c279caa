//! Exact kernel ridge regression.

use crate::Problem;
use crate::model::Targets;
use crate::sums::condition;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::MatMut;
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
/// f = Σ_i α_i k(·, x_i) with α = (K + nλI)⁻¹y. With weights (K + nλD⁻¹)α = y, D = diag(w). This
/// system is solved as Mγ = √D y with M = √D K √D + nλI and α = √D γ: samples of weight 0 get
/// α_i = 0. With an intercept 1ᵀα = 0, hence b = (uᵀM⁻¹√D y)/(uᵀM⁻¹u) for u = √D 1. This takes one
/// more right-hand side.
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

impl<K, R> ExactKrr<K, R> {
    /// Without intercept.
    pub fn new(kernel: K, ridge: R) -> Self {
        ExactKrr { kernel, ridge, intercept: false }
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
        let n = samples.x.len();
        let mu = self.ridge.absolute(n)?;
        let targets = Targets::new(samples, self.intercept); //                √D, y − ȳ
        let factor = self.factor(samples, &targets.root, mu)?; //              M = √D K √D + nλI
        let mut gamma = targets.right_hand_side(1); //                         [√D y, u]
        factor.solve_in_place(gamma.as_mut()); //                              [M⁻¹√D y, M⁻¹u]
        let report = FitReport {
            ridge: mu.f64(),
            reason: "exact kernel ridge regression".into(),
            condition: condition(n, |i| factor.pivot(i).f64()),
            kernel_entries: PackedCholesky::<T>::entries(n),
            ..FitReport::of_all(SolvedBy::ExactCholesky, samples)
        };
        // α = √D M⁻¹√D(y − b)
        targets.model(self.kernel.clone(), gamma.as_ref(), dot, report)
    }

    /// The Cholesky factor of √D K √D + nλI.
    fn factor(&self, samples: Problem<'_, T>, root: &[T], mu: T) -> Result<PackedCholesky<T>> {
        let fill = |mut out: MatMut<'_, T>, rows: Range<usize>, cols: Range<usize>| {
            let diagonal = cols.len();
            self.kernel.eval_into(
                out.rb_mut(),
                samples.x.slice(rows.clone()),
                samples.x.slice(cols.clone()),
            );
            if samples.weights.is_some() {
                for (j, col) in cols.enumerate() {
                    for (i, row) in rows.clone().enumerate() {
                        out[(i, j)] *= root[row] * root[col];
                    }
                }
            }
            ops::add_to_diagonal(out.subrows_mut(0, diagonal), mu);
        };
        PackedCholesky::from_fill(samples.x.len(), fill, JitterLadder::none())
    }
}

/// uᵀv in `f64`, in order.
fn dot<T: Scalar>(u: &[T], v: &[T]) -> f64 {
    u.iter().zip(v).map(|(u, v)| u.f64() * v.f64()).sum()
}

use faer::reborrow::*;
