//! A sketch with few entries in each column, stored by columns.

use crate::{Dictionary, Landmarks, Sketch};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{Error, Result, Scalar, validate, work};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Columns of a product that one task computes.
const COLUMNS: usize = 8;

/// A sketch S stored as compressed sparse columns. Every column is scaled so that its entry of
/// largest modulus is 1; the scales are stored separately.
///
/// On construction, S is simplified without changing SSᵀ: repeated rows in a column are summed,
/// zero entries and columns are dropped, and columns that are multiples of each other are merged
/// (scales c and c' give √(c² + c'²)). No two columns of S are then parallel.
///
/// ```
/// use nystrom_sketch::{Sketch, SparseSketch};
/// // Two draws of row 4 in one column are one entry; the third column is minus the first.
/// let columns = vec![vec![(4, 0.5), (4, 0.5)], vec![(0, 2.0), (4, -1.0)], vec![(4, -1.0)]];
/// let s = SparseSketch::<f64>::new(6, columns)?;
/// assert_eq!((s.n(), s.width(), s.support()), (6, 2, &[4, 0][..]));
/// let s = s.to_dense();
/// assert!((s[(4, 0)] - 2.0_f64.sqrt()).abs() < 1e-15 && s[(0, 1)] == 2.0 && s[(4, 1)] == -1.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSketch<T> {
    n: usize,
    support: Vec<usize>,
    /// Column j has the entries `starts[j]..starts[j + 1]`, in ascending order of position.
    starts: Vec<usize>,
    /// The row of each entry, as a position in `support`.
    positions: Vec<usize>,
    values: Vec<T>,
    scales: Vec<f64>,
}

impl<T: Scalar> SparseSketch<T> {
    /// The sketch with `n` rows and the given columns, each a list of (row, value). The support is
    /// in the order of first occurrence.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::NonFinite`], and [`Error::Empty`] if n = 0 or no column
    /// has a nonzero entry.
    pub fn new(n: usize, columns: Vec<Vec<(usize, f64)>>) -> Result<Self> {
        validate::not_empty("rows of the sketch (n)", n)?;
        let mut sketch = SparseSketch {
            n,
            support: vec![],
            starts: vec![0],
            positions: vec![],
            values: vec![],
            scales: vec![],
        };
        let (mut place_of, mut column_of) = (HashMap::new(), HashMap::new());
        for (j, mut column) in columns.into_iter().enumerate() {
            check(n, j, &column)?;
            let Some(scale) = reduce(&mut column) else { continue };
            let fingerprint = fingerprint(&column);
            match column_of.get(&fingerprint) {
                Some(&same) if sketch.holds(same, &column, &place_of) => {
                    let first: &mut f64 = &mut sketch.scales[same];
                    *first = first.hypot(scale).copysign(*first);
                }
                _ => {
                    column_of.insert(fingerprint, sketch.scales.len());
                    sketch.push(&column, scale, &mut place_of);
                }
            }
        }
        validate::not_empty("sketch: the set of its non-zero columns", sketch.width())?;
        Ok(sketch)
    }

    /// Whether the stored column j equals `column`.
    fn holds(&self, j: usize, column: &[(usize, f64)], place_of: &HashMap<usize, usize>) -> bool {
        let stored = self.starts[j]..self.starts[j + 1];
        let (positions, values) = (&self.positions[stored.clone()], &self.values[stored]);
        let is_stored = |&(row, value): &(usize, f64)| {
            let at = place_of.get(&row).and_then(|place| positions.binary_search(place).ok());
            at.is_some_and(|at| values[at] == T::lit(value))
        };
        positions.len() == column.len() && column.iter().all(is_stored)
    }

    fn push(&mut self, column: &[(usize, f64)], scale: f64, place_of: &mut HashMap<usize, usize>) {
        let mut entries: Vec<(usize, T)> = Vec::with_capacity(column.len());
        for &(row, value) in column {
            let place = *place_of.entry(row).or_insert(self.support.len());
            if place == self.support.len() {
                self.support.push(row);
            }
            entries.push((place, T::lit(value)));
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        self.positions.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.starts.push(self.positions.len());
        self.scales.push(scale);
    }

    /// The selection matrix S with S e_j = e_{i_j}, for which K_S is the Nyström approximation with
    /// these landmarks.
    pub fn from_landmarks(landmarks: &Landmarks) -> Result<Self> {
        Self::new(landmarks.n(), landmarks.indices().iter().map(|&i| vec![(i, 1.0)]).collect())
    }

    /// The sampling matrix S of a dictionary, S e_j = √w_j e_{i_j}.
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty dictionary.
    pub fn from_dictionary(dictionary: &Dictionary<T>) -> Result<Self> {
        let entries = dictionary.indices().iter().zip(dictionary.weights());
        Self::new(dictionary.n(), entries.map(|(&i, w)| vec![(i, w.f64().sqrt())]).collect())
    }

    /// The number of stored entries.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// The entries (position, value) of column j of S̄ whose positions are in `positions`.
    fn column(&self, j: usize, positions: &Range<usize>) -> impl Iterator<Item = (usize, T)> {
        let all = self.starts[j]..self.starts[j + 1];
        let (at, values) = (&self.positions[all.clone()], &self.values[all]);
        let inside = at.partition_point(|&p| p < positions.start)
            ..at.partition_point(|&p| p < positions.end);
        at[inside.clone()].iter().copied().zip(values[inside].iter().copied())
    }
}

impl<T: Scalar> Sketch<T> for SparseSketch<T> {
    fn n(&self) -> usize {
        self.n
    }

    fn width(&self) -> usize {
        self.scales.len()
    }

    fn support(&self) -> &[usize] {
        &self.support
    }

    fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// Two flops for every row of `k` and every entry of S̄.
    fn add_product(&self, mut out: MatMut<'_, T>, k: MatRef<'_, T>, positions: Range<usize>) {
        assert!(
            k.ncols() == positions.len() && positions.end <= self.support.len(),
            "a column of k per position"
        );
        assert!(
            out.ncols() == self.width() && out.nrows() == k.nrows(),
            "a column of the product per column of S"
        );
        if k.nrows() == 0 {
            return;
        }
        out.rb_mut().par_col_chunks_mut(COLUMNS).enumerate().for_each(|(chunk, mut out)| {
            for j in 0..out.ncols() {
                for (p, value) in self.column(chunk * COLUMNS + j, &positions) {
                    work::product(k.nrows(), 1, 1);
                    add_multiple(
                        out.rb_mut().subcols_mut(j, 1),
                        k.subcols(p - positions.start, 1),
                        value,
                    );
                }
            }
        });
    }

    fn expand(&self, theta: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(
            theta.nrows(),
            self.width(),
            "rows of the weights against columns of the sketch"
        );
        let (mut out, all) = (Mat::zeros(self.support.len(), theta.ncols()), 0..self.support.len());
        for t in 0..theta.ncols() {
            for j in 0..self.width() {
                for (p, value) in self.column(j, &all) {
                    out[(p, t)] += value.f64() * theta[(j, t)];
                }
            }
        }
        out
    }
}

/// out += value·k, where `out` and `k` have one column.
fn add_multiple<T: Scalar>(mut out: MatMut<'_, T>, k: MatRef<'_, T>, value: T) {
    match (out.rb_mut().col_mut(0).try_as_col_major_mut(), k.col(0).try_as_col_major()) {
        (Some(out), Some(k)) => {
            out.as_slice_mut().iter_mut().zip(k.as_slice()).for_each(|(o, &k)| *o += value * k)
        }
        _ => (0..k.nrows()).for_each(|i| out[(i, 0)] += value * k[(i, 0)]),
    }
}

fn check(n: usize, j: usize, column: &[(usize, f64)]) -> Result<()> {
    for (position, &(index, value)) in column.iter().enumerate() {
        if index >= n {
            return Err(Error::IndexOutOfRange { what: "rows of a sketch", position, index, n });
        }
        if !value.is_finite() {
            return Err(Error::NonFinite { what: "sketch", row: index, col: j, value });
        }
    }
    Ok(())
}

/// A hash of the column, equal for equal columns, which takes eight bytes.
fn fingerprint(column: &[(usize, f64)]) -> u64 {
    let mut hasher = DefaultHasher::new();
    column.iter().for_each(|&(row, value)| (row, value.to_bits()).hash(&mut hasher));
    hasher.finish()
}

/// Sorts the entries by row, sums repetitions, drops zeros, divides by the entry of largest modulus
/// (the first, if several) and returns this entry. `None` if no entry is left.
fn reduce(column: &mut Vec<(usize, f64)>) -> Option<f64> {
    column.sort_by_key(|entry| entry.0);
    column.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0.0 };
        same
    });
    column.retain(|entry| entry.1 != 0.0);
    let scale =
        column.iter().map(|entry| entry.1).reduce(|a, b| if b.abs() > a.abs() { b } else { a })?;
    column.iter_mut().for_each(|entry| entry.1 /= scale);
    Some(scale)
}
