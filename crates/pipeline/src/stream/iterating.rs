//! Falkon, KRILL and regression on all the data, over rows that are read again for every iteration.

use super::choose_lambda::StreamReport;
use super::processes::Ranks;
use super::recipe::UNIFORM;
use super::{Recipe, Summing, TableSource};
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::model::Model;
use nystrom::krr::{
    Certificate, CertificateReport, Extras, Falkon, IterationReport, IterativeOptions, RowPasses,
    RowSums,
};
use nystrom::prelude::*;

/// Passes over all rows: each process reads its leaves, and all processes receive the sum.
pub(super) struct Passes<'a> {
    recipe: &'a Recipe,
    ranks: &'a dyn Ranks,
    source: &'a mut dyn TableSource,
    /// The error of this crate that ended a pass.
    error: Option<Error>,
}

impl<'a> Passes<'a> {
    pub fn new(recipe: &'a Recipe, ranks: &'a dyn Ranks, source: &'a mut dyn TableSource) -> Self {
        Passes { recipe, ranks, source, error: None }
    }

    /// The result of the passes, or the error of this crate that ended one.
    pub fn unless_failed<X>(self, found: nystrom::Result<X>) -> Result<X> {
        self.error.map_or_else(|| Ok(found?), Err)
    }

    fn all<S: RowSums<f64>>(&mut self, empty: S) -> Result<S> {
        let mut sum = Summing::of(empty, self.recipe, self.ranks, &[])?;
        sum.run(self.source, &mut |_| Ok(()))?;
        sum.everywhere(self.ranks)
    }
}

impl RowPasses<f64> for Passes<'_> {
    fn pass<S: RowSums<f64>>(&mut self, empty: S) -> nystrom::Result<S> {
        self.all(empty).map_err(|error| {
            self.error = Some(error);
            // which is told in its place
            nystrom::Error::Incompatible { what: "rows", problem: "a pass failed".into() }
        })
    }
}

impl Recipe {
    /// The fit at one λ, with one pass over the rows for each iteration. The solver is [`Falkon`]
    /// if the centres are uniformly drawn rows, as its preconditioner assumes, [`FullKrr`] if every
    /// row is a centre, and [`Krill`] otherwise, also in the span of a sketch. The monitor is
    /// called for every iteration, on every process.
    ///
    /// For classes, a fifth of the sample (at most 1000 rows), and all rows equal to one of these,
    /// have weight 0 in the fit, and the probabilities are calibrated on them. A row to which more
    /// than one row in a hundred is equal is not held out in this way. If fewer than 10 different
    /// rows can be held out, the probabilities are calibrated on the fitted sample.
    ///
    /// # Cost
    /// For each pass nm kernel values and 4nm flops. Memory: 16m² bytes on each process, with KRILL
    /// [more](Self::bytes_iterating). If every row is a centre: n² kernel values and 2n² flops for
    /// each pass, and the memory of [`FullKrr::memory_in_passes`].
    ///
    /// # Errors
    /// Those of [`Falkon::fit_passes`], [`FullKrr::fit_passes`] and of the source;
    /// [`OutOfBudget`](nystrom::Error::OutOfBudget) before the first pass, [`Error::File`] if the
    /// model is not finite.
    ///
    /// # Randomness
    /// With KRILL, one key; if every row is a centre, that of the preconditioner. The generators of
    /// all processes must be in the same state.
    pub fn iterate_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        (lambda, options): (f64, IterativeOptions),
        extras: Extras<'_, AnyKernel, f64>,
        rng: &mut dyn Rng,
    ) -> Result<(Model, StreamReport, IterationReport)> {
        let held = self.with_held_out();
        let recipe = held.as_ref().unwrap_or(self);
        let (kernel, ridge) = (recipe.model.regression.kernel().clone(), Ridge::PerSample(lambda));
        let (centers, t) = (Points::from_cols(recipe.centers.as_ref()), recipe.facts.targets.len());
        let mut passes = Passes::new(recipe, ranks, source);
        let fit = if recipe.is_of_all() {
            let (full, d) = (FullKrr { options, ..FullKrr::new(kernel, ridge) }, centers.dim());
            full.memory_in_passes([recipe.landmarks(), d, t])?;
            full.fit_passes(&mut passes, [d, t], extras, rng)
        } else if let Some(sketch) = recipe.span()? {
            let krill = Krill { options, ..Krill::new(kernel, ridge) };
            krill.fit_sketch_passes(&mut passes, centers, &sketch, t, extras, rng)
        } else if recipe.facts.chosen_by == UNIFORM {
            let falkon = Falkon { options, ..Falkon::new(kernel, ridge) };
            falkon.fit_passes(&mut passes, centers, t, extras)
        } else {
            let krill = Krill { options, ..Krill::new(kernel, ridge) };
            krill.fit_passes(&mut passes, centers, t, extras, rng)
        };
        let fit = passes.unless_failed(fit)?;
        let calibrated = recipe.sample.as_ref().map(|sample| -> Result<_> {
            let sample = sample.held_out(&recipe.held);
            let values = fit.model.predict(sample.points())?;
            Ok(recipe.calibrated(&sample, values))
        });
        let (calibrated, report) = (calibrated.transpose()?, StreamReport::at(recipe, lambda));
        let (model, report) = recipe.made(fit.model, report, calibrated)?;
        Ok((model, report, fit.report))
    }
}

impl Recipe {
    /// Bounds the distance of a model of this recipe to exact regression on the same rows, by three
    /// passes over them. Process 0 passes the model and sends it to the other processes. Distances
    /// are in the units of the targets.
    ///
    /// # Cost
    /// That of [`Certificate::certify_passes`], divided among the processes like any pass.
    ///
    /// # Errors
    /// Those of [`Certificate::certify_passes`] and of the source.
    ///
    /// # Randomness
    /// One key. The generators of all processes must be in the same state.
    pub fn certify_over(
        &self,
        (ranks, source): (&dyn Ranks, &mut dyn TableSource),
        model: Option<&Model>,
        certificate: Certificate,
        rng: &mut dyn Rng,
    ) -> Result<CertificateReport> {
        let sends = ranks.rank() == 0 && ranks.size() > 1;
        let bytes = model.filter(|_| sends).map_or(Ok(Vec::new()), Model::to_bytes)?;
        let bytes = ranks.broadcast(bytes);
        let model = match model {
            Some(model) => model,
            None => &Model::from_bytes(&bytes)?,
        };
        let held = if model.made.held_out > 0 { self.with_held_out() } else { None };
        let mut passes = Passes::new(held.as_ref().unwrap_or(self), ranks, source);
        let report = certificate.certify_passes(&model.regression, &mut passes, rng);
        let scales: Vec<f64> = model.targets.iter().map(|target| target.scale).collect();
        Ok(passes.unless_failed(report)?.scaled(&scales)?)
    }
}
