//! Sums over rows that are a few numbers and a matrix: what they have in common.

use super::Asked;
use super::bytes::{Hash, Reader, Writer, finite};
use super::tiled::{TileSums, Tiled};
use crate::Problem;
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points, kernel_probe};
use nystrom_linalg_core::{Result, Scalar, instruction_set, ops, validate};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// What a tile adds, and what that depends on beside its rows.
pub(crate) trait Added<T: Scalar> {
    /// Which sums these are, in a file.
    const KIND: u8;
    /// What sums with another fingerprint were made with.
    const OTHERWISE: &'static str;

    /// What that is beside kernel, centres and targets.
    fn asked(&self) -> Asked<'_> {
        Asked::Nothing
    }
    /// The kernel, which says what points it takes.
    fn kernel(&self) -> &impl Kernel<T>;
    /// Adds a tile, of 1024 rows or the last.
    fn add(&self, tile: Problem<'_, T>, rooms: &Rooms<T>, sums: Sums<'_>) -> Result<()>;
}

/// What a tile is added to.
pub(crate) struct Sums<'a> {
    /// The number of the tile's first row among all.
    pub first: u64,
    pub numbers: &'a mut [f64],
    pub matrix: &'a mut Mat<f64>,
}

/// Room for kernel values, all of one shape: one for each thread, kept for the tiles of a block.
#[derive(Debug)]
pub(crate) struct Rooms<T>(Mutex<Vec<Mat<T>>>);

impl<T> Default for Rooms<T> {
    fn default() -> Self {
        Rooms(Mutex::default())
    }
}

impl<T: Scalar> Rooms<T> {
    /// Lends a room of this shape, whatever it holds.
    pub(super) fn lend<X>(&self, shape: (usize, usize), to: impl FnOnce(&mut Mat<T>) -> X) -> X {
        let rooms = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = rooms().pop();
        let mut room = free.unwrap_or_else(|| Mat::zeros(shape.0, shape.1));
        let result = to(&mut room);
        rooms().push(room);
        result
    }
}

/// What [`Tiled`] adds up: rows, a few numbers, and a matrix.
#[derive(Debug)]
#[must_use]
pub struct MatrixSums<A> {
    pub(super) added: Arc<A>,
    /// Rows before these.
    first: u64,
    pub(crate) rows: u64,
    pub(crate) numbers: Vec<f64>,
    pub(crate) matrix: Mat<f64>,
}

#[expect(private_bounds, reason = "sealed, as Tiled")]
impl<T: Scalar, A: Added<T>> Tiled<MatrixSums<A>, T> {
    /// Of no rows with so many coordinates and targets: `count` numbers and `matrix`, all zeros.
    pub(super) fn adding(
        added: A,
        sizes: [usize; 2],
        hash: Hash,
        count: usize,
        matrix: Mat<f64>,
    ) -> Self {
        let (added, numbers) = (Arc::new(added), vec![0.0; count]);
        let sums = MatrixSums { added, first: 0, rows: 0, numbers, matrix };
        Tiled::over_no_rows(sums, sizes, hash.value())
    }
}

impl<A> Clone for MatrixSums<A> {
    fn clone(&self) -> Self {
        let (numbers, matrix) = (self.numbers.clone(), self.matrix.clone());
        MatrixSums { added: self.added.clone(), numbers, matrix, ..*self }
    }
}

impl<T: Scalar, A: Added<T>> TileSums<T> for MatrixSums<A> {
    const KIND: u8 = A::KIND;
    const OTHERWISE: &'static str = A::OTHERWISE;
    type Room = Rooms<T>;

    fn empty_at(&self, first: u64) -> Self {
        let matrix = Mat::zeros(self.matrix.nrows(), self.matrix.ncols());
        let numbers = vec![0.0; self.numbers.len()];
        MatrixSums { added: self.added.clone(), first, rows: 0, numbers, matrix }
    }

    fn asked(&self) -> Asked<'_> {
        self.added.asked()
    }

    fn kernel(&self) -> &impl Kernel<T> {
        self.added.kernel()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn add(&mut self, tile: Problem<'_, T>, rooms: &mut Rooms<T>) -> Result<()> {
        let (numbers, matrix) = (&mut self.numbers[..], &mut self.matrix);
        self.added.add(tile, rooms, Sums { first: self.first + self.rows, numbers, matrix })?;
        self.rows += tile.x.len() as u64;
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.rows += later.rows;
        self.numbers.iter_mut().zip(&later.numbers).for_each(|(a, b)| *a += b);
        self.matrix += later.matrix;
    }

    fn numbers(&self) -> usize {
        2 + self.numbers.len() + self.matrix.nrows() * self.matrix.ncols()
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.first);
        out.integer(self.rows);
        out.numbers(&self.numbers);
        self.matrix.col_iter().for_each(|col| col.iter().for_each(|x| out.number(*x)));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (first, rows) = (reader.rows()?, reader.rows()?);
        let numbers = reader.numbers(self.numbers.len());
        let shape = (self.matrix.nrows(), self.matrix.ncols());
        let matrix = Mat::from_fn(shape.0, shape.1, |_, _| reader.number());
        finite(numbers.iter().chain(matrix.col_iter().flat_map(|col| col.iter())))?;
        Ok(MatrixSums { added: self.added.clone(), first, rows, numbers, matrix })
    }
}

/// Whether sums over rows can be made with these.
pub(super) fn check_centers<T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    targets: usize,
) -> Result<()> {
    validate::not_empty("centres (m)", centers.len())?;
    validate::not_empty("targets", targets)?;
    kernel.check_points(centers)
}

/// Of kernel, centres, scalar type and instruction set.
pub(super) fn fingerprint<T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    targets: usize,
) -> Hash {
    let hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
    let sizes = [centers.dim(), centers.len(), targets];
    let hash = sizes.iter().fold(hash, |hash, &size| hash.integer(size as u64));
    hash.matrix(kernel_probe(kernel, centers).as_ref())
}

/// What each few rows of a tile come to, in the order of the rows. One thread takes them, with room
/// for `height` × `rows` numbers, so that their kernel values stay in its cache.
pub(super) fn by_rows<T: Scalar, X: Send>(
    tile: Problem<'_, T>,
    (height, rows): (usize, usize),
    rooms: &Rooms<T>,
    of: impl Fn(Problem<'_, T>, &mut Mat<T>) -> X + Sync,
) -> Vec<X> {
    let starts: Vec<usize> = (0..tile.x.len()).step_by(rows).collect();
    let part = |start: usize| tile.slice(start..tile.x.len().min(start + rows));
    let parts = starts.into_par_iter();
    parts.map(|start| rooms.lend((height, rows), |room| of(part(start), room))).collect()
}

/// k_Z(x) of rows in `f64`, one a column: in `room`, and if T is another type, in `wide`.
pub(super) fn values<'a, T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    x: Points<'_, T>,
    room: &'a mut Mat<T>,
    wide: &'a mut Mat<f64>,
) -> MatRef<'a, f64> {
    let mut k = room.as_mut().submatrix_mut(0, 0, centers.len(), x.len());
    kernel.eval_into(k.rb_mut(), centers, x);
    ops::widened(k.into_const(), wide)
}
