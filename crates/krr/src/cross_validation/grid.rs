//! Procedures that fit the candidates of a grid: one by one, or all ridges of a kernel by one
//! eigendecomposition.

use crate::{Centers, ExactKrr, NystromKrr, Problem};
use faer::Mat;
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar};
use nystrom_sketch::LandmarkSelector;
use rand::Rng;

/// A procedure that fits training data with a kernel at several ridges and predicts at other
/// points, for [`CrossValidation`](crate::CrossValidation).
///
/// [`ExactGrid`] and [`NystromGrid`] share work between the ridges; [`EachRidge`] makes one of any
/// function.
pub trait GridFit<T: Scalar, K> {
    /// Predictions at the points `at`, one at.len() × t matrix for each of `ridges`, after fitting
    /// y (n × t) at the n points x.
    ///
    /// A [`Ridge::PerSample`] refers to the n of the training part. Predictions that are not finite
    /// mark a candidate as unusable.
    ///
    /// # Errors
    /// Those of the fit; they end the cross-validation.
    fn predictions(
        &self,
        kernel: &K,
        ridges: &[Ridge<T>],
        train: Problem<'_, T>,
        at: Points<'_, T>,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Mat<T>>>;
}

/// Any procedure, called once for each ridge: `fit(kernel, ridge, train, at, rng)` fits the
/// problem `train` and returns predictions at `at`.
///
/// Made by [`EachRidge::new`].
#[derive(Debug, Clone, Copy)]
pub struct EachRidge<F> {
    fit: F,
}

impl<F> EachRidge<F> {
    /// A grid of this procedure. To continue after a fit that fails, return predictions that are
    /// NaN.
    pub fn new<T: Scalar, K>(fit: F) -> Self
    where
        F: Fn(&K, Ridge<T>, Problem<'_, T>, Points<'_, T>, &mut dyn Rng) -> Result<Mat<T>>,
    {
        EachRidge { fit }
    }
}

impl<T: Scalar, K, F> GridFit<T, K> for EachRidge<F>
where
    F: Fn(&K, Ridge<T>, Problem<'_, T>, Points<'_, T>, &mut dyn Rng) -> Result<Mat<T>>,
{
    fn predictions(
        &self,
        kernel: &K,
        ridges: &[Ridge<T>],
        train: Problem<'_, T>,
        at: Points<'_, T>,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Mat<T>>> {
        ridges.iter().map(|&ridge| (self.fit)(kernel, ridge, train, at, rng)).collect()
    }
}

/// Exact kernel ridge regression, for training parts of a few thousand samples.
///
/// Fewer than 16 ridges are fitted one by one, n³/3 flops each. For more ridges, or if a matrix is
/// indefinite by rounding, all fits come from one eigendecomposition. It takes 9n³ flops, half of
/// them limited by memory: about the time of 16 factorisations. n × n by definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExactGrid {
    /// Whether to fit a constant, not penalised.
    pub intercept: bool,
}

/// Ridges from which an eigendecomposition is faster than a Cholesky factorisation for each.
const DECOMPOSE_FROM: usize = 16;

impl<T: Scalar, K: Kernel<T> + Clone> GridFit<T, K> for ExactGrid {
    fn predictions(
        &self,
        kernel: &K,
        ridges: &[Ridge<T>],
        train: Problem<'_, T>,
        at: Points<'_, T>,
        _: &mut dyn Rng,
    ) -> Result<Vec<Mat<T>>> {
        let krr =
            |ridge| ExactKrr { intercept: self.intercept, ..ExactKrr::new(kernel.clone(), ridge) };
        if ridges.len() < DECOMPOSE_FROM {
            let one_by_one =
                ridges.iter().map(|&ridge| krr(ridge).fit(train)?.predict(at)).collect();
            if !matches!(one_by_one, Err(Error::NotPositiveDefinite { .. })) {
                return one_by_one;
            }
        }
        train.check(kernel)?;
        ExactKrr { intercept: self.intercept, ..ExactKrr::without_ridge(kernel.clone()) }
            .family(train)?
            .predictions(ridges, at)
    }
}

/// Nyström kernel ridge regression with new landmarks for every training part. All ridges of a
/// kernel take one pass and one eigendecomposition.
///
/// Unlike [`NystromKrr::path`](crate::NystromKrr::path), the choice of landmarks is part of what is
/// validated.
#[derive(Debug, Clone, Copy)]
pub struct NystromGrid<S> {
    /// How landmarks are chosen.
    pub selector: S,
    /// Number of landmarks; all rows of the training part if it has fewer.
    pub m: usize,
    /// Whether to fit a constant, not penalised.
    pub intercept: bool,
}

impl<T: Scalar, K: Kernel<T> + Clone, S: LandmarkSelector<T>> GridFit<T, K> for NystromGrid<S> {
    fn predictions(
        &self,
        kernel: &K,
        ridges: &[Ridge<T>],
        train: Problem<'_, T>,
        at: Points<'_, T>,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Mat<T>>> {
        if ridges.is_empty() {
            return Ok(Vec::new());
        }
        train.check(kernel)?;
        let landmarks = self.selector.select(
            &KernelMatrix::new(kernel, train.x)?,
            self.m.min(train.x.len()),
            rng,
        )?;
        let krr =
            NystromKrr { intercept: self.intercept, ..NystromKrr::without_ridge(kernel.clone()) };
        let z = Centers::from(&landmarks).points(train.x, kernel)?;
        krr.spectral(&train, z.points(), ridges, false)?.0.predictions(ridges, at)
    }
}
