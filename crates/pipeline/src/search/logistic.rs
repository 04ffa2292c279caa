//! For classes: fits with the logistic loss, with the kernel that the search found with squares.

use super::Search;
use super::candidate::Candidate;
use super::solve::{gather, stacked};
use crate::cost::{
    full_bytes, full_newton_work, full_work, largest_fitting, newton_work, path_work,
};
use crate::error::Result;
use crate::examples::Examples;
use crate::kernel::AnyKernel;
use crate::report::{Centers, LogisticTrial, Trial};
use nystrom::faer::Mat;
use nystrom::krr::{FitReport, FullLogisticKrr, LogisticKrr};
use nystrom::prelude::*;

/// The planned number of Newton steps for each class with landmarks, and with all rows as centres.
/// The path of λ ends after [`PATH`] of them; the final fit takes the others.
const STEPS: f64 = 24.0;
const STEPS_OVER_ALL: f64 = 26.0;
const PATH: f64 = 0.75;
/// The logistic loss is given up if its log-loss in the first fold is this many times that of
/// squares. The path of λ then ends once a λ does not reduce it to [`SLOW`] times the least before.
const HOPELESS: f64 = 1.5;
const SLOW: f64 = 0.9;
/// Newton's method ends when the objective decreases by less than this share: over all rows, and
/// with landmarks on the path.
const ENOUGH: f64 = 1e-5;
const ENOUGH_ON_PATH: f64 = 1e-4;
/// The fewest and the most landmarks.
const LANDMARKS: [usize; 2] = [100, 4000];
/// The first λ of the path with landmarks, and with all rows as centres, as multiples of the λ of
/// squares. Log-odds are larger than functions ±1, so that the best λ is smaller.
const FIRST: f64 = 10.0;
const FIRST_OVER_ALL: f64 = 3.0;
/// The first λ of the path with landmarks is at most this.
const LARGEST: f64 = 1e-3;
/// The ratio of one λ to the one before.
const RATIO: f64 = 0.316_227_766_016_837_94;
/// The largest number of λ.
const RIDGES: usize = 14;
/// The path ends after this many λ in a row that are worse than the best.
const WORSE: usize = 2;

/// The log-odds of the validation rows of the first partition at one λ.
struct Odds {
    lambda: f64,
    values: Mat<f64>,
    log_loss: f64,
}

/// The λ of the path, after the trial with squares.
pub(super) fn path_from(squares: &Trial, over: Centers) -> Vec<f64> {
    let of_rows = squares.mu / squares.rows as f64;
    let from = match over {
        Centers::All => FIRST_OVER_ALL * of_rows,
        _ => (FIRST * of_rows).min(LARGEST),
    };
    (0..RIDGES).map(|step| from * RATIO.powi(step as i32)).collect()
}

impl Search<'_> {
    /// Whether the final fit may have the logistic loss: not over a stream, whose sums are those of
    /// squares.
    pub(super) fn may_be_logistic(&self) -> bool {
        self.problem.labels.is_some() && !self.landmarks_only
    }

    /// The chosen candidate with the logistic loss, fitted to all rows; `None` unless its
    /// probabilities on validation rows are better than those of squares.
    pub(super) fn logistic(
        &mut self,
        chosen: &Candidate,
        squares: &Trial,
    ) -> Result<Option<KrrModel<AnyKernel, f64>>> {
        if !self.may_be_logistic() {
            return Ok(None);
        }
        let of_squares = self.calibrate(chosen, squares.centers);
        let Some(of_squares) = of_squares.map(|(_, errors)| errors.log_loss) else {
            return Ok(None);
        };
        let rows = &self.validation[0];
        let bar = self.validated(chosen, squares.centers).map_or(f64::INFINITY, |values| {
            HOPELESS * self.calibrated(values.subrows(0, rows.len()), rows).1.log_loss
        });
        let Some(over) = self.newton_centers(squares.centers) else { return Ok(None) };
        if !self.goes_on("the logistic loss") {
            return Ok(None);
        }
        let path = path_from(squares, over);
        let Some(found) = self.odds(chosen, over, &path, bar)? else { return Ok(None) };
        let Odds { lambda, log_loss, .. } = found;
        let trial = LogisticTrial { centers: over, lambda, log_loss, squares: of_squares };
        if !trial.is_better() {
            self.logistic = Some((trial, None));
            return Ok(None);
        }
        self.goes_on("the final fit");
        self.mean_map(chosen)?;
        let (ridge, all) = (Ridge::PerSample(lambda), self.signs(chosen, None, &self.everything));
        let kernel = self.kernel(chosen, None, all.points().dim())?;
        let model = match over {
            Centers::All => {
                let krr = FullLogisticKrr::new(kernel, ridge);
                FullLogisticKrr { options: self.options(ENOUGH), ..krr }
                    .fit(all.problem(), &mut self.stream(3))?
            }
            _ => {
                let landmarks = self.landmarks_of(over, &kernel, all.points())?;
                let memory = self.memory_for_values();
                LogisticKrr { memory, ..LogisticKrr::new(kernel, ridge) }
                    .fit(all.problem(), &landmarks)?
            }
        };
        self.newton_steps(over, model.report());
        for target in &mut self.problem.targets {
            (target.mean, target.scale) = (0.0, 1.0); // log-odds as they are
        }
        self.logistic = Some((trial, Some(found.values)));
        Ok(Some(model))
    }

    /// These rows with targets ±1.
    fn signs(&self, chosen: &Candidate, fold: Option<usize>, rows: &[usize]) -> Examples {
        let y = gather(self.problem.y.as_ref(), rows);
        let sign = |i, j| if y[(i, j)] > 0.0 { 1.0 } else { -1.0 };
        let y = Mat::from_fn(y.nrows(), y.ncols(), sign);
        Examples { x: self.rows(chosen, fold, rows), y, weights: self.weights_of(rows) }
    }

    /// All rows, if they are the centres of squares and the work that is left allows it; otherwise
    /// as many landmarks as it allows; `None` if these are too few.
    fn newton_centers(&self, of_squares: Centers) -> Option<Centers> {
        let (n, d, t) = (self.n(), self.d(), self.problem.y.ncols());
        let kept = self.fit.memory.is_some_and(|bytes| full_bytes(n, t) <= bytes);
        let last = match of_squares {
            Centers::All => full_work(n, d, t, 0, kept),
            Centers::Uniform(m) | Centers::Pivots(m) => path_work(n as f64, m as f64, d, t),
        };
        let left = self.allowed - self.work - last;
        if of_squares == Centers::All
            && kept
            && (t * self.partition) as f64 * STEPS_OVER_ALL * full_newton_work(n) <= left
        {
            return Some(Centers::All);
        }
        let folds = self.partition as f64;
        let path = |m: usize| newton_work(STEPS * t as f64, [n, m, d], self.kept_rows(m));
        let affords = |m: usize| folds * path(m) <= left;
        let [fewest, most] = LANDMARKS.map(|m| m.min(self.train_rows()));
        let m = largest_fitting(0, most, affords);
        let centers = match of_squares {
            Centers::Uniform(_) => Centers::Uniform(m),
            _ => Centers::Pivots(m),
        };
        (m >= fewest).then_some(centers)
    }

    /// The memory for kernel values of a fit with landmarks, and the number of rows whose values it
    /// holds.
    pub(super) fn memory_for_values(&self) -> Option<u64> {
        self.fit.memory.map(|bytes| bytes / 2)
    }

    pub(super) fn kept_rows(&self, landmarks: usize) -> usize {
        let rows = self.memory_for_values().unwrap_or(0) / (8 * landmarks.max(1)) as u64;
        self.n().min(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// Counts the work of a fit.
    fn newton_steps(&mut self, over: Centers, report: &FitReport) {
        let FitReport { n, m, d, steps, .. } = *report;
        let steps = steps as f64;
        self.work += match over {
            Centers::All => steps * full_newton_work(n),
            _ => newton_work(steps, [n, m, d], self.kept_rows(m)),
        };
    }

    /// The λ with the smallest log-loss over the folds of the first partition. The first fold
    /// determines where the path ends.
    fn odds(
        &mut self,
        chosen: &Candidate,
        over: Centers,
        path: &[f64],
        bar: f64,
    ) -> Result<Option<Odds>> {
        let mut of_folds = vec![self.odds_of(chosen, 0, over, path, bar)?];
        let of_first =
            |odds: &Mat<f64>| self.calibrated(odds.as_ref(), &self.validation[0]).1.log_loss;
        if of_folds[0].iter().map(of_first).fold(f64::INFINITY, f64::min) > bar {
            return Ok(None);
        }
        for fold in 1..self.partition {
            let count = of_folds[0].len();
            of_folds.push(self.odds_of(chosen, fold, over, &path[..count], bar)?);
        }
        let rows = self.validated_rows();
        let at = |r: usize| {
            let values = stacked(of_folds.iter().map(|of_fold| &of_fold[r]));
            let log_loss = self.calibrated(values.as_ref(), &rows).1.log_loss;
            Odds { lambda: path[r], values, log_loss }
        };
        let finite = (0..of_folds[0].len()).map(at).filter(|odds| odds.log_loss.is_finite());
        Ok(finite.min_by(|a, b| a.log_loss.total_cmp(&b.log_loss)))
    }

    /// The log-odds of the validation rows of a fold at each λ of the path. In the first fold, the
    /// path ends after [`WORSE`] λ in a row that do not reduce the log-loss, or if it is hopeless.
    fn odds_of(
        &mut self,
        chosen: &Candidate,
        fold: usize,
        over: Centers,
        path: &[f64],
        bar: f64,
    ) -> Result<Vec<Mat<f64>>> {
        let (train, validation) = (&self.orders[fold], &self.validation[fold]);
        let train = self.signs(chosen, Some(fold), train);
        let of_validation = self.rows(chosen, Some(fold), validation);
        let kernel = self.kernel(chosen, Some(fold), train.points().dim())?;
        let ridges: Vec<Ridge<f64>> = path.iter().copied().map(Ridge::PerSample).collect();
        let (mut found, mut least, mut worse) = (Vec::new(), f64::INFINITY, 0);
        let mut last = None;
        let planned = if over == Centers::All { STEPS_OVER_ALL } else { STEPS };
        let most = PATH * planned * train.y.ncols() as f64;
        let goes_on = |model: KrrModel<AnyKernel, f64>| {
            let Ok(odds) = model.predict(of_validation.points()) else {
                return false;
            };
            let mut slow = false;
            if fold == 0 {
                let loss = self.calibrated(odds.as_ref(), validation).1.log_loss;
                worse = if loss < least { 0 } else { worse + 1 };
                slow = loss > SLOW * least;
                least = least.min(loss);
            }
            found.push(odds);
            last = Some(model.report().clone());
            let hopeless = slow && found.len() > 2 && least > bar;
            let spent = fold == 0 && model.report().steps as f64 >= most;
            worse < WORSE && !hopeless && !spent
        };
        match over {
            Centers::All => {
                let krr = FullLogisticKrr::without_ridge(kernel);
                FullLogisticKrr { options: self.options(ENOUGH), ..krr }.path(
                    train.problem(),
                    &ridges,
                    goes_on,
                    &mut self.stream(2),
                )?;
            }
            _ => {
                let landmarks = self.landmarks_of(over, &kernel, train.points())?;
                let memory = self.memory_for_values();
                let krr = LogisticKrr::without_ridge(kernel);
                let krr = LogisticKrr { memory, tolerance: ENOUGH_ON_PATH, ..krr };
                krr.path(train.problem(), &landmarks, &ridges, goes_on)?;
            }
        }
        if let Some(report) = last {
            self.newton_steps(over, &report);
        }
        Ok(found)
    }
}
