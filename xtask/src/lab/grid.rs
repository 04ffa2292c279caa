//! The plan of an experiment, and its run: every setting at every size, so many trials of each.

use std::time::Instant;

use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::results::{Abscissa, Row};
use super::{Context, Measure, Method, PROBLEM, Plot, Results, Setting, tape};
use crate::context::Scale;
use crate::datasets::MissingData;

/// Settings × sizes × repetitions.
pub struct Grid<'a, S> {
    ctx: &'a Context<'a>,
    what: &'a str,
    settings: &'a [S],
    sizes: Vec<(usize, usize)>,
    parallel: bool,
}

impl<'a, S: Setting> Grid<'a, S> {
    /// Each size with its number of repetitions, in every setting. Where size is nothing that
    /// varies, it is 0. `what` names the trials in the progress.
    pub fn new(
        ctx: &'a Context<'a>,
        what: &'a str,
        settings: &'a [S],
        sizes: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        Grid { ctx, what, settings, sizes: sizes.into_iter().collect(), parallel: false }
    }

    /// Runs the repetitions of a cell at one time. For cells that measure no time.
    pub fn parallel(self) -> Self {
        Grid { parallel: true, ..self }
    }

    /// Runs the cell function in every trial.
    ///
    /// # Errors
    /// That of a cell; a data set that is absent is none: its setting is left out, and the results
    /// say so.
    pub fn run(
        &self,
        cell: impl Fn(&mut Trial<'_, S>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<Results> {
        self.run_on(|_, _| Ok(()), |(), trial| cell(trial))
    }

    /// The same, with what all trials of a setting share: data, exact scores.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on<P: Sync>(
        &self,
        prepare: impl Fn(&Context<'_>, &S) -> anyhow::Result<P>,
        cell: impl Fn(&P, &mut Trial<'_, S>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<Results> {
        if let Some(results) = tape::play(self.ctx) {
            return Ok(results);
        }
        let trials: usize = self.sizes.iter().map(|(_, repetitions)| repetitions).sum();
        let stage = self.ctx.progress.begin(self.what, trials * self.settings.len());
        let (rows, sizes, plots) = (vec![], self.sizes.clone(), vec![]);
        let mut results = Results { rows, sizes, plots, missing: vec![] };
        for setting in self.settings {
            let mut one_setting = || -> anyhow::Result<()> {
                let prepared = prepare(self.ctx, setting)?;
                for &(size, repetitions) in &self.sizes {
                    let one = |repetition| {
                        let (ctx, rows, plots) = (self.ctx, vec![], vec![]);
                        let mut trial = Trial { ctx, setting, size, repetition, rows, plots };
                        cell(&prepared, &mut trial)?;
                        stage.inc(1);
                        Ok((trial.rows, trial.plots))
                    };
                    let found: anyhow::Result<Vec<_>> = if self.parallel {
                        (0..repetitions).into_par_iter().map(one).collect()
                    } else {
                        (0..repetitions).map(one).collect()
                    };
                    for (rows, plots) in found? {
                        results.rows.extend(rows);
                        results.plots.extend(plots);
                    }
                }
                Ok(())
            };
            if let Err(error) = one_setting() {
                results.missing.push(error.downcast::<MissingData>()?.needed_for(setting.label()));
                stage.inc(trials);
            }
        }
        if self.ctx.scale == Scale::Smoke {
            tape::record(self.ctx, &results);
        }
        Ok(results)
    }
}

/// One draw of the problem in one setting at one size, and what is measured on it.
pub struct Trial<'a, S = &'static str> {
    /// For sizes by scale, and data.
    pub ctx: &'a Context<'a>,
    /// The setting.
    pub setting: &'a S,
    /// The size, n in most experiments.
    pub size: usize,
    /// Counted from 0.
    pub repetition: usize,
    rows: Vec<Row>,
    plots: Vec<Plot>,
}

impl<S: Setting> Trial<'_, S> {
    /// The generator of a part of this trial, from the coordinates of the cell: the same bits in
    /// any order of the cells.
    ///
    /// The part is `"problem"` for what all methods share, and a method's key for its own draws.
    pub fn rng(&self, part: &str) -> Pcg64 {
        self.ctx.rng(&format!(
            "{}, size {}, repetition {}, {part}",
            self.setting.label(),
            self.size,
            self.repetition
        ))
    }

    /// A value of a method at an abscissa: the size, or one of its own as a number of landmarks.
    pub fn put(&mut self, x: impl Abscissa, method: Method, measure: Measure, value: f64) {
        let (setting, repetition, x) = (self.setting.label(), self.repetition, x.abscissa());
        self.rows.push(Row { setting, method, x, measure, repetition, value });
    }

    /// Several values of a method at one abscissa.
    pub fn put_all(
        &mut self,
        x: impl Abscissa,
        method: Method,
        values: impl IntoIterator<Item = (Measure, f64)>,
    ) {
        values.into_iter().for_each(|(measure, value)| self.put(x, method, measure, value));
    }

    /// Values of the problem itself, such as λ or d_eff, by the names that tables show.
    pub fn facts(
        &mut self,
        x: impl Abscissa,
        facts: impl IntoIterator<Item = (&'static str, f64)>,
    ) {
        let named = facts.into_iter().map(|(name, value)| (Measure::named(name), value));
        self.put_all(x, PROBLEM, named);
    }

    /// What `work` returns; its seconds are put down for the method.
    ///
    /// # Errors
    /// Those of the work.
    pub fn timed<T>(
        &mut self,
        x: impl Abscissa,
        method: Method,
        measure: Measure,
        work: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let (result, seconds) = timed(work);
        let result = result?;
        self.put(x, method, measure, seconds);
        Ok(result)
    }

    /// A plot of this very trial, for the report.
    pub fn show(&mut self, plot: Plot) {
        self.plots.push(plot);
    }
}

/// What `work` returns, and its seconds.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    (work(), start.elapsed().as_secs_f64())
}
