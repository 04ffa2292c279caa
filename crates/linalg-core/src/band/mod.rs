//! All eigenvalues of a symmetric matrix, and selected eigenvectors.

mod chase;
mod factor;
mod inverse_iteration;
mod reduce;
#[cfg(test)]
mod tests;
mod values;
mod vectors;

use crate::symmetric_eigen::rank;
use crate::{Error, Indices, Result, Scalar, SymmetricEigen, validate};
use faer::{Mat, MatRef};
use rand::Rng;
use reduce::Reflector;

/// From this order on, reduction to a band is faster than [`SymmetricEigen`].
const BAND_FROM_ORDER: usize = 768;
/// The band width b: products with 32 columns are fast, and the working part of the band fits the
/// private cache of a core.
const WIDTH: usize = 32;

/// All eigenvalues of a symmetric n × n matrix, in descending order, and selected eigenvectors.
/// With few eigenvectors the cost is a fraction of [`SymmetricEigen`]'s.
///
/// A is reduced to a band matrix with 32 subdiagonals, mostly by matrix products. For the
/// eigenvalues the band is reduced further, to a tridiagonal matrix. Eigenvectors are computed as
/// those of the band matrix by inverse iteration, and transformed back by the reflections of the
/// first reduction. For n < 768, [`new`](Self::new) computes a [`SymmetricEigen`] instead.
///
/// # Cost
/// At most 4n³/3 + 6n²b flops for b = 32; 1.5n² numbers of memory, of which n²/2 remain in the
/// result. An eigenvector takes 2n² + 8nb² + 18nb flops.
///
/// # Source
/// C. Bischof, B. Lang & X. Sun, *A framework for symmetric band reduction*, ACM TOMS 26 (2000).
///
/// # Departures
/// Eigenvectors are computed by inverse iteration on the band; the source computes those of the
/// tridiagonal matrix and transforms them back through both reductions.
///
/// ```
/// use nystrom_linalg_core::{BandEigen, random};
/// use rand::SeedableRng;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let g = random::standard_normal::<f64>(60, 60, rng);
/// let a = &g * g.transpose();
/// let eigen = BandEigen::new(a.as_ref())?;
/// let v = eigen.vectors(&[0, 7], rng)?; // 60 × 2
/// let residual = &a * v.col(1) - v.col(1) * faer::Scale(eigen.values()[7]);
/// assert!(residual.norm_l2() < 1e-12 * eigen.values()[0]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BandEigen<T> {
    form: Form<T>,
}

#[derive(Debug, Clone)]
enum Form<T> {
    Whole(SymmetricEigen<T>),
    Reduced(Reduced<T>),
}

/// A = unit·QBQᵀ, with a power of two `unit` that keeps B in range.
#[derive(Debug, Clone)]
struct Reduced<T> {
    values: Vec<T>,
    band: Band,
    band_values: Vec<f64>,
    Q: Vec<Reflector<T>>,
}

/// B, a symmetric n × n matrix with b subdiagonals.
#[derive(Debug, Clone)]
struct Band {
    n: usize,
    b: usize,
    entries: Vec<f64>, // B_{j + d, j} is at index j·(b + 1) + d
}

impl<T: Scalar> BandEigen<T> {
    /// Reduces `a`, reading its lower triangle. The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` is not square, [`Error::NonFinite`], [`Error::EigenFailure`].
    pub fn new(a: MatRef<'_, T>) -> Result<Self> {
        if a.nrows() >= BAND_FROM_ORDER {
            return Self::of_width(a, WIDTH);
        }
        Ok(BandEigen { form: Form::Whole(SymmetricEigen::new(a)?) })
    }

    /// As [`new`](Self::new) with b = `width` subdiagonals, reducing to a band for every n. The
    /// best width depends on the processor.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and [`Error::Empty`] if `width` is 0.
    pub fn of_width(a: MatRef<'_, T>, width: usize) -> Result<Self> {
        let n = a.nrows();
        validate::same_size("columns of a square matrix", n, a.ncols())?;
        validate::not_empty("band (its width)", width)?;
        validate::finite_lower("matrix to decompose", a)?;
        let lower = (0..n).flat_map(|j| (j..n).map(move |i| a[(i, j)].f64().abs()));
        let unit = T::unit_near(lower.fold(0.0, f64::max));
        let scaled = |i, j| if i >= j { T::lit(a[(i, j)].f64() / unit) } else { T::zero() };
        let (band, Q) = reduce::to_band(Mat::from_fn(n, n, scaled), width);
        let (diagonal, squares) = chase::tridiagonal(&band);
        let band_values = values::eigenvalues(diagonal, squares)?;
        let values = band_values.iter().map(|value| T::lit(value * unit)).collect();
        Ok(BandEigen { form: Form::Reduced(Reduced { values, band, band_values, Q }) })
    }

    /// The eigenvalues, largest first, each with an error of about ε‖A‖.
    pub fn values(&self) -> &[T] {
        match &self.form {
            Form::Whole(eigen) => eigen.values(),
            Form::Reduced(reduced) => &reduced.values,
        }
    }

    /// The number of eigenvalues above n·ε·λ_max, as [`SymmetricEigen::rank`].
    pub fn rank(&self) -> usize {
        rank(self.values())
    }

    /// Orthonormal eigenvectors, n × c for c `indices`; column t belongs to `values()[indices[t]]`.
    ///
    /// The eigenvectors of an eigenvalue that is multiple up to rounding are random: uniformly
    /// distributed orthonormal vectors of its eigenspace, drawn again in every call. (Not if
    /// [`new`](Self::new) decomposed a matrix with n < 768: its eigenvectors are fixed.)
    ///
    /// # Randomness
    /// One 64-bit word; none if [`new`](Self::new) decomposed a matrix with n < 768.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`], [`Error::EigenFailure`].
    pub fn vectors(&self, indices: &[usize], rng: &mut dyn Rng) -> Result<Mat<T>> {
        let n = self.values().len();
        Indices::from(indices).check_distinct(n, "eigenvectors")?;
        match &self.form {
            Form::Whole(eigen) => {
                let U = eigen.vectors();
                Ok(Mat::from_fn(n, indices.len(), |i, t| U[(i, indices[t])]))
            }
            Form::Reduced(reduced) => reduced.vectors(indices, rng),
        }
    }
}

impl<T: Scalar> Reduced<T> {
    fn vectors(&self, indices: &[usize], rng: &mut dyn Rng) -> Result<Mat<T>> {
        let known = &self.band_values;
        let norm = known.iter().map(|value| value.abs()).fold(0.0, f64::max);
        let wanted: Vec<f64> = indices.iter().map(|&i| known[i]).collect();
        let X = inverse_iteration::eigenvectors(&self.band, &wanted, norm, rng)
            .map_err(|_| Error::EigenFailure { order: self.band.n })?;
        let mut X = Mat::from_fn(X.nrows(), X.ncols(), |i, j| T::lit(X[(i, j)]));
        self.Q.iter().rev().for_each(|H| H.apply(X.as_mut())); // H₁H₂ ⋯ X
        Ok(X)
    }
}

impl Band {
    /// The band of A: its diagonal and its first b subdiagonals.
    fn of<T: Scalar>(A: MatRef<'_, T>, b: usize) -> Self {
        let n = A.nrows();
        let entry = |(j, d): (usize, usize)| if j + d < n { A[(j + d, j)].f64() } else { 0.0 };
        let places = (0..n).flat_map(|j| (0..=b).map(move |d| (j, d)));
        Band { n, b, entries: places.map(entry).collect() }
    }
}
