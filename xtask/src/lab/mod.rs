//! The core of experiments: settings × sizes × repetitions, a cell function, and a table of what it
//! measured.
//!
//! An experiment file lists its settings and sizes, and has one cell function. That draws a problem
//! and puts measured values into the table under a [`Method`] and a [`Measure`]. Plots with error
//! bars, tables, the note on sizes, missing data and the values of claims are read off the table;
//! [`Results::on`] gives the part of one setting. `experiments/zhang_duchi_wainwright.rs` is the
//! model.
//!
//! Random numbers come from [`Trial::rng`], by the coordinates of the cell, and from nowhere else.
//! So a cell has the same bits whatever else is run.
//!
//! `use crate::lab::*` brings what experiments are written in, the library's prelude too.

mod grid;
mod measure;
mod results;
mod setting;
mod sheet;
mod tape;

pub use crate::experiment::{
    Axis, Cell, Claim, Column, Context, Outcome, Plot, Point, Table, measured, number,
};
pub use crate::method::*;
pub use crate::statistics::{
    Estimate, Sample, exponent, geometric_mean, largest, mean_and_deviation, quantile, smallest,
};
pub use grid::{Grid, Trial, timed};
pub use measure::Measure;
pub use nystrom::linalg_core::random;
pub use nystrom::prelude::*;
pub use results::{On, Results, point, with};
pub(crate) use setting::labelled;
pub use setting::{Set, Setting};
pub use sheet::Place;
pub use tape::unbreakable;

#[cfg(test)]
mod tests;
