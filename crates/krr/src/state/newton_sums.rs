//! A Newton step of logistic regression over rows that come block by block.

use super::bytes::{Hash, Reader, Writer};
use super::path::StatePath;
use super::tiled::{TileSums, Tiled};
use super::{FitSums, NormalEquations};
use crate::feature_sums::FeatureSums;
use crate::{KrrModel, Problem};
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use std::sync::Arc;

/// p(1 − p) counts as at least this much.
const FLAT: f64 = 1e-12;

/// The normal equations of one Newton step of [`LogisticKrr`](crate::LogisticKrr) from a model of
/// log-odds, for each of its columns: a pass a step.
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

/// What [`NewtonEquations`] adds up.
#[derive(Debug, Clone)]
#[must_use]
pub struct NewtonSums<K, T> {
    /// One for each column.
    columns: Vec<FitSums<K, T, FeatureSums>>,
    /// Where the step begins; 0 without a model.
    from: Option<Arc<KrrModel<K, T>>>,
    /// The fingerprint of the equations of a column.
    equations: u64,
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
    /// The equations over no rows of a Newton step for t columns, with the features of `self`,
    /// whose rows play no part. The step begins at these log-odds, or at 0.
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
        let equations = self.fingerprint;
        let columns = vec![FitSums::over_no_rows(self.sums.shared.clone()); t];
        let coefficients = from.iter().flat_map(|from| from.coefficients().col_iter());
        let numbers = coefficients.flat_map(|column| column.iter());
        let hash = numbers.fold(Hash::new().integer(equations), |hash, x| hash.number(x.f64()));
        let sums = NewtonSums { columns, from: from.map(Arc::new), equations };
        Ok(Tiled::over_no_rows(sums, [d, t], hash.value()))
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> NewtonEquations<K, T> {
    /// Where the step leads to at every ridge, for each column.
    ///
    /// # Errors
    /// Those of [`FitState::path`](crate::FitState::path).
    pub fn paths(&self, ridges: &[Ridge<T>]) -> Result<Vec<StatePath<K, T>>> {
        let ([d, _], sums) = (self.waiting.sizes(), self.whole()?);
        let path = |column: &FitSums<K, T, FeatureSums>| {
            NormalEquations::over_no_rows(column.clone(), [d, 1], sums.equations).path(ridges)
        };
        sums.columns.iter().map(path).collect()
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for NewtonSums<K, T> {
    const KIND: u8 = 10;
    const OTHERWISE: &'static str = "other log-odds, or another kernel, other centres, another \
                                     scalar type or instruction set";
    type Room = ();

    fn empty_at(&self, _: u64) -> Self {
        let columns = self.columns.iter().map(|sums| sums.empty_at(0)).collect();
        NewtonSums { columns, from: self.from.clone(), equations: self.equations }
    }

    fn kernel(&self) -> &impl Kernel<T> {
        self.columns[0].kernel()
    }

    fn rows(&self) -> u64 {
        self.columns[0].rows()
    }

    fn add(&mut self, tile: Problem<'_, T>, (): &mut ()) -> Result<()> {
        let (n, mut room) = (tile.x.len(), None);
        let f = match &self.from {
            Some(from) => from.predict(tile.x)?,
            None => Mat::zeros(n, self.columns.len()),
        };
        for (j, sums) in self.columns.iter_mut().enumerate() {
            let step = |i: usize| step_of_newton(f[(i, j)].f64(), tile.y[(i, j)].f64() > 0.0);
            let (h, z): (Vec<f64>, Vec<f64>) = (0..n).map(step).unzip();
            let h: Vec<T> = (0..n).map(|i| T::lit(tile.weight(i) * h[i])).collect();
            let z = Mat::from_fn(n, 1, |i, _| T::lit(z[i]));
            sums.add(Problem { x: tile.x, y: z.as_ref(), weights: Some(&h) }, &mut room)?;
        }
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.columns.iter_mut().zip(later.columns).for_each(|(sums, later)| sums.plus(later));
    }

    fn numbers(&self) -> usize {
        self.columns.iter().map(TileSums::numbers).sum()
    }

    fn write(&self, out: &mut Writer) {
        self.columns.iter().for_each(|sums| sums.write(out));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let columns = self.columns.iter().map(|sums| sums.read(reader)).collect::<Result<_>>()?;
        Ok(NewtonSums { columns, from: self.from.clone(), equations: self.equations })
    }
}
