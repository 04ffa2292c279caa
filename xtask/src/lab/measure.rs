//! What is measured in a cell.

use super::Axis;

/// A measured quantity: its name in tables and claims, and along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// Short name, which tells it from other measures: `error`.
    pub key: &'static str,
    /// Along an axis: `mean in-sample error (1/n) Σ (f̂ − f*)²`.
    pub label: &'static str,
    /// Whether its axis is logarithmic.
    log: bool,
    /// Whether a clock is read: summarised by medians, in seconds, and left out when runs are
    /// compared.
    pub time: bool,
}

impl Measure {
    /// A number that no axis shows, summarised by its mean.
    pub const fn named(key: &'static str) -> Self {
        Measure::new(key, key)
    }

    /// A number, on a linear axis, summarised by its mean.
    pub const fn new(key: &'static str, label: &'static str) -> Self {
        Measure { key, label, log: false, time: false }
    }

    /// Seconds, on a logarithmic axis, summarised by their median.
    pub const fn time(key: &'static str, label: &'static str) -> Self {
        Measure { key, label, log: true, time: true }
    }

    /// The same on a logarithmic axis.
    pub const fn log(self) -> Self {
        Measure { log: true, ..self }
    }

    /// The axis of its plots.
    pub fn axis(&self) -> Axis {
        if self.log { Axis::log(self.label) } else { Axis::linear(self.label) }
    }
}
