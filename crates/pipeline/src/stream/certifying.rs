//! How far a fit to all rows is from exact regression.

use super::iterating::Passes;
use super::ranks::Ranks;
use super::{Recipe, TableSource};
use crate::error::Result;
use crate::model::Model;
use nystrom::krr::{Certificate, CertificateReport};
use nystrom::prelude::*;

impl Recipe {
    /// Compares a model of this recipe with exact regression on the same rows, by three passes over
    /// them. The model is needed on process 0, which sends it to the others; lengths are in units
    /// of the targets.
    ///
    /// # Cost
    /// That of [`Certificate::certify_passes`], shared as any pass.
    ///
    /// # Errors
    /// Those of [`Certificate::certify_passes`] and of the source.
    ///
    /// # Randomness
    /// One key; the generators of all processes must be in the same state.
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
