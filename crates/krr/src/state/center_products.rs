//! Products of K_nM with vectors, as sums over rows.

use super::PassInput;
use super::kernel_products::{Buffers, by_rows, check_centers, entries, fingerprint, values};
use super::tiled::{TileTerm, Tiled};
use crate::Problem;
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, ops, validate};

/// Rows that one thread takes at once.
const CHUNK: usize = 64;

/// What an iteration of [`Falkon`](crate::Falkon) takes from the rows: K_nMᵀDK_nM u for a given u,
/// or K_nMᵀD\[y 1\] before there is one. D holds the sample weights.
///
/// [`Falkon::fit_passes`](crate::Falkon::fit_passes) makes and reads them. To run passes,
/// [`RowSums`](crate::RowSums) is enough. In a process that [`Falkon`](crate::Falkon) does not
/// reach, make them from its [`PassInput`]. Nothing but the sum is held, M × t numbers, and
/// 64·M for each thread.
pub type CenterProducts<K, T> = Tiled<CenterProduct<K, T>, T>;

/// What [`CenterProducts`] adds of a tile: to Σ w, to Σ w y, and to M × t or M × (t + 1) numbers.
#[derive(Debug, Clone)]
pub struct CenterProduct<K, T> {
    kernel: K,
    /// d × M.
    centers: Mat<T>,
    targets: usize,
    /// u.
    direction: Option<Mat<f64>>,
}

impl<T: Scalar, K: Kernel<T> + Clone> CenterProducts<K, T> {
    /// Over no rows: K_nMᵀD\[y 1\] for t targets, or with u, M rows, K_nMᵀDK_nM u.
    ///
    /// # Errors
    /// Those of the kernel for the centres; [`Empty`](nystrom_linalg_core::Error::Empty) without
    /// centres or targets, [`Shape`](nystrom_linalg_core::Error::Shape) for another u.
    ///
    /// [`PassInput`] has an example.
    pub fn new(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        u: Option<MatRef<'_, f64>>,
    ) -> Result<Self> {
        check_centers(kernel, centers, targets)?;
        let rows = u.map_or(centers.len(), |u| u.nrows());
        validate::same_size("rows of u against centres", centers.len(), rows)?;
        Ok(Self::along(kernel, centers, targets, u))
    }

    /// As `new`, unchecked.
    pub(crate) fn along(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        u: Option<MatRef<'_, f64>>,
    ) -> Self {
        let hash = fingerprint(kernel, centers, targets);
        let hash = u.iter().fold(hash, |hash, u| hash.numbers(entries(*u)));
        let (kernel, sizes) = (kernel.clone(), [centers.dim(), targets]);
        let (centers, direction) = (centers.as_cols().to_owned(), u.map(|u| u.to_owned()));
        let term = CenterProduct { kernel, centers, targets, direction };
        Tiled::over_no_rows(term, sizes, hash.value())
    }
}

impl<T: Scalar, K: Kernel<T>> CenterProduct<K, T> {
    /// Of a few rows, on this thread.
    fn of(&self, rows: Problem<'_, T>, buffer: &mut Mat<T>) -> Mat<f64> {
        let (count, centers) = (rows.x.len(), Points::from_cols(self.centers.as_ref()));
        let mut wide = Mat::new();
        let K = values(&self.kernel, centers, rows.x, buffer, &mut wide); //      M × rows
        let w = |i: usize| rows.weight(i);
        let right = match &self.direction {
            Some(u) => {
                let mut f = Mat::zeros(count, u.ncols());
                ops::matmul_here(f.as_mut(), Accum::Replace, K.transpose(), u.as_ref(), 1.0);
                Mat::from_fn(count, u.ncols(), |i, j| w(i) * f[(i, j)])
            }
            None => Mat::from_fn(count, rows.y.ncols() + 1, |i, j| {
                w(i) * if j < rows.y.ncols() { rows.y[(i, j)].f64() } else { 1.0 }
            }),
        };
        let mut out = Mat::zeros(K.nrows(), right.ncols());
        ops::matmul_here(out.as_mut(), Accum::Replace, K, right.as_ref(), 1.0);
        out
    }
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for CenterProduct<K, T> {
    const KIND: u8 = 3;
    const MISMATCH: &'static str = "another vector, kernel or other centres";
    type Sums = (Vec<f64>, Mat<f64>);
    type Scratch = Buffers<T>;

    fn input(&self) -> PassInput<'_> {
        self.direction.as_ref().map_or(PassInput::Nothing, |u| PassInput::Along(u.as_ref()))
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn zeros(&self) -> Self::Sums {
        let columns = self.direction.as_ref().map_or(self.targets + 1, |u| u.ncols());
        (vec![0.0; 1 + self.targets], Mat::zeros(self.centers.ncols(), columns))
    }

    fn add(
        &self,
        (totals, out): &mut Self::Sums,
        tile: Problem<'_, T>,
        _: u64,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        let shape = (out.nrows(), CHUNK);
        let parts = by_rows(tile, shape, buffers, |rows, buffer| self.of(rows, buffer));
        parts.into_iter().for_each(|part| *out += part);
        let w = |i: usize| tile.weight(i);
        totals[0] += (0..tile.x.len()).map(w).sum::<f64>();
        for (j, sum) in totals[1..].iter_mut().enumerate() {
            *sum += (0..tile.x.len()).map(|i| w(i) * tile.y[(i, j)].f64()).sum::<f64>();
        }
        Ok(())
    }
}
