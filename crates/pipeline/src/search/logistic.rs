//! For classes: fits with the logistic loss, with the kernel that the search found with squares.

use super::Search;
use super::candidate::Candidate;
use super::solve::{gather, stacked};
use crate::cost::{
    full_bytes, full_newton_work, full_work, largest_fitting, newton_work, newton_work_of,
    path_work,
};
use crate::error::Result;
use crate::examples::Examples;
use crate::kernel::AnyKernel;
use crate::report::{Centers, LogisticTrial, Trial};
use nystrom::faer::Mat;
use nystrom::krr::{FitReport, FullLogisticKrr, LogisticKrr};
use nystrom::prelude::*;

/// The planned number of Newton steps with landmarks, and with all rows as centres.
const STEPS: f64 = 40.0;
const STEPS_OVER_ALL: f64 = 26.0;
/// The number of Newton steps counted for a ridge of the path, and for the last fit, over all rows.
const STEPS_OF: [f64; 2] = [3.0, 10.0];
/// The logistic loss is given up if its log-loss in the first fold is this many times that of
/// squares. The path of λ then ends once a λ does not reduce it to [`SLOW`] times the least before.
const HOPELESS: f64 = 1.5;
const SLOW: f64 = 0.9;
/// Newton's method over all rows ends when the objective decreases by less than this share.
const ENOUGH: f64 = 1e-5;
/// The fewest and the most landmarks.
const LANDMARKS: [usize; 2] = [100, 2000];
/// The first λ of the path with landmarks.
const FIRST: f64 = 1e-3;
/// The first λ of the path with all rows as centres, as a multiple of the λ of squares.
const FIRST_OF_SQUARES: f64 = 3.0;
/// The ratio of one λ to the one before.
const RATIO: f64 = 0.316_227_766_016_837_94;
/// The largest number of λ.
const RIDGES: usize = 14;
/// The path ends after this many λ in a row that are worse than the best.
const WORSE: usize = 2;

/// The log-odds of the validation rows of all folds at one λ.
struct Odds {
    lambda: f64,
    values: Mat<f64>,
    log_loss: f64,
}

impl Search<'_> {
    /// The chosen candidate with the logistic loss, fitted to all rows; `None` unless its
    /// probabilities on validation rows are better than those of squares.
    pub(super) fn logistic(
        &mut self,
        chosen: &Candidate,
        squares: &Trial,
    ) -> Result<Option<KrrModel<AnyKernel, f64>>> {
        if self.landmarks_only {
            return Ok(None); // the sums over all rows are those of squares
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
        let from = match over {
            Centers::All => FIRST_OF_SQUARES * squares.mu / squares.rows as f64,
            _ => FIRST,
        };
        let path: Vec<f64> = (0..RIDGES).map(|step| from * RATIO.powi(step as i32)).collect();
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
        let kernel = self.kernel(chosen, None, all.x.ncols())?;
        let model = match over {
            Centers::All => {
                let krr = FullLogisticKrr::new(kernel, ridge);
                FullLogisticKrr { options: self.options(ENOUGH), ..krr }
                    .fit(all.problem(), &mut self.stream(3))?
            }
            _ => {
                let landmarks = self.landmarks_of(over, &kernel, all.x.as_ref())?;
                LogisticKrr::new(kernel, ridge).fit(all.problem(), &landmarks)?
            }
        };
        self.newton_steps(STEPS_OF[1], self.n(), (over, model.report()));
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
            && STEPS_OVER_ALL * self.newton_step(n, Centers::All) <= left
        {
            return Some(Centers::All);
        }
        let affords = |m: usize| STEPS * self.newton_step(n, Centers::Uniform(m)) <= left;
        let [fewest, most] = LANDMARKS.map(|m| m.min(self.train_rows()));
        let m = largest_fitting(0, most, affords);
        let centers = match of_squares {
            Centers::Pivots(_) => Centers::Pivots(m),
            _ => Centers::Uniform(m),
        };
        (m >= fewest).then_some(centers)
    }

    /// The operations of one Newton step in all folds.
    fn newton_step(&self, n: usize, over: Centers) -> f64 {
        let (d, t) = (self.d(), self.problem.y.ncols());
        let step = match over {
            Centers::All => full_newton_work(n),
            Centers::Uniform(m) | Centers::Pivots(m) => newton_work(n, m, d),
        };
        (t * self.orders.len()) as f64 * step
    }

    /// Counts the work of a fit: the kernel values that it evaluated, or this many steps over all
    /// rows.
    fn newton_steps(&mut self, steps: f64, n: usize, (over, report): (Centers, &FitReport)) {
        self.work += match over {
            Centers::All => steps * self.newton_step(n, over) / self.orders.len() as f64,
            _ => newton_work_of(report.kernel_entries, report.m, report.d),
        };
    }

    /// The λ with the smallest log-loss over all folds. The first fold determines where the path
    /// ends.
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
        for fold in 1..self.orders.len() {
            let count = of_folds[0].len();
            of_folds.push(self.odds_of(chosen, fold, over, &path[..count], bar)?);
        }
        let rows = self.validation.concat();
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
        let (n, train) = (train.len(), self.signs(chosen, Some(fold), train));
        let of_validation = self.rows(chosen, Some(fold), validation);
        let kernel = self.kernel(chosen, Some(fold), train.x.ncols())?;
        let ridges: Vec<Ridge<f64>> = path.iter().copied().map(Ridge::PerSample).collect();
        let (mut found, mut least, mut worse) = (Vec::new(), f64::INFINITY, 0);
        let mut last = None;
        let goes_on = |model: KrrModel<AnyKernel, f64>| {
            let Ok(odds) = model.predict(Points::from_rows(of_validation.as_ref())) else {
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
            worse < WORSE && !hopeless
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
                let landmarks = self.landmarks_of(over, &kernel, train.x.as_ref())?;
                let krr = LogisticKrr::without_ridge(kernel);
                krr.path(train.problem(), &landmarks, &ridges, goes_on)?;
            }
        }
        if let Some(report) = last {
            self.newton_steps(STEPS_OF[0] * found.len() as f64, n, (over, &report));
        }
        Ok(found)
    }
}
