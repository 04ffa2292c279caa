//! A metric learned from gradients: the average gradient outer product.

mod map;
mod sample;
mod search;

pub use map::{LinearMap, MetricForm};

use crate::Problem;
use faer::Mat;
use nystrom_kernels::{DifferentiableKernel, Points, median_heuristic, median_manhattan_heuristic};
use nystrom_linalg_core::{Result, Scalar, validate};
use rand::Rng;
use sample::Sample;
use search::Fit;

/// Pairs of points that a median distance is taken of.
const PAIRS: usize = 1000;
/// The step of the grid of ridges that the first search starts from: nλ = 10^(−½).
const START: i32 = -1;

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

/// Learns a linear map A, so that regression with a kernel of ‖A(x − y)‖ has the smallest error it
/// finds. Directions that the target depends on are stretched; those it does not depend on vanish.
///
/// ```text
/// A₀ = I;   fit f to y with the kernel κ(‖A(x − y)‖/ℓ);
///     M = (1/n) Σ_i ∇f(x_i)∇f(x_i)ᵀ;   next A = M^{p/2}, scaled to tr A² = d.
/// ```
///
/// f is exact kernel ridge regression on a sample of rows. ℓ is a multiple of the median distance
/// after A, nλ the best half power of 10. All are chosen by the error at rows held out of fits and
/// gradients: those that taught a metric flatter it. What is returned is the A with the smallest
/// such error, with ℓ searched once more. Features should have comparable scales, as after
/// standardising; several targets are standardised and their outer products added.
///
/// The metric is a map applied to the points once: any kernel and any fit can follow it. With the
/// diagonal form it suits kernels of the L1 distance as well.
///
/// # Cost
/// With n = `fit_rows`, h = `held_rows` and g = `gradient_rows`: n² + hn kernel values a fit and
/// n³/3 flops for each ridge tried. Those are 3 to 5 about the best of the map before. The first
/// map walks from nλ = 10^(−½) to its best, half a decade a step, 17 steps at most. A map takes gn
/// slopes and 2gn(d + 1)t flops for its gradients. At most `iterations` maps and 2(`multiples` − 1)
/// more fits. Memory: 2n² + hn numbers, n × n by definition.
///
/// # Source
/// A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, *Mechanism for feature learning in
/// neural networks and backpropagation-free machine learning models*, Science 383, 2024 (Recursive
/// Feature Machines). Departures: a sample of rows, and λ and ℓ chosen anew for each map; damped
/// powers p < 1.
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
    /// The part of the error, 0.005 say, that a map must take away to be worth another one.
    pub tolerance: f64,
    /// Rows of a fit, drawn uniformly: all of them are centres.
    pub fit_rows: usize,
    /// Rows beside them that errors are taken at; at most a fifth of all.
    pub held_rows: usize,
    /// Of the rows of a fit, rows whose gradients are taken.
    pub gradient_rows: usize,
    /// Which distance ℓ is measured in.
    pub distance: MetricDistance,
    /// Multiples of the median distance that ℓ is tried at, with the first map and in the end with
    /// the best. Maps between take the one that was best with the first.
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

/// What [`LearnedMetric::learn`] found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct MetricFit {
    /// A, to be applied to the points before the kernel.
    pub map: LinearMap,
    /// M of the fit in this metric, d × d, by the features before the map.
    pub agop: Mat<f64>,
    /// The maps tried, `start` being the first.
    pub history: Vec<MetricStep>,
    /// Which of them it is.
    pub best: usize,
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
    /// nλ, a number that keeps about its meaning for more rows.
    pub ridge: f64,
}

impl LearnedMetric {
    /// The map for the points and targets of `problem`, with kernels that `family` makes of a
    /// length scale, such as `&Matern32::new`. k(x, x) should be 1. Rows of weight 0 are left out.
    ///
    /// # Randomness
    /// One bounded integer for each row drawn, and 2000 for each map.
    ///
    /// # Errors
    /// Those of [`ExactKrr::fit`](crate::ExactKrr::fit) for the problem, and what `family` returns.
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
        data.x.check()?;
        data.check_targets()?;
        let samples = Sample::draw(data, self, rng)?;
        let mut map = match &self.start {
            Some(map) => map.clone(),
            None => LinearMap::identity(self.form, data.x.dim())?, //        A₀ = I
        };
        let (mut start, mut multiples) = (START, self.multiples.clone());
        let (mut history, mut best) = (vec![], None::<(usize, LinearMap, Trial)>);
        let mut useful = (0, f64::INFINITY); // the last map that was, and its error
        for iteration in 0..self.iterations {
            let trial = self.trial(family, &samples, &map, (start, &multiples), rng)?;
            let (step, agop) = (trial.step, trial.agop.clone()); //          M
            history.push(step);
            (start, multiples) = (trial.grid_step, vec![step.multiple]);
            if step.error < (1.0 - self.tolerance) * useful.1 {
                useful = (iteration, step.error);
            }
            if best.as_ref().is_none_or(|(.., best)| step.error < best.step.error) {
                best = Some((iteration, map, trial));
            }
            map = match LinearMap::of_gradients(self.form, &agop, self.power)? {
                Some(map) if iteration - useful.0 < self.patience => map, // M^{p/2}
                _ => break,
            };
        }
        let (at, map, mut best) = best.expect("at least one iteration");
        multiples = self.multiples.iter().copied().filter(|&m| m != best.step.multiple).collect();
        if at > 0 && !multiples.is_empty() {
            let last = self.trial(family, &samples, &map, (best.grid_step, &multiples), rng)?;
            if last.step.error < best.step.error {
                best = last;
            }
        }
        history[at] = best.step;
        Ok(MetricFit { map, agop: best.agop, history, best: at })
    }

    /// The best fit after a map at a few length scales, and M.
    fn trial<K: DifferentiableKernel<f64>>(
        &self,
        family: &dyn Fn(f64) -> Result<K>,
        [sample, held]: &[Sample; 2],
        map: &LinearMap,
        (start, multiples): (i32, &[f64]),
        rng: &mut dyn Rng,
    ) -> Result<Trial> {
        let mapped = map.apply(Points::from_cols(sample.x.as_ref()))?; //    Ax
        let x = Points::from_cols(mapped.as_ref());
        let at = map.apply(Points::from_cols(held.x.as_ref()))?;
        let at = Points::from_cols(at.as_ref());
        let median = match self.distance {
            MetricDistance::Euclidean => median_heuristic(x, PAIRS, rng)?,
            MetricDistance::Manhattan => median_manhattan_heuristic(x, PAIRS, rng)?,
        };
        let mut best: Option<(Fit<K>, MetricStep)> = None;
        for &multiple in multiples {
            let length_scale = multiple * median;
            let kernel = family(length_scale)?;
            let fit = search::fit(kernel, (sample, x), (held, at), start)?; //   f
            let (error, ridge) = (fit.error, search::ridge(fit.step));
            if best.as_ref().is_none_or(|(best, _)| error < best.error) {
                best = Some((fit, MetricStep { error, length_scale, multiple, ridge }));
            }
        }
        let (fit, step) = best.expect("at least one multiple");
        let rows = self.gradient_rows.min(sample.len());
        let agop = fit.model.weighted_outer_product(x.slice(0..rows), &sample.weights[..rows])?;
        Ok(Trial { step, grid_step: fit.step, agop: map.pull_back(&agop) })
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

/// The best of the fits tried after a map.
struct Trial {
    step: MetricStep,
    /// Where it is on the grid of ridges.
    grid_step: i32,
    /// M, by the features before the map.
    agop: Mat<f64>,
}

impl MetricFit {
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
