//! A metric learned from gradients: the average gradient outer product.

mod map;
mod sample;
mod steps;

pub use map::{LinearMap, MetricForm};
pub use steps::MetricPath;

use crate::data::Part;
use crate::{FullPath, IterativeOptions, KrrModel, Problem};
use faer::Mat;
use nystrom_kernels::{DifferentiableKernel, Points, median_heuristic, median_manhattan_heuristic};
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use rand::Rng;

/// Pairs of points that a median distance is taken of.
const PAIRS: usize = 1000;
/// nλ of the fits with the first map.
const DECADES: [f64; 6] = [1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4];
/// nλ of the fits with a later map, in units of the best with the map before.
const NEAR: [f64; 5] = [10.0, 3.0, 1.0, 0.3, 0.1];
/// A low accuracy of the fits is enough to compare metrics. The kernel matrix of the sample is
/// stored.
const OPTIONS: IterativeOptions =
    IterativeOptions { tolerance: 1e-4, max_iterations: 45, memory: Some(u64::MAX) };

/// The distance whose median a length scale is a multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MetricDistance {
    /// ‖x − y‖.
    #[default]
    Euclidean,
    /// ‖x − y‖₁, for kernels of it.
    Manhattan,
}

/// Learns a linear map A for regression with a kernel of ‖A(x − y)‖. Of the maps tried, it returns
/// the one with the smallest error. A stretches directions on which the target depends, and shrinks
/// the others.
///
/// ```text
/// A₀ = I;   fit f to y with the kernel κ(‖A(x − y)‖/ℓ);
///     M = (1/n) Σ_i ∇f(x_i)∇f(x_i)ᵀ;   next A = M^{p/2}, scaled to tr A² = d.
/// ```
///
/// f is kernel ridge regression on a sample of rows, all of which are centres ([`FullPath`]). ℓ is
/// a multiple of the median distance after A. With the first map, nλ is the best of the six decades
/// from 10 to 10⁻⁴; with a later map, the best of five values near the last. ℓ, nλ and A are chosen
/// by the error at rows held out of fits and gradients, because the error at rows that determined A
/// is too small. At the end ℓ is searched again for the best A. Features should have comparable
/// scales, as after standardising. Several targets are standardised, and their outer products
/// added.
///
/// The map is applied to the points once; any kernel and any fit can follow. The diagonal form also
/// suits kernels of the L1 distance. [`steps`](Self::steps) has the same steps for other fits of f.
///
/// # Cost
/// With n = `fit_rows` and h = `held_rows`, a fit is a [`FullPath`] at 6 ridges, later 5, with a
/// tolerance of 1e-4, at most 45 iterations and one triangle of K stored. The gradients at
/// g = `gradient_rows` take gn slopes and 2gn(d + 1)t flops for each map. There are at most
/// `iterations` maps, and 2(`multiples` − 1) more fits. Memory: n²/2 + hn numbers and those of the
/// preconditioner, whose rank is at most n/5; n × n by definition.
///
/// # Source
/// A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, *Mechanism for feature learning in
/// neural networks and backpropagation-free machine learning models*, Science 383, 2024 (Recursive
/// Feature Machines). Departures: a sample of rows, and λ chosen anew for each map; damped powers
/// p < 1.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Matern32, Points};
/// use nystrom_krr::LearnedMetric;
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let x = random::standard_normal::<f64>(400, 3, &mut rng); // n × d
/// let y = Mat::from_fn(400, 1, |i, _| (x[(i, 0)] + x[(i, 1)]).sin()); // the third is noise
/// let points = Points::from_rows(x.as_ref());
/// let found = LearnedMetric::default().learn(&Matern32::new, (points, &y), &mut rng)?;
/// let A = found.map.matrix();
/// assert!(A[(2, 2)] < 0.3 * A[(0, 0)] && A[(0, 1)] > 0.3 * A[(0, 0)]);
/// let mapped = found.map.apply(points)?; // d × n
/// let kernel = Matern32::new(found.length_scale())?; // for the points in `mapped`
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LearnedMetric {
    /// Diagonal or full A.
    pub form: MetricForm,
    /// A₀, found with another kernel perhaps; the identity if `None`.
    pub start: Option<LinearMap>,
    /// p > 0: 1 is that of the source, ½ is damped. Which is better depends on the data.
    pub power: f64,
    /// Most maps tried, `start` being the first.
    pub iterations: usize,
    /// Maps in a row that do not lower the error by `tolerance` before it stops.
    pub patience: usize,
    /// A map counts as an improvement if it lowers the error by more than this share.
    pub tolerance: f64,
    /// Rows of a fit, drawn uniformly: all of them are centres.
    pub fit_rows: usize,
    /// Other rows, at which errors are computed; at most a fifth of all rows.
    pub held_rows: usize,
    /// The number of rows of a fit whose gradients are computed.
    pub gradient_rows: usize,
    /// Which distance ℓ is measured in.
    pub distance: MetricDistance,
    /// Multiples of the median distance that are tried as ℓ, with the first map, and at the end
    /// with the best map. Maps between use the best multiple of the first map.
    pub multiples: Vec<f64>,
}

impl Default for LearnedMetric {
    /// Full form, p = 1, at most 8 maps, 3000 rows and 1000 held out, multiples ½, 1 and 2 of
    /// Euclidean distances.
    fn default() -> Self {
        LearnedMetric {
            form: MetricForm::Full,
            start: None,
            power: 1.0,
            iterations: 8,
            patience: 2,
            tolerance: 0.002,
            fit_rows: 3000,
            held_rows: 1000,
            gradient_rows: 3000,
            distance: MetricDistance::Euclidean,
            multiples: vec![0.5, 1.0, 2.0],
        }
    }
}

/// The result of [`LearnedMetric::learn`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct MetricFit {
    /// A, which the caller applies to the points before the kernel.
    pub map: LinearMap,
    /// M of the fit in this metric, d × d, by the features before the map.
    pub agop: Mat<f64>,
    /// The maps tried; the best is one of them.
    history: Vec<MetricStep>,
    best: usize,
}

/// One map tried.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MetricStep {
    /// The RMSE at the rows held out, in standard deviations of the target.
    pub error: f64,
    /// ℓ, after the map.
    pub length_scale: f64,
    /// ℓ over the median distance after the map.
    pub multiple: f64,
    /// nλ; about the same number suits fits to more rows.
    pub ridge: f64,
}

impl LearnedMetric {
    /// The map for the points and targets of `problem`, with kernels that `family` makes of a
    /// length scale, such as `&Matern32::new`. k(x, x) should be 1. Rows of weight 0 are left out.
    ///
    /// # Randomness
    /// One bounded integer for each row drawn; for each map 2000 bounded integers, and the draws of
    /// [`RpCholesky`](nystrom_sketch::RpCholesky) for each fit.
    ///
    /// # Errors
    /// Those of [`FullPath::fit`] for the problem, and what `family` returns.
    /// `Shape` if `start` is a map of another dimension. `InvalidParameter` for settings out of
    /// range, for targets of which none varies, and for points that are all equal or a single one.
    pub fn learn<'a, T: Scalar, K: DifferentiableKernel<f64>>(
        &self,
        family: &dyn Fn(f64) -> Result<K>,
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<MetricFit> {
        let data = problem.into();
        self.check()?;
        data.x.check_dense()?;
        data.check_targets()?;
        let [sample, held] = sample::draw(data, self, rng)?;
        let start = match &self.start {
            Some(map) => map.clone(),
            None => LinearMap::identity(self.form, data.x.dim())?, //        A₀ = I
        };
        let (ridges, multiples) = (DECADES.to_vec(), self.multiples.clone());
        let mut fits = Fits { metric: self, family, sample, held, ridges, multiples };
        let mut tried: Vec<Trial> = vec![];
        let path = self.steps(
            &mut tried,
            start,
            |tried, map| {
                tried.push(fits.trial(map, rng)?);
                Ok(tried.last().map(|trial| (trial.step.error, trial.agop.clone())))
            },
            |_, _, M| LinearMap::of_gradients(self.form, self.power, M.as_ref()),
        )?;
        let errors = path.tried.iter().map(|(_, error)| *error).enumerate();
        let (at, _) = errors.reduce(|a, b| if b.1 < a.1 { b } else { a }).expect("a map was tried");
        let best = tried[at].step;
        fits.multiples = self.multiples.iter().copied().filter(|&m| m != best.multiple).collect();
        if at > 0 && !fits.multiples.is_empty() {
            fits.ridges = NEAR.map(|factor| factor * best.ridge).to_vec();
            let last = fits.trial(&path.tried[at].0, rng)?;
            if last.step.error < best.error {
                tried[at] = last;
            }
        }
        let history = tried.iter().map(|trial| trial.step).collect();
        let (map, agop) = (path.tried[at].0.clone(), tried.swap_remove(at).agop);
        Ok(MetricFit { map, agop, history, best: at })
    }

    fn check(&self) -> Result<()> {
        validate::positive("power", self.power)?;
        validate::not_empty("iterations", self.iterations)?;
        validate::not_empty("rows of a fit", self.fit_rows)?;
        validate::not_empty("rows held out", self.held_rows)?;
        validate::not_empty("rows whose gradients are taken", self.gradient_rows)?;
        validate::not_empty("multiples of the median distance", self.multiples.len())?;
        self.multiples
            .iter()
            .try_for_each(|&multiple| validate::positive("multiple of the median", multiple))
    }
}

/// Fits of the sample, one map after the other.
struct Fits<'a, K> {
    metric: &'a LearnedMetric,
    family: &'a dyn Fn(f64) -> Result<K>,
    sample: Part<f64>,
    held: Part<f64>,
    /// nλ and multiples of the median distance for the next map.
    ridges: Vec<f64>,
    multiples: Vec<f64>,
}

/// The best of the fits with a map.
struct Trial {
    step: MetricStep,
    /// M, by the features before the map.
    agop: Mat<f64>,
}

impl<K: DifferentiableKernel<f64>> Fits<'_, K> {
    /// The best fit after a map at the multiples and ridges, and M. The next map takes that
    /// multiple, and ridges near that one.
    fn trial(&mut self, map: &LinearMap, rng: &mut dyn Rng) -> Result<Trial> {
        let (train, valid) = (self.sample.problem(), self.held.problem());
        let (x, at) = (map.apply(train.x)?, map.apply(valid.x)?); //            Ax
        let train = Problem { x: Points::from_cols(x.as_ref()), ..train };
        let valid = Problem { x: Points::from_cols(at.as_ref()), ..valid };
        let median = match self.metric.distance {
            MetricDistance::Euclidean => median_heuristic(train.x, PAIRS, rng)?,
            MetricDistance::Manhattan => median_manhattan_heuristic(train.x, PAIRS, rng)?,
        };
        let ridges: Vec<_> = self.ridges.iter().copied().map(Ridge::Absolute).collect();
        let kernels = self.multiples.iter().map(|multiple| (self.family)(multiple * median));
        let kernels = kernels.collect::<Result<Vec<K>>>()?;
        let mut best: Option<(KrrModel<&K, f64>, MetricStep)> = None;
        for (kernel, &multiple) in kernels.iter().zip(&self.multiples) {
            let path = FullPath { options: OPTIONS, ..FullPath::new(kernel, &ridges) };
            let found = path.fit(train, valid, rng)?; //                        f
            // of several targets, the root of the sum of squares
            let error = (train.y.ncols() as f64).sqrt() * found.errors[found.best];
            let (length_scale, ridge) = (multiple * median, found.ridges[found.best]);
            if best.as_ref().is_none_or(|(_, best)| error < best.error) {
                let step = MetricStep { error, length_scale, multiple, ridge };
                best = Some((found.fit.model, step));
            }
        }
        let (model, step) = best.expect("at least one multiple");
        let g = self.metric.gradient_rows.min(train.x.len());
        let Problem { x, weights, .. } = train.slice(0..g);
        let M = model.weighted_outer_product(x, weights.unwrap_or_default())?;
        let agop = map.pull_back(M.as_ref())?;
        self.multiples = vec![step.multiple];
        self.ridges = NEAR.map(|factor| factor * step.ridge).to_vec();
        Ok(Trial { step, agop })
    }
}

impl MetricFit {
    /// The maps tried, `start` being the first.
    pub fn history(&self) -> &[MetricStep] {
        &self.history
    }

    /// The index of `map` among the [maps tried](Self::history).
    pub fn best(&self) -> usize {
        self.best
    }

    /// ℓ, after the map.
    pub fn length_scale(&self) -> f64 {
        self.history[self.best].length_scale
    }

    /// nλ.
    pub fn ridge(&self) -> f64 {
        self.history[self.best].ridge
    }

    /// The RMSE at the rows held out, in standard deviations of the target (of several targets, the
    /// root of the sum of squares).
    pub fn error(&self) -> f64 {
        self.history[self.best].error
    }
}
