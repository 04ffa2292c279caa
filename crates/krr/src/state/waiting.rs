//! Rows that wait until a tile of them is whole.

use crate::Problem;
use crate::rows::TILE_ROWS;
use faer::MatRef;
use nystrom_kernels::Points;
use nystrom_linalg_core::Scalar;

/// At most 1024 rows, copied: points and targets one after another.
#[derive(Debug, Clone)]
pub(super) struct Waiting<T> {
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

    pub fn len(&self) -> usize {
        self.weights.len()
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

    pub fn problem(&self) -> Problem<'_, T> {
        let rows = self.len();
        Problem {
            x: Points::from_cols(MatRef::from_column_major_slice(&self.x, self.d, rows)),
            y: MatRef::from_row_major_slice(&self.y, rows, self.t),
            weights: Some(&self.weights),
        }
    }

    pub fn clear(&mut self) {
        self.x.clear();
        self.y.clear();
        self.weights.clear();
    }
}
