//! Rows that wait until a tile of them is whole.

use crate::Problem;
use crate::problem::TILE_ROWS;
use faer::MatRef;
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Scalar, validate};

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

    /// How many numbers so many rows of these sizes are.
    pub fn numbers_of(&self, rows: usize) -> usize {
        rows * (self.d + self.t + 1)
    }

    /// These rows as numbers.
    pub fn to_numbers(&self) -> Vec<f64> {
        [&self.x, &self.y, &self.weights].into_iter().flatten().map(|x| x.f64()).collect()
    }

    /// So many rows of the same sizes, of numbers that [`to_numbers`](Self::to_numbers) gave.
    pub fn of_numbers(&self, rows: usize, numbers: &[f64]) -> Self {
        let mut numbers = numbers.iter().map(|&x| T::lit(x));
        let mut next = |count: usize| numbers.by_ref().take(count).collect();
        let (x, y, weights) = (next(rows * self.d), next(rows * self.t), next(rows));
        Waiting { d: self.d, t: self.t, x, y, weights }
    }

    pub fn is_full(&self) -> bool {
        self.len() == TILE_ROWS
    }

    /// Row i of a block. A weight of 1 changes no bit.
    pub fn push(&mut self, block: Problem<'_, T>, i: usize) {
        self.x.extend((0..self.d).map(|k| block.x.coordinate(i, k)));
        self.y.extend((0..self.t).map(|j| block.y[(i, j)]));
        self.weights.push(block.weights.map_or(T::one(), |w| w[i]));
    }

    /// The first of them.
    pub fn first(&self, rows: usize) -> Problem<'_, T> {
        let (x, y) = (&self.x[..rows * self.d], &self.y[..rows * self.t]);
        Problem {
            x: Points::from_cols(MatRef::from_column_major_slice(x, self.d, rows)),
            y: MatRef::from_row_major_slice(y, rows, self.t),
            weights: Some(&self.weights[..rows]),
        }
    }

    pub fn drop_first(&mut self, rows: usize) {
        self.x.drain(..rows * self.d);
        self.y.drain(..rows * self.t);
        self.weights.drain(..rows);
    }

    /// # Errors
    /// `Shape` unless the rows held are of this dimension and so many targets.
    pub fn check_same_sizes(&self, d: usize, t: usize) -> Result<()> {
        validate::same_size("dimension of a block against that of the first", self.d, d)?;
        validate::same_size("targets of a block against those of the first", self.t, t)
    }
}
