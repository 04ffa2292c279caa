//! A graphics card. This crate has no code for one: `crates/gpu` opens it and passes it here, so
//! that no other program has to be built with the libraries for cards.

use nystrom::krr::Device;
use nystrom_pipeline::AnyKernel;
use std::sync::Arc;

/// A graphics card that is open, for the commands of this program.
pub trait Card: Device<AnyKernel, f64> + Send {
    /// Its name, with what its driver says about it.
    fn name(&self) -> String;

    /// Bytes of its memory that products with K of n points in d dimensions take, for `sides`
    /// right-hand sides at a time.
    fn bytes(&self, n: usize, d: usize, sides: usize) -> u64;

    /// Kernel values a second for points in d dimensions and `sides` right-hand sides, by products
    /// that take some 0.2 s.
    ///
    /// # Errors
    /// The message of a card that fails.
    fn values_per_second(&self, d: usize, sides: usize) -> std::result::Result<f64, String>;

    /// The message of the last error of [`times`](Device::times), if there was one.
    fn failure(&self) -> Option<String>;
}

/// Opens the card whose name contains a text, or the best one.
///
/// # Errors
/// A message with the cards found and the remedy.
pub type OpenCard<'a> = &'a dyn Fn(Option<&str>) -> std::result::Result<Arc<dyn Card>, String>;
