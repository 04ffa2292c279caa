//! Kernel regression with other losses than squares, by steps that are weighted
//! regressions: of Newton's method, or of a quadratic bound of the loss.

mod full;
mod landmarks;
mod logistic;
mod newton;
mod robust;

pub use full::FullLogisticKrr;
pub use logistic::LogisticKrr;
pub use robust::{Loss, LossKrr};
