//! The test for a meaningless density estimate.

use super::{Standardised, exact};
use nystrom_linalg_core::{Error, Result};
use std::fmt;

/// An estimate is meaningless if, at the median point, the point itself contributes more than this
/// share of its density.
const LARGEST_OWN_SHARE: f64 = 0.5;

/// The reason why [`DensityMethod::Auto`](super::DensityMethod::Auto) made no estimate: most points
/// have no neighbours within a bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Refusal {
    /// Number of coordinates that vary.
    pub dimension: usize,
    /// h, in standard deviations of the features.
    pub bandwidth: f64,
    /// The share of a point in its own density, the median over 32 points: more than one half.
    pub own_share: f64,
}

impl Refusal {
    /// Computes exact sums at the probes. Their median must be at least twice the contribution of
    /// the point itself; otherwise returns the refusal.
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
             median point itself contributes {percent:.0} % of its density"
        )
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::InvalidParameter {
            name: "dimension of the points for density estimation",
            value: refusal.dimension as f64,
            requirement: "small enough that the median point has neighbours within a bandwidth; \
                          use recursive or BLESS scores, which need no density, or give \
                          the density, a larger bandwidth, or \
                          Density::EstimatedOrUniform for uniform scores",
        }
    }
}
