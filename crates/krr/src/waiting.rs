//! Rows that wait until a tile of them is whole.

use crate::Problem;
use faer::MatRef;
use nystrom_kernels::Points;
use nystrom_linalg_core::Scalar;
use std::ops::Range;

/// Some rows, copied: points and targets one after another.
#[derive(Debug, Clone)]
pub(crate) struct Waiting<T> {
    d: usize,
    t: usize,
    x: Vec<T>,
    y: Vec<T>,
    weights: Vec<T>,
}

impl<T: Scalar> Waiting<T> {
    pub fn new(d: usize, t: usize) -> Self {
        Waiting { d, t, x: Vec::new(), y: Vec::new(), weights: Vec::new() }
    }

    /// Coordinates and targets of a row.
    pub fn sizes(&self) -> [usize; 2] {
        [self.d, self.t]
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// All numbers of these rows.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        [&self.x, &self.y, &self.weights].into_iter().flatten().map(|x| x.f64())
    }

    /// So many rows of the same sizes, of numbers in the order of [`numbers`](Self::numbers).
    pub fn read(&self, rows: usize, mut number: impl FnMut() -> f64) -> Self {
        let mut next = |count: usize| (0..count).map(|_| T::lit(number())).collect();
        let (x, y, weights) = (next(rows * self.d), next(rows * self.t), next(rows));
        Waiting { d: self.d, t: self.t, x, y, weights }
    }

    /// Row i of a block. A weight of 1 changes no bit.
    pub fn push(&mut self, block: Problem<'_, T>, i: usize) {
        self.x.extend((0..self.d).map(|k| block.x.coordinate(i, k)));
        self.y.extend((0..self.t).map(|j| block.y[(i, j)]));
        self.weights.push(block.weights.map_or(T::one(), |w| w[i]));
    }

    /// All of them.
    pub fn all(&self) -> Problem<'_, T> {
        self.some(0..self.len())
    }

    /// Some of them.
    pub fn some(&self, rows: Range<usize>) -> Problem<'_, T> {
        let (x, y) = (
            &self.x[rows.start * self.d..rows.end * self.d],
            &self.y[rows.start * self.t..rows.end * self.t],
        );
        Problem {
            x: Points::from_cols(MatRef::from_column_major_slice(x, self.d, rows.len())),
            y: MatRef::from_row_major_slice(y, rows.len(), self.t),
            weights: Some(&self.weights[rows]),
        }
    }

    pub fn drop_first(&mut self, rows: usize) {
        self.x.drain(..rows * self.d);
        self.y.drain(..rows * self.t);
        self.weights.drain(..rows);
    }
}
