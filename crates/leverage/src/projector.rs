//! Ridge leverage scores with respect to a weighted dictionary.

use crate::score::clamp;
use crate::score::{finite_diagonal, squared_norms};
use faer::reborrow::*;
use nystrom_linalg_core::{Indices, PsdMatrix, Result, Ridge, Scalar, validate};
use nystrom_sketch::{Dictionary, FeatureMap, Whitening};

/// Ridge leverage scores with respect to a weighted dictionary D:
///
/// τ̃_i = (k_ii − ‖L⁻¹k_Di‖²)/μ, LLᵀ = K_DD + μ diag(1/w), clamped to \[0, k_ii/(k_ii + μ)\].
///
/// With S the dictionary's sampling matrix this is \[K − KS(SᵀKS + μI)⁻¹SᵀK\]_ii/μ = φ_iᵀ(ΦSSᵀΦᵀ +
/// μI)⁻¹φ_i. For D = all rows with weight 1 it is the exact score; for the empty dictionary it is
/// the upper bound k_ii/(k_ii + μ). O(|D|²) memory.
///
/// The difference k_ii − ‖·‖² loses digits by cancellation: the absolute error of a score is of the
/// order ε·k_ii/μ.
///
/// # Source
/// Musco & Musco, NIPS 2017 (recursive sampling for the Nyström method); SQUEAK (Calandriello,
/// Lazaric & Valko 2017) and BLESS (Rudi et al. 2018) use the same estimator.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{Projector, exact_scores};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use nystrom_sketch::Dictionary;
/// let k = Mat::from_fn(30, 30, |i, j| (-(i as f64 - j as f64).abs() / 5.0).exp());
/// let k = Dense::new(k.as_ref())?;
/// let ridge = Ridge::PerSample(0.1);
/// let scores = Projector::new(&k, &Dictionary::full(30)?, ridge)?.scores(&k, (0..30).into())?;
/// let exact = exact_scores(&k, ridge)?;
/// assert!(scores.iter().zip(&exact.scores).all(|(a, b)| (a - b).abs() < 1e-13));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Projector<T> {
    n: usize,
    indices: Vec<usize>,
    mu: T,
    map: Option<FeatureMap<T>>, // x ↦ L⁻¹k_D(x); none for an empty dictionary
}

impl<T: Scalar> Projector<T> {
    /// The projector of a dictionary of rows of `k`: |D|² entries evaluated, |D|³/3 flops.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the dictionary belongs to a matrix of
    /// another order, those of [`Ridge::absolute`] and of [`FeatureMap::new`].
    pub fn new(k: &dyn PsdMatrix<T>, dictionary: &Dictionary<T>, ridge: Ridge<T>) -> Result<Self> {
        dictionary.check(k.dim())?;
        let mu = ridge.absolute(k.dim())?;
        let (indices, w) = (dictionary.indices().to_vec(), dictionary.weights());
        let k_dd = k.block((&indices).into(), (&indices).into());
        let map = if indices.is_empty() {
            None
        } else {
            Some(FeatureMap::with_diagonal(k_dd.as_ref(), |j| mu / w[j], Whitening::Cholesky)?)
        };
        Ok(Projector { n: k.dim(), indices, mu, map })
    }

    /// |D|, the number of rows of the dictionary.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether the dictionary is empty.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// μ, the absolute ridge.
    pub fn mu(&self) -> T {
        self.mu
    }

    /// τ̃_i for the given rows of `k`, the matrix that the projector was made from. Cost:
    /// rows.len()·|D| entries and rows.len() diagonal ones, |D|² flops per row, and O(1024·|D|)
    /// memory since rows are processed in tiles.
    ///
    /// # Errors
    /// [`IndexOutOfRange`](nystrom_linalg_core::Error::IndexOutOfRange),
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if `k` has another order,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the entry of K.
    pub fn scores(&self, k: &dyn PsdMatrix<T>, rows: Indices<'_>) -> Result<Vec<T>> {
        validate::same_size("order of the matrix against that of the projector", self.n, k.dim())?;
        rows.check(self.n, "rows to score")?;
        let k_ii = finite_diagonal(k, rows.clone())?;
        let mut projected = vec![T::zero(); rows.len()]; // ‖L⁻¹k_Di‖²
        if let Some(map) = &self.map {
            map.for_each_tile_of(k, &self.indices, rows, |tile, phi| {
                squared_norms(&mut projected[tile], phi.rb());
                Ok(())
            })?;
        }
        let score = |(&k_ii, q): (&T, T)| clamp((k_ii - q) / self.mu, k_ii, self.mu);
        Ok(k_ii.iter().zip(projected).map(score).collect())
    }
}
