//! What the head of a model file says.

use crate::classes::Classes;
use crate::columns::Columns;
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

impl Head {
    pub fn of(model: &Model) -> Head {
        Head {
            columns: model.columns.clone(),
            layout: model.layout.clone(),
            targets: model.targets.clone(),
            classes: model.classes.clone(),
            dim: model.regression.centers().dim(),
            map: model.map.is_some(),
            centers: model.regression.centers().len(),
            kernel: model.regression.kernel().clone(),
            report: model.regression.report().clone(),
            made: model.made.clone(),
        }
    }
}
