//! How far predictions are from what is known.

use crate::failure::Result;
use crate::summary::Summary;
use crate::text::{count, number};
use nystrom::faer::MatRef;
use nystrom::krr::metrics;
use serde::Serialize;

/// Errors of predictions.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Errors {
    pub rows: usize,
    pub rmse: f64,
    /// Not defined if the target is constant.
    pub r2: Option<f64>,
}

impl Errors {
    pub fn of(predicted: MatRef<'_, f64>, actual: MatRef<'_, f64>) -> Result<Errors> {
        let rmse = metrics::rmse(predicted, actual)?;
        Ok(Errors { rows: actual.nrows(), rmse, r2: metrics::r2(predicted, actual).ok() })
    }

    pub fn report(&self, label: &'static str, key: &str, summary: &mut Summary) {
        let r2 = self.r2.map_or_else(|| "not defined: the target is constant".into(), number);
        summary.line(
            label,
            format!("RMSE {}, R² {r2} ({})", number(self.rmse), count(self.rows, "row")),
        );
        summary.value(key, self);
    }
}
