//! The products with the kernel matrix in Falkon and KRILL, as sums over rows.

use super::PassInput;
use super::kernel_products::{Buffers, by_rows, check_centers, entries, fingerprint, values};
use super::tiled::{TileTerm, Tiled};
use crate::Problem;
use crate::algebra::{embed, empty_embedding};
use crate::data::TILE_ROWS;
use faer::{Accum, Mat};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, Streams, ops, validate};

/// Rows that one thread takes at once.
const CHUNK: usize = 64;

/// The sums of a pass of [`Falkon`](crate::Falkon) or [`Krill`](crate::Krill), by its
/// [`PassInput`]. D is the diagonal matrix of sample weights.
///
/// | input | sum |
/// |---|---|
/// | nothing | K_nmᵀD\[y 1\], m × (t + 1): the right-hand side |
/// | u, m × c | K_nmᵀDK_nm u, m × c: an iteration |
/// | a key | (Ψ√D K_nm)ᵀ, m × 2m: KRILL's embedding |
///
/// [`Falkon::fit_passes`](crate::Falkon::fit_passes) makes and reads them; a program that runs
/// passes needs only [`RowSums`](crate::RowSums). Another process makes them from their
/// [`PassInput`]. Memory: the sum and 64·m numbers for each thread; for an embedding 1024·m
/// numbers.
///
/// The columns of Ψ for a tile follow from the key and the number of its first row. So sums must
/// begin [at the number of their first row](crate::RowSums::empty_at): otherwise repeated rows
/// could have equal signs.
pub type CenterProducts<K, T> = Tiled<CenterProduct<K, T>, T>;

/// The term of a tile in [`CenterProducts`]: Σ w and Σ w y, and a matrix.
#[derive(Debug, Clone)]
pub struct CenterProduct<K, T> {
    kernel: K,
    /// d × m.
    centers: Mat<T>,
    targets: usize,
    input: PassInput,
}

impl<T: Scalar, K: Kernel<T> + Clone> CenterProducts<K, T> {
    /// Over no rows, for t targets.
    ///
    /// # Errors
    /// Those of the kernel for the centres; [`Empty`](nystrom_linalg_core::Error::Empty) without
    /// centres or targets, [`Shape`](nystrom_linalg_core::Error::Shape) unless u has a row for each
    /// centre.
    ///
    /// [`PassInput`] has an example.
    pub fn new(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        input: PassInput,
    ) -> Result<Self> {
        check_centers(kernel, centers, targets)?;
        if let PassInput::Along(u) = &input {
            validate::same_size("rows of u against centres", centers.len(), u.nrows())?;
        }
        Ok(Self::unchecked(kernel, centers, targets, input))
    }

    /// As `new`, unchecked.
    pub(crate) fn unchecked(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        input: PassInput,
    ) -> Self {
        let hash = fingerprint(kernel, centers, targets);
        let hash = match &input {
            PassInput::Nothing => hash,
            PassInput::Along(u) => hash.numbers(entries(u.as_ref())),
            PassInput::Embedded(key) => hash.integer(*key),
        };
        let (kernel, sizes) = (kernel.clone(), [centers.dim(), targets]);
        let term = CenterProduct { kernel, centers: centers.as_cols().to_owned(), targets, input };
        Tiled::over_no_rows(term, sizes, hash.value())
    }
}

impl<T: Scalar, K: Kernel<T>> CenterProduct<K, T> {
    /// The product of a few rows, on this thread.
    fn of(&self, rows: Problem<'_, T>, buffer: &mut Mat<T>) -> Mat<f64> {
        let (count, centers) = (rows.x.len(), Points::from_cols(self.centers.as_ref()));
        let mut wide = Mat::new();
        let K = values(&self.kernel, centers, rows.x, buffer, &mut wide); //      m × rows
        let w = |i: usize| rows.weight(i);
        let right = match &self.input {
            PassInput::Along(u) => {
                let mut f = Mat::zeros(count, u.ncols());
                ops::matmul_here(f.as_mut(), Accum::Replace, K.transpose(), u.as_ref(), 1.0);
                Mat::from_fn(count, u.ncols(), |i, j| w(i) * f[(i, j)])
            }
            _ => Mat::from_fn(count, rows.y.ncols() + 1, |i, j| {
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
    const MISMATCH: &'static str = "another vector or key, kernel or other centres";
    type Sums = (Vec<f64>, Mat<f64>);
    type Scratch = Buffers<T>;

    fn input(&self) -> &PassInput {
        &self.input
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn zeros(&self) -> Self::Sums {
        let m = self.centers.ncols();
        let matrix = match &self.input {
            PassInput::Nothing => Mat::zeros(m, self.targets + 1),
            PassInput::Along(u) => Mat::zeros(m, u.ncols()),
            PassInput::Embedded(_) => empty_embedding(m),
        };
        (vec![0.0; 1 + self.targets], matrix)
    }

    fn add(
        &self,
        (totals, out): &mut Self::Sums,
        tile: Problem<'_, T>,
        first: u64,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        let m = self.centers.ncols();
        if let PassInput::Embedded(key) = self.input {
            buffers.lend((m, TILE_ROWS), |buffer| {
                let (centers, mut wide) = (Points::from_cols(self.centers.as_ref()), Mat::new());
                let Kt = values(&self.kernel, centers, tile.x, buffer, &mut wide); // m × rows
                embed(out.as_mut(), Kt, tile, &mut Streams::from_key(key).stream(first));
            });
            return Ok(());
        }
        let parts = by_rows(tile, (m, CHUNK), buffers, |rows, buffer| self.of(rows, buffer));
        parts.into_iter().for_each(|part| *out += part);
        let w = |i: usize| tile.weight(i);
        totals[0] += (0..tile.x.len()).map(w).sum::<f64>();
        for (j, sum) in totals[1..].iter_mut().enumerate() {
            *sum += (0..tile.x.len()).map(|i| w(i) * tile.y[(i, j)].f64()).sum::<f64>();
        }
        Ok(())
    }
}
