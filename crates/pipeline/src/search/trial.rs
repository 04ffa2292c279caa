//! One candidate on some rows: its error on the validation rows of each fold.

use super::candidate::Candidate;
use super::solve::{gather, shifted};
use super::{Learnt, Search, Tried};
use crate::cost::{full_work, values_work};
use crate::error::Result;
use crate::examples::Examples;
use crate::features::Features;
use crate::kernel::AnyKernel;
use crate::report::{Centers, Metric, Trial};
use crate::target::TargetScale;

/// The values of μ = nλ in the first trial of a candidate.
pub(super) const DECADES: [f64; 6] = [1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4];
/// The values of μ in later trials, as multiples of the best μ before.
const NEAR: [f64; 5] = [10.0, 3.0, 1.0, 0.3, 0.1];
/// The values of μ at full size, as multiples of the best μ before.
pub(super) const NEAREST: [f64; 3] = [3.0, 1.0, 0.3];
/// With at most this many rows, iterations converge at any ridge. With more rows and no noise, a
/// part of the rows may prefer a ridge at which the iterations with all rows do not converge.
const EASY: usize = 8000;
/// The smallest μ on a part of more rows than [`EASY`].
const FLOOR: f64 = 1e-4;
/// Below this μ, with more rows than [`EASY`], larger ones are also tried at full size.
const SMALL: f64 = 1e-3;

/// Mean squares with a ratio below this count as equal.
const TIE: f64 = 1.001;
/// The largest number of validation rows in trials on a part of the rows.
pub(super) const FEW: usize = 1500;

impl Search<'_> {
    /// The features of some rows for a candidate, mapped by the metric of the fold (`None`: of all
    /// rows).
    pub(super) fn rows(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        rows: &[usize],
    ) -> Features {
        let x = self.shaped(candidate.shape, fold).x.select(rows);
        x.mapped(self.learnt(candidate, fold).map(|learnt| &learnt.map))
    }

    /// Some rows with their features by [`rows`](Self::rows), and their targets minus the mean of
    /// the training rows of the fold (`None`: of all rows).
    pub(super) fn part(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        rows: &[usize],
    ) -> Examples {
        let y = gather(self.y().as_ref(), rows);
        let y = shifted(y, fold.map(|fold| &self.offsets[fold]), -1.0);
        Examples { x: self.rows(candidate, fold, rows), y, weights: self.weights_of(rows) }
    }

    /// The validation rows of a fold.
    pub(super) fn held_out(&self, candidate: &Candidate, fold: usize) -> Examples {
        self.part(candidate, Some(fold), &self.validation[fold])
    }

    pub(super) fn learnt(&self, candidate: &Candidate, fold: Option<usize>) -> Option<&Learnt> {
        self.maps.iter().find(|learnt| learnt.fold == fold && learnt.candidate.is_like(candidate))
    }

    /// The median distances of the mapped rows for a candidate in a fold.
    pub(super) fn medians(&self, candidate: &Candidate, fold: Option<usize>) -> [f64; 2] {
        self.learnt(candidate, fold)
            .map_or(self.shaped(candidate.shape, fold).medians, |learnt| learnt.medians)
    }

    /// The kernel of a candidate in a fold, which reports to the meter.
    pub(super) fn kernel(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        d: usize,
    ) -> Result<AnyKernel> {
        let kernel = candidate.kernel(self.medians(candidate, fold), d)?;
        Ok(kernel.with_meter(self.progress.meter()))
    }

    /// The trial and the models of a candidate without its metric, which are computed once.
    pub(super) fn plain(&mut self, candidate: Candidate, rows: usize) -> Result<Tried> {
        let candidate = Candidate { metric: Metric::None, ..candidate };
        let known = |(trial, _): &&Tried| (Candidate::of(trial), trial.rows) == (candidate, rows);
        if let Some(tried) = self.plain.iter().find(known) {
            return Ok(tried.clone());
        }
        let tried = self.trial_of(candidate, rows)?;
        self.plain.push(tried.clone());
        Ok(tried)
    }

    /// A trial on this many rows with the current metric; `None` if the search was stopped, or has
    /// no work left for it.
    pub(super) fn trial(&mut self, candidate: Candidate, rows: usize) -> Result<Option<Trial>> {
        if !self.affords(&candidate, rows) || !self.goes_on(&candidate.what()) {
            return Ok(None);
        }
        let found = match candidate.metric {
            Metric::None => self.plain(candidate, rows)?,
            _ => self.trial_of(candidate, rows)?,
        };
        Ok(Some(found.0))
    }

    /// Whether the work that is left in this step of the search is enough for a trial. The first
    /// trial of all is always made, and one that is known takes no work.
    pub(super) fn affords(&self, candidate: &Candidate, rows: usize) -> bool {
        let known = |(trial, _): &Tried| (Candidate::of(trial), trial.rows) == (*candidate, rows);
        let columns = self.mus(candidate, rows).len() * self.y().ncols();
        let work = self.orders.len() as f64 * full_work(rows, self.d(), columns, FEW, true);
        self.trials.is_empty() || self.plain.iter().any(known) || self.work + work <= self.until
    }

    /// A trial with the current metric, and the model of each fold. The λ and the length scale of
    /// the trial are those of the first fold.
    pub(super) fn trial_of(&mut self, candidate: Candidate, rows: usize) -> Result<Tried> {
        let mus = self.mus(&candidate, rows);
        let (mut squares, mut models, mut own) = (vec![0.0; mus.len()], Vec::new(), 0.0);
        let mut residual: Option<f64> = None;
        let before = self.work;
        let folds = self.orders.len();
        for fold in 0..folds {
            let train = &self.orders[fold][..rows.min(self.orders[fold].len())];
            let all = &self.validation[fold];
            let validation =
                if rows < self.train_rows() { &all[..FEW.min(all.len())] } else { all };
            let [train, validation] =
                [train, validation].map(|rows| self.part(&candidate, Some(fold), rows));
            let (n, d) = (train.points().len(), train.points().mean_stored());
            let kernel = self.kernel(&candidate, Some(fold), train.points().dim())?;
            let solved = self.solve(&kernel, &train, &validation, &mus)?;
            if self.scale() != TargetScale::Plain {
                let looked = &self.validation[fold][..validation.y.nrows()];
                own += self.square(&candidate, fold, looked, &solved.model)? / folds as f64;
                self.work += values_work(n, validation.y.nrows(), d);
            }
            squares.iter_mut().zip(&solved.squares).for_each(|(sum, s)| *sum += s / folds as f64);
            let (rows, columns) = (validation.y.nrows(), mus.len() * validation.y.ncols());
            self.work += full_work(n, d, columns, rows, true);
            residual = match (residual, solved.residual) {
                (Some(before), Some(now)) => Some(before.min(now)),
                (before, now) => before.or(now),
            };
            models.push(solved.model);
        }
        let best = largest_of_the_best(&mus, &squares);
        let square = if self.scale() == TargetScale::Plain { squares[best] } else { own };
        let trial = Trial {
            target: self.scale(),
            bandwidth: models[0].kernel().bandwidth().unwrap_or(0.0),
            mu: mus[best],
            error: square.sqrt(),
            errors: mus.iter().zip(&squares).map(|(mu, square)| [*mu, square.sqrt()]).collect(),
            work: self.work - before,
            residual,
            combined: self.combined.is_some(),
            ..candidate.trial(rows, Centers::All)
        };
        self.saw(&trial);
        Ok((trial, models))
    }

    /// The ridges of the next trial of a candidate.
    pub(super) fn mus(&self, candidate: &Candidate, rows: usize) -> Vec<f64> {
        let same = |trial: &&Trial| {
            trial.centers == Centers::All
                && trial.target == self.scale()
                && Candidate::of(trial).is_like(candidate)
        };
        let last = self.trials.iter().rev().find(same);
        let hard = self.train_rows() > EASY;
        let floor = if hard && self.train_rows() > 2 * rows { FLOOR } else { 0.0 };
        let last = last.map(|trial| (trial.mu, rows > 2 * trial.rows));
        ridges(last, floor, if hard { SMALL } else { 0.0 })
    }

    /// Adds a trial to the report, and updates the best trial.
    pub(super) fn saw(&mut self, trial: &Trial) {
        let better = |best: &Trial| best.rows < trial.rows || trial.error < best.error;
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(trial.clone());
        }
        self.trials.push(trial.clone());
    }
}

/// The ridges to try. `last` is the best μ before, and whether this trial has many more rows. On
/// few rows no ridge is below `floor`; on many more rows, larger ridges accompany one below
/// `small`.
fn ridges(last: Option<(f64, bool)>, floor: f64, small: f64) -> Vec<f64> {
    match last {
        None => DECADES.to_vec(),
        Some((mu, true)) if mu < small => vec![10.0 * small, small, mu],
        Some((mu, true)) => NEAREST.map(|factor| factor * mu).to_vec(),
        Some((mu, false)) => {
            let mut near = NEAR.map(|factor| (factor * mu).max(floor)).to_vec();
            near.dedup();
            near
        }
    }
}

/// The position of the largest ridge whose mean square counts as equal to the smallest.
fn largest_of_the_best(mus: &[f64], squares: &[f64]) -> usize {
    let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
    let good = (0..mus.len()).filter(|&r| squares[r] <= TIE * least);
    good.max_by(|&a, &b| mus[a].total_cmp(&mus[b])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ridges_have_a_floor_and_larger_ones_beside_small_ones() {
        assert_eq!(ridges(None, FLOOR, SMALL).len(), 6);
        assert_eq!(ridges(Some((1.0, false)), FLOOR, SMALL).first(), Some(&10.0));
        assert_eq!(ridges(Some((FLOOR, false)), FLOOR, SMALL), [1e-3, 3.0 * FLOOR, FLOOR]);
        assert!(ridges(Some((FLOOR, false)), 0.0, SMALL)[4] < FLOOR);
        // with all rows a small ridge may be out of reach
        assert_eq!(ridges(Some((FLOOR, true)), FLOOR, SMALL), [1e-2, 1e-3, FLOOR]);
        assert_eq!(
            ridges(Some((0.1, true)), FLOOR, SMALL).iter().filter(|mu| **mu > 0.1).count(),
            1
        );
    }

    #[test]
    fn of_equal_ridges_the_largest_is_taken() {
        assert_eq!(largest_of_the_best(&[1.0, 10.0, 0.1], &[1.0, 1.0005, 0.9999]), 1);
        assert_eq!(largest_of_the_best(&[1.0, 10.0, 0.1], &[1.0, 1.1, f64::INFINITY]), 0);
    }
}
