//! Regression on the bimodal design with landmarks drawn by each method's scores: what Figures 1
//! and 3 of Chen & Yang 2021 share; and with sketches.

use std::f64::consts::PI;

use nystrom::krr::metrics::mse;
use nystrom::leverage::{
    Bandwidth, Density, DensityMethod, Guard, KernelDensity, Projector, RecursiveRlsOfSize,
    Stationary,
};
use nystrom::prelude::*;

use super::bimodal_problem::{BimodalDesign, BimodalPoints, observe};
use crate::lab::Measure;
use crate::method::{self, Method};
use crate::statistics::mean_and_deviation;

/// All scores equal.
pub const UNIFORM: Method = method::UNIFORM.called("uniform (Vanilla)");
/// At the fixed ridge.
pub const RC: Method = method::RECURSIVE.called("Recursive-RLS (RC)");
/// Its sub-samples capped, as in the paper.
pub const RC_CAPPED: Method = method::RECURSIVE_SIZE.called("RC, capped");
pub const BLESS: Method = method::BLESS;
pub const BLESS_CAPPED: Method = method::BLESS_CAPPED;
/// Density on a grid.
pub const SA_GRID: Method = method::SPECTRAL.called("SA, grid density");
/// Density by a k-d tree, as for the paper's Figure 2.
pub const SA_TREE: Method = method::SPECTRAL_TREE;
/// The score averaged locally where the density is lowest.
pub const SA_AVERAGED: Method = method::SPECTRAL_AVERAGE.called("SA, low densities averaged");
/// The bandwidth with the largest leave-one-out likelihood, whatever the dimension.
pub const SA_TUNED: Method = method::SPECTRAL_TUNED;
/// The density that the design was drawn from.
pub const SA_TRUE: Method = method::SPECTRAL_TRUE;
/// Exact scores, n × n.
pub const EXACT: Method = method::LEVERAGE;
/// No landmarks at all: exact KRR, n × n.
pub const FULL: Method = method::EXACT.called("exact KRR");

/// The error of all regressions here.
pub const ERROR: Measure = Measure::new("error", "mean in-sample error (1/n) Σ (f̂ − f*)²").log();

/// One draw of points and noise, with the kernel and the ridge to regress with.
pub struct Regression<K> {
    design: BimodalPoints,
    f_star: Mat<f64>,
    y: Mat<f64>,
    kernel: K,
    ridge: Ridge<f64>,
}

impl<K: Kernel<f64> + Stationary + Copy> Regression<K> {
    /// Points of a design, and observations of f* at them.
    ///
    /// # Randomness
    /// The points, then the noise.
    pub fn new(
        design: BimodalDesign,
        truth: fn(&BimodalPoints) -> Mat<f64>,
        kernel: K,
        lambda: f64,
        rng: &mut dyn Rng,
    ) -> Self {
        let design = design.draw(rng);
        let f_star = truth(&design);
        let y = observe(&f_star, rng);
        Regression { design, f_star, y, kernel, ridge: Ridge::PerSample(lambda) }
    }

    /// x_1, …, x_n.
    pub fn points(&self) -> Points<'_, f64> {
        self.design.points()
    }

    /// (1/n) Σ f*(x_i)²: the error of f = 0.
    pub fn zero_error(&self) -> f64 {
        self.f_star.squared_norm_l2() / self.f_star.nrows() as f64
    }

    /// The scores of a method; capped ones are measured against at most `cap` rows. For [`FULL`]
    /// there are none.
    ///
    /// # Randomness
    /// That of the method.
    pub fn scores(
        &self,
        method: Method,
        cap: usize,
        rng: &mut dyn Rng,
    ) -> anyhow::Result<Vec<f64>> {
        let (x, ridge) = (self.points(), self.ridge);
        let k = KernelMatrix::new(self.kernel, x)?;
        let spectral = |density, guard| -> Box<dyn RidgeLeverage<f64> + '_> {
            let analysis = SpectralAnalysis { density, guard };
            Box::new(SpectralLeverage { analysis, ..SpectralLeverage::new(&self.kernel, x) })
        };
        let estimated = |method, guard| {
            let density = KernelDensity { method, ..KernelDensity::default() };
            spectral(Density::Estimated(density), guard)
        };
        let estimator: Box<dyn RidgeLeverage<f64> + '_> = match method {
            m if m == UNIFORM || m == FULL => return Ok(vec![1.0; x.len()]),
            m if m == RC => Box::new(RecursiveRls::default()),
            m if m == RC_CAPPED => Box::new(RecursiveRlsOfSize { size: cap, accelerated: false }),
            m if m == BLESS => Box::new(Bless::default()),
            m if m == BLESS_CAPPED => {
                let path = Bless { max_size: cap, ..Bless::default() }.path(&k, ridge, rng)?;
                let last = path.levels.last().filter(|level| !level.dictionary.is_empty());
                let Some(level) = last else { return Ok(vec![1.0; x.len()]) };
                let projector = Projector::new(&k, &level.dictionary, ridge)?;
                return Ok(projector.scores(&k, (0..x.len()).into())?);
            }
            m if m == EXACT => Box::new(Exact),
            m if m == SA_GRID => estimated(DensityMethod::Binned, Guard::None),
            m if m == SA_TREE => estimated(DensityMethod::Tree { tolerance: 0.05 }, Guard::None),
            m if m == SA_TUNED => spectral(Density::Estimated(tuned(x)?), Guard::None),
            m if m == SA_TRUE => spectral(Density::Given(&self.design.density), Guard::None),
            m if m == SA_AVERAGED => {
                estimated(DensityMethod::Auto, Guard::LocalAverage { quantile: 0.05 })
            }
            other => anyhow::bail!("{} has no scores here", other.name),
        };
        Ok(estimator.scores(&k, ridge, rng)?)
    }

    /// (1/n) Σ (f̂(x_i) − f*(x_i))² of Nyström KRR on `draws` landmarks drawn with replacement in
    /// proportion to `scores`.
    ///
    /// # Randomness
    /// The draws.
    pub fn error(&self, scores: &[f64], draws: usize, rng: &mut dyn Rng) -> anyhow::Result<f64> {
        let landmarks = Landmarks::draw(scores, draws, Draw::WithReplacement, rng)?;
        let krr = NystromKrr::new(self.kernel, self.ridge);
        let model = krr.fit((self.points(), self.y.as_ref()), &landmarks)?;
        self.error_of(&model.predict(self.points())?)
    }

    /// Exact KRR at the points.
    pub fn exact(&self) -> anyhow::Result<Mat<f64>> {
        let krr = ExactKrr::new(self.kernel, self.ridge);
        Ok(krr.fit((self.points(), self.y.as_ref()))?.predict(self.points())?)
    }

    /// A sketch of d columns drawn, and the regression with it.
    ///
    /// # Randomness
    /// The sketch.
    pub fn sketched(
        &self,
        law: &dyn SketchDistribution<f64>,
        d: usize,
        rng: &mut dyn Rng,
    ) -> anyhow::Result<KrrModel<K, f64>> {
        let (x, krr) = (self.points(), SketchedKrr::new(self.kernel, self.ridge));
        Ok(krr.fit((x, self.y.as_ref()), &*law.draw(x.len(), d, rng)?)?)
    }

    /// The error of predictions at the points.
    pub fn error_of(&self, predicted: &Mat<f64>) -> anyhow::Result<f64> {
        Ok(mse(predicted.as_ref(), self.f_star.as_ref())?)
    }
}

/// Bandwidths tried by [`tuned`], in standard deviations of the features.
const BANDWIDTHS: [f64; 9] = [0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0];

/// The density estimate whose bandwidth maximises Σ_i ln p̂_{−i}(x_i), p̂_{−i} the estimate from
/// the other points.
///
/// Points are compared all with all, and nothing is refused: in many dimensions the winner says
/// little, but it is the best there is.
fn tuned(x: Points<'_, f64>) -> anyhow::Result<KernelDensity> {
    let (n, d) = (x.len() as f64, x.dim());
    let feature = |k: usize| (0..x.len()).map(|i| x.coordinate(i, k)).collect::<Vec<_>>();
    let spread = |k: usize| mean_and_deviation(&feature(k)).1;
    let ln_volume: f64 = (0..d).map(|k| spread(k).ln()).sum();
    let mut best = (f64::NEG_INFINITY, None);
    for h in BANDWIDTHS {
        let estimate =
            KernelDensity { bandwidth: Bandwidth::Fixed(h), method: DensityMethod::Exact };
        // a point's own share
        let alone = (-n.ln() - 0.5 * d as f64 * (2.0 * PI * h * h).ln() - ln_volume).exp();
        let others = |p: f64| ((p - alone) * n / (n - 1.0)).max(f64::MIN_POSITIVE);
        let likelihood: f64 = estimate.density(x)?.into_iter().map(|p| others(p).ln()).sum();
        if likelihood > best.0 {
            best = (likelihood, Some(estimate));
        }
    }
    best.1.ok_or_else(|| anyhow::anyhow!("no bandwidth has a finite likelihood"))
}
