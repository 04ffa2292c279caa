//! Regression on the bimodal design with landmarks drawn by each method's scores: what Figures 1 and 3 of Chen & Yang 2021 share.

use std::f64::consts::PI;
use std::time::Instant;

use nystrom::faer::Mat;
use nystrom::kernels::{Kernel, KernelMatrix, Points};
use nystrom::krr::{ExactKrr, NystromKrr, metrics::mse};
use nystrom::leverage::{
    Bandwidth, Bless, Density, DensityMethod, Guard, KernelDensity, RecursiveRls, RidgeLeverage, SpectralAnalysis,
    Stationary, exact_scores,
};
use nystrom::linalg_core::Ridge;
use nystrom::sketch::{Draw, Landmarks};
use rand::Rng;

use super::bimodal_problem::{BimodalPoints, observe};
use super::statistics::{mean_and_error, quantile};

/// Where the scores come from that landmarks are drawn by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// All equal: "Vanilla".
    Uniform,
    /// Recursive-RLS at the fixed ridge: "RC".
    Recursive,
    /// BLESS.
    Bless,
    /// SA with a density estimated on a grid.
    SpectralGrid,
    /// SA with a density estimated by a k-d tree, as in the paper.
    SpectralTree,
    /// SA with an estimated density (method by size), averaged locally where it is lowest.
    SpectralAverage,
    /// SA with an estimated density whose bandwidth has the largest leave-one-out likelihood, whatever the dimension.
    SpectralTuned,
    /// SA with the true density of the design.
    SpectralTrue,
    /// Exact scores, n × n.
    Exact,
    /// No landmarks at all: exact KRR, n × n.
    FullKrr,
}

impl Method {
    /// Name in legends and tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Uniform => "uniform (Vanilla)",
            Method::Recursive => "Recursive-RLS (RC)",
            Method::Bless => "BLESS",
            Method::SpectralGrid => "SA, grid density",
            Method::SpectralTree => "SA, tree density",
            Method::SpectralAverage => "SA, low densities averaged",
            Method::SpectralTuned => "SA, tuned density",
            Method::SpectralTrue => "SA, true density",
            Method::Exact => "exact scores",
            Method::FullKrr => "exact KRR",
        }
    }

    /// Style in plots.
    pub fn style(self) -> &'static str {
        match self {
            Method::Uniform => "uniform",
            Method::Recursive => "recursive",
            Method::Bless => "bless",
            Method::SpectralGrid | Method::SpectralTuned => "spectral",
            Method::SpectralTree => "spectral-tree",
            Method::SpectralAverage => "spectral-average",
            Method::SpectralTrue => "spectral-true",
            Method::Exact => "leverage",
            Method::FullKrr => "exact",
        }
    }
}

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
    pub fn new(design: BimodalPoints, f_star: Mat<f64>, kernel: K, ridge: Ridge<f64>, rng: &mut dyn Rng) -> Self {
        let y = observe(&f_star, rng);
        Regression { design, f_star, y, kernel, ridge }
    }

    /// x_1, …, x_n.
    pub fn points(&self) -> Points<'_, f64> {
        self.design.points()
    }

    /// The scores of a method and the seconds they took; for [`Method::FullKrr`] there are none.
    ///
    /// # Randomness
    /// That of the method.
    pub fn scores(&self, method: Method, rng: &mut dyn Rng) -> anyhow::Result<(Vec<f64>, f64)> {
        let (x, ridge) = (self.design.points(), self.ridge);
        let k = KernelMatrix::new(self.kernel, x)?;
        let start = Instant::now();
        let scores = match method {
            Method::Uniform | Method::FullKrr => vec![1.0; x.len()],
            Method::Recursive => RecursiveRls::default().scores(&k, ridge, rng)?,
            Method::Bless => Bless::default().scores(&k, ridge, rng)?,
            Method::Exact => exact_scores(&k, ridge)?.scores,
            spectral => self.spectral(spectral)?,
        };
        Ok((scores, start.elapsed().as_secs_f64()))
    }

    fn spectral(&self, method: Method) -> anyhow::Result<Vec<f64>> {
        let estimated = |method| Density::Estimated(KernelDensity { method, ..KernelDensity::default() });
        let density = match method {
            Method::SpectralGrid => estimated(DensityMethod::Binned),
            Method::SpectralTree => estimated(DensityMethod::Tree { tolerance: 0.05 }),
            Method::SpectralTuned => Density::Estimated(tuned(self.design.points())?),
            Method::SpectralTrue => Density::Given(&self.design.density),
            _ => estimated(DensityMethod::Auto),
        };
        let guard = match method {
            Method::SpectralAverage => Guard::LocalAverage { quantile: 0.05 },
            _ => Guard::None,
        };
        Ok(SpectralAnalysis { density, guard }.scores(&self.kernel, self.design.points(), self.ridge)?.scores)
    }

    /// (1/n) Σ (f̂(x_i) − f*(x_i))² of Nyström KRR on `draws` landmarks drawn with replacement in proportion to `scores`.
    ///
    /// # Randomness
    /// The draws.
    pub fn error(&self, scores: &[f64], draws: usize, rng: &mut dyn Rng) -> anyhow::Result<f64> {
        let landmarks = Landmarks::draw(scores, draws, Draw::WithReplacement, rng)?;
        let x = self.design.points();
        let model = NystromKrr::new(self.kernel, self.ridge).fit(x, self.y.as_ref(), &landmarks)?;
        Ok(mse(model.predict(x)?.as_ref(), self.f_star.as_ref())?)
    }

    /// The same of exact KRR.
    pub fn full_error(&self) -> anyhow::Result<f64> {
        let x = self.design.points();
        let model = ExactKrr::new(self.kernel, self.ridge).fit(x, self.y.as_ref())?;
        Ok(mse(model.predict(x)?.as_ref(), self.f_star.as_ref())?)
    }
}

/// Bandwidths tried by [`tuned`], in standard deviations of the features.
const BANDWIDTHS: [f64; 9] = [0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0];

/// The density estimate whose bandwidth maximises Σ_i ln p̂_{−i}(x_i), p̂_{−i} the estimate from the other points.
///
/// Points are compared all with all, and nothing is refused: in many dimensions the winner says little, but it is the best there is.
fn tuned(x: Points<'_, f64>) -> anyhow::Result<KernelDensity> {
    let (n, d) = (x.len() as f64, x.dim());
    let spread = |k: usize| {
        let mean = (0..x.len()).map(|i| x.coordinate(i, k)).sum::<f64>() / n;
        ((0..x.len()).map(|i| (x.coordinate(i, k) - mean).powi(2)).sum::<f64>() / n).sqrt()
    };
    let ln_volume: f64 = (0..d).map(|k| spread(k).ln()).sum();
    let mut best = (f64::NEG_INFINITY, None);
    for h in BANDWIDTHS {
        let estimate = KernelDensity { bandwidth: Bandwidth::Fixed(h), method: DensityMethod::Exact };
        let alone = (-n.ln() - 0.5 * d as f64 * (2.0 * PI * h * h).ln() - ln_volume).exp(); // a point's own share
        let others = |p: f64| ((p - alone) * n / (n - 1.0)).max(f64::MIN_POSITIVE);
        let likelihood: f64 = estimate.density(x)?.into_iter().map(|p| others(p).ln()).sum();
        if likelihood > best.0 {
            best = (likelihood, Some(estimate));
        }
    }
    best.1.ok_or_else(|| anyhow::anyhow!("no bandwidth has a finite likelihood"))
}

/// What one method did at one n.
#[derive(Default, Clone)]
pub struct Runs {
    /// Time of the scores, one per draw of the problem.
    pub seconds: Vec<f64>,
    /// In-sample error, one per draw of the problem: the mean over the draws of landmarks.
    pub errors: Vec<f64>,
}

impl Runs {
    /// The median time; NaN without runs.
    pub fn median_seconds(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.5)
    }

    /// Mean error and its standard error; NaN without runs.
    pub fn mean_error(&self) -> (f64, f64) {
        mean_and_error(&self.errors)
    }
}
