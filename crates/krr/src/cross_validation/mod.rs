//! Choosing kernel and λ by k-fold cross-validation.

mod folds;
mod grid;
mod score;

pub use folds::Folds;
pub(crate) use folds::check_count;
pub use grid::{EachRidge, ExactGrid, GridFit, NystromGrid};
pub use score::{Better, Score};

use crate::Problem;
use crate::data::Part;
use nystrom_linalg_core::{Result, Ridge, Scalar, Streams, validate};
use rand::Rng;

/// k-fold cross-validation over a grid of kernels and ridges, for any procedure.
///
/// The rows are cut at random into `folds` parts. Each part in turn is predicted by the candidate
/// fitted to the others, and scored by `score`. For λ alone, with fixed landmarks or exactly,
/// leave-one-out is cheaper and exact: [`NystromKrr::path`](crate::NystromKrr::path),
/// [`ExactKrr::path`](crate::ExactKrr::path).
///
/// The training parts have n(1 − 1/k) rows. A [`Ridge::PerSample`] has the same meaning when all n
/// rows are fitted afterwards; a [`Ridge::Absolute`] is then slightly too small.
///
/// # Cost
/// k fits of the procedure per kernel; one training part is held at a time. The bits do not depend
/// on the number of threads if those of the procedure do not.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{CrossValidation, ExactGrid, ExactKrr, lambda_grid};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..100).map(|i| i as f64 / 10.0).collect();
/// let y = Mat::from_fn(100, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
/// let (x, kernels) = (Points::from_slice(&x), [Gaussian::new(0.1)?, Gaussian::new(1.0)?]);
/// let ridges = lambda_grid(1.0, 1e-6, 7)?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let table = CrossValidation::default().run(
///     &ExactGrid::default(),
///     &kernels,
///     &ridges,
///     (x, &y),
///     rng,
/// )?;
/// let best = table.best().expect("some candidate predicts finite numbers");
/// assert_eq!(best.kernel, 1);
/// let model = ExactKrr::new(kernels[best.kernel], ridges[best.ridge]).fit((x, &y))?;
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CrossValidation<T: Scalar> {
    /// k.
    pub folds: usize,
    /// The score of predictions and its better direction: [`Score::mse`], [`Score::r2`] or your
    /// own.
    pub score: Score<T>,
}

impl<T: Scalar> Default for CrossValidation<T> {
    /// Ten folds, mean squared error.
    fn default() -> Self {
        CrossValidation { folds: 10, score: Score::mse() }
    }
}

/// The score of one candidate.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CvScore {
    /// Position of the kernel in its grid.
    pub kernel: usize,
    /// Position of the ridge in its grid.
    pub ridge: usize,
    /// Mean score over the folds, each counted once, whatever the weights of its rows.
    pub mean: f64,
    /// Standard error of that mean, s/√k with s the standard deviation over the k folds. It is
    /// approximate, because the folds share training data.
    pub standard_error: f64,
    /// Score in each fold.
    #[cfg_attr(feature = "serde", serde(alias = "losses"))]
    pub values: Vec<f64>,
}

/// The scores of all candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[must_use]
pub struct CvTable {
    /// One per candidate: all ridges of the first kernel, then those of the second, and so on.
    pub scores: Vec<CvScore>,
    /// The rows held out in each fold.
    pub folds: Folds,
    /// Which of two scores is better.
    #[cfg_attr(feature = "serde", serde(default))]
    pub better: Better,
}

impl<T: Scalar> CrossValidation<T> {
    /// Scores every kernel at every ridge, on y (n × t) at the n points x. All candidates see the
    /// same folds. With weights, errors are weighted means, and each fold has as many rows of
    /// positive weight as the others, up to one. The mean of a candidate counts every fold equally,
    /// whatever its weight.
    ///
    /// # Randomness
    /// The folds ([`Folds::random`]), then one key; the procedure gets stream f of [`Streams`] in
    /// fold f, for every kernel the same.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) without kernels or ridges, `Shape` if y does
    /// not have n rows, `NonFinite`; those of [`Ridge::absolute`], [`Folds::random`] and of the
    /// procedure.
    pub fn run<'a, K>(
        &self,
        procedure: &impl GridFit<T, K>,
        kernels: &[K],
        ridges: &[Ridge<T>],
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<CvTable> {
        let problem = problem.into();
        check(kernels.len(), ridges, problem)?;
        let folds = Folds::of_problem(problem, self.folds, rng)?;
        self.run_on(folds, procedure, kernels, ridges, problem, rng)
    }

    /// As [`run`](Self::run), on folds of your own: by group, by time, by place.
    ///
    /// # Randomness
    /// One key, as in [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Shape`](nystrom_linalg_core::Error::Shape) for folds of other rows,
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for a fold without weight.
    pub fn run_on<'a, K>(
        &self,
        folds: Folds,
        procedure: &impl GridFit<T, K>,
        kernels: &[K],
        ridges: &[Ridge<T>],
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<CvTable> {
        let problem = problem.into();
        check(kernels.len(), ridges, problem)?;
        validate::same_size("rows of the folds against points", problem.x.len(), folds.rows())?;
        let streams = Streams::from_rng(rng);
        let mut values = vec![Vec::with_capacity(folds.len()); kernels.len() * ridges.len()];
        for fold in 0..folds.len() {
            let (train, test) =
                (Part::new(problem, &folds.train(fold)), Part::new(problem, folds.test(fold)));
            for (k, kernel) in kernels.iter().enumerate() {
                let stream = &mut streams.stream(fold as u64);
                let predictions = procedure.predictions(
                    kernel,
                    ridges,
                    train.problem(),
                    test.problem().x,
                    stream,
                )?;
                validate::same_size(
                    "predictions of the procedure against ridges",
                    ridges.len(),
                    predictions.len(),
                )?;
                for (r, f) in predictions.iter().enumerate() {
                    let Problem { y, weights, .. } = test.problem();
                    values[k * ridges.len() + r].push(self.score.of(f.as_ref(), y, weights)?);
                }
            }
        }
        let scores = values.into_iter().enumerate();
        let scores = scores
            .map(|(c, values)| CvScore::new(c / ridges.len(), c % ridges.len(), values))
            .collect();
        Ok(CvTable { scores, folds, better: self.score.better() })
    }
}

impl CvScore {
    pub(crate) fn new(kernel: usize, ridge: usize, values: Vec<f64>) -> Self {
        let k = values.len() as f64;
        let mean = values.iter().sum::<f64>() / k;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (k - 1.0);
        CvScore { kernel, ridge, mean, standard_error: (variance / k).sqrt(), values }
    }
}

impl CvTable {
    /// The candidate with the best mean score (the first of equals); `None` if no mean is finite.
    pub fn best(&self) -> Option<&CvScore> {
        let finite = self.scores.iter().filter(|score| score.mean.is_finite());
        finite.reduce(|a, b| if self.loss(b) < self.loss(a) { b } else { a })
    }

    /// The candidates whose mean score is within one standard error of the best. The
    /// one-standard-error rule chooses the simplest of them: the largest ridge, the smoothest
    /// kernel.
    pub fn within_one_standard_error(&self) -> Vec<&CvScore> {
        let limit =
            self.best().map_or(f64::NEG_INFINITY, |best| self.loss(best) + best.standard_error);
        self.scores.iter().filter(|score| self.loss(score) <= limit).collect()
    }

    fn loss(&self, score: &CvScore) -> f64 {
        self.better.loss(score.mean)
    }
}

fn check<T: Scalar>(kernels: usize, ridges: &[Ridge<T>], problem: Problem<'_, T>) -> Result<()> {
    validate::not_empty("kernels of the grid", kernels)?;
    validate::not_empty("ridges of the grid", ridges.len())?;
    problem.x.check()?;
    problem.check_targets()?;
    ridges.iter().try_for_each(|ridge| ridge.absolute(problem.x.len()).map(drop))
}
