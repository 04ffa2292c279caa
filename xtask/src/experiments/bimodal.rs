//! The bimodal design of Chen & Yang 2021: a cube that holds nearly all points, and a small
//! dense-edged cluster beside it. And regression on it, with landmarks drawn by each method's
//! scores (Figures 1 and 3) and with sketches.
//!
//! With probability n/(n + n^γ) a point is uniform on [0, 1]^d; otherwise its coordinates are
//! independent on [2, 2.5] with density 4(5 − 2t). So n^γ points or so, of n, lie where uniform
//! landmarks hardly come. The paper prints the second density as ∏(5 − 2x_j), which integrates to
//! 4^{−d}; it is normalised here.
//!
//! The targets are built from g(t) = 1.6·|(t − 0.4)(t − 0.6)| − t(t − 1)(t − 2) − 0.5; the noise is
//! N(0, 1/4). In the SA paper both are illegible; they are those of the same authors' paper on
//! accumulations of projections (2021), which has this very design.

use std::f64::consts::PI;

use nystrom::faer::Scale;
use nystrom::krr::metrics::mse;
use nystrom::leverage::{
    Bandwidth, Density, DensityMethod, Guard, KernelDensity, Projector, RecursiveRlsOfSize,
    Stationary,
};

use crate::lab::*;

/// Variance of the noise.
const NOISE: f64 = 0.25;

/// Points of the design, d × n, and their true density.
pub struct BimodalPoints {
    x: Mat<f64>,
    /// p(x_i).
    pub density: Vec<f64>,
}

impl BimodalPoints {
    /// n points in d = `dim` dimensions, of which about n^γ are in the small cluster.
    ///
    /// # Randomness
    /// For every point one uniform for its cluster and d for its coordinates.
    pub fn draw(n: usize, dim: usize, gamma: f64, rng: &mut dyn Rng) -> Self {
        let cluster = cluster_share(n, gamma);
        let mut x = Mat::zeros(dim, n);
        let mut density = Vec::with_capacity(n);
        for i in 0..n {
            let in_cluster = rng.random::<f64>() < cluster;
            let mut p = if in_cluster { cluster } else { 1.0 - cluster };
            for k in 0..dim {
                // in (0, 1]: the density is positive at every point drawn
                let u = 1.0 - rng.random::<f64>();
                x[(k, i)] = if in_cluster { 2.5 - 0.5 * u.sqrt() } else { u };
                p *= if in_cluster { 4.0 * u.sqrt() } else { 1.0 }; // 4(5 − 2t) = 4√u
            }
            density.push(p);
        }
        BimodalPoints { x, density }
    }

    /// The points.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_cols(self.x.as_ref())
    }

    /// f*(x) = g(‖x‖/d) at the points, n × 1.
    pub fn radial_truth(&self) -> Mat<f64> {
        let d = self.x.nrows() as f64;
        Mat::from_fn(self.x.ncols(), 1, |i, _| g(self.x.col(i).norm_l2() / d))
    }

    /// f*(x) = g(x_1) at the points, n × 1.
    pub fn first_coordinate_truth(&self) -> Mat<f64> {
        Mat::from_fn(self.x.ncols(), 1, |i, _| g(self.x[(0, i)]))
    }
}

/// n^γ/(n + n^γ).
fn cluster_share(n: usize, gamma: f64) -> f64 {
    let n = n as f64;
    n.powf(gamma) / (n + n.powf(gamma))
}

fn g(t: f64) -> f64 {
    1.6 * ((t - 0.4) * (t - 0.6)).abs() - t * (t - 1.0) * (t - 2.0) - 0.5
}

/// All scores equal.
pub const VANILLA: Method = UNIFORM.called("uniform (Vanilla)");
/// At the fixed ridge.
pub const RC: Method = RECURSIVE.called("Recursive-RLS (RC)");
/// Its sub-samples capped, as in the paper.
pub const RC_CAPPED: Method = RECURSIVE_SIZE.called("RC, capped");
/// Density on a grid; [`SPECTRAL_TREE`] has it by a k-d tree, as for the paper's Figure 2.
pub const SA_GRID: Method = SPECTRAL.called("SA, grid density");
/// The score averaged locally where the density is lowest.
pub const SA_AVERAGED: Method = SPECTRAL_AVERAGE.called("SA, low densities averaged");
/// No landmarks at all: exact KRR, n × n.
pub const FULL: Method = EXACT.called("exact KRR");

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
    /// Points of the design, from n, d and γ, and observations of f* at them.
    ///
    /// # Randomness
    /// The points, then one normal number for each.
    pub fn new(
        (n, dim, gamma): (usize, usize, f64),
        truth: fn(&BimodalPoints) -> Mat<f64>,
        kernel: K,
        lambda: f64,
        rng: &mut dyn Rng,
    ) -> Self {
        let design = BimodalPoints::draw(n, dim, gamma, rng);
        let f_star = truth(&design);
        let y = &f_star + Scale(NOISE.sqrt()) * random::standard_normal::<f64>(n, 1, rng);
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

    /// The scores of a method; capped ones are measured against at most `cap` rows.
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
            m if m == VANILLA => return Ok(vec![1.0; x.len()]),
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
            m if m == LEVERAGE => Box::new(Exact),
            m if m == SA_GRID => estimated(DensityMethod::Binned, Guard::None),
            m if m == SPECTRAL_TREE => {
                estimated(DensityMethod::Tree { tolerance: 0.05 }, Guard::None)
            }
            m if m == SPECTRAL_TUNED => spectral(Density::Estimated(tuned(x)?), Guard::None),
            m if m == SPECTRAL_TRUE => spectral(Density::Given(&self.design.density), Guard::None),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of the cluster and E[x | cluster] = 2 + 1/6 within five standard errors (false
    /// alarm below 1e-6 each).
    #[test]
    fn the_design_has_the_law_it_states() {
        let (n, share) = (20_000.0, cluster_share(20_000, 0.8));
        let drawn = BimodalPoints::draw(20_000, 2, 0.8, &mut Pcg64::seed_from_u64(1));
        let in_cluster: Vec<usize> = (0..20_000).filter(|&i| drawn.x[(0, i)] > 1.0).collect();
        let m = in_cluster.len() as f64;
        assert!((m / n - share).abs() < 5.0 * (share * (1.0 - share) / n).sqrt(), "{m}");
        let mean = in_cluster.iter().map(|&i| drawn.x[(0, i)]).sum::<f64>() / m;
        let deviation = 0.5 * (1.0_f64 / 18.0).sqrt(); // of 2.5 − ½√u
        assert!((mean - 13.0 / 6.0).abs() < 5.0 * deviation / m.sqrt(), "{mean}");
        let i = in_cluster[0];
        let by_formula: f64 = (0..2).map(|k| 4.0 * (5.0 - 2.0 * drawn.x[(k, i)])).product();
        assert!((drawn.density[i] / (share * by_formula) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn g_at_a_few_points() {
        for (t, value) in [(0.0, -0.116), (0.4, -0.884), (0.5, -0.859), (1.0, -0.116), (2.0, 3.084)]
        {
            assert!((g(t) - value).abs() < 1e-14, "{t}");
        }
    }
}
