//! Linear algebra that several methods need.

mod projection;
mod sign_embedding;
pub(crate) mod svd;

pub(crate) use projection::{share, subtract};
pub(crate) use sign_embedding::{ROWS_PER_CENTER, embed, empty_embedding};
