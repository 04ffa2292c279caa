//! Random embeddings of K_nM, as sums over rows.

use super::bytes::{Hash, Reader, Writer};
use super::center_products::fingerprint;
use super::tiled::{TileSums, Tiled};
use crate::Problem;
use crate::iterative::{embed, empty_embedding};
use crate::rows::TILE_ROWS;
use faer::Mat;
use faer::reborrow::*;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, Streams, ops};
use std::sync::Arc;

/// What [`Krill`](crate::Krill) takes from the rows before its iterations: (Ψ√D K_nM)ᵀ, M × 2M.
///
/// [`Krill::fit_passes`](crate::Krill::fit_passes) makes and reads it; who runs passes needs
/// [`RowSums`](crate::RowSums) alone. Ψ of a tile follows from the key and the tile's coordinates.
pub type EmbeddedRows<K, T> = Tiled<EmbeddingSums<K, T>, T>;

/// What [`EmbeddedRows`] adds up.
#[derive(Debug, Clone)]
pub struct EmbeddingSums<K, T> {
    shared: Arc<Shared<K, T>>,
    /// M × 2M.
    St: Mat<f64>,
    rows: u64,
}

#[derive(Debug)]
struct Shared<K, T> {
    kernel: K,
    /// d × M.
    centers: Mat<T>,
    targets: usize,
    streams: Streams,
    fingerprint: u64,
}

impl<T: Scalar, K: Kernel<T> + Clone> EmbeddedRows<K, T> {
    pub(crate) fn new(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        streams: Streams,
    ) -> Self {
        let hash = fingerprint(kernel, centers, targets).integer(streams.key());
        let (kernel, centers) = (kernel.clone(), centers.as_cols().to_owned());
        let shared = Shared { kernel, centers, targets, streams, fingerprint: hash.value() };
        Tiled::over_no_rows(EmbeddingSums::over_no_rows(Arc::new(shared)))
    }

    /// The sums, once all rows are in them.
    pub(crate) fn finish(mut self) -> Result<Mat<f64>> {
        self.whole()?;
        Ok(self.sums.St)
    }
}

impl<K, T> EmbeddingSums<K, T> {
    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        EmbeddingSums { St: empty_embedding(shared.centers.ncols()), rows: 0, shared }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for EmbeddingSums<K, T> {
    const KIND: u8 = 4;
    type Room = Option<Mat<T>>;

    fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.shared.kernel
    }

    fn sizes(&self) -> (usize, usize) {
        (self.shared.centers.nrows(), self.shared.targets)
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn fingerprint(&self) -> u64 {
        self.shared.fingerprint
    }

    fn otherwise(&self) -> &'static str {
        "another key, kernel or other centres"
    }

    fn add(&mut self, tile: Problem<'_, T>, room: &mut Option<Mat<T>>) -> Result<()> {
        let Shared { kernel, centers, streams, .. } = &*self.shared;
        let (d, rows) = (centers.nrows(), tile.x.len());
        let coordinates = (0..rows).flat_map(|i| (0..d).map(move |k| tile.x.coordinate(i, k)));
        let place = coordinates.fold(Hash::new(), |hash, x| hash.number(x.f64())).value();
        let room = room.get_or_insert_with(|| Mat::zeros(centers.ncols(), TILE_ROWS));
        let mut Kt = room.as_mut().subcols_mut(0, rows); //                     M × rows
        kernel.eval_into(Kt.rb_mut(), Points::from_cols(centers.as_ref()), tile.x);
        let mut wide = Mat::new();
        let Kt = ops::widened(Kt.into_const(), &mut wide);
        embed(self.St.rb_mut(), Kt, tile, &mut streams.stream(place));
        self.rows += rows as u64;
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.St += later.St;
        self.rows += later.rows;
    }

    fn numbers(&self) -> usize {
        1 + self.St.nrows() * self.St.ncols()
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.rows);
        self.St.col_iter().for_each(|col| col.iter().for_each(|x| out.number(*x)));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let rows = reader.integer();
        let St = Mat::from_fn(self.St.nrows(), self.St.ncols(), |_, _| reader.number());
        Ok(EmbeddingSums { St, rows, shared: self.shared.clone() })
    }
}
