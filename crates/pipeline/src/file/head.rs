//! The head of a model file.

use crate::classes::Classes;
use crate::columns::Columns;
use crate::intervals::{Conformal, ResidualSizes};
use crate::kernel::AnyKernel;
use crate::model::{Explanation, Made, Model};
use crate::target::Target;
use nystrom::krr::FitReport;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct ModelHead {
    pub columns: Columns,
    pub layout: Vec<String>,
    pub targets: Vec<Target>,
    /// Absent in files of regressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// For intervals, if rows were set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conformal: Option<ConformalHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plus: Option<PlusHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<UncertaintyHead>,
    /// The number of features, d.
    pub dim: usize,
    /// Whether the payload begins with a map, d × d.
    pub map: bool,
    /// The number of centres, m.
    pub centers: usize,
    /// The number of stored coordinates of sparse centres, of the regression and of the other
    /// parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<usize>,
    pub kernel: AnyKernel,
    pub report: FitReport,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    pub made: Made,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ConformalHead {
    pub centers: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<usize>,
    pub kernel: AnyKernel,
    pub report: FitReport,
    pub ranges: Vec<[f64; 2]>,
    /// The number of calibration rows.
    pub rows: usize,
}

/// Models that leave rows out; their centres are those of the model.
#[derive(Serialize, Deserialize)]
pub(super) struct PlusHead {
    /// The number of rows that each model leaves out.
    pub parts: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct UncertaintyHead {
    pub kernel: AnyKernel,
    pub centers: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<usize>,
    pub columns: usize,
    pub mu: f64,
    pub noise: Vec<f64>,
    pub function: Vec<f64>,
    pub rates: Vec<f64>,
}

/// The number of stored coordinates of sparse points.
fn stored(points: Points<'_, f64>) -> Option<usize> {
    points.is_sparse().then(|| points.stored())
}

impl ConformalHead {
    fn of(conformal: &Conformal) -> ConformalHead {
        let ResidualSizes { regression, ranges } = &conformal.sizes;
        ConformalHead {
            centers: regression.centers().len(),
            stored: stored(regression.centers()),
            kernel: regression.kernel().clone(),
            report: regression.report().clone(),
            ranges: ranges.clone(),
            rows: conformal.scores.first().map_or(0, Vec::len),
        }
    }
}

impl ModelHead {
    pub fn of(model: &Model) -> ModelHead {
        ModelHead {
            columns: model.columns.clone(),
            layout: model.layout.clone(),
            targets: model.targets.clone(),
            classes: model.classes.clone(),
            conformal: model.conformal.as_ref().map(ConformalHead::of),
            plus: model.plus.as_ref().map(|plus| PlusHead {
                parts: plus.residuals.first().into_iter().flatten().map(Vec::len).collect(),
            }),
            uncertainty: model.uncertainty.as_ref().map(|of| UncertaintyHead {
                kernel: of.posterior.kernel().clone(),
                centers: of.posterior.centers().len(),
                stored: stored(of.posterior.centers()),
                columns: of.posterior.factor().ncols(),
                mu: of.posterior.mu(),
                noise: of.variances.noise.clone(),
                function: of.variances.function.clone(),
                rates: of.posterior.rates().to_vec(),
            }),
            dim: model.regression.centers().dim(),
            map: model.map.is_some(),
            centers: model.regression.centers().len(),
            stored: stored(model.regression.centers()),
            kernel: model.regression.kernel().clone(),
            report: model.regression.report().clone(),
            explanation: model.explanation.clone(),
            made: model.made.clone(),
        }
    }
}
