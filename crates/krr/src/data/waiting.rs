//! The rows of an incomplete tile.

use crate::Problem;
use crate::data::TILE_ROWS;
use faer::MatRef;
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Scalar};

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

    /// Reads `rows` rows of the same sizes, from numbers in the order of
    /// [`numbers`](Self::numbers).
    pub fn read(&self, rows: usize, mut number: impl FnMut() -> f64) -> Self {
        let mut next = |count: usize| (0..count).map(|_| T::lit(number())).collect();
        let (x, y, weights) = (next(rows * self.d), next(rows * self.t), next(rows));
        Waiting { d: self.d, t: self.t, x, y, weights }
    }

    /// Takes the rows of a block, and shows every tile that becomes whole.
    pub fn take(
        &mut self,
        block: Problem<'_, T>,
        mut visit: impl FnMut(Problem<'_, T>) -> Result<()>,
    ) -> Result<()> {
        for i in 0..block.x.len() {
            self.x.extend((0..self.d).map(|k| block.x.coordinate(i, k)));
            self.y.extend((0..self.t).map(|j| block.y[(i, j)]));
            self.weights.push(block.weights.map_or(T::one(), |w| w[i])); // 1 changes no bit
            if self.len() == TILE_ROWS {
                self.flush(&mut visit)?;
            }
        }
        Ok(())
    }

    /// Shows the rows that wait, if there are any, and forgets them.
    pub fn flush(&mut self, visit: impl FnOnce(Problem<'_, T>) -> Result<()>) -> Result<()> {
        if self.len() > 0 {
            visit(self.rows())?;
            [&mut self.x, &mut self.y, &mut self.weights].into_iter().for_each(Vec::clear);
        }
        Ok(())
    }

    pub fn rows(&self) -> Problem<'_, T> {
        Problem {
            x: Points::from_cols(MatRef::from_column_major_slice(&self.x, self.d, self.len())),
            y: MatRef::from_row_major_slice(&self.y, self.len(), self.t),
            weights: Some(&self.weights),
        }
    }
}
