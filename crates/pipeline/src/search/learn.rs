//! The metric of a candidate: average gradient outer products, step by step.

use super::candidate::{Candidate, medians};
use super::{Learnt, Search};
use crate::cost::gradients_work;
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::report::{Metric, Trial};
use nystrom::faer::Mat;
use nystrom::krr::{LinearMap, MetricForm};
use nystrom::prelude::*;

/// Learning ends after this many steps without a better error.
const PATIENCE: usize = 1;
/// Learning ends if the error is this many times the best error of all trials on as many rows.
const HOPELESS: f64 = 1.2;
/// An error is better if it is below this share of the best error.
const IMPROVED: f64 = 0.998;
/// The largest number of rows whose gradients are averaged.
const GRADIENT_ROWS: usize = 3000;

impl Search<'_> {
    /// Learns the metric of a candidate from `rows` rows of each fold in at most `steps` steps,
    /// which start at the metric of `start` (`None`: A = I). If the error is then below `bar`, the
    /// metric is stored and its trial returned. Otherwise the metric of the candidate does not
    /// change.
    ///
    /// The steps are those of [`LearnedMetric`], with a map for each fold. The result is the step
    /// with the smallest validation error, or `None` if that is the step with A = I.
    pub(super) fn learn(
        &mut self,
        candidate: Candidate,
        start: Option<&Candidate>,
        rows: usize,
        steps: usize,
        bar: f64,
    ) -> Result<Option<Trial>> {
        let (patience, tolerance) = (PATIENCE, 1.0 - IMPROVED);
        let metric =
            LearnedMetric { iterations: steps, patience, tolerance, ..LearnedMetric::default() };
        let before = self.maps_of(&candidate, &candidate);
        let map = start.map_or_else(Vec::new, |start| self.maps_of(start, &candidate));
        let mut data = (self, Vec::<Trial>::new());
        let path = metric.steps(
            &mut data,
            map,
            |(search, trials), map| {
                let what = format!("{}, step {}", candidate.what(), trials.len() + 1);
                let plain = trials.is_empty() && start.is_none();
                let metric = if plain { Metric::None } else { candidate.metric };
                if !search.affords(&Candidate { metric, ..candidate }, rows)
                    || !search.goes_on(&what)
                {
                    return Ok(None);
                }
                search.replace(&candidate, map.clone()); //                    A
                let (trial, models) = if plain {
                    search.plain(candidate, rows)?
                } else {
                    search.trial_of(candidate, rows)?
                };
                let error = trial.error;
                trials.push(trial);
                Ok::<_, Error>(Some((error, models))) //                       f
            },
            |(search, trials), path, models| {
                let all = search.trials.iter().filter(|trial| trial.rows == rows);
                let of_all = all.map(|trial| trial.error).fold(f64::INFINITY, f64::min);
                let hopeless = trials.len() > 1 && path.error() > HOPELESS * of_all;
                if hopeless { Ok(None) } else { search.next_maps(&candidate, rows, &models) }
            },
        )?;
        let (search, trials) = data;
        let best = path.useful.map(|step| (trials[step].clone(), path.tried[step].0.clone()));
        let found = best.filter(|(trial, learnt)| trial.error < bar && !learnt.is_empty());
        let (trial, learnt) = found.unzip();
        search.replace(&candidate, learnt.unwrap_or(before));
        Ok(trial)
    }

    /// A copy of the maps of candidate `one` for candidate `other`.
    pub(super) fn maps_of(&self, one: &Candidate, other: &Candidate) -> Vec<Learnt> {
        let own = self.maps.iter().filter(|learnt| learnt.candidate.is_like(one));
        own.map(|learnt| Learnt { candidate: *other, ..learnt.clone() }).collect()
    }

    /// Replaces the maps of a candidate.
    pub(super) fn replace(&mut self, candidate: &Candidate, maps: Vec<Learnt>) {
        self.maps.retain(|learnt| !learnt.candidate.is_like(candidate));
        self.maps.extend(maps);
    }

    /// The next maps, from the models of all folds; `None` if a model is constant.
    fn next_maps(
        &mut self,
        candidate: &Candidate,
        rows: usize,
        models: &[KrrModel<AnyKernel, f64>],
    ) -> Result<Option<Vec<Learnt>>> {
        for fold in 0..models.len() {
            let n = rows.min(self.orders[fold].len());
            self.work += gradients_work(n.min(GRADIENT_ROWS), n, self.d());
        }
        let next = |(fold, model): (usize, &KrrModel<AnyKernel, f64>)| {
            let some = &self.orders[fold][..rows.min(self.orders[fold].len())];
            self.next(candidate, Some(fold), some, model)
        };
        models.iter().enumerate().map(next).collect()
    }

    /// Adds the map for all rows: the mean of the maps of the folds. An entry is averaged over the
    /// folds that have both features; without such a fold it is that of the identity.
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
        if maps.len() > 1
            && let Some(scaled) = LinearMap::full(map.clone())?.normalised()
        {
            map = scaled.matrix();
        }
        let rows = &self.everything[..self.n().min(GRADIENT_ROWS)];
        let learnt = self.learnt_map(candidate, None, rows, map)?;
        self.maps.push(learnt);
        Ok(())
    }

    /// The next map, from a model that was fitted to `rows`; `None` if the model is constant.
    fn next(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        rows: &[usize],
        model: &KrrModel<AnyKernel, f64>,
    ) -> Result<Option<Learnt>> {
        let rows = &rows[..rows.len().min(GRADIENT_ROWS)];
        let x = self.rows(candidate, fold, rows);
        let mut agop = model.gradient_outer_product(x.points())?;
        if let Some(learnt) = self.learnt(candidate, fold) {
            let map = LinearMap::full(learnt.map.clone())?;
            agop = map.pull_back(agop.as_ref())?; //                           M = AᵀMA
        }
        let (form, power) = match candidate.metric {
            Metric::None => return Ok(None),
            Metric::Diagonal { power } => (MetricForm::Diagonal, power),
            Metric::Full { power } => (MetricForm::Full, power),
        };
        let Some(map) = LinearMap::of_gradients(form, power, agop.as_ref())? else {
            return Ok(None);
        };
        Ok(Some(self.learnt_map(candidate, fold, rows, map.matrix())?))
    }

    /// A map with the median distances of these rows after mapping.
    fn learnt_map(
        &self,
        candidate: &Candidate,
        fold: Option<usize>,
        rows: &[usize],
        map: Mat<f64>,
    ) -> Result<Learnt> {
        let x = self.shaped(candidate.shape, fold).x.select(rows).mapped(Some(&map));
        let medians = medians(x.points(), &mut self.stream(4))?;
        Ok(Learnt { candidate: *candidate, fold, map, medians })
    }
}
