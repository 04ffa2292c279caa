//! Greedy selection among a few random candidates.

use super::partial_cholesky::Pivots;
use crate::{LandmarkSelector, Landmarks};
use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar, ops, random, validate};
use rand::Rng;

/// Sparse greedy matrix approximation: at every step, c random candidates are compared, and the
/// candidate j that decreases tr(K − Â) most becomes a landmark. The decrease is ‖E_{:j}‖²/E_jj
/// with E = K − Â.
///
/// The best of 59 candidates is among the best 5 % of all rows with probability 0.95. The result
/// has m landmarks, or fewer if m exceeds the numerical rank of K.
///
/// # Cost
/// c·n·m entries; cnm² flops in matrix products; n·(m + c) numbers of memory.
///
/// # Source
/// A. Smola, B. Schölkopf, *Sparse greedy matrix approximation for machine learning*, ICML 2000.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{LandmarkSelector, SparseGreedy};
/// use rand::SeedableRng;
/// // The middle row explains most of its neighbours:
/// let k = Mat::from_fn(9, 9, |i, j| (-(i as f64 - j as f64).abs() / 9.0).exp());
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// assert_eq!(SparseGreedy::default().select(&Dense::new(k.as_ref())?, 1, rng)?.indices(), [4]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SparseGreedy {
    /// c, the number of candidates per step; if fewer rows remain, all of them are candidates.
    pub candidates: usize,
}

impl Default for SparseGreedy {
    /// 59 candidates, as in the paper: ⌈ln 0.05/ln 0.95⌉.
    fn default() -> Self {
        SparseGreedy { candidates: 59 }
    }
}

impl SparseGreedy {
    /// A partial Cholesky factorisation of `A` with up to `k` pivots.
    ///
    /// # Randomness
    /// At every step one uniform for each row whose residual is not 0.
    ///
    /// # Errors
    /// Those of [`RpCholesky::factor`](crate::RpCholesky::factor), and
    /// [`Empty`](nystrom_linalg_core::Error::Empty) without candidates.
    pub fn factor<T: Scalar>(
        &self,
        A: &dyn PsdMatrix<T>,
        k: usize,
        rng: &mut dyn Rng,
    ) -> Result<PivotedCholesky<T>> {
        validate::not_empty("candidates", self.candidates)?;
        let mut state = Pivots::start(A, k, 0.0)?;
        while state.needs_pivot() {
            let open: Vec<f64> =
                state.f.residual().iter().map(|&d| if d > 0.0 { 1.0 } else { 0.0 }).collect();
            let c = self.candidates.min(open.iter().filter(|&&open| open > 0.0).count());
            if c == 0 {
                break;
            }
            let P = random::without_replacement(&open, c, rng)?;
            let G = residual_columns(A, state.f.factor(), &P)?; //                     E_{:P}
            let gain = |t: usize| G.col(t).squared_norm_l2().f64() / G[(P[t], t)].f64();
            let real = |t: &usize| G[(P[*t], *t)].f64() > state.f.floor(P[*t]);
            let Some(t) =
                (0..c).filter(real).max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a)))
            else {
                P.iter().for_each(|&s| state.f.discard(s)); //                 only rounding error
                continue;
            };
            let root = num_traits::Float::sqrt(G[(P[t], t)]);
            state.f.append(&[P[t]], |_, new| {
                let column = new.col_mut(0).iter_mut().zip(G.col_as_slice(t));
                column.for_each(|(f, g)| *f = *g / root);
                Ok(())
            })?;
        }
        state.finish()
    }
}

/// A\[:, P\] − F F(P, :)ᵀ, n × |P|.
fn residual_columns<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    F: MatRef<'_, T>,
    P: &[usize],
) -> Result<Mat<T>> {
    let f_p = Mat::from_fn(F.ncols(), P.len(), |j, t| F[(P[t], j)]);
    let mut G = A.columns(P.into());
    validate::finite_block(G.as_ref(), 0..A.dim(), P)?;
    ops::matmul(G.rb_mut(), Accum::Add, F, f_p.as_ref(), -T::one());
    Ok(G)
}

impl<T: Scalar> LandmarkSelector<T> for SparseGreedy {
    /// # Errors
    /// Those of [`factor`](SparseGreedy::factor).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::from_pivots(&self.factor(k, m, rng)?)
    }
}
