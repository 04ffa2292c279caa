//! Functions that are linear in the kernel values of a point with the landmarks.

use crate::whiten::for_each_kernel_tile;
use crate::{FeatureMap, Landmarks};
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, ops, validate};

/// q functions f_j(x) = φ(x)ᵀβ_j + b_j = k_J(x)ᵀθ_j + b_j.
#[derive(Debug, Clone)]
pub struct LandmarkWeights<T> {
    /// θ, m × q.
    theta: Mat<T>,
    /// b, q numbers.
    offset: Vec<T>,
}

impl<T: Scalar> LandmarkWeights<T> {
    /// The functions with weights `beta` (r × q) of the features.
    pub fn new(map: &FeatureMap<T>, beta: MatRef<'_, T>, offset: Vec<T>) -> Self {
        LandmarkWeights { theta: map.landmark_weights(beta), offset }
    }

    pub fn of(theta: Mat<T>, offset: Vec<T>) -> Self {
        LandmarkWeights { theta, offset }
    }

    pub fn theta(&self) -> MatRef<'_, T> {
        self.theta.as_ref()
    }

    pub fn offset(&self) -> &[T] {
        &self.offset
    }

    /// Replaces function j by that of `other`, of the same shape.
    pub fn copy(&mut self, j: usize, other: &Self) {
        self.theta.col_mut(j).copy_from(other.theta.col(j));
        self.offset[j] = other.offset[j];
    }

    /// The values of t points with kernel values `k_j` (m × t): q × t.
    pub fn values(&self, k_j: MatRef<'_, T>) -> Mat<T> {
        let mut out = ops::times(self.theta.transpose(), k_j);
        for column in out.col_iter_mut() {
            column.iter_mut().zip(&self.offset).for_each(|(value, b)| *value += *b);
        }
        out
    }

    /// As [`values`](Self::values), for kernel values of a caller: of another number of landmarks
    /// or not finite, they are an error.
    pub fn checked_values(&self, k_j: MatRef<'_, T>) -> Result<Mat<T>> {
        validate::same_size("kernel values of a point", self.theta.nrows(), k_j.nrows())?;
        validate::finite("kernel values", k_j)?;
        Ok(self.values(k_j))
    }
}

/// The matrix (n × q) whose rows are those that `values` computes, as columns (q × tile), from the
/// first row and the kernel values of a tile of rows of `k`.
pub fn over_rows<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    landmarks: &Landmarks,
    q: usize,
    values: impl Fn(usize, MatRef<'_, T>) -> Result<Mat<T>>,
) -> Result<Mat<T>> {
    landmarks.check(k.dim())?;
    let mut out = Mat::zeros(k.dim(), q);
    for_each_kernel_tile(k, landmarks.indices(), (0..k.dim()).into(), |rows, k_j| {
        let found = values(rows.start, k_j.rb())?;
        out.as_mut().subrows_mut(rows.start, rows.len()).copy_from(found.transpose());
        Ok(())
    })?;
    Ok(out)
}

/// The columns of `vectors`, each with the sign that makes its entry of largest absolute value (the
/// first, if several are equal) positive.
pub fn with_signs(vectors: MatRef<'_, f64>) -> Mat<f64> {
    let sign = |j: usize| {
        let largest = |best: f64, v: &f64| if v.abs() > best.abs() { *v } else { best };
        vectors.col(j).iter().fold(0.0, largest).signum()
    };
    let signs: Vec<f64> = (0..vectors.ncols()).map(sign).collect();
    Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, j| signs[j] * vectors[(i, j)])
}

/// The matrix in another precision.
pub fn rounded<T: Scalar>(a: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::lit(a[(i, j)]))
}
