//! A metric learned from gradients: the average gradient outer product.

mod map;
mod sample;
mod search;

pub use map::{LinearMap, MetricForm};

use crate::input::Samples;
use faer::{Mat, MatRef};
use nystrom_kernels::{DifferentiableKernel, Points, median_heuristic};
use nystrom_linalg_core::{Result, Scalar, validate};
use rand::Rng;
use sample::Sample;
use search::Fit;

/// Pairs of points that a median distance is taken of.
const PAIRS: usize = 1000;
/// The exponent of λ that the first search starts from.
const START: i32 = -4;

/// Learns a linear map A, so that regression with a kernel of ‖A(x − y)‖ has the smallest error it
/// finds: directions that the target depends on are stretched, those it does not vanish.
///
/// ```text
/// A₀ = I;   fit f to y with the kernel κ(‖A(x − y)‖/ℓ);
///     M = (1/n) Σ_i ∇f(x_i)∇f(x_i)ᵀ;   next A = M^{p/2}, scaled to tr A² = d.
/// ```
///
/// f is Nyström regression, ℓ a multiple of the median distance after A, λ the best power of 10 by
/// exact leave-one-out errors at a sample of rows. What is returned is the A with the smallest such
/// error. Features should have comparable scales, as after standardising; several targets are
/// standardised and their outer products added.
///
/// The metric is a map applied to the points once: any kernel and any fit can follow it.
///
/// # Cost
/// For n = `fit_rows`, m = `landmarks`, v = `judged_rows`, g = `gradient_rows`: a fit takes nm + m²
/// + vm kernel values and 2nm² + m³/3 flops, and m³/3 + m²v flops for each of 3 to 10 ridges; a
/// gradient gm slopes and 2gm(d + 1)t flops. There are `iterations` + 2(`multiples` − 1) fits.
/// Memory: 6m² + vm numbers and some tiles. The bits do not depend on the number of threads.
///
/// # Source
/// A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, *Mechanism for feature learning in
/// neural networks and backpropagation-free machine learning models*, Science 383, 2024 (Recursive
/// Feature Machines). Departures: Nyström regression in the place of exact one, the damped power
/// p = ½ by default where theirs is 1, and λ and ℓ chosen anew.
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
/// let metric = LearnedMetric { landmarks: 100, ..LearnedMetric::default() };
/// let points = Points::from_rows(x.as_ref());
/// let found = metric.learn(&Matern32::new, points, y.as_ref(), &mut rng)?;
/// let A = found.map.matrix();
/// assert!(A[(2, 2)] < 0.3 * A[(0, 0)] && A[(0, 1)] > 0.3 * A[(0, 0)]);
/// let mapped = found.map.apply(points)?; // d × n
/// let kernel = Matern32::new(found.length_scale)?; // for the points in `mapped`
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LearnedMetric {
    /// Diagonal or full A.
    pub form: MetricForm,
    /// p > 0: 1 is that of the source, ½ is damped.
    pub power: f64,
    /// Most maps tried, the identity being the first.
    pub iterations: usize,
    /// Maps in a row without a smaller error before it stops.
    pub patience: usize,
    /// m, the centres of a fit, drawn uniformly.
    pub landmarks: usize,
    /// Rows of a fit, drawn uniformly.
    pub fit_rows: usize,
    /// Of these, rows whose leave-one-out errors are taken.
    pub judged_rows: usize,
    /// Of these, rows whose gradients are taken.
    pub gradient_rows: usize,
    /// Multiples of the median distance that ℓ is tried at, with the first map and with the last;
    /// the others take what was best.
    pub multiples: Vec<f64>,
}

impl Default for LearnedMetric {
    /// Full form, p = ½, 5 maps, 1000 centres, 20,000 rows, multiples ½, 1 and 2.
    fn default() -> Self {
        LearnedMetric {
            form: MetricForm::Full,
            power: 0.5,
            iterations: 5,
            patience: 2,
            landmarks: 1000,
            fit_rows: 20_000,
            judged_rows: 2000,
            gradient_rows: 6000,
            multiples: vec![0.5, 1.0, 2.0],
        }
    }
}

/// What [`LearnedMetric::learn`] found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MetricFit {
    /// A, to be applied to the points before the kernel.
    pub map: LinearMap,
    /// M of the fit in this metric, d × d, by the features before the map.
    pub agop: Mat<f64>,
    /// The steps, the identity being the first.
    pub history: Vec<MetricStep>,
    /// Which of them it is.
    pub best: usize,
    /// ℓ there, after the map.
    pub length_scale: f64,
    /// λ there.
    pub lambda: f64,
    /// The leave-one-out RMSE there, in standard deviations of the target (of several targets, the
    /// root of the sum of squares).
    pub error: f64,
}

/// One map tried.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MetricStep {
    /// The leave-one-out RMSE, in standard deviations of the target.
    pub error: f64,
    /// ℓ, after the map.
    pub length_scale: f64,
    /// ℓ over the median distance after the map.
    pub multiple: f64,
    /// λ.
    pub lambda: f64,
}

impl LearnedMetric {
    /// The map for the n points `x` and targets y (n × t), with kernels that `family` makes of a
    /// length scale, such as `&Matern32::new`; k(x, x) should be 1.
    ///
    /// # Randomness
    /// The rows drawn, in one order that all samples are prefixes of; 2000 integers for each map.
    ///
    /// # Errors
    /// Those of [`NystromKrr::fit`](crate::NystromKrr::fit) for `x` and y; `InvalidParameter` for
    /// settings out of range, for targets of which none varies, and for points that are all equal
    /// or a single one; what `family` returns.
    pub fn learn<T: Scalar, K: DifferentiableKernel<f64> + Clone>(
        &self,
        family: &dyn Fn(f64) -> Result<K>,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        rng: &mut dyn Rng,
    ) -> Result<MetricFit> {
        self.learn_from(family, Samples { x, y, weights: None }, rng)
    }

    /// As [`learn`](Self::learn) with one weight w_i ≥ 0 per sample.
    ///
    /// # Errors
    /// As [`learn`](Self::learn); `Shape` or `InvalidWeight` for wrong weights.
    pub fn learn_weighted<T: Scalar, K: DifferentiableKernel<f64> + Clone>(
        &self,
        family: &dyn Fn(f64) -> Result<K>,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        sample_weights: &[T],
        rng: &mut dyn Rng,
    ) -> Result<MetricFit> {
        self.learn_from(family, Samples { x, y, weights: Some(sample_weights) }, rng)
    }

    fn learn_from<T: Scalar, K: DifferentiableKernel<f64> + Clone>(
        &self,
        family: &dyn Fn(f64) -> Result<K>,
        data: Samples<'_, T>,
        rng: &mut dyn Rng,
    ) -> Result<MetricFit> {
        self.check()?;
        data.check_values()?;
        let sample = Sample::draw(data, self, rng)?;
        let mut map = LinearMap::identity(self.form, data.x.dim())?; //    A₀ = I
        let mut next = (START, self.multiples.clone());
        let (mut history, mut best): (Vec<MetricStep>, Option<MetricFit>) = (vec![], None);
        for iteration in 0..self.iterations {
            let mapped = map.apply(Points::from_cols(sample.x.as_ref()))?; // Ax
            let x = Points::from_cols(mapped.as_ref());
            if iteration + 1 == self.iterations {
                next.1 = self.multiples.clone();
            }
            let (fit, step) = self.best_fit(family, &sample, x, &next, rng)?; // f
            let gradients = x.slice(0..self.gradient_rows.min(sample.len()));
            let agop = fit.model.weighted_outer_product(gradients, &sample.weights)?;
            let agop = map.pull_back(&agop); //                            M
            let following = LinearMap::of_gradients(self.form, &agop, self.power)?; // M^{p/2}
            next = (fit.exponent, vec![step.multiple]);
            history.push(step);
            if best.as_ref().is_none_or(|best| step.error < best.error) {
                best = Some(MetricFit::at(map, agop, step, iteration));
            }
            let stale = best.as_ref().map_or(0, |best| iteration - best.best);
            map = match following {
                Some(map) if stale < self.patience => map,
                _ => break,
            };
        }
        Ok(MetricFit { history, ..best.expect("at least one iteration") })
    }

    /// The best fit at a few multiples of the median distance.
    fn best_fit<K: DifferentiableKernel<f64> + Clone>(
        &self,
        family: &dyn Fn(f64) -> Result<K>,
        sample: &Sample,
        x: Points<'_, f64>,
        (start, multiples): &(i32, Vec<f64>),
        rng: &mut dyn Rng,
    ) -> Result<(Fit<K>, MetricStep)> {
        let median = median_heuristic(x, PAIRS, rng)?;
        let sizes = [self.landmarks.min(sample.len()), self.judged_rows.min(sample.len())];
        let mut best: Option<(Fit<K>, MetricStep)> = None;
        for &multiple in multiples {
            let length_scale = multiple * median;
            let fit = search::fit(family(length_scale)?, sample, x, sizes, *start)?;
            let (error, lambda) = (fit.error, 10_f64.powi(fit.exponent));
            if best.as_ref().is_none_or(|(best, _)| error < best.error) {
                best = Some((fit, MetricStep { error, length_scale, multiple, lambda }));
            }
        }
        Ok(best.expect("at least one multiple"))
    }

    fn check(&self) -> Result<()> {
        validate::positive("power", self.power)?;
        validate::not_empty("iterations", self.iterations)?;
        validate::not_empty("landmarks", self.landmarks)?;
        validate::not_empty("rows of a fit", self.fit_rows)?;
        validate::not_empty("rows whose errors are taken", self.judged_rows)?;
        validate::not_empty("rows whose gradients are taken", self.gradient_rows)?;
        validate::not_empty("multiples of the median distance", self.multiples.len())?;
        self.multiples
            .iter()
            .try_for_each(|&multiple| validate::positive("multiple of the median", multiple))
    }
}

impl MetricFit {
    fn at(map: LinearMap, agop: Mat<f64>, step: MetricStep, best: usize) -> Self {
        let MetricStep { error, length_scale, lambda, .. } = step;
        MetricFit { map, agop, history: vec![], best, length_scale, lambda, error }
    }
}
