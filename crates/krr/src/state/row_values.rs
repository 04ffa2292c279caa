//! Values of rows, in their order, as sums over rows.

use super::bytes::{Hash, Reader, Writer, finite, wrong};
use super::matrix_sums::{Rooms, by_rows, fingerprint, values};
use super::tiled::{TileSums, Tiled};
use crate::Problem;
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, ops};
use std::sync::Arc;

/// Rows that one thread takes at once, and points against which it has their kernel values.
const CHUNK: usize = 32;
const PIECE: usize = 2048;

/// What [`FullKrr`](crate::FullKrr) takes from the rows: points, targets and weights at first, then
/// Ku for a given u.
///
/// [`FullKrr::fit_passes`](crate::FullKrr::fit_passes) makes and reads them; who runs passes needs
/// [`RowSums`](crate::RowSums) alone. Later rows come behind earlier ones, so that a merge is no
/// sum: no number depends on who has which row. Memory: the values, and 512 KiB for each thread.
pub type RowValues<K, T> = Tiled<ValueSums<K, T>, T>;

/// What [`RowValues`] puts together.
#[derive(Debug, Clone)]
#[must_use]
pub struct ValueSums<K, T> {
    shared: Arc<Shared<K, T>>,
    /// Those of a row one after another.
    values: Vec<f64>,
    /// Rows that are counted only, as memory does not hold them.
    dropped: u64,
}

#[derive(Debug)]
struct Shared<K, T> {
    kernel: K,
    /// All points, d × n, and u, n × columns.
    product: Option<(Arc<Mat<T>>, Mat<f64>)>,
    /// Numbers of a row.
    width: usize,
    /// Rows at most.
    most: u64,
}

/// All rows.
pub(crate) struct Collected<T> {
    /// d × n.
    pub x: Arc<Mat<T>>,
    y: Mat<T>,
    weights: Vec<T>,
}

impl<T: Scalar> Collected<T> {
    pub fn problem(&self) -> Problem<'_, T> {
        Problem::new(Points::from_cols(self.x.as_ref().as_ref()), self.y.as_ref())
            .weighted(&self.weights)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> RowValues<K, T> {
    /// x, y and w of every row, of which memory holds so many.
    pub(crate) fn rows(kernel: &K, [dim, targets]: [usize; 2], most: u64) -> Self {
        let zeros = Mat::zeros(dim, 1);
        let hash = fingerprint(kernel, Points::from_cols(zeros.as_ref()), targets);
        let width = dim + targets + 1;
        let shared = Shared { kernel: kernel.clone(), product: None, width, most };
        Self::of(shared, [dim, targets], hash)
    }

    /// Ku for all points (d × n) and u (n × columns).
    pub(crate) fn product(
        kernel: &K,
        points: &Arc<Mat<T>>,
        targets: usize,
        u: MatRef<'_, f64>,
    ) -> Self {
        let all = Points::from_cols(points.as_ref().as_ref());
        let hash = fingerprint(kernel, all, targets).matrix(u);
        let product = Some((points.clone(), u.to_owned()));
        let (width, most) = (u.ncols(), u64::MAX);
        let shared = Shared { kernel: kernel.clone(), product, width, most };
        Self::of(shared, [points.nrows(), targets], hash)
    }

    fn of(shared: Shared<K, T>, sizes: [usize; 2], hash: Hash) -> Self {
        let sums = ValueSums { shared: Arc::new(shared), values: Vec::new(), dropped: 0 };
        Tiled::over_no_rows(sums, sizes, hash.value())
    }

    /// The values, a row of numbers for each row.
    pub(crate) fn values(self) -> Result<Mat<f64>> {
        let ValueSums { shared, values, .. } = self.finish()?;
        let width = shared.width;
        Ok(MatRef::from_row_major_slice(&values, values.len() / width, width).to_owned())
    }

    /// The rows that [`rows`](Self::rows) put together.
    pub(crate) fn collected(self) -> Result<Collected<T>> {
        let [dim, targets] = self.waiting.sizes();
        let ValueSums { shared, values, .. } = self.finish()?;
        let width = shared.width;
        let n = values.len() / width;
        let at = |i: usize, j: usize| T::lit(values[i * width + j]);
        Ok(Collected {
            x: Arc::new(Mat::from_fn(dim, n, |k, i| at(i, k))),
            y: Mat::from_fn(n, targets, |i, j| at(i, dim + j)),
            weights: (0..n).map(|i| at(i, width - 1)).collect(),
        })
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> ValueSums<K, T> {
    /// Whether memory holds so many rows more. If not, all rows are only counted from here on: the
    /// error can then say what all of them need.
    fn has_room(&mut self, more: u64) -> bool {
        let rows = self.rows().saturating_add(more);
        if rows > self.shared.most {
            (self.values, self.dropped) = (Vec::new(), rows);
        }
        self.dropped == 0
    }
}

impl<T: Scalar, K: Kernel<T>> Shared<K, T> {
    /// Ku of a few rows, on this thread: over pieces of the points, one after another.
    fn times(
        &self,
        (points, u): (&Mat<T>, &Mat<f64>),
        rows: Points<'_, T>,
        room: &mut Mat<T>,
    ) -> Mat<f64> {
        let points = Points::from_cols(points.as_ref());
        let (mut wide, mut out) = (Mat::new(), Mat::zeros(rows.len(), u.ncols()));
        for start in (0..points.len()).step_by(PIECE) {
            let count = PIECE.min(points.len() - start);
            let points = points.slice(start..start + count);
            let K = values(&self.kernel, points, rows, room, &mut wide);
            let u = u.as_ref().subrows(start, count);
            ops::matmul_here(out.as_mut(), Accum::Add, K.transpose(), u, 1.0);
        }
        out
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for ValueSums<K, T> {
    const KIND: u8 = 5;
    const OTHERWISE: &'static str = "another vector, kernel or other points";
    type Room = Rooms<T>;

    fn empty_at(&self, _: u64) -> Self {
        ValueSums { shared: self.shared.clone(), values: Vec::new(), dropped: 0 }
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.shared.kernel
    }

    fn rows(&self) -> u64 {
        self.dropped + (self.values.len() / self.shared.width) as u64
    }

    fn add(&mut self, tile: Problem<'_, T>, rooms: &mut Rooms<T>) -> Result<()> {
        let (shared, rows) = (self.shared.clone(), tile.x.len());
        if !self.has_room(rows as u64) {
            return Ok(());
        }
        let Some((points, u)) = &shared.product else {
            for i in 0..rows {
                self.values.extend((0..tile.x.dim()).map(|k| tile.x.coordinate(i, k).f64()));
                self.values.extend((0..tile.y.ncols()).map(|j| tile.y[(i, j)].f64()));
                self.values.push(tile.weight(i));
            }
            return Ok(());
        };
        let shape = (PIECE.min(points.ncols()), CHUNK);
        let of = |rows: Problem<'_, T>, room: &mut Mat<T>| shared.times((points, u), rows.x, room);
        let parts = by_rows(tile, shape, rooms, of);
        for part in &parts {
            let row = |i: usize| (0..part.ncols()).map(move |j| part[(i, j)]);
            self.values.extend((0..part.nrows()).flat_map(row));
        }
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        if self.has_room(later.rows()) {
            self.values.extend(later.values);
        }
    }

    fn numbers(&self) -> usize {
        1 + self.values.len()
    }

    fn numbers_of(&self, in_file: usize) -> usize {
        1 + in_file.saturating_sub(1) / self.shared.width * self.shared.width
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.dropped);
        out.numbers(&self.values);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (dropped, values, most) = (reader.rows()?, reader.rest(), self.shared.most);
        finite(&values)?;
        if dropped > 0 && !(values.is_empty() && dropped > most) {
            return Err(wrong(format!("it counts {dropped} rows, for which there was room")));
        }
        Ok(ValueSums { shared: self.shared.clone(), values, dropped })
    }
}
