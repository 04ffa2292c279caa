//! Random embeddings of K_nM, as sums over rows.

use super::Asked;
use super::matrix_sums::{Added, MatrixSums, Rooms, Sums, check_centers, fingerprint, values};
use super::tiled::Tiled;
use crate::Problem;
use crate::problem::TILE_ROWS;
use crate::sign_embedding::{embed, empty_embedding};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, Streams};

/// What [`Krill`](crate::Krill) takes from the rows before its iterations: (Ψ√D K_nM)ᵀ, M × 2M.
///
/// [`Krill::fit_passes`](crate::Krill::fit_passes) makes and reads it; who runs passes needs
/// [`RowSums`](crate::RowSums) alone, or what is [`Asked`] of them. Ψ of a tile follows from the
/// key and the number of its first row, so sums must begin [where their rows
/// do](crate::RowSums::empty_at): otherwise repeated rows could have equal signs.
pub type EmbeddedRows<K, T> = Tiled<MatrixSums<Embedding<K, T>>, T>;

/// What [`EmbeddedRows`] adds of a tile.
#[derive(Debug)]
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
    /// use nystrom_krr::{Asked, EmbeddedRows, RowSums};
    /// use nystrom_linalg_core::Streams;
    /// let (kernel, centers) = (Gaussian::new(0.2)?, [0.0, 1.0]);
    /// let key = Streams::from_key(7);
    /// let sums = EmbeddedRows::new(&kernel, Points::from_slice(&centers), 1, key)?;
    /// assert!(matches!(sums.asked(), Asked::Embedded(7)));
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
        let (sizes, matrix) = ([centers.dim(), targets], empty_embedding(centers.len()));
        let (kernel, centers) = (kernel.clone(), centers.as_cols().to_owned());
        let added = Embedding { kernel, centers, streams };
        Ok(Tiled::adding(added, sizes, hash, 0, matrix))
    }
}

impl<T: Scalar, K: Kernel<T>> Added<T> for Embedding<K, T> {
    const KIND: u8 = 4;
    const OTHERWISE: &'static str = "another key, kernel or other centres";

    fn asked(&self) -> Asked<'_> {
        Asked::Embedded(self.streams.key())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn add(&self, tile: Problem<'_, T>, rooms: &Rooms<T>, sums: Sums<'_>) -> Result<()> {
        let Sums { first, matrix: St, .. } = sums;
        rooms.lend((self.centers.ncols(), TILE_ROWS), |room| {
            let (centers, mut wide) = (Points::from_cols(self.centers.as_ref()), Mat::new());
            let Kt = values(&self.kernel, centers, tile.x, room, &mut wide); //   M × rows
            embed(St.as_mut(), Kt, tile, &mut self.streams.stream(first));
        });
        Ok(())
    }
}
