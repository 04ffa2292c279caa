//! Regression on the bimodal design with landmarks drawn by each method's scores: what Figures 1
//! and 3 of Chen & Yang 2021 share.

use std::f64::consts::PI;

use nystrom::faer::Mat;
use nystrom::kernels::{Kernel, KernelMatrix, Points};
use nystrom::krr::{ExactKrr, NystromKrr, metrics::mse};
use nystrom::leverage::{
    Bandwidth, Bless, Density, DensityMethod, Guard, KernelDensity, Projector, RecursiveRls,
    RecursiveRlsOfSize, RidgeLeverage, SpectralAnalysis, Stationary, exact_scores,
};
use nystrom::linalg_core::Ridge;
use nystrom::sketch::{Draw, Landmarks};
use rand::Rng;

use super::bimodal_problem::{BimodalPoints, observe};
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
/// Density by a k-d tree, as in the paper.
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
    /// Observations of f* at the points of a design.
    ///
    /// # Randomness
    /// The noise.
    pub fn new(
        design: BimodalPoints,
        f_star: Mat<f64>,
        kernel: K,
        ridge: Ridge<f64>,
        rng: &mut dyn Rng,
    ) -> Self {
        let y = observe(&f_star, rng);
        Regression { design, f_star, y, kernel, ridge }
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
        let (x, ridge) = (self.design.points(), self.ridge);
        let k = KernelMatrix::new(self.kernel, x)?;
        Ok(match method {
            m if m == UNIFORM || m == FULL => vec![1.0; x.len()],
            m if m == RC => RecursiveRls::default().scores(&k, ridge, rng)?,
            m if m == RC_CAPPED => {
                RecursiveRlsOfSize { size: cap, accelerated: false }.scores(&k, ridge, rng)?
            }
            m if m == BLESS => Bless::default().scores(&k, ridge, rng)?,
            m if m == BLESS_CAPPED => {
                let path = Bless { max_size: cap, ..Bless::default() }.path(&k, ridge, rng)?;
                match path.levels.last().filter(|level| !level.dictionary.is_empty()) {
                    Some(level) => Projector::new(&k, &level.dictionary, ridge)?
                        .scores(&k, (0..x.len()).into())?,
                    None => vec![1.0; x.len()],
                }
            }
            m if m == EXACT => exact_scores(&k, ridge)?.scores,
            spectral => self.spectral(spectral)?,
        })
    }

    fn spectral(&self, method: Method) -> anyhow::Result<Vec<f64>> {
        let estimated =
            |method| Density::Estimated(KernelDensity { method, ..KernelDensity::default() });
        let density = match method {
            m if m == SA_GRID => estimated(DensityMethod::Binned),
            m if m == SA_TREE => estimated(DensityMethod::Tree { tolerance: 0.05 }),
            m if m == SA_TUNED => Density::Estimated(tuned(self.design.points())?),
            m if m == SA_TRUE => Density::Given(&self.design.density),
            _ => estimated(DensityMethod::Auto),
        };
        let guard = if method == SA_AVERAGED {
            Guard::LocalAverage { quantile: 0.05 }
        } else {
            Guard::None
        };
        Ok(SpectralAnalysis { density, guard }
            .scores(&self.kernel, self.design.points(), self.ridge)?
            .scores)
    }

    /// (1/n) Σ (f̂(x_i) − f*(x_i))² of Nyström KRR on `draws` landmarks drawn with replacement in
    /// proportion to `scores`.
    ///
    /// # Randomness
    /// The draws.
    pub fn error(&self, scores: &[f64], draws: usize, rng: &mut dyn Rng) -> anyhow::Result<f64> {
        let landmarks = Landmarks::draw(scores, draws, Draw::WithReplacement, rng)?;
        let x = self.design.points();
        let model =
            NystromKrr::new(self.kernel, self.ridge).fit((x, self.y.as_ref()), &landmarks)?;
        Ok(mse(model.predict(x)?.as_ref(), self.f_star.as_ref())?)
    }

    /// The same of exact KRR.
    pub fn full_error(&self) -> anyhow::Result<f64> {
        let x = self.design.points();
        let model = ExactKrr::new(self.kernel, self.ridge).fit((x, self.y.as_ref()))?;
        Ok(mse(model.predict(x)?.as_ref(), self.f_star.as_ref())?)
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
