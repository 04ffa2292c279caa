//! How far predictions are from what is known.

use crate::failure::Result;
use crate::summary::Summary;
use crate::text::{count, number};
use nystrom::faer::MatRef;
use nystrom::krr::metrics;
use serde::Serialize;

/// Sums from which errors follow, of rows that come one after another.
#[derive(Debug, Clone, Default)]
pub struct Running {
    rows: usize,
    /// Of the squares of errors.
    sum: f64,
    /// Mean of the truth, and the sum of squares about it.
    mean: f64,
    square: f64,
}

impl Running {
    pub fn add(&mut self, predicted: f64, actual: f64) {
        self.rows += 1;
        self.sum += (predicted - actual).powi(2);
        let before = actual - self.mean;
        self.mean += before / self.rows as f64;
        self.square += before * (actual - self.mean);
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn errors(&self) -> Errors {
        let rmse = (self.sum / self.rows as f64).sqrt();
        let r2 = (self.square > 0.0).then(|| 1.0 - self.sum / self.square);
        Errors { rows: self.rows, rmse, r2 }
    }
}

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
