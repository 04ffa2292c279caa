//! A model of sparse rows in more dimensions: new rows may have numbers at places that no fitted
//! row has, and these count in distances.

use super::Model;
use crate::columns::Note;
use crate::error::Result;
use crate::features::Features;
use crate::kernel::AnyKernel;
use nystrom::kernels::{PointSet, SparseRows};
use nystrom::krr::Posterior;
use nystrom::prelude::*;
use nystrom_data::Table;
use std::borrow::Cow;

impl Model {
    /// The mapped features of the rows of a table, with notes, and the model in as many dimensions.
    pub(super) fn at(&self, table: &Table) -> Result<(Cow<'_, Model>, Features, Vec<Note>)> {
        let (x, notes) = self.columns.features_of(table, None)?;
        let x = x.mapped(self.map.as_ref());
        Ok((self.in_dimensions(x.points().dim())?, x, notes))
    }

    /// The same model with centres in `d` dimensions, if they have fewer.
    fn in_dimensions(&self, d: usize) -> Result<Cow<'_, Model>> {
        if self.regression.centers().dim() >= d {
            return Ok(Cow::Borrowed(self));
        }
        let mut model = self.clone();
        model.regression = regression_in(d, &self.regression)?;
        if let Some(conformal) = &mut model.conformal {
            conformal.sizes.regression = regression_in(d, &conformal.sizes.regression)?;
        }
        if let Some(plus) = &mut model.plus {
            plus.models = regression_in(d, &plus.models)?;
        }
        if let Some(uncertainty) = &mut model.uncertainty {
            let of = &uncertainty.posterior;
            let (kernel, factor) = (of.kernel().clone(), of.factor().to_owned());
            let (centers, rates) = (widened(of.centers(), d)?, of.rates().to_vec());
            uncertainty.posterior = Posterior::new(kernel, centers, factor, rates, of.mu())?;
        }
        Ok(Cow::Owned(model))
    }
}

fn regression_in(d: usize, of: &KrrModel<AnyKernel, f64>) -> Result<KrrModel<AnyKernel, f64>> {
    let (kernel, centers) = (of.kernel().clone(), widened(of.centers(), d)?);
    let (theta, b) = (of.coefficients().to_owned(), of.intercept().to_vec());
    Ok(KrrModel::new(kernel, centers, theta, b, of.report().clone())?)
}

/// The same points in `d` dimensions, if they are sparse.
fn widened(points: Points<'_, f64>, d: usize) -> Result<PointSet<f64>> {
    Ok(match points.to_owned() {
        PointSet::Sparse(rows) => {
            let (starts, columns) = (rows.starts().to_vec(), rows.columns().to_vec());
            SparseRows::new(d, starts, columns, rows.values().to_vec())?.into()
        }
        dense => dense,
    })
}
