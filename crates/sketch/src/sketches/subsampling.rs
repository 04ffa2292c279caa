//! Sub-sampling matrices, with one entry in each column.

use super::accumulation::draw_rows;
use super::{check_shape, distribution};
use crate::{Draw, Landmarks, SparseSketch};
use nystrom_linalg_core::{Error, Result, Scalar};
use rand::{Rng, RngExt};

/// The sub-sampling matrix S e_j = r_j/√(d p_{n_j}) e_{n_j} of d rows n_j drawn from P, with random
/// signs r_j = ±1 or with r_j = 1.
///
/// K_S and f_S are then the Nyström approximation and estimator, because scales and signs cancel.
/// Repeated rows are merged, which does not change SSᵀ. Without replacement only uniform P is
/// possible, because for unequal weights the inclusion probabilities have no closed form; the scale
/// of a row is then √(n/d).
///
/// ```
/// use nystrom_sketch::{Draw, Sketch, Subsampling};
/// use rand::SeedableRng;
/// let law = Subsampling { draw: Draw::WithoutReplacement, ..Subsampling::default() };
/// let s = law.sample::<f64>(100, 25, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!(s.width() == 25 && s.scales().iter().all(|c| *c == 2.0));  // √(n/d)
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Subsampling {
    /// P, as one weight per row. Only ratios matter, and a row of weight 0 is never drawn, as in
    /// [`Accumulation`](crate::Accumulation). `None`: all rows are equally likely.
    pub probabilities: Option<Vec<f64>>,
    /// With or without replacement.
    pub draw: Draw,
    /// Whether columns have random signs. These matter only for the summands of an
    /// [`Accumulation`](crate::Accumulation).
    pub signed: bool,
}

impl Default for Subsampling {
    /// Uniform, with replacement, no signs.
    fn default() -> Self {
        Subsampling { probabilities: None, draw: Draw::WithReplacement, signed: false }
    }
}

impl Subsampling {
    /// Independent draws in proportion to `scores`, without signs.
    pub fn proportional(scores: Vec<f64>) -> Self {
        Subsampling { probabilities: Some(scores), ..Subsampling::default() }
    }

    /// Draws a sketch with `n` rows and at most `d` columns.
    ///
    /// # Errors
    /// [`Error::Empty`] if n or d is 0, [`Error::TooMany`] if d > n, [`Error::Shape`] if the number
    /// of weights is not n, [`Error::InvalidWeight`]. [`Error::InvalidParameter`] for weights
    /// together with [`Draw::WithoutReplacement`].
    ///
    /// # Randomness
    /// d draws of a row, then d signs if `signed`.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<SparseSketch<T>> {
        check_shape(n, d)?;
        let entries: Vec<(usize, f64)> = match (self.draw, &self.probabilities) {
            (Draw::WithReplacement, weights) => draw_rows(weights.as_deref(), n, d, rng)?
                .into_iter()
                .map(|draw| (draw.row, (d as f64 * draw.p).sqrt().recip()))
                .collect(),
            (Draw::WithoutReplacement, None) => {
                let scale = (n as f64 / d as f64).sqrt();
                Landmarks::uniform(n, d, self.draw, rng)?
                    .into_indices()
                    .into_iter()
                    .map(|i| (i, scale))
                    .collect()
            }
            (Draw::WithoutReplacement, Some(weights)) => {
                let requirement = "0 without replacement (no closed form gives E[SS'] = I); draw \
                                   with replacement";
                let (name, value) =
                    ("number of sampling weights of the sketch", weights.len() as f64);
                return Err(Error::InvalidParameter { name, value, requirement });
            }
        };
        let mut sign =
            |value: f64| if self.signed && rng.random::<bool>() { -value } else { value };
        SparseSketch::new(
            n,
            entries.into_iter().map(|(row, value)| vec![(row, sign(value))]).collect(),
        )
    }
}

distribution!(Subsampling);
