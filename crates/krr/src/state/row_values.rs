//! Values of rows, in their order, as sums over rows.

use super::kernel_products::{Buffers, by_rows, entries, fingerprint, values};
use super::tiled::{TileTerm, Tiled};
use crate::Problem;
use crate::data::Part;
use crate::sums::{Reader, Sums};
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, PointSet, Points};
use nystrom_linalg_core::{Result, Scalar, ops};
use std::sync::Arc;

/// Rows that one thread takes at once, and points against which it has their kernel values.
const CHUNK: usize = 32;
const PIECE: usize = 2048;

/// The values of a pass of [`FullKrr`](crate::FullKrr), for each row: point, target and weight in
/// the first pass, (Ku)_i for a given u in the others.
///
/// [`FullKrr::fit_passes`](crate::FullKrr::fit_passes) makes and reads them; a program that runs
/// passes needs only [`RowSums`](crate::RowSums). A merge appends the values of later rows, so that
/// no number depends on the distribution of rows. Memory: the values, and 512 KiB for each thread.
pub(crate) type RowValues<K, T> = Tiled<ValueSums<K, T>, T>;

/// The values of a tile in [`RowValues`].
#[derive(Debug, Clone)]
#[must_use]
pub(crate) struct ValueSums<K, T> {
    kernel: K,
    /// All points, and u, n × columns.
    product: Option<(Arc<PointSet<T>>, Mat<f64>)>,
    /// Numbers of a row.
    width: usize,
    /// Rows at most.
    most: u64,
}

/// The values of rows, one row after another.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    /// `None` if rows are counted only, as memory does not hold their values.
    numbers: Option<Vec<f64>>,
    width: usize,
    most: u64,
}

impl<T: Scalar, K: Kernel<T> + Clone> RowValues<K, T> {
    /// x, y and w of every row; memory holds at most `most` rows.
    pub(crate) fn rows(kernel: &K, [dim, targets]: [usize; 2], most: u64) -> Self {
        let zeros = Mat::zeros(dim, 1);
        let hash = fingerprint(kernel, Points::from_cols(zeros.as_ref()), targets);
        let width = dim + targets + 1;
        let term = ValueSums { kernel: kernel.clone(), product: None, width, most };
        Tiled::over_no_rows(term, [dim, targets], hash.value())
    }

    /// Ku for all points (n) and u (n × columns).
    pub(crate) fn product(
        kernel: &K,
        points: &Arc<PointSet<T>>,
        targets: usize,
        u: MatRef<'_, f64>,
    ) -> Self {
        let all = points.points();
        let hash = fingerprint(kernel, all, targets).numbers(entries(u));
        let product = Some((points.clone(), u.to_owned()));
        let (kernel, width) = (kernel.clone(), u.ncols());
        let term = ValueSums { kernel, product, width, most: u64::MAX };
        Tiled::over_no_rows(term, [all.dim(), targets], hash.value())
    }

    /// The values, a row of numbers for each row.
    pub(crate) fn values(self) -> Result<Mat<f64>> {
        let Values { numbers, width, .. } = self.finish()?;
        let numbers = numbers.unwrap_or_default();
        Ok(MatRef::from_row_major_slice(&numbers, numbers.len() / width, width).to_owned())
    }

    /// The rows that [`rows`](Self::rows) put together.
    pub(crate) fn collected(self) -> Result<Part<T>> {
        let [dim, targets] = self.waiting.sizes();
        let Values { numbers, width, .. } = self.finish()?;
        let numbers = numbers.unwrap_or_default();
        let n = numbers.len() / width;
        let at = |i: usize, j: usize| T::lit(numbers[i * width + j]);
        Ok(Part {
            x: Arc::new(Mat::from_fn(dim, n, |k, i| at(i, k)).into()),
            y: Mat::from_fn(n, targets, |i, j| at(i, dim + j)),
            weights: Some((0..n).map(|i| at(i, width - 1)).collect()),
        })
    }
}

impl<T: Scalar, K: Kernel<T>> ValueSums<K, T> {
    /// Ku of a few rows, on this thread, by pieces of the points in order.
    fn times(
        &self,
        (points, u): (&PointSet<T>, &Mat<f64>),
        rows: Points<'_, T>,
        buffer: &mut Mat<T>,
    ) -> Mat<f64> {
        let (mut wide, mut out) = (Mat::new(), Mat::zeros(rows.len(), u.ncols()));
        let points = points.points();
        for start in (0..points.len()).step_by(PIECE) {
            let count = PIECE.min(points.len() - start);
            let points = points.slice(start..start + count);
            let K = values(&self.kernel, points, rows, buffer, &mut wide);
            let u = u.as_ref().subrows(start, count);
            ops::matmul_here(out.as_mut(), Accum::Add, K.transpose(), u, 1.0);
        }
        out
    }
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for ValueSums<K, T> {
    const KIND: u8 = 5;
    const MISMATCH: &'static str = "another vector, kernel or other points";
    type Sums = Values;
    type Scratch = Buffers<T>;

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn zeros(&self) -> Values {
        Values { numbers: Some(Vec::new()), width: self.width, most: self.most }
    }

    fn add(
        &self,
        sums: &mut Values,
        tile: Problem<'_, T>,
        _: u64,
        buffers: &mut Buffers<T>,
    ) -> Result<()> {
        let rows = tile.x.len();
        let Some(numbers) = sums.with_space(rows) else { return Ok(()) };
        let Some((points, u)) = &self.product else {
            for i in 0..rows {
                numbers.extend((0..tile.x.dim()).map(|k| tile.x.coordinate(i, k).f64()));
                numbers.extend((0..tile.y.ncols()).map(|j| tile.y[(i, j)].f64()));
                numbers.push(tile.weight(i));
            }
            return Ok(());
        };
        let shape = (PIECE.min(points.points().len()), CHUNK);
        let of =
            |rows: Problem<'_, T>, buffer: &mut Mat<T>| self.times((points, u), rows.x, buffer);
        for part in by_rows(tile, shape, buffers, of) {
            for row in part.row_iter() {
                numbers.extend(row.iter());
            }
        }
        Ok(())
    }
}

impl Values {
    /// The numbers, if memory holds those of `more` rows as well. Otherwise they are dropped, and
    /// rows are only counted from here on: the error then names the memory that all of them need.
    fn with_space(&mut self, more: usize) -> Option<&mut Vec<f64>> {
        let held = self.numbers.as_ref()?.len() / self.width;
        if (held + more) as u64 > self.most {
            self.numbers = None;
        }
        self.numbers.as_mut()
    }
}

/// The values of later rows are appended.
impl Sums for Values {
    fn merge(&mut self, later: Self) {
        let Some(later) = later.numbers else { return self.numbers = None };
        if let Some(numbers) = self.with_space(later.len() / self.width) {
            numbers.extend(later);
        }
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        out(u64::from(self.numbers.is_none()));
        self.numbers.iter().for_each(|numbers| numbers.write(out));
    }

    /// All numbers that are left.
    fn read(&self, reader: &mut Reader<'_>) -> Self {
        let dropped = reader.integer() != 0;
        let count = reader.left() / self.width * self.width;
        let numbers: Vec<f64> = (0..count).map(|_| reader.number()).collect();
        // rows that were dropped have no numbers: `most` = 0 lets no row pass as sound
        let most = if dropped && count > 0 { 0 } else { self.most };
        Values { numbers: (!dropped || count > 0).then_some(numbers), most, ..*self }
    }

    fn is_sound(&self, rows: u64) -> bool {
        let held = self.numbers.as_ref().map(|numbers| (numbers.len() / self.width) as u64);
        held.map_or(rows > self.most, |held| held == rows && rows <= self.most)
    }
}
