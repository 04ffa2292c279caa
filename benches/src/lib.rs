//! What the benches share: the problems of the peer comparison, and how work of seconds is timed.

mod heavy;
pub mod problems;

pub use heavy::heavy;
