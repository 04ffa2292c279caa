//! What the benches share: the problems of the peer comparison, and how work of seconds is timed.

mod heavy;
pub mod problems;

pub use heavy::heavy;

/// That of the programs and of the package for Python; NumPy asks for large pages, too.
#[global_allocator]
static ALLOCATOR: nystrom::linalg_core::LargePages = nystrom::linalg_core::LargePages;
