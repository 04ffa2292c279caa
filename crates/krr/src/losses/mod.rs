//! Kernel regression with other losses than squares, by Newton's method.

mod full;
mod landmarks;
mod logistic;
mod newton;
mod robust;

pub use full::FullLogisticKrr;
pub use logistic::LogisticKrr;
pub use robust::{Loss, LossKrr};
