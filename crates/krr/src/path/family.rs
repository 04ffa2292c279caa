//! The fits at every ridge, from one eigendecomposition.

use crate::features::{Whitener, spread};
use crate::{FitReport, KrrModel};
use faer::Mat;
use nystrom_kernels::{Kernel, PointSet, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, ops};

/// θ(μ) = B(S + μI)⁻¹g and, with a constant, b(μ) = ȳ − x̄ᵀ(S + μI)⁻¹g: kernel ridge regression at
/// every μ.
///
/// In the basis of eigenvectors V of A = ΦᵀDΦ (features centred if there is a constant): S its
/// eigenvalues, g = VᵀΦᵀDy. The features of exact regression are those of the kernel itself, for
/// which A has the eigenvalues of √D K √D.
#[derive(Debug)]
pub(crate) struct Family<K, T> {
    pub kernel: K,
    pub centers: PointSet<T>,
    pub spectrum: Spectrum,
    pub basis: Basis<T>,
    /// The report of all fits; ridge and condition number are those of each fit.
    pub report: FitReport,
    /// The number subtracted from each target in the sums, if a constant is fitted.
    pub shift: Option<Vec<f64>>,
}

/// S, g and the means for the constant.
#[derive(Debug)]
pub(crate) struct Spectrum {
    /// n, the number of samples.
    pub n: usize,
    /// s_j ≥ 0, largest first.
    pub values: Vec<f64>,
    /// g, one row per value and one column per target.
    pub g: Mat<f64>,
    /// Present if a constant is fitted.
    pub constant: Option<SpectrumConstant>,
    /// Samples of positive weight.
    pub rows: usize,
    /// Σ w_i.
    pub total_weight: f64,
    /// The smallest μ that rounding errors of the values leave meaningful.
    pub floor: f64,
}

/// The weighted means from which the constant follows.
#[derive(Debug)]
pub(crate) struct SpectrumConstant {
    /// x̄: the mean of each feature, in the basis of eigenvectors.
    pub features: Vec<f64>,
    /// ȳ: the mean of each target.
    pub targets: Vec<f64>,
}

/// From coefficients of the eigenvectors to coefficients of the centres.
#[derive(Debug)]
pub(crate) enum Basis<T> {
    /// Exact regression: θ_i = √w_i (Uc)_i.
    Samples { U: Mat<f64>, root_weights: Vec<f64> },
    /// Whitened features: θ = R⁻ᵀVc, or Sθ for a sketch S, of which `expand` holds the rows that
    /// are not zero.
    Features { V: Mat<f64>, whitener: Whitener<T>, expand: Option<Mat<f64>> },
}

impl<T: Scalar, K: Kernel<T> + Clone> Family<K, T> {
    /// t.
    pub fn targets(&self) -> usize {
        self.spectrum.g.ncols()
    }

    /// d_eff = Σ s_j/(s_j + μ), plus 1 for the constant.
    pub fn d_eff(&self, mu: f64) -> f64 {
        let features: f64 = self.spectrum.values.iter().map(|s| s / (s + mu)).sum();
        features + self.spectrum.constants()
    }

    /// Generalised cross-validation: `training`/(1 − d_eff/rows)². rows − d_eff is found without
    /// cancellation where there are as many values as rows.
    pub fn gcv(&self, training: f64, mu: f64) -> f64 {
        let (values, rows) = (&self.spectrum.values, self.spectrum.rows as f64);
        let left: f64 = values.iter().map(|s| mu / (s + mu)).sum();
        let remainder = left + (rows - values.len() as f64) - self.spectrum.constants();
        training / (remainder / rows).powi(2)
    }

    /// Predictions at the points `at`, for each of `ridges`.
    pub fn predictions(&self, ridges: &[Ridge<T>], at: Points<'_, T>) -> Result<Vec<Mat<T>>> {
        ridges.iter().map(|&ridge| self.model_at(self.spectrum.mu(ridge)?)?.predict(at)).collect()
    }

    /// The model at μ.
    pub fn model_at(&self, mu: f64) -> Result<KrrModel<K, T>> {
        let c = self.spectrum.coefficients(mu);
        let b = self.spectrum.constant.as_ref().map(|mean| -> Vec<f64> {
            let b = |j: usize| mean.targets[j] - ops::dot(&mean.features, c.col_as_slice(j));
            (0..c.ncols()).map(b).collect()
        });
        let theta = self.basis.to_centers(&c);
        let values = &self.spectrum.values;
        let smallest = values.last().map_or(0.0, |s| s + mu);
        let report = FitReport {
            ridge: mu,
            condition: (values.first().unwrap_or(&0.0) + mu) / smallest,
            ..self.report.clone()
        };
        KrrModel::from_parts(
            self.kernel.clone(),
            self.centers.points(),
            theta.as_ref(),
            b.as_deref(),
            report,
        )
    }
}

impl Spectrum {
    /// nλ, raised to the rounding level if below it.
    pub fn mu<T: Scalar>(&self, ridge: Ridge<T>) -> Result<f64> {
        Ok(ridge.absolute(self.n)?.f64().max(self.floor))
    }

    /// [`mu`](Self::mu) of each.
    pub fn mus<T: Scalar>(&self, ridges: &[Ridge<T>]) -> Result<Vec<f64>> {
        ridges.iter().map(|&ridge| self.mu(ridge)).collect()
    }

    /// The columns c(μ) of all μ side by side (r × Lt), and the columns 1/(s_j + μ) (r × L).
    pub fn at_all(&self, mus: &[f64]) -> (Mat<f64>, Mat<f64>) {
        let (r, t) = self.g.shape();
        let inverse = |j: usize, l: usize| 1.0 / (self.values[j] + mus[l]);
        let coefficients =
            Mat::from_fn(r, mus.len() * t, |j, c| self.g[(j, c % t)] * inverse(j, c / t));
        (coefficients, Mat::from_fn(r, mus.len(), inverse))
    }

    /// c = (S + μI)⁻¹g.
    pub fn coefficients(&self, mu: f64) -> Mat<f64> {
        Mat::from_fn(self.values.len(), self.g.ncols(), |i, j| {
            self.g[(i, j)] / (self.values[i] + mu)
        })
    }

    /// Without the smallest values, if together they are less than `negligible`.
    pub fn leading(&self, negligible: f64) -> Spectrum {
        let mut tail = 0.0;
        let dropped = self.values.iter().rev().take_while(|s| {
            tail += **s;
            tail < negligible
        });
        let r = self.values.len() - dropped.count();
        Spectrum {
            values: self.values[..r].to_vec(),
            g: self.g.subrows(0, r).to_owned(),
            constant: None,
            ..*self
        }
    }

    /// 1 or 0: how many constants there are.
    fn constants(&self) -> f64 {
        if self.constant.is_some() { 1.0 } else { 0.0 }
    }
}

impl<T: Scalar> Basis<T> {
    /// θ of the function with these coefficients c.
    pub fn to_centers(&self, c: &Mat<f64>) -> Mat<f64> {
        match self {
            Basis::Samples { U, root_weights } => {
                let gamma = ops::times(U.as_ref(), c.as_ref());
                Mat::from_fn(gamma.nrows(), gamma.ncols(), |i, j| root_weights[i] * gamma[(i, j)])
            }
            Basis::Features { V, whitener, expand } => {
                let theta = whitener.unwhiten(ops::times(V.as_ref(), c.as_ref()));
                spread(expand.as_ref(), theta)
            }
        }
    }
}
