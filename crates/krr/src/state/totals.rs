//! The sums of a state that do not grow with m.

use super::bytes::{Reader, Writer};
use crate::Problem;
use crate::rows::Source;
use faer::ColMut;
use nystrom_linalg_core::Scalar;

/// The sums that do not grow with m.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Totals {
    pub rows: u64,
    /// Rows of positive weight.
    pub positive: u64,
    /// Σ w.
    pub weight: f64,
    /// Σ w k(x, x).
    pub trace: f64,
    /// Σ w (y − offset), by target.
    pub targets: Vec<f64>,
    /// Σ w (y − offset)², by target.
    pub squares: Vec<f64>,
}

impl Totals {
    pub fn zeros(t: usize) -> Self {
        let zeros = vec![0.0; t];
        Totals {
            rows: 0,
            positive: 0,
            weight: 0.0,
            trace: 0.0,
            targets: zeros.clone(),
            squares: zeros,
        }
    }

    /// Adds the rows of a tile.
    pub fn add<T: Scalar>(
        &mut self,
        samples: Problem<'_, T>,
        offset: &[f64],
        source: &dyn Source<T>,
    ) {
        let rows = 0..samples.x.len();
        let mut diagonal = vec![T::zero(); rows.len()];
        source.diagonal(ColMut::from_slice_mut(&mut diagonal), samples.x);
        let weight = |i: usize| samples.weight(i);
        self.rows += rows.len() as u64;
        self.positive += rows.clone().filter(|&i| weight(i) > 0.0).count() as u64;
        self.weight += rows.clone().map(weight).sum::<f64>();
        self.trace += rows.clone().map(|i| weight(i) * diagonal[i].f64()).sum::<f64>();
        for (j, offset) in offset.iter().enumerate() {
            let y = |i: usize| samples.y[(i, j)].f64() - offset;
            self.targets[j] += rows.clone().map(|i| weight(i) * y(i)).sum::<f64>();
            self.squares[j] += rows.clone().map(|i| weight(i) * y(i).powi(2)).sum::<f64>();
        }
    }

    /// Σ w y/Σ w of every target, where the offset was 0.
    ///
    /// With an intercept the fit is to y less this mean, which is added back to the intercept. That
    /// is exact algebra, and no digits of a large mean go through the solve.
    pub fn mean_targets(&self) -> Vec<f64> {
        self.targets.iter().map(|sum| sum / self.weight).collect()
    }

    pub fn merge(&mut self, other: &Totals) {
        let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        self.rows += other.rows;
        self.positive += other.positive;
        self.weight += other.weight;
        self.trace += other.trace;
        add(&mut self.targets, &other.targets);
        add(&mut self.squares, &other.squares);
    }

    /// Whether they can be those of any rows.
    pub fn is_sound(&self) -> bool {
        let possible = |x: f64| x.is_finite() && x >= 0.0;
        self.positive <= self.rows
            && usize::try_from(self.rows).is_ok()
            && (self.positive > 0) == (self.weight > 0.0)
            && [self.weight, self.trace]
                .into_iter()
                .chain(self.squares.iter().copied())
                .all(possible)
            && self.targets.iter().all(|x| x.is_finite())
    }

    /// How many numbers they are for t targets.
    pub fn len(t: usize) -> usize {
        4 + 2 * t
    }

    pub fn write(&self, out: &mut Writer) {
        [self.rows, self.positive].into_iter().for_each(|x| out.integer(x));
        out.numbers(&[self.weight, self.trace]);
        out.numbers(&self.targets);
        out.numbers(&self.squares);
    }

    pub fn read(reader: &mut Reader<'_>, t: usize) -> Self {
        Totals {
            rows: reader.integer(),
            positive: reader.integer(),
            weight: reader.number(),
            trace: reader.number(),
            targets: reader.numbers(t),
            squares: reader.numbers(t),
        }
    }
}
