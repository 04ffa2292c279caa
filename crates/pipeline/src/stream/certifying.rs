//! The distance of a fit to all rows to exact regression.

use super::iterating::Passes;
use super::ranks::Ranks;
use super::{Recipe, TableSource};
use crate::error::Result;
use crate::model::Model;
use nystrom::krr::{Certificate, CertificateReport};
use nystrom::prelude::*;

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
