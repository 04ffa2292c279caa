//! The recursion that learns a metric, for any fit of f.

use super::LearnedMetric;

/// The maps that [`LearnedMetric::steps`] tried.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct MetricPath<A> {
    /// Each map with the error of f in its metric, the first being the start.
    pub tried: Vec<(A, f64)>,
    /// The last map that lowered the error by the tolerance. None if no error was a number.
    pub useful: Option<usize>,
}

impl<A> MetricPath<A> {
    /// The error of the [useful](Self::useful) map; infinite without one.
    pub fn error(&self) -> f64 {
        self.useful.map_or(f64::INFINITY, |step| self.tried[step].1)
    }

    /// The map tried last.
    ///
    /// # Panics
    /// If none was.
    pub fn last(&self) -> &A {
        &self.tried.last().expect("a map was tried").0
    }
}

impl LearnedMetric {
    /// The steps of [`learn`](Self::learn) with fits and gradients by the caller, for example of
    /// several folds whose maps together are one `A`.
    ///
    /// `fit` fits f in a metric and returns the error at rows held out, with the values of f that
    /// `next` needs. If it returns `None`, the steps end and the map does not count as tried.
    /// `next` returns the next map ([`LinearMap::of_gradients`](crate::LinearMap::of_gradients)),
    /// or `None` if there is none, as for a constant f. Both receive `data`. Steps also end after
    /// `iterations` maps, and after `patience` maps in a row that do not lower the error by
    /// `tolerance`. Other settings are not used.
    ///
    /// # Errors
    /// Those of `fit` and `next`.
    ///
    /// ```
    /// use nystrom_krr::LearnedMetric;
    /// // one factor a, and an error that is least at a = 3
    /// let metric = LearnedMetric { patience: 1, ..LearnedMetric::default() };
    /// let error = |a: f64| 1.0 + (a - 3.0).powi(2);
    /// let path = metric.steps(
    ///     &mut (),
    ///     1.0,
    ///     |_, a| Ok::<_, String>(Some((error(*a), ()))),
    ///     |_, path, ()| Ok(Some(path.last() + 1.0)),
    /// )?;
    /// assert_eq!((path.tried.len(), path.useful), (4, Some(2)));
    /// # Ok::<(), String>(())
    /// ```
    pub fn steps<D, A, F, E>(
        &self,
        data: &mut D,
        start: A,
        mut fit: impl FnMut(&mut D, &A) -> Result<Option<(f64, F)>, E>,
        mut next: impl FnMut(&mut D, &MetricPath<A>, F) -> Result<Option<A>, E>,
    ) -> Result<MetricPath<A>, E> {
        let mut path = MetricPath { tried: Vec::new(), useful: None };
        let (mut following, mut stale) = (Some(start), 0);
        while let Some(map) = following {
            let Some((error, f)) = fit(data, &map)? else { break }; // f
            path.tried.push((map, error));
            if error < (1.0 - self.tolerance) * path.error() {
                (path.useful, stale) = (Some(path.tried.len() - 1), 0);
            } else {
                stale += 1;
            }
            if stale >= self.patience || path.tried.len() >= self.iterations {
                break;
            }
            following = next(data, &path, f)?; //                      A ← M^{p/2}
        }
        Ok(path)
    }
}
