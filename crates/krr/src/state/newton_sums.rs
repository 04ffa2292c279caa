//! A Newton step of logistic regression over rows that come block by block.

use super::kernel_products::entries;
use super::path::StatePath;
use super::tiled::{TileTerm, Tiled};
use super::{FitSums, NormalEquations};
use crate::features::Totals;
use crate::sums::{Hash, NormalSums};
use crate::{KrrModel, Problem};
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use std::sync::Arc;

/// p(1 − p) counts as at least this much.
const FLAT: f64 = 1e-12;

/// The normal equations of one Newton step of [`LogisticKrr`](crate::LogisticKrr), for each column
/// of a model of log-odds. Each step takes one pass.
///
/// A step is a regression with weights h_i = w_i p_i(1 − p_i) and targets f(x_i) +
/// w_i(1_{y_i = 1} − p_i)/h_i. A target above 0 counts as +1, any other as −1.
///
/// # Cost
/// t times that of [`NormalEquations`] for one target, and mt flops more a row.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, RowSums, step_of_newton};
/// use nystrom_linalg_core::Ridge;
/// let x: Vec<f64> = (0..2000).map(|i| f64::from(i) / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| if (x[i] - 1.0).abs() < 0.5 { 1.0 } else { -1.0 });
/// let centers: Vec<f64> = (0..20).map(|j| f64::from(j) / 10.0).collect();
/// let empty = NormalEquations::new(Gaussian::new(0.3)?, Points::from_slice(&centers), 1)?;
/// let ridge = Ridge::PerSample(1e-4);
/// let mut odds = None; // 0
/// for _ in 0..6 {
///     let mut step = empty.newton(1, odds)?;
///     step.accumulate((Points::from_slice(&x), &y))?;
///     odds = Some(step.paths(&[ridge])?.remove(0).model_at(ridge)?);
/// }
/// let f = odds.unwrap().predict(Points::from_slice(&[0.2, 1.0]))?;
/// assert!(f[(0, 0)] < -2.0 && f[(1, 0)] > 2.0);
/// // one more row, as the next step sees it
/// let (h, z) = step_of_newton(f[(1, 0)], true);
/// assert!(h > 0.0 && z > f[(1, 0)]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type NewtonEquations<K, T> = Tiled<NewtonSums<K, T>, T>;

/// The term of a tile in [`NewtonEquations`].
#[derive(Debug, Clone)]
#[must_use]
pub struct NewtonSums<K, T> {
    /// The equations of each column.
    equations: Arc<FitSums<K, T, NormalSums>>,
    columns: usize,
    /// The log-odds before the step; 0 without a model.
    from: Option<KrrModel<K, T>>,
}

/// Weight and target of a row of class ±1 in a Newton step from log-odds f.
#[must_use]
pub fn step_of_newton(f: f64, is_positive: bool) -> (f64, f64) {
    let y = if is_positive { 1.0 } else { -1.0 };
    let p = 1.0 / (1.0 + (-f).exp()); //                         of +1
    let missing = y / (1.0 + (y * f).exp()); //                  1_{y = 1} − p
    let curvature = (p * (1.0 - p)).max(FLAT);
    (curvature, f + missing / curvature)
}

impl<T: Scalar, K: Kernel<T> + Clone> NormalEquations<K, T> {
    /// The equations of a Newton step for t columns over no rows, with the features of `self`. The
    /// rows of `self` are not used. The step begins at the log-odds `from`, or at 0.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) unless `self` has one target and the log-odds
    /// have t, with as many coordinates; [`Empty`](nystrom_linalg_core::Error::Empty) for t = 0.
    pub fn newton(&self, t: usize, from: Option<KrrModel<K, T>>) -> Result<NewtonEquations<K, T>> {
        let [d, targets] = self.waiting.sizes();
        validate::not_empty("columns of a Newton step", t)?;
        validate::same_size("targets of the equations of a Newton step", 1, targets)?;
        if let Some(from) = &from {
            validate::same_size("coordinates of the log-odds", d, from.centers().dim())?;
            validate::same_size("columns of the log-odds", t, from.coefficients().ncols())?;
        }
        let numbers = from.iter().flat_map(|from| entries(from.coefficients()));
        let hash = Hash::new().integer(self.fingerprint).numbers(numbers);
        let term = NewtonSums { equations: self.term.clone(), columns: t, from };
        Ok(Tiled::over_no_rows(term, [d, t], hash.value()))
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> NewtonEquations<K, T> {
    /// The log-odds after the step at every ridge, for each column.
    ///
    /// # Errors
    /// Those of [`FitState::path`](crate::FitState::path).
    pub fn paths(&self, ridges: &[Ridge<T>]) -> Result<Vec<StatePath<K, T>>> {
        let path = |column: &(Totals, NormalSums)| {
            NormalEquations::of_sums(&self.term.equations, column.clone()).path(ridges)
        };
        self.whole()?.iter().map(path).collect()
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileTerm<T> for NewtonSums<K, T> {
    const KIND: u8 = 10;
    const MISMATCH: &'static str = "other log-odds, or another kernel, other centres, another \
                                    scalar type or instruction set";
    type Sums = Vec<(Totals, NormalSums)>;
    type Scratch = ();

    fn kernel(&self) -> &impl Kernel<T> {
        self.equations.kernel()
    }

    fn zeros(&self) -> Self::Sums {
        vec![self.equations.zeros(); self.columns]
    }

    fn add(
        &self,
        columns: &mut Self::Sums,
        tile: Problem<'_, T>,
        _: u64,
        (): &mut (),
    ) -> Result<()> {
        let (n, mut scratch) = (tile.x.len(), None);
        let f = match &self.from {
            Some(from) => from.predict(tile.x)?,
            None => Mat::zeros(n, self.columns),
        };
        for (j, sums) in columns.iter_mut().enumerate() {
            let step = |i: usize| step_of_newton(f[(i, j)].f64(), tile.y[(i, j)].f64() > 0.0);
            let (h, z): (Vec<f64>, Vec<f64>) = (0..n).map(step).unzip();
            let h: Vec<T> = (0..n).map(|i| T::lit(tile.weight(i) * h[i])).collect();
            let z = Mat::from_fn(n, 1, |i, _| T::lit(z[i]));
            let rows = Problem { x: tile.x, y: z.as_ref(), weights: Some(&h) };
            self.equations.add(sums, rows, 0, &mut scratch)?;
        }
        Ok(())
    }
}
