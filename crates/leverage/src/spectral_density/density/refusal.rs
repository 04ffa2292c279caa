//! When a density estimate means nothing.

use super::{Standardised, exact};
use nystrom_linalg_core::{Error, Result};
use std::fmt;

/// Above this share of a point in its own density, at the median point, an estimate says nothing
/// about neighbours.
const LARGEST_OWN_SHARE: f64 = 0.5;

/// Why [`DensityMethod::Auto`](super::DensityMethod::Auto) makes no estimate: the points have no
/// neighbours within a bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Refusal {
    /// Number of coordinates that vary.
    pub dimension: usize,
    /// h, in standard deviations of the features.
    pub bandwidth: f64,
    /// The share of a point in the density at itself, for the median of 32 points: more than a
    /// half.
    pub own_share: f64,
}

impl Refusal {
    /// Exact sums at a few points: their median must be at least twice that of a point alone.
    pub(super) fn of(x: &Standardised, h: f64) -> Result<Option<Self>> {
        let mut sums = exact::sums_at(x, h, &x.probes())?;
        sums.sort_unstable_by(f64::total_cmp);
        let own_share = 1.0 / sums[sums.len() / 2];
        let meaningless = x.n >= 3 && own_share > LARGEST_OWN_SHARE;
        Ok(meaningless.then_some(Refusal { dimension: x.dim(), bandwidth: h, own_share }))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { dimension, bandwidth, own_share } = self;
        let percent = 100.0 * own_share;
        write!(
            f,
            "no density estimate in {dimension} dimensions: at bandwidth {bandwidth:.3} the \
             median point makes up {percent:.0} % of the \
             density at itself"
        )
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::InvalidParameter {
            name: "dimension of the points for density estimation",
            value: refusal.dimension as f64,
            requirement: "small enough that the median point has neighbours within a bandwidth; \
                          give the density, widen the \
                          bandwidth, ask for uniform scores in this case \
                          (Density::EstimatedOrUniform), or use recursive or BLESS \
                          scores, which need no density",
        }
    }
}
