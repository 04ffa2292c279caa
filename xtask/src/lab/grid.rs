//! The plan of an experiment, and its run: every setting at every size, so many draws of each.

use std::time::Instant;

use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::results::{Abscissa, Results, Row};
use super::{Measure, Setting, tape};
use crate::context::Scale;
use crate::datasets::MissingData;
use crate::experiment::{Context, Plot};
use crate::method::{Method, PROBLEM};

/// Settings × sizes × repetitions.
pub struct Grid<'a, S> {
    ctx: &'a Context<'a>,
    what: &'a str,
    settings: &'a [S],
    sizes: Vec<(usize, usize)>,
    parallel: bool,
}

impl<'a, S: Setting> Grid<'a, S> {
    /// One draw of every setting, at no particular size; `what` names the draws in the progress.
    pub fn new(ctx: &'a Context<'a>, what: &'a str, settings: &'a [S]) -> Self {
        Grid { ctx, what, settings, sizes: vec![(0, 1)], parallel: false }
    }

    /// Each size with its number of repetitions.
    pub fn sizes(self, sizes: &[(usize, usize)]) -> Self {
        Grid { sizes: sizes.to_vec(), ..self }
    }

    /// These sizes, with one number of repetitions, which [`repetitions`](Self::repetitions) sets.
    pub fn at(self, sizes: &[usize]) -> Self {
        Grid { sizes: sizes.iter().map(|&size| (size, 1)).collect(), ..self }
    }

    /// So many repetitions of every size.
    pub fn repetitions(mut self, repetitions: usize) -> Self {
        self.sizes.iter_mut().for_each(|(_, of_size)| *of_size = repetitions);
        self
    }

    /// Runs the repetitions of a cell at one time. For cells that measure no time.
    pub fn parallel(self) -> Self {
        Grid { parallel: true, ..self }
    }

    /// Runs the cell function on every draw.
    ///
    /// # Errors
    /// That of a cell; a data set that is absent is none: its setting is left out, and the results
    /// say so.
    pub fn run(
        &self,
        cell: impl Fn(&mut Draw<'_, S>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<Results> {
        self.run_on(|_, _| Ok(()), |(), draw| cell(draw))
    }

    /// The same, with what all draws of a setting share: data, exact scores.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on<P: Sync>(
        &self,
        prepare: impl Fn(&Context<'_>, &S) -> anyhow::Result<P>,
        cell: impl Fn(&P, &mut Draw<'_, S>) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<Results> {
        if let Some(results) = tape::play(self.ctx) {
            return Ok(results);
        }
        let draws: usize = self.sizes.iter().map(|(_, repetitions)| repetitions).sum();
        let stage = self.ctx.progress.begin(self.what, draws * self.settings.len());
        let mut results = Results::new(&self.sizes);
        for setting in self.settings {
            let mut one_setting = || -> anyhow::Result<()> {
                let prepared = prepare(self.ctx, setting)?;
                for &(size, repetitions) in &self.sizes {
                    let one = |repetition| {
                        let mut draw = Draw::new(self.ctx, setting, size, repetition);
                        cell(&prepared, &mut draw)?;
                        stage.inc(1);
                        Ok((draw.rows, draw.plots))
                    };
                    let found: anyhow::Result<Vec<_>> = if self.parallel {
                        (0..repetitions).into_par_iter().map(one).collect()
                    } else {
                        (0..repetitions).map(one).collect()
                    };
                    found?.into_iter().for_each(|(rows, plots)| results.extend(rows, plots));
                }
                Ok(())
            };
            if let Err(error) = one_setting() {
                results.missing.push(error.downcast::<MissingData>()?.needed_for(setting.label()));
                stage.inc(draws);
            }
        }
        if self.ctx.scale == Scale::Smoke {
            tape::record(self.ctx, &results);
        }
        Ok(results)
    }
}

/// One draw of the problem in one setting at one size, and what is measured on it.
pub struct Draw<'a, S = &'static str> {
    /// For sizes by scale, and data.
    pub ctx: &'a Context<'a>,
    /// The setting.
    pub setting: &'a S,
    /// The size, n in most experiments.
    pub size: usize,
    /// Counted from 0.
    pub repetition: usize,
    label: String,
    rows: Vec<Row>,
    plots: Vec<Plot>,
}

impl<'a, S: Setting> Draw<'a, S> {
    fn new(ctx: &'a Context<'a>, setting: &'a S, size: usize, repetition: usize) -> Self {
        Draw { ctx, setting, size, repetition, label: setting.label(), rows: vec![], plots: vec![] }
    }

    /// The generator of a part of this draw, from the coordinates of the cell: the same bits in any
    /// order of the cells.
    ///
    /// The part is `"problem"` for what all methods share, and a method's key for its own draws.
    pub fn rng(&self, part: &str) -> Pcg64 {
        self.ctx.rng(&format!(
            "{}, size {}, repetition {}, {part}",
            self.label, self.size, self.repetition
        ))
    }

    /// A value of a method at an abscissa: the size, or one of its own as a number of landmarks.
    pub fn put(&mut self, x: impl Abscissa, method: Method, measure: Measure, value: f64) {
        let (setting, repetition, x) = (self.label.clone(), self.repetition, x.abscissa());
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

    /// Values of the problem itself, such as λ or d_eff.
    pub fn facts(&mut self, values: impl IntoIterator<Item = (Measure, f64)>) {
        self.put_all(self.size, PROBLEM, values);
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
        let start = Instant::now();
        let result = work()?;
        self.put(x, method, measure, start.elapsed().as_secs_f64());
        Ok(result)
    }

    /// A plot of this very draw, for the report.
    pub fn show(&mut self, plot: Plot) {
        self.plots.push(plot);
    }
}
