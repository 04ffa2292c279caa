//! What the risk of a regression is measured against: f*, the noise's variance, the risk of exact
//! kernel ridge regression.

use nystrom::faer::MatMut;
use nystrom::krr::risk::{FixedDesign, Risk};
use nystrom::linalg_core::{Cholesky, JitterLadder, ops};

use crate::lab::*;

/// A problem with fixed design, known or taken to be known.
pub struct Truth {
    /// f*(x_i).
    pub f_star: Vec<f64>,
    /// σ².
    pub noise: f64,
    /// The risk of exact kernel ridge regression.
    pub risk: Risk,
}

impl Truth {
    /// f* and σ² given.
    pub fn known(
        k: &dyn PsdMatrix<f64>,
        ridge: Ridge<f64>,
        f_star: Vec<f64>,
        noise: f64,
    ) -> anyhow::Result<Self> {
        let risk = FixedDesign::exact(k, &f_star)?.risk(ridge, noise)?;
        Ok(Truth { f_star, noise, risk })
    }

    /// f* = f̂_K and σ² = ‖y − f̂_K‖²/tr((I − H)²), H = K(K + μI)⁻¹; y is centred and scaled to
    /// variance 1 first.
    pub fn plug_in(k: &dyn PsdMatrix<f64>, ridge: Ridge<f64>, y: &[f64]) -> anyhow::Result<Self> {
        let (n, mu) = (k.dim(), ridge.absolute(k.dim())?);
        let y = standard(y);
        let fill = |mut out: MatMut<'_, f64>| {
            k.block_into(out.as_mut(), (0..n).into(), (0..n).into());
            ops::add_to_diagonal(out, mu);
        };
        let mut alpha = y.clone();
        Cholesky::from_fill(n, fill, JitterLadder::default())?.solve_in_place(alpha.as_mut());
        let residual = |i: usize| mu * alpha[(i, 0)]; // y − Kα = μα
        let f_star: Vec<f64> = (0..n).map(|i| y[(i, 0)] - residual(i)).collect();
        let design = FixedDesign::exact(k, &f_star)?;
        let freedom = (n - design.eigenvalues().len()) as f64
            + design.eigenvalues().iter().map(|s| (mu / (s + mu)).powi(2)).sum::<f64>();
        let noise = (0..n).map(|i| residual(i).powi(2)).sum::<f64>() / freedom;
        Ok(Truth { risk: design.risk(ridge, noise)?, f_star, noise })
    }

    /// The risk of regression on L ≈ K over that of exact regression.
    pub fn ratio(&self, l: &Nystrom<f64>, ridge: Ridge<f64>) -> anyhow::Result<f64> {
        let risk = FixedDesign::low_rank(l.factor(), &self.f_star)?.risk(ridge, self.noise)?;
        Ok(risk.ratio(self.risk))
    }
}

/// y, centred and scaled to variance 1, as a column.
pub fn standard(y: &[f64]) -> Mat<f64> {
    let (mean, deviation) = mean_and_deviation(y);
    Mat::from_fn(y.len(), 1, |i, _| (y[i] - mean) / deviation)
}
