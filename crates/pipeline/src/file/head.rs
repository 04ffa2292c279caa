//! What the head of a model file says.

use crate::classes::Classes;
use crate::columns::Columns;
use crate::intervals::{Conformal, Sizes};
use crate::kernel::AnyKernel;
use crate::model::{Made, Model, Target};
use nystrom::krr::FitReport;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    pub columns: Columns,
    pub layout: Vec<String>,
    pub targets: Vec<Target>,
    /// Files of regressions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// Of intervals, if rows were set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conformal: Option<ConformalHead>,
    /// d.
    pub dim: usize,
    /// Whether the payload begins with a map, d × d.
    pub map: bool,
    /// m.
    pub centers: usize,
    pub kernel: AnyKernel,
    pub report: FitReport,
    pub made: Made,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ConformalHead {
    pub centers: usize,
    pub kernel: AnyKernel,
    pub report: FitReport,
    pub ranges: Vec<[f64; 2]>,
    /// Calibration rows.
    pub rows: usize,
}

impl ConformalHead {
    fn of(conformal: &Conformal) -> ConformalHead {
        let Sizes { regression, ranges } = &conformal.sizes;
        ConformalHead {
            centers: regression.centers().len(),
            kernel: regression.kernel().clone(),
            report: regression.report().clone(),
            ranges: ranges.clone(),
            rows: conformal.scores.first().map_or(0, Vec::len),
        }
    }
}

impl Head {
    pub fn of(model: &Model) -> Head {
        Head {
            columns: model.columns.clone(),
            layout: model.layout.clone(),
            targets: model.targets.clone(),
            classes: model.classes.clone(),
            conformal: model.conformal.as_ref().map(ConformalHead::of),
            dim: model.regression.centers().dim(),
            map: model.map.is_some(),
            centers: model.regression.centers().len(),
            kernel: model.regression.kernel().clone(),
            report: model.regression.report().clone(),
            made: model.made.clone(),
        }
    }
}
