//! The kernel matrix of a set of points, evaluated block by block on demand.

use crate::{Kernel, Points};
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Indices, PsdMatrix, Result, Scalar};

/// The n × n matrix K with K_ij = k(x_i, x_j). Blocks are evaluated on demand; no entry is stored.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_linalg_core::PsdMatrix;
/// let x = mat![[0.0], [1.0], [3.0]];
/// let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_rows(x.as_ref()))?;
/// assert_eq!(k.dim(), 3);
/// let column: faer::Mat<f64> = k.columns((&[0]).into());
/// assert!((column[(1, 0)] - (-0.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct KernelMatrix<'a, T, K> {
    kernel: K,
    points: Points<'a, T>,
}

impl<'a, T: Scalar, K: Kernel<T>> KernelMatrix<'a, T, K> {
    /// The n × n matrix of `kernel` on `points`. The check of the points takes O(nd).
    ///
    /// # Errors
    /// Those of [`Kernel::check_points`].
    pub fn new(kernel: K, points: Points<'a, T>) -> Result<Self> {
        kernel.check_points(points)?;
        Ok(KernelMatrix { kernel, points })
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The points.
    pub fn points(&self) -> Points<'a, T> {
        self.points
    }

    /// C = k(X, Z), n × m, and W = k(Z, Z), m × m, for any m points Z. A Nyström approximation
    /// whose centres are not data points is made from C and W (`Nystrom::from_blocks` in
    /// `nystrom-sketch`). n·m + m² kernel values and numbers of memory.
    ///
    /// # Errors
    /// Those of [`Kernel::check_points`] for `centers`, and
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if their dimension is not that of the points.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
    /// let (x, z) = ([0.0, 1.0, 3.0], [0.5, 2.0]);
    /// let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_slice(&x))?;
    /// let (c, w) = k.against(Points::from_slice(&z))?;
    /// assert_eq!((c.shape(), w.shape()), ((3, 2), (2, 2)));
    /// assert_eq!(c[(0, 0)], c[(1, 0)]);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn against(&self, centers: Points<'_, T>) -> Result<(Mat<T>, Mat<T>)> {
        self.points.check_same_dim(centers)?;
        self.kernel.check_points(centers)?;
        Ok((self.kernel.eval(self.points, centers), self.kernel.gram(centers)))
    }

    fn with_points<R>(&self, idx: &Indices<'_>, f: impl FnOnce(Points<'_, T>) -> R) -> R {
        match idx {
            Indices::Range(range) => f(self.points.slice(range.clone())),
            Indices::List(_) if self.points.is_sparse() => {
                f(self.points.gather(idx.clone()).points())
            }
            Indices::List(list) => f(Points::from_rows(coordinates(self.points, list).as_ref())),
        }
    }
}

/// The points of `list` as a list.len() × d matrix, in which each coordinate is contiguous, as the
/// tiles read it.
fn coordinates<T: Scalar>(points: Points<'_, T>, list: &[usize]) -> Mat<T> {
    let mut out = Mat::zeros(list.len(), points.dim());
    for (k, to) in out.col_iter_mut().enumerate() {
        let from = points.as_cols().row(k);
        let to = to.try_as_col_major_mut().expect("a fresh matrix").as_slice_mut();
        match from.try_as_row_major() {
            Some(from) => to.iter_mut().zip(list).for_each(|(to, &i)| *to = from.as_slice()[i]),
            None => to.iter_mut().zip(list).for_each(|(to, &i)| *to = from[i]),
        }
    }
    out
}

impl<T: Scalar, K: Kernel<T>> PsdMatrix<T> for KernelMatrix<'_, T, K> {
    fn dim(&self) -> usize {
        self.points.len()
    }

    fn diag_into(&self, out: ColMut<'_, T>, idx: Indices<'_>) {
        self.with_points(&idx, |x| self.kernel.diag_into(out, x));
    }

    fn block_into(&self, out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        if rows == cols {
            return self.with_points(&rows, |x| self.kernel.gram_into(out, x));
        }
        self.with_points(&rows, |x| self.with_points(&cols, |y| self.kernel.eval_into(out, x, y)));
    }
}
