//! Sketches: random n × d matrices S with E\[SSᵀ\] = I, and what they do to a psd matrix.

mod accumulation;
mod dense;
mod gaussian;
mod localized;
mod matrix;
mod product;
mod rademacher;
mod sparse;
mod sparse_sign;
mod subsampling;
mod very_sparse;

pub use accumulation::Accumulation;
pub use dense::DenseSketch;
pub use gaussian::GaussianSketch;
pub use localized::Localized;
pub use matrix::SketchedMatrix;
pub use product::{ProductBuffer, SketchProduct};
pub use rademacher::Rademacher;
pub use sparse::SparseSketch;
pub use sparse_sign::SparseSign;
pub use subsampling::Subsampling;
pub use very_sparse::VerySparse;

use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{Result, Scalar, validate};
use rand::Rng;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// An n × d matrix S, known by what it does: KS and SᵀKS from the columns of K in its support, and
/// Sθ on that support.
///
/// S = S̄ diag(c): the scales c_j ≠ 0 of the columns are kept apart, because K_S = KS(SᵀKS)⁻¹SᵀK
/// and the estimator f_S depend on the span of the columns only. Products are with S̄, so that a
/// column with one entry is exactly a unit vector, whatever its sign and scale. A sketch of such
/// columns *is* the Nyström method, to the bit.
///
/// Two implementations cover everything here: [`SparseSketch`] and [`DenseSketch`]. The parameters
/// of a random sketch are a value of its own ([`Accumulation`], [`GaussianSketch`], …) whose
/// `sample` makes one.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Accumulation, GaussianSketch, SketchDistribution, SketchedMatrix};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(60, 60, |i, j| (-((i as f64 - j as f64) / 20.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let laws: [&dyn SketchDistribution<f64>; 2] = [&GaussianSketch, &Accumulation::uniform(4)];
/// for law in laws {
///     let sketch = law.draw(60, 10, &mut rng)?;
///     let sketched = SketchedMatrix::new(&k, &*sketch)?;
///     assert!(sketched.trace_error(&k)? < 0.05 * 60.0);             // tr(K − K_S), of tr K = 60
/// }
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait Sketch<T: Scalar>: Debug + Send + Sync {
    /// n, the number of rows.
    fn n(&self) -> usize;

    /// d, the number of columns: at most the number asked for (columns that came out zero or
    /// parallel are merged away).
    fn width(&self) -> usize;

    /// The rows of S that are not zero, u of them, all different, in any order.
    fn support(&self) -> &[usize];

    /// c: one scale per column.
    fn scales(&self) -> &[f64];

    /// out += k·S̄ restricted to the rows `support()[positions]`; `k` is b × positions.len(), `out`
    /// b × d.
    ///
    /// A column-major `k` is fast. The bits do not depend on the number of threads.
    ///
    /// # Panics
    /// If the shapes do not fit.
    fn add_product(&self, out: MatMut<'_, T>, k: MatRef<'_, T>, positions: Range<usize>);

    /// The rows `support()` of S̄θ, u × t, for θ d × t.
    ///
    /// # Panics
    /// If `theta` does not have d rows.
    fn expand(&self, theta: MatRef<'_, f64>) -> Mat<f64>;

    /// S itself, n × d, scales included: n·d numbers, for looking at small ones.
    fn to_dense(&self) -> Mat<f64> {
        let (d, c) = (self.width(), self.scales());
        let rows = self.expand(Mat::from_fn(d, d, |i, j| if i == j { c[i] } else { 0.0 }).as_ref());
        let mut out = Mat::zeros(self.n(), d);
        for (s, &i) in self.support().iter().enumerate() {
            out.row_mut(i).copy_from(rows.row(s));
        }
        out
    }
}

/// The distribution of a sketch: draws one of any size.
///
/// Every implementation also has an inherent `sample` that returns the concrete type.
pub trait SketchDistribution<T: Scalar>: Debug + Sync {
    /// A sketch with `n` rows and `d` columns, E\[SSᵀ\] = I.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or d is 0 or every column came out zero,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n, and those of the implementation.
    ///
    /// # Randomness
    /// What the inherent `sample` of the implementation says.
    fn draw(&self, n: usize, d: usize, rng: &mut dyn Rng) -> Result<Box<dyn Sketch<T>>>;
}

/// A pointer to a distribution is one too.
macro_rules! forward {
    ($($pointer:ty $(: $bound:ident)?),*) => {$(
        impl<T: Scalar, L: SketchDistribution<T> $(+ $bound)? + ?Sized> SketchDistribution<T>
            for $pointer
        {
            fn draw(&self, n: usize, d: usize, rng: &mut dyn Rng) -> Result<Box<dyn Sketch<T>>> {
                (**self).draw(n, d, rng)
            }
        }
    )*};
}
forward!(&L, Box<L>, Arc<L>: Send);

/// Implements [`SketchDistribution`] by the inherent `sample`.
macro_rules! distribution {
    ($law:ty) => {
        impl<T: nystrom_linalg_core::Scalar> $crate::SketchDistribution<T> for $law {
            fn draw(
                &self,
                n: usize,
                d: usize,
                rng: &mut dyn rand::Rng,
            ) -> nystrom_linalg_core::Result<Box<dyn $crate::Sketch<T>>> {
                Ok(Box::new(self.sample::<T>(n, d, rng)?))
            }
        }
    };
}
use distribution;

/// 1 ≤ d ≤ n.
fn check_shape(n: usize, d: usize) -> Result<()> {
    validate::not_empty("rows of the sketch (n)", n)?;
    validate::at_most("columns of the sketch (d)", d, n)
}
