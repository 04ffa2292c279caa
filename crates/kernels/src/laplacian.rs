//! The Laplacian kernel of the L1 distance.

use crate::Lane;
use crate::isotropic::scale_from;
use crate::load::saved_kernel;
use crate::metric::Manhattan;
use crate::tile::{Formula, formula_kernel};
use nystrom_linalg_core::{Result, validate};

/// The product Laplacian kernel exp(−‖x − y‖₁/ℓ), scikit-learn's `laplacian_kernel` with γ = 1/ℓ.
///
/// The kernel of the Euclidean distance is [`LaplacianEuclidean`](crate::LaplacianEuclidean); for
/// d = 1 both are the same.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Kernel, LaplacianL1, Points};
/// let x = mat![[0.0, 0.0], [1.0, -2.0_f64]];
/// let k = LaplacianL1::new(2.0)?.gram(Points::from_rows(x.as_ref()));
/// assert!((k[(0, 1)] - (-1.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaplacianL1 {
    length_scale: f64,
}

saved_kernel! {
    [] LaplacianL1 = "laplacian-l1".into(), { length_scale: f64 } of {},
        |s| LaplacianL1::new(s.length_scale)
}

impl LaplacianL1 {
    /// exp(−‖x − y‖₁/ℓ).
    ///
    /// # Errors
    /// `InvalidParameter` unless ℓ is positive and finite.
    pub fn new(length_scale: f64) -> Result<Self> {
        validate::positive("length scale", length_scale)?;
        Ok(LaplacianL1 { length_scale })
    }

    /// exp(−γ‖x − y‖₁): ℓ = 1/γ.
    ///
    /// # Errors
    /// `InvalidParameter` unless γ and ℓ are positive and finite.
    pub fn from_gamma(gamma: f64) -> Result<Self> {
        validate::positive("gamma", gamma)?;
        Self::new(scale_from("gamma", gamma, gamma.recip())?)
    }

    /// The length scale ℓ.
    pub fn length_scale(&self) -> f64 {
        self.length_scale
    }
}

impl Formula for LaplacianL1 {
    type Metric = Manhattan;
    const SCALED: bool = true;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        sum.exp_neg()
    }

    fn length_scale(&self, _: usize) -> f64 {
        self.length_scale
    }
}

formula_kernel!([] LaplacianL1);
