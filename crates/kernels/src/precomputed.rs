//! A kernel given by a stored matrix of its values.

use crate::load::saved_kernel;
use crate::{Kernel, Points, tile};
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Dense, Error, Result, Scalar, validate, work};

/// The kernel k(i, j) = K\[i, j\] of a stored N × N matrix K. Its points are the indices
/// 0, 1, …, N − 1, with d = 1.
///
/// For kernels on graphs, strings or molecules, computed elsewhere for all training and test items.
/// Pass indices wherever points are expected ([`Precomputed::indices`] returns all of them);
/// [`check_points`](Kernel::check_points) checks that they are whole numbers below N. Stores N²
/// entries by definition.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Kernel, KernelMatrix, Points, Precomputed};
/// let k = Precomputed::new(mat![[2.0, 1.0, 0.5], [1.0, 2.0, 0.0], [0.5, 0.0, 1.0_f64]])?;
/// assert_eq!(k.eval(Points::from_slice(&[2.0, 0.0]), Points::from_slice(&[1.0]))[(1, 0)], 1.0);
/// assert!(KernelMatrix::new(&k, Points::from_slice(&[0.0, 2.5])).is_err());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Precomputed<T> {
    matrix: Mat<T>,
}

saved_kernel! {
    [T: (Scalar + serde::Serialize + serde::de::DeserializeOwned)]
    Precomputed<T> = "precomputed".into(),
    { #[serde(with = "nystrom_linalg_core::serialize::matrix")] matrix: Mat<T> } of {},
        |s| Precomputed::new(s.matrix)
}

impl<T: Scalar> Precomputed<T> {
    /// The kernel with this matrix (N × N). The caller guarantees that it is positive
    /// semi-definite; a check would cost O(N³).
    ///
    /// # Errors
    /// `Empty`, `Shape` if not square, `NonFinite`, `NotSymmetric` (beyond rounding). `TooMany` if
    /// N is so large that `T` cannot represent all indices exactly (above 2²⁴ for `f32`).
    pub fn new(matrix: Mat<T>) -> Result<Self> {
        Dense::new(matrix.as_ref())?;
        let exact = (2.0 / T::EPS) as usize;
        validate::at_most("items of a precomputed kernel", matrix.nrows(), exact)?;
        Ok(Precomputed { matrix })
    }

    /// The number of items N.
    pub fn size(&self) -> usize {
        self.matrix.nrows()
    }

    /// The indices 0, 1, …, N − 1, to be passed to [`Points::from_slice`].
    pub fn indices(&self) -> Vec<T> {
        (0..self.size()).map(T::of).collect()
    }

    fn index(&self, x: Points<'_, T>, i: usize) -> usize {
        x.coordinate(i, 0).f64() as usize
    }
}

impl<T: Scalar> Kernel<T> for Precomputed<T> {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        work::entries(x.len(), y.len());
        tile::for_each_tile(out, |mut tile, rows, cols| {
            for (t, j) in cols.enumerate() {
                let column = self.index(y, j);
                for (s, i) in rows.clone().enumerate() {
                    let row = self.index(x, i);
                    tile[(s, t)] = self.matrix[(row.max(column), row.min(column))];
                }
            }
        });
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
        work::diagonal_entries(x.len());
        for i in 0..x.len() {
            let index = self.index(x, i);
            out[i] = self.matrix[(index, index)];
        }
    }

    fn check_dim(&self, d: usize) -> Result<()> {
        let what = "coordinates of a point (d): the index of a precomputed kernel";
        validate::same_size(what, 1, d)
    }

    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        x.check_dense()?;
        Kernel::<T>::check_dim(self, x.dim())?;
        for position in 0..x.len() {
            let value = x.coordinate(position, 0).f64();
            validate::require(
                !(value < 0.0 || value.fract() != 0.0),
                "point of a precomputed kernel",
                value,
                "a whole number of at least 0, the index of an item of the matrix",
            )?;
            if value >= self.size() as f64 {
                let (what, index, n) =
                    ("points of a precomputed kernel", value as usize, self.size());
                return Err(Error::IndexOutOfRange { what, position, index, n });
            }
        }
        Ok(())
    }
}
