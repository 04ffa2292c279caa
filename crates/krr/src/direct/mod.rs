//! Kernel ridge regression by factorisations: exact, and restricted to centres or sketches.

mod dictionary;
mod divide_and_conquer;
mod exact;
mod nystrom;
mod sketched;
mod solver;

pub use dictionary::DictionaryKrr;
pub use divide_and_conquer::{DivideAndConquerKrr, DivideAndConquerModel, DivideAndConquerReport};
pub use exact::ExactKrr;
pub use nystrom::NystromKrr;
pub use sketched::SketchedKrr;
pub(crate) use sketched::{SketchRows, is_streamed};
pub use solver::Solver;
pub(crate) use solver::{Choice, Scales, safe};
