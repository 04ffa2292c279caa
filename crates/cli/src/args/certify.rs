//! `--certify=ROWS` and `--certify=passes:N`: how the distance to exact regression is bounded.

use std::num::NonZeroUsize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certify {
    /// An upper bound with 99 % confidence, from this many sampled rows of the kernel matrix.
    Rows(NonZeroUsize),
    /// An upper and a lower bound, from this many passes over the whole kernel matrix.
    Passes(NonZeroUsize),
}

/// Reads the value of --certify.
pub fn certify(text: &str) -> Result<Certify, String> {
    let number = |digits: &str| {
        digits.parse().map_err(|_| {
            "expected a number of rows such as 1000, or a number of passes such as passes:5"
                .to_owned()
        })
    };
    match text.strip_prefix("passes:") {
        Some(passes) => number(passes).map(Certify::Passes),
        None => number(text).map(Certify::Rows),
    }
}
