//! The data of a regression: points, targets, weights.

use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, PointSet, Points};
use nystrom_linalg_core::{Error, Result, Ridge, RowTree, Scalar, validate};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a tile; the leaves of [`RowTree`] are multiples of it.
pub(crate) const TILE_ROWS: usize = 1024;

/// The data of a regression: n points x_i, their targets (n × t) and, optionally, their weights
/// w_i ≥ 0. Everything is borrowed.
///
/// Every regression takes `impl Into<Problem>`: without weights, callers pass `(x, y)`.
///
/// A row of weight 0 has no influence, but it counts in n, by which λ is multiplied. A row of
/// weight 2 is the same as two equal rows if the ridge is [`Ridge::Absolute`].
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{ExactKrr, Problem};
/// use nystrom_linalg_core::Ridge;
/// let (x, y) = ([0.0, 1.0, 2.0], Mat::from_fn(3, 1, |i, _| i as f64));
/// let krr = ExactKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-3));
/// let plain = krr.fit((Points::from_slice(&x), &y))?;
/// let problem = Problem::new(Points::from_slice(&x), y.as_ref());
/// assert_eq!(krr.fit(problem)?, plain);
/// let without_the_last = krr.fit(problem.weighted(&[1.0, 1.0, 0.0]))?;
/// assert_eq!(without_the_last.coefficients()[(2, 0)], 0.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a, T> {
    /// The points.
    pub x: Points<'a, T>,
    /// The targets, n × t.
    pub y: MatRef<'a, T>,
    /// w, n weights; 1 each if `None`.
    pub weights: Option<&'a [T]>,
}

impl<'a, T> Problem<'a, T> {
    /// Without weights.
    pub fn new(x: Points<'a, T>, y: MatRef<'a, T>) -> Self {
        Problem { x, y, weights: None }
    }

    /// With these weights, one per point.
    #[must_use]
    pub fn weighted(self, weights: &'a [T]) -> Self {
        Problem { weights: Some(weights), ..self }
    }
}

impl<'a, T> From<(Points<'a, T>, MatRef<'a, T>)> for Problem<'a, T> {
    fn from((x, y): (Points<'a, T>, MatRef<'a, T>)) -> Self {
        Problem::new(x, y)
    }
}

impl<'a, T> From<(Points<'a, T>, &'a Mat<T>)> for Problem<'a, T> {
    fn from((x, y): (Points<'a, T>, &'a Mat<T>)) -> Self {
        Problem::new(x, y.as_ref())
    }
}

impl<'a, T: Scalar> Problem<'a, T> {
    /// Some of the rows.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Problem<'a, T> {
        Problem {
            x: self.x.slice(rows.clone()),
            y: self.y.subrows(rows.start, rows.len()),
            weights: self.weights.map(|w| &w[rows]),
        }
    }

    /// Returns a typed error for whatever is wrong with points, targets or weights.
    pub(crate) fn check(&self, kernel: &impl Kernel<T>) -> Result<()> {
        kernel.check_points(self.x)?;
        self.check_targets()
    }

    /// [`check`](Self::check) without the points.
    pub(crate) fn check_targets(&self) -> Result<()> {
        self.check_sizes()?;
        validate::not_empty("targets (columns of y)", self.y.ncols())?;
        validate::finite("targets y", self.y)?;
        self.weights.map_or(Ok(()), |w| validate::weights("sample weights", w).map(drop))
    }

    /// Whether there is a row of y, and a weight if there are any, for each point.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        validate::same_size("rows of y against number of points", self.x.len(), self.y.nrows())?;
        let weights = self.weights.map_or(self.x.len(), <[T]>::len);
        validate::same_size("sample weights against number of points", self.x.len(), weights)
    }

    /// Blocks of rows must be dense.
    pub(crate) fn check_form(&self) -> Result<()> {
        let problem = "rows that come in blocks must be dense; keep sparse rows in memory";
        if self.x.is_sparse() { Err(Error::Sparse { problem }) } else { Ok(()) }
    }

    /// [`check`](Self::check) for a block of rows, all of whose weights may be 0.
    pub(crate) fn check_block(&self, kernel: &impl Kernel<T>) -> Result<()> {
        self.check_form()?;
        self.check_sizes()?;
        if self.weights.is_some_and(|w| w.iter().all(|w| *w == T::zero())) {
            return Problem { weights: None, ..*self }.check(kernel);
        }
        self.check(kernel)
    }

    /// [`check`](Self::check), and that there are ridges, all valid. With an intercept there must
    /// be two samples of positive weight: one remains when the other is left out.
    pub(crate) fn check_path(
        &self,
        kernel: &impl Kernel<T>,
        ridges: &[Ridge<T>],
        intercept: bool,
    ) -> Result<()> {
        self.check(kernel)?;
        all_absolute(ridges, self.x.len())?;
        let positive = (0..self.x.len()).filter(|&i| self.weight(i) > 0.0).take(2).count();
        check_rows(positive, intercept)
    }

    /// w_i.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i].f64())
    }

    /// Σ w_i/n.
    pub(crate) fn mean_weight(&self) -> f64 {
        let n = self.x.len();
        (0..n).map(|i| self.weight(i)).sum::<f64>() / n as f64
    }

    /// √w_i, rounded once.
    pub(crate) fn root_weight(&self, i: usize) -> T {
        T::lit(self.weight(i).sqrt())
    }

    /// All √w_i, rounded once to V.
    pub(crate) fn root_weights<V: Scalar>(&self) -> Vec<V> {
        (0..self.x.len()).map(|i| V::lit(self.weight(i).sqrt())).collect()
    }

    /// Σ_i w_i y_ij / Σ_i w_i for every target j, summed in `f64`; 0 without an intercept.
    ///
    /// With an intercept the fit is to y minus this mean, which is added back to the intercept.
    /// The algebra is exact, and a large offset takes no digits from the solve.
    pub(crate) fn mean_target(&self, intercept: bool) -> Vec<f64> {
        let t = self.y.ncols();
        if !intercept {
            return vec![0.0; t];
        }
        let leaf = |rows: Range<usize>| {
            let mut sums = vec![0.0; t + 1];
            for i in rows {
                let w = self.weight(i);
                sums[t] += w;
                for (j, sum) in sums[..t].iter_mut().enumerate() {
                    *sum += w * self.y[(i, j)].f64();
                }
            }
            sums
        };
        let add = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let sums = RowTree::new(self.x.len()).reduce(leaf, add).unwrap_or_else(|| vec![0.0; t + 1]);
        (0..t).map(|j| sums[j] / sums[t]).collect()
    }
}

/// nλ of each ridge of a path, for n rows.
///
/// # Errors
/// `Empty` without ridges, those of [`Ridge::absolute`].
pub(crate) fn all_absolute<T: Scalar>(ridges: &[Ridge<T>], n: usize) -> Result<Vec<f64>> {
    validate::not_empty("ridges of the path", ridges.len())?;
    ridges.iter().map(|ridge| Ok(ridge.absolute(n)?.f64())).collect()
}

/// With an intercept, one sample must remain when another is left out.
pub(crate) fn check_rows(positive: usize, intercept: bool) -> Result<()> {
    validate::require(
        !intercept || positive >= 2,
        "samples of positive weight",
        positive as f64,
        "at least 2 to leave one out with an intercept",
    )?;
    Ok(())
}

/// Some rows, copied.
pub(crate) struct Part<T> {
    pub x: Arc<PointSet<T>>,
    pub y: Mat<T>,
    pub weights: Option<Vec<T>>,
}

impl<T: Scalar> Part<T> {
    pub fn new(problem: Problem<'_, T>, rows: &[usize]) -> Self {
        let Problem { x, y, weights } = problem;
        Part {
            x: Arc::new(x.gather(rows.into())),
            y: Mat::from_fn(rows.len(), y.ncols(), |i, j| y[(rows[i], j)]),
            weights: weights.map(|w| rows.iter().map(|&i| w[i]).collect()),
        }
    }

    pub fn problem(&self) -> Problem<'_, T> {
        Problem { x: self.x.points(), y: self.y.as_ref(), weights: self.weights.as_deref() }
    }
}
