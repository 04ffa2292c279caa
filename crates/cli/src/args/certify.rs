//! How the distance to exact regression is bounded: `ROWS` or `passes:N`.

use std::num::NonZeroUsize;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certify {
    /// From above, with a confidence, by this many sampled rows of the kernel matrix.
    Rows(NonZeroUsize),
    /// From both sides, by this many passes over all of it.
    Passes(NonZeroUsize),
}

impl FromStr for Certify {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| {
            digits.parse().map_err(|_| {
                "take a number of rows such as 1000, or a number of passes such as passes:5"
                    .to_owned()
            })
        };
        match text.strip_prefix("passes:") {
            Some(passes) => number(passes).map(Certify::Passes),
            None => number(text).map(Certify::Rows),
        }
    }
}
