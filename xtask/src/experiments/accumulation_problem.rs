//! What Figures 1 and 2 of Chen & Yang 2021 (accumulations) share: exact and sketched regression on
//! the bimodal design.

use nystrom::faer::Mat;
use nystrom::kernels::{Kernel, Points};
use nystrom::krr::{ExactKrr, KrrModel, SketchedKrr, metrics::mse};
use nystrom::linalg_core::Ridge;
use nystrom::sketch::SketchDistribution;
use rand::Rng;

use super::bimodal_problem::{BimodalDesign, BimodalPoints, observe};
use crate::lab::Measure;

/// What the experiments say about design, f* and noise.
pub const CHOICES: &str = "Design, f* and noise: with probability n/(n + n^γ) uniform on [0, 1]³, \
                           otherwise independent coordinates on [2, 2.5] with density \
    4(5 − 2t), normalised where the paper prints ∏(5 − 2x_j); f*(x) = g(‖x‖/3), g(t) = 1.6·|(t − \
    0.4)(t − 0.6)| − t(t − 1)(t − 2) − 0.5; noise N(0, 1/4). \
    The error of a sketched estimator is (1/n)‖f_S − f_n‖² against exact KRR f_n at the points \
    (the paper prints the norm without 1/n).";

pub const ERROR: Measure = Measure::new("error", "approximation error (1/n)‖f_S − f_n‖²").log();
/// Of exact KRR, against f*.
pub const ESTIMATION: Measure =
    Measure::new("estimation error of exact KRR", "estimation error (1/n)‖f_n − f*‖² of exact KRR");

/// One draw of points and noise, with exact KRR on it.
pub struct Problem<K> {
    design: BimodalPoints,
    y: Mat<f64>,
    krr: SketchedKrr<K, Ridge<f64>>,
    /// f_n at the points.
    exact: Mat<f64>,
    /// (1/n)‖f_n − f*‖².
    pub estimation_error: f64,
}

impl<K: Kernel<f64> + Copy> Problem<K> {
    /// n points of which about n^γ are in the small cluster.
    ///
    /// # Randomness
    /// The points, then the noise.
    pub fn new(
        n: usize,
        gamma: f64,
        kernel: K,
        lambda: f64,
        rng: &mut dyn Rng,
    ) -> anyhow::Result<Self> {
        let design = BimodalDesign { n, dim: 3, gamma }.draw(rng);
        let f_star = design.radial_truth();
        let y = observe(&f_star, rng);
        let (x, ridge) = (design.points(), Ridge::PerSample(lambda));
        let exact = ExactKrr::new(kernel, ridge).fit((x, y.as_ref()))?.predict(x)?;
        let estimation_error = mse(exact.as_ref(), f_star.as_ref())?;
        Ok(Problem { design, y, krr: SketchedKrr::new(kernel, ridge), exact, estimation_error })
    }

    fn points(&self) -> Points<'_, f64> {
        self.design.points()
    }

    /// A sketch of d columns drawn, and the regression with it.
    pub fn fit(
        &self,
        law: &dyn SketchDistribution<f64>,
        d: usize,
        rng: &mut dyn Rng,
    ) -> anyhow::Result<KrrModel<K, f64>> {
        let sketch = law.draw(self.points().len(), d, rng)?;
        Ok(self.krr.fit((self.points(), self.y.as_ref()), &*sketch)?)
    }

    /// (1/n)‖f_S − f_n‖².
    pub fn error(&self, model: &KrrModel<K, f64>) -> anyhow::Result<f64> {
        Ok(mse(model.predict(self.points())?.as_ref(), self.exact.as_ref())?)
    }
}
