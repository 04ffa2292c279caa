//! Features of rows in which the penalty is the identity: φ(x) = R⁻¹k_Z(x), tile by tile.

mod kept_rows;
mod kernel_rows;
mod rows;
mod totals;
mod whitener;

pub(crate) use kept_rows::KeptRows;
pub(crate) use kernel_rows::{KernelRows, gathered, span, spread};
pub(crate) use rows::{FeatureRows, Source, Tile};
pub(crate) use totals::Totals;
pub(crate) use whitener::{Whitener, factor, residual_diagonal, whitened};
