//! Centres, and what each of them stands for.

use crate::input::Samples;
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, validate};
use nystrom_sketch::{Dictionary, Landmarks};

/// The centres z_1, …, z_M of a restricted fit with the weights ω_j they were sampled with: centre
/// j stands for ω_j of the n points, so that Σ_j ω_j k_Z(z_j)k_Z(z_j)ᵀ estimates K_nMᵀK_nM.
///
/// Made by `into()` from
/// * `&Dictionary`: its rows and weights (E\[ω_i\] = 1 for every row);
/// * `&Landmarks`: the rows, each with weight n/M, as is right for uniform sampling;
/// * [`Points`]: any points (they need not be data), each with weight n/M.
///
/// ```
/// use nystrom_krr::Centers;
/// use nystrom_sketch::{Dictionary, Landmarks};
/// let dictionary = Dictionary::new(10, vec![7, 2], vec![4.0, 6.0_f64])?;
/// assert!(matches!(Centers::from(&dictionary), Centers::Rows { weights: Some([4.0, 6.0]), .. }));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Centers<'a, T> {
    /// Rows among the data.
    Rows {
        /// The number of rows they were chosen among.
        n: usize,
        /// The rows.
        indices: &'a [usize],
        /// ω, one per row; n/M each if `None`.
        weights: Option<&'a [T]>,
    },
    /// Any points.
    Points {
        /// The points.
        points: Points<'a, T>,
        /// ω, one per point; n/M each if `None`.
        weights: Option<&'a [T]>,
    },
}

impl<'a, T> From<&'a Landmarks> for Centers<'a, T> {
    fn from(landmarks: &'a Landmarks) -> Self {
        Centers::Rows { n: landmarks.n(), indices: landmarks.indices(), weights: None }
    }
}

impl<'a, T: Scalar> From<&'a Dictionary<T>> for Centers<'a, T> {
    fn from(dictionary: &'a Dictionary<T>) -> Self {
        Centers::Rows {
            n: dictionary.n(),
            indices: dictionary.indices(),
            weights: Some(dictionary.weights()),
        }
    }
}

impl<'a, T> From<Points<'a, T>> for Centers<'a, T> {
    fn from(points: Points<'a, T>) -> Self {
        Centers::Points { points, weights: None }
    }
}

impl<T: Scalar> Centers<'_, T> {
    /// M.
    pub fn len(&self) -> usize {
        match self {
            Centers::Rows { indices, .. } => indices.len(),
            Centers::Points { points, .. } => points.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they came with weights of their own.
    pub fn weighted(&self) -> bool {
        matches!(
            self,
            Centers::Rows { weights: Some(_), .. } | Centers::Points { weights: Some(_), .. }
        )
    }

    /// The centres as the columns of a d × M matrix, and ω times the sample weight of the point
    /// where there is one (the mean sample weight for points that are not data).
    pub(crate) fn resolve(
        &self,
        samples: Samples<'_, T>,
        kernel: &impl Kernel<T>,
    ) -> Result<(Mat<T>, Vec<f64>)> {
        validate::not_empty("centres (m)", self.len())?;
        let (n, m) = (samples.x.len(), self.len());
        let mean_weight = (0..n).map(|i| samples.weight(i)).sum::<f64>() / n as f64;
        let (points, weights, sample_weight): (Mat<T>, _, Vec<f64>) = match *self {
            Centers::Rows { n: among, indices, weights } => {
                validate::same_size("points the centres were chosen among", n, among)?;
                nystrom_linalg_core::Indices::from(indices).check(n, "centres")?;
                let points = samples.x.gather(indices.into());
                (points, weights, indices.iter().map(|&i| samples.weight(i)).collect())
            }
            Centers::Points { points, weights } => {
                samples.x.check_same_dim(points)?;
                validate::finite("centres", points.as_cols().transpose())?;
                kernel.check_points(points)?;
                (points.as_cols().to_owned(), weights, vec![mean_weight; m])
            }
        };
        if let Some(weights) = weights {
            validate::same_size("weights against number of centres", m, weights.len())?;
            weights.iter().try_for_each(|w| validate::positive("weight of a centre", w.f64()))?;
        }
        let stands_for = |j: usize| weights.map_or(n as f64 / m as f64, |w| w[j].f64());
        Ok((points, (0..m).map(|j| stands_for(j) * sample_weight[j]).collect()))
    }
}
