//! Landmark selectors, behind one trait.

mod adaptive;
mod column_norm;
mod diagonal;
mod greedy;
mod greedy_by_group;
mod including;
mod k_means_plus_plus;
pub(crate) mod lazy_greedy;
pub(crate) mod partial_cholesky;
mod proportional;
mod rp_cholesky;
mod sparse_greedy;
mod uniform;

pub use adaptive::{AdaptiveFull, AdaptivePartial};
pub use column_norm::ColumnNorm;
pub use diagonal::Diagonal;
pub use greedy::Greedy;
pub use greedy_by_group::GreedyByGroup;
pub use including::Including;
pub use k_means_plus_plus::KMeansPlusPlus;
pub use proportional::Proportional;
pub use rp_cholesky::{RpCholesky, rp_cholesky};
pub use sparse_greedy::SparseGreedy;
pub use uniform::Uniform;

use crate::Landmarks;
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};
use rand::Rng;
use std::sync::Arc;

/// A method that chooses m landmarks of a psd matrix.
///
/// Implementations are plain values, so that several can be compared in a loop:
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Diagonal, Draw, LandmarkSelector, Nystrom, Uniform};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(50, 50, |i, j| (-(i as f64 - j as f64).abs() / 20.0).exp());
/// let k = Dense::new(k.as_ref())?;
/// let selectors: [(&str, Box<dyn LandmarkSelector<f64>>); 2] = [
///     ("uniform", Box::new(Uniform::default())),
///     ("diagonal", Box::new(Diagonal { draw: Draw::WithReplacement })),
/// ];
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// for (name, selector) in selectors {
///     let landmarks = selector.select(&k, 10, &mut rng)?;
///     assert!(Nystrom::new(&k, &landmarks)?.trace_error(&k)? < 25.0, "{name}");
/// }
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait LandmarkSelector<T: Scalar>: Sync {
    /// Chooses `m` landmarks of `k`, or fewer if the selector's documentation says so.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if m = 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if m > n distinct landmarks are asked for,
    /// and those of the implementation.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks>;
}

/// Implements the trait for pointers by forwarding to the selector.
macro_rules! forward {
    ($($pointer:ty $(: $bound:ident)?),*) => {$(
        impl<T: Scalar, S: LandmarkSelector<T> $(+ $bound)? + ?Sized> LandmarkSelector<T>
            for $pointer
        {
            fn select(
                &self,
                k: &dyn PsdMatrix<T>,
                m: usize,
                rng: &mut dyn Rng,
            ) -> Result<Landmarks> {
                (**self).select(k, m, rng)
            }
        }
    )*};
}
forward!(&S, Box<S>, Arc<S>: Send);
