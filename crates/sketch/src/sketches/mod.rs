//! Sketches: random n × d matrices S with E\[SSᵀ\] = I, and their products with a psd matrix.

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

/// An n × d sketching matrix S, given by its products: KS and SᵀKS from the columns of K in the
/// support of S, and Sθ on that support.
///
/// S = S̄ diag(c), where the scales c_j ≠ 0 of the columns are stored separately, because
/// K_S = KS(SᵀKS)⁻¹SᵀK and the estimator f_S depend only on the span of the columns. Products are
/// with S̄, in which a column with one entry is exactly a unit vector, whatever its sign and scale.
/// A sketch of such columns has the same bits as the Nyström method.
///
/// There are two implementations, [`SparseSketch`] and [`DenseSketch`]. A distribution of sketches
/// is a separate type ([`Accumulation`], [`GaussianSketch`], …), whose method `sample` draws a
/// sketch.
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

    /// d, the number of columns. It may be less than the number requested from a distribution,
    /// because zero columns are dropped and parallel columns are merged.
    fn width(&self) -> usize;

    /// The indices of the nonzero rows of S, u distinct indices in any order.
    fn support(&self) -> &[usize];

    /// c, one scale per column.
    fn scales(&self) -> &[f64];

    /// out += k·S̄\[rows, :\] for the rows `support()[positions]` of S̄; `k` is
    /// b × `positions.len()`, `out` is b × d.
    ///
    /// Fastest if `k` is column-major. The bits do not depend on the number of threads.
    ///
    /// # Panics
    /// If the shapes do not fit.
    fn add_product(&self, out: MatMut<'_, T>, k: MatRef<'_, T>, positions: Range<usize>);

    /// The rows `support()` of S̄θ, u × t, for θ (d × t).
    ///
    /// # Panics
    /// If `theta` does not have d rows.
    fn expand(&self, theta: MatRef<'_, f64>) -> Mat<f64>;

    /// S as a dense n × d matrix, scales included: n·d numbers, for small sketches.
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

/// A distribution of sketches, from which a sketch of any size can be drawn.
///
/// Every implementation in this crate also has an inherent method `sample`, which returns the
/// concrete type.
pub trait SketchDistribution<T: Scalar>: Debug + Sync {
    /// Draws a sketch with `n` rows and `d` columns, E\[SSᵀ\] = I.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or d is 0 or every drawn column is zero,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n, and those of the implementation.
    ///
    /// # Randomness
    /// That of the implementation's inherent `sample`.
    fn draw(&self, n: usize, d: usize, rng: &mut dyn Rng) -> Result<Box<dyn Sketch<T>>>;
}

/// Implements the trait for pointers by forwarding to the distribution.
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

/// Implements [`SketchDistribution`] for a type by its inherent `sample`.
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

/// Checks that 1 ≤ d ≤ n.
fn check_shape(n: usize, d: usize) -> Result<()> {
    validate::not_empty("rows of the sketch (n)", n)?;
    validate::at_most("columns of the sketch (d)", d, n)
}
