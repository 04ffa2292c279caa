//! The scale of the targets: candidates on any scale are compared in the targets' own units.

use super::candidate::{Candidate, least};
use super::rungs::Trials;
use super::solve::{gather, shifted};
use super::{MANY_TARGETS, Search, Tried};
use crate::columns::skewness;
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::loss::TargetLoss;
use crate::target::{Target, TargetScale, in_units};
use nystrom::faer::Mat;
use nystrom::prelude::*;

/// Another scale replaces the targets as they are if it reduces the error by this factor; of two
/// that do, the better one is taken.
const BETTER: f64 = 0.99;

/// Standardised targets, n × t, and what is known of trials with them.
pub(super) struct Scaled {
    scale: TargetScale,
    y: Mat<f64>,
    targets: Vec<Target>,
    plain: Vec<Tried>,
}

/// Whether the values of every target are less skewed than others.
fn is_less_skewed(y: &Mat<f64>, others: &Mat<f64>) -> bool {
    let of = |y: &Mat<f64>, j: usize| skewness(y.col_as_slice(j)).abs();
    (0..y.ncols()).all(|j| of(y, j) < of(others, j))
}

impl Search<'_> {
    /// The scale on which trials fit the targets.
    pub(super) fn scale(&self) -> TargetScale {
        self.scale
    }

    /// Tries the usual families on each scale that makes the targets less skewed, and keeps the
    /// scale with the smallest error. `trials` are those of the targets as they are.
    pub(super) fn scales(&mut self, rows: usize, trials: &mut Trials) -> Result<()> {
        let asked = self.fit.target_scale;
        let others = match (asked, self.one_scale()) {
            (Some(TargetScale::Plain), _) | (None, Some(_)) => return Ok(()),
            (Some(_), Some(why)) => {
                let problem = format!("{why}; leave it out, or take plain");
                return Err(Error::Option { option: "target-scale", problem });
            }
            (Some(scale), None) => vec![scale],
            (None, None) => vec![TargetScale::Log, TargetScale::Root],
        };
        self.own = Some((self.problem.y.clone(), self.problem.targets.clone()));
        let mut bar = BETTER * least(&*trials);
        for scale in others {
            let (y, targets) = match self.problem.on_scale(self.fit, scale) {
                Ok(found) => found,
                Err(error) if asked.is_some() => return Err(error),
                Err(_) => continue,
            };
            if asked.is_none() && !is_less_skewed(&y, self.own_targets().0) {
                continue;
            }
            let before = self.fitting(Scaled { scale, y, targets, plain: Vec::new() });
            let mut found = Trials::new();
            self.families(self.plain_default().shape, rows, &mut found)?;
            if asked.is_some() || least(&found) < bar {
                bar = least(&found);
                *trials = found;
            } else {
                self.fitting(before);
            }
        }
        Ok(())
    }

    /// Why targets can only be fitted as they are, if so.
    fn one_scale(&self) -> Option<&'static str> {
        let reasons = [
            (self.problem.labels.is_some(), "classes have no scale"),
            (self.landmarks_only, "sums over a stream are those of the targets as they are"),
            (self.fit.loss == TargetLoss::Huber, "Huber's loss is that of the target as it is"),
            (self.fit.deviations, "standard deviations are those of the target as it is"),
            (self.problem.targets.len() > MANY_TARGETS, "more than 8 targets share one scale"),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
    }

    /// From now on trials fit these targets. Returns those before.
    fn fitting(&mut self, next: Scaled) -> Scaled {
        let Scaled { scale, y, targets, plain } = next;
        let before = Scaled {
            scale: std::mem::replace(&mut self.scale, scale),
            y: std::mem::replace(&mut self.problem.y, y),
            targets: std::mem::replace(&mut self.problem.targets, targets),
            plain: std::mem::replace(&mut self.plain, plain),
        };
        self.offsets = self.orders.iter().map(|train| self.offset(train)).collect();
        before
    }

    /// The targets of all rows, n × t, in standard deviations from their means, and these.
    pub(super) fn own_targets(&self) -> (&Mat<f64>, &[Target]) {
        match &self.own {
            Some((y, targets)) => (y, targets),
            None => (&self.problem.y, &self.problem.targets),
        }
    }

    /// The mean square error of a model of a fold on validation rows, over rows by weight and over
    /// targets, in variances of the targets.
    pub(super) fn square(
        &self,
        candidate: &Candidate,
        fold: usize,
        rows: &[usize],
        model: &KrrModel<AnyKernel, f64>,
    ) -> Result<f64> {
        let part = self.part(candidate, Some(fold), rows);
        if self.scale == TargetScale::Plain {
            return part.mean_square(model);
        }
        let f = shifted(model.predict(part.points())?, self.offsets.get(fold), 1.0);
        let targets = self.with_means(&f, rows);
        let (values, (y, own)) = (in_units(f, &targets), self.own_targets());
        let weights = part.weights.unwrap_or_else(|| vec![1.0; rows.len()]);
        let error =
            |i: usize, j: usize| (values[(i, j)] - own[j].mean) / own[j].scale - y[(rows[i], j)];
        let (t, total) = (own.len(), weights.iter().sum::<f64>());
        let square = |i: usize| weights[i] * (0..t).map(|j| error(i, j).powi(2)).sum::<f64>();
        Ok((0..rows.len()).map(square).sum::<f64>() / (t as f64 * total))
    }

    /// The targets whose predictions at these values of f, for these rows, have the right mean.
    pub(super) fn with_means(&self, f: &Mat<f64>, rows: &[usize]) -> Vec<Target> {
        let (y, weights) = (gather(self.problem.y.as_ref(), rows), self.weights_of(rows));
        let weight = |i: usize| weights.as_ref().map_or(1.0, |w| w[i]);
        let of = |(j, target): (usize, &Target)| {
            let row = |i: usize| [f[(i, j)], y[(i, j)], weight(i)];
            target.with_mean_of(&(0..rows.len()).map(row).collect::<Vec<_>>())
        };
        self.problem.targets.iter().enumerate().map(of).collect()
    }
}
