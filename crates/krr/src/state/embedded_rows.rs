//! Random embeddings of K_nM, as sums over rows.

use super::PassInput;
use super::kernel_products::{Buffers, check_centers, fingerprint, values};
use super::tiled::{TileTerm, Tiled};
use crate::Problem;
use crate::problem::TILE_ROWS;
use crate::sign_embedding::{embed, empty_embedding};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, Streams};

/// What [`Krill`](crate::Krill) takes from the rows before its iterations: (Ψ√D K_nM)ᵀ, M × 2M.
///
/// [`Krill::fit_passes`](crate::Krill::fit_passes) makes and reads it; who runs passes needs
/// [`RowSums`](crate::RowSums) alone, or their [`PassInput`]. Ψ of a tile follows from the
/// key and the number of its first row, so sums must begin [where their rows
/// do](crate::RowSums::empty_at): otherwise repeated rows could have equal signs.
pub type EmbeddedRows<K, T> = Tiled<Embedding<K, T>, T>;

/// What [`EmbeddedRows`] adds of a tile.
#[derive(Debug, Clone)]
pub struct Embedding<K, T> {
    kernel: K,
    /// d × M.
    centers: Mat<T>,
    streams: Streams,
}

impl<T: Scalar, K: Kernel<T> + Clone> EmbeddedRows<K, T> {
    /// Over no rows, for t targets and this key.
    ///
    /// # Errors
    /// Those of the kernel for the centres; [`Empty`](nystrom_linalg_core::Error::Empty) without
    /// centres or targets.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{EmbeddedRows, PassInput, RowSums};
    /// use nystrom_linalg_core::Streams;
    /// let (kernel, centers) = (Gaussian::new(0.2)?, [0.0, 1.0]);
    /// let key = Streams::from_key(7);
    /// let sums = EmbeddedRows::new(&kernel, Points::from_slice(&centers), 1, key)?;
    /// assert!(matches!(sums.input(), PassInput::Embedded(7)));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn new(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        streams: Streams,
    ) -> Result<Self> {
        check_centers(kernel, centers, targets)?;
        let hash = fingerprint(kernel, centers, targets).integer(streams.key());
        let (kernel, sizes) = (kernel.clone(), [centers.dim(), targets]);
        let term = Embedding { kernel, centers: centers.as_cols().to_owned(), streams };
        Ok(Tiled::over_no_rows(term, sizes, hash.value()))
    }
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for Embedding<K, T> {
    const KIND: u8 = 4;
    const MISMATCH: &'static str = "another key, kernel or other centres";
    type Sums = Mat<f64>;
    type Scratch = Buffers<T>;

    fn input(&self) -> PassInput<'_> {
        PassInput::Embedded(self.streams.key())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn zeros(&self) -> Mat<f64> {
        empty_embedding(self.centers.ncols())
    }

    fn add(
        &self,
        St: &mut Mat<f64>,
        tile: Problem<'_, T>,
        first: u64,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        buffers.lend((self.centers.ncols(), TILE_ROWS), |buffer| {
            let (centers, mut wide) = (Points::from_cols(self.centers.as_ref()), Mat::new());
            let Kt = values(&self.kernel, centers, tile.x, buffer, &mut wide); //   M × rows
            embed(St.as_mut(), Kt, tile, &mut self.streams.stream(first));
        });
        Ok(())
    }
}
