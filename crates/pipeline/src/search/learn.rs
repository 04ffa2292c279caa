//! The metric of a candidate: average gradient outer products, step by step.

use super::candidate::{Candidate, medians};
use super::solve::gather;
use super::{Learnt, Search};
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::mapped;
use crate::report::{Metric, Trial};
use nystrom::faer::{Mat, MatRef};
use nystrom::linalg_core::{SymmetricEigen, ops};
use nystrom::prelude::*;

/// Steps without a better error after which learning ends.
const PATIENCE: usize = 1;
/// Learning ends at an error that is this many times the best of all on as many rows.
const HOPELESS: f64 = 1.2;
/// What counts as a better error, as a share of the best.
const IMPROVED: f64 = 0.998;
/// Rows whose gradients are averaged.
const GRADIENT_ROWS: usize = 3000;

impl Search<'_> {
    /// Learns the candidate's metric from so many rows of each fold, beginning with that of `start`
    /// (none: A = I), in so many steps at most. If the error is then below `bar` the metric is kept
    /// and the trial given; else the candidate's metric stays as it was.
    ///
    /// Each step fits f with the kernel k(A·, A·) and averages the outer products of its gradients
    /// over rows, M = mean ∇f∇fᵀ. The next step takes A = M^{power/2}. The step with the
    /// smallest validation error counts; nothing is given if that is the one with A = I.
    pub(super) fn learn(
        &mut self,
        candidate: Candidate,
        start: Option<&Candidate>,
        rows: usize,
        steps: usize,
        bar: f64,
    ) -> Result<Option<Trial>> {
        let before = self.maps_of(&candidate, &candidate);
        let map = start.map_or_else(Vec::new, |start| self.maps_of(start, &candidate));
        self.replace(&candidate, map); //                                      A
        let (mut best, mut stale): (Option<(Trial, Vec<Learnt>)>, usize) = (None, 0);
        for step in 1..=steps {
            let what = format!("{}, step {step}", candidate.what());
            if stale == PATIENCE || !self.goes_on(&what) {
                break;
            }
            let plain = step == 1 && start.is_none();
            let (trial, models) = //                                           f
                if plain { self.plain(candidate, rows)? } else { self.trial_of(candidate, rows)? };
            let least = best.as_ref().map_or(f64::INFINITY, |(best, _)| best.error);
            if trial.error < IMPROVED * least {
                (best, stale) = (Some((trial, self.maps_of(&candidate, &candidate))), 0);
            } else {
                stale += 1;
            }
            let all = self.trials.iter().filter(|trial| trial.rows == rows);
            let of_all = all.map(|trial| trial.error).fold(f64::INFINITY, f64::min);
            let error = best.as_ref().map_or(f64::INFINITY, |(best, _)| best.error);
            if step > 1 && error > HOPELESS * of_all {
                break;
            }
            if step < steps {
                match self.next_maps(&candidate, rows, &models)? {
                    Some(next) => self.replace(&candidate, next), //           A ← M^{power/2}
                    None => break,                                // f is constant
                }
            }
        }
        let (trial, learnt) = match best {
            Some((trial, learnt)) if trial.error < bar && !learnt.is_empty() => {
                (Some(trial), learnt)
            }
            _ => (None, before),
        };
        self.replace(&candidate, learnt);
        Ok(trial)
    }

    /// The maps of one candidate, as those of another.
    pub(super) fn maps_of(&self, one: &Candidate, other: &Candidate) -> Vec<Learnt> {
        let own = self.maps.iter().filter(|learnt| learnt.is_of(one));
        let Candidate { shape, family, metric, .. } = *other;
        own.map(|learnt| Learnt { shape, family, metric, ..learnt.clone() }).collect()
    }

    /// Puts these maps in the place of a candidate's own.
    pub(super) fn replace(&mut self, candidate: &Candidate, maps: Vec<Learnt>) {
        self.maps.retain(|learnt| !learnt.is_of(candidate));
        self.maps.extend(maps);
    }

    /// The maps after these models of all folds; none if one is constant.
    fn next_maps(
        &self,
        candidate: &Candidate,
        rows: usize,
        models: &[KrrModel<AnyKernel, f64>],
    ) -> Result<Option<Vec<Learnt>>> {
        let next = |(fold, model): (usize, &KrrModel<AnyKernel, f64>)| {
            let some = &self.orders[fold][..rows.min(self.orders[fold].len())];
            self.next(candidate, Some(fold), some, model)
        };
        models.iter().enumerate().map(next).collect()
    }

    /// The map for all rows: the mean of those of the folds. A feature that some folds do not have
    /// is averaged over those that have it; one that none has stays as it is.
    pub(super) fn mean_map(&mut self, candidate: &Candidate) -> Result<()> {
        let maps = self.maps_of(candidate, candidate);
        if maps.is_empty() {
            return Ok(());
        }
        let features = self.shaped(candidate.shape, None).columns.features();
        let places: Vec<Vec<Option<usize>>> = maps
            .iter()
            .map(|learnt| {
                let own = self.shaped(candidate.shape, learnt.fold).columns.features();
                features.iter().map(|name| own.iter().position(|other| other == name)).collect()
            })
            .collect();
        let entry = |i: usize, j: usize| {
            let found = maps.iter().zip(&places);
            let found = found.filter_map(|(of, at)| Some(of.map[(at[i]?, at[j]?)]));
            let (sum, count) = found.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
            if count > 0.0 { sum / count } else { f64::from(u8::from(i == j)) }
        };
        let mut map = Mat::from_fn(features.len(), features.len(), entry);
        if maps.len() > 1 {
            rescale(&mut map);
        }
        let rows = &self.everything[..self.n().min(GRADIENT_ROWS)];
        let learnt = self.learnt_map(candidate, None, rows, map)?;
        self.maps.push(learnt);
        Ok(())
    }

    /// The map after `model`, which was fitted to `rows`; none if it is constant.
    fn next(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        rows: &[usize],
        model: &KrrModel<AnyKernel, f64>,
    ) -> Result<Option<Learnt>> {
        let rows = &rows[..rows.len().min(GRADIENT_ROWS)];
        let x = self.rows(candidate, fold, rows);
        let mut agop = model.gradient_outer_product(Points::from_rows(x.as_ref()))?;
        if let Some(learnt) = self.learnt(candidate, fold) {
            agop = congruent(agop.as_ref(), learnt.map.as_ref()); //            M = Aᵀ M A
        }
        let Some(map) = root(agop.as_ref(), candidate.metric)? else { return Ok(None) };
        Ok(Some(self.learnt_map(candidate, fold, rows, map)?))
    }

    /// A map with the median distances of rows under it.
    fn learnt_map(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        rows: &[usize],
        map: Mat<f64>,
    ) -> Result<Learnt> {
        let x = gather(self.shaped(candidate.shape, fold).x.as_ref(), rows);
        let x = mapped(x.as_ref(), map.as_ref());
        let medians = medians(x.as_ref(), &mut self.stream(4))?;
        let Candidate { shape, family, metric, .. } = *candidate;
        Ok(Learnt { shape, family, metric, fold, map, medians })
    }
}

impl Learnt {
    /// Whether it is this candidate's, at any length scale.
    pub(super) fn is_of(&self, candidate: &Candidate) -> bool {
        (self.shape, self.family, self.metric)
            == (candidate.shape, candidate.family, candidate.metric)
    }
}

/// Aᵀ M A.
fn congruent(m: MatRef<'_, f64>, a: MatRef<'_, f64>) -> Mat<f64> {
    ops::times(a.transpose(), ops::times(m, a).as_ref())
}

/// A = M^{power/2}, or that of its diagonal, scaled so that tr AᵀA = d; none if M is 0.
fn root(m: MatRef<'_, f64>, metric: Metric) -> Result<Option<Mat<f64>>> {
    let d = m.nrows();
    let raised = |value: f64, power: f64| value.max(0.0).powf(0.5 * power);
    let mut a = match metric {
        Metric::None => return Ok(None),
        Metric::Diagonal { power } => {
            Mat::from_fn(d, d, |i, j| if i == j { raised(m[(i, i)], power) } else { 0.0 })
        }
        Metric::Full { power } => {
            let eigen = SymmetricEigen::new(m)?; //                            M = UΛUᵀ
            let u = eigen.vectors();
            let scaled = Mat::from_fn(d, d, |i, j| u[(i, j)] * raised(eigen.values()[j], power));
            ops::times(scaled.as_ref(), u.transpose())
        }
    };
    Ok(rescale(&mut a).then_some(a))
}

/// Makes tr AᵀA = d; whether it can be.
fn rescale(a: &mut Mat<f64>) -> bool {
    let scale = (a.nrows() as f64).sqrt() / a.norm_l2();
    a.col_iter_mut().for_each(|col| col.iter_mut().for_each(|value| *value *= scale));
    scale.is_finite() && scale > 0.0
}
