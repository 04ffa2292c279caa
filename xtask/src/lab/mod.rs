//! The core of experiments: settings × sizes × repetitions, a cell function, and a table of what it
//! measured.
//!
//! An experiment file lists its settings and sizes, and has one cell function. That draws a problem
//! and puts measured values into the table under a [`Method`](crate::method::Method) and a
//! [`Measure`]. Plots with error bars, tables, the note on sizes, missing data and the values of
//! claims are read off the table; [`Results::on`] gives the part of one setting.
//! `experiments/chen_yang_fig3.rs` is the model.
//!
//! Random numbers come from [`Draw::rng`], by the coordinates of the cell, and from nowhere else.
//! So a cell has the same bits whatever else is run.

mod grid;
mod measure;
mod results;
mod setting;
mod sheet;
mod tape;

pub use grid::{Draw, Grid};
pub use measure::{D_EFF, D_MOF, FEATURES, LAMBDA, Measure, N};
pub use results::{On, Results, point, with};
pub(crate) use setting::labelled;
pub use setting::{Set, Setting};
pub use sheet::Place;
pub use tape::unbreakable;

#[cfg(test)]
mod tests;
