//! From a table to predictions: a search for the best fit, without settings by the caller.
//!
//! A [`Model`] is a fitted *pipeline*: [`Columns`] (numbers, texts, missing values) → scaling →
//! linear map A → kernel → centres and coefficients:
//!
//! ```text
//! f(row) = mean + scale · Σ_j θ_j k(A x(row), z_j)
//! ```
//!
//! [`Fit`] chooses all these parts by comparing candidates on validation rows. Its work is measured
//! in operations, not in seconds, so the same seed gives the same model on any machine and with any
//! number of threads.
//!
//! ```
//! use nystrom::prelude::*;
//! use nystrom_data::{Column, Table};
//! use nystrom_pipeline::Fit;
//!
//! let a: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0).collect();
//! let y: Vec<f64> = a.iter().map(|a| a.sin()).collect();
//! let table = Table::new("t", vec![Column::numbers("a", a), Column::numbers("y", y)]).unwrap();
//! let fit = Fit::default().table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?;
//! let new = Table::new("new", vec![Column::numbers("a", vec![0.55, 2.05])]).unwrap();
//! let prediction = fit.model.predict(&new)?;
//! assert!((prediction.values[(1, 0)] - 2.05_f64.sin()).abs() < 1e-2);
//! # Ok::<(), nystrom_pipeline::Error>(())
//! ```
//!
//! A target of text or of few different whole numbers holds classes ([`Task`]). The model then
//! predicts [`probabilities`](Model::probabilities).
//!
//! This crate does not print, read files or read a clock. The caller passes a table, and a
//! [`Progress`] to show the steps or to stop the search early.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod classes;
mod columns;
mod copied_rows;
mod cost;
mod counts;
mod device;
mod effort;
mod error;
mod exact_sum;
mod examples;
mod features;
mod file;
mod fit;
mod hold_out;
mod intervals;
mod kernel;
mod loss;
mod memory;
mod model;
mod numbers;
mod prepared;
mod problem;
mod progress;
mod report;
mod search;
mod split;
mod stream;
mod target;
mod validation;

pub use classes::{Calibration, ClassErrors, ClassWeights, Classes, Task};
pub use columns::{Applied, ColumnOptions, Columns, Curve, Dropped, Missing, Note, Shape, Why};
pub use cost::largest_fitting;
pub use device::SharedDevice;
pub use effort::{Effort, rounded, work_in};
pub use error::{Error, Result, first_names};
pub use exact_sum::ExactSum;
pub use features::Features;
pub use file::MODEL_FILE_FORMAT;
pub use fit::Fit;
pub use intervals::{Calibrate, Uncertainty};
pub use kernel::{AnyKernel, Family, Meter};
pub use loss::TargetLoss;
pub use memory::half_of_free_memory;
pub use model::{
    Average, Dependence, Deviations, Explanation, Grid, Influence, Intervals, Made, Model,
    Predictions,
};
pub use prepared::Prepared;
pub use progress::{Event, Progress};
pub use report::{
    Centers, CurvePoint, Curves, Iterations, LogisticTrial, LossTrial, Metric, Report,
    SearchErrors, TargetError, Trial,
};
pub use search::Fitted;
pub use split::{Fold, Split};
pub use stream::{
    Alone, DrawnRow, DrawnRows, GreedyRows, LandmarkSpan, PointRecipe, PointRows, Ranks, Readings,
    Recipe, SavedLeaves, StreamFit, StreamPath, StreamPoints, StreamReport, Summing, TableBlocks,
    TableSource, TableSurvey, WeightedRows, iterations_from_bytes, iterations_to_bytes, of_row,
};
pub use target::{Target, TargetCurve, TargetScale};
pub use validation::{Bin, Compared, Confusion, Coverage, Validation};
