//! The parameters shared by SQUEAK and DISQUEAK.

use nystrom_linalg_core::{Error, Result, validate};

/// The parameters of dictionary updates, for [`Squeak`](super::Squeak), its merges and the merge
/// trees.
///
/// The struct is also an estimator ([`RidgeLeverage`](crate::RidgeLeverage)), which makes one pass
/// over the rows of a matrix in random order.
///
/// # Cost
/// Of the estimator, with at most m points in the dictionary and automatic chunks: 4.5·nm entries,
/// 4.5·nm² flops and O(m²) memory, as [`Squeak`](super::Squeak). Scores take another n·m + m²
/// entries.
///
/// # Source
/// Calandriello, Lazaric & Valko, AISTATS 2017 (arXiv:1803.10172).
///
/// ```
/// use nystrom_leverage::{ScoreRule, SqueakParams};
/// let params = SqueakParams { max_dictionary: 500, ..SqueakParams::new(20) };
/// assert_eq!((params.copies, params.epsilon, params.scores), (20, 0.5, ScoreRule::Provable));
/// assert_eq!(SqueakParams::default(), SqueakParams::new(8));
/// assert_eq!(params.alpha_adding(), 3.0);                    // (1 + ε)/(1 − ε)
/// assert_eq!(params.alpha_merging(), 5.0);                   // (1 + 3ε)/(1 − ε)
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SqueakParams {
    /// q̄: the copies of every new point. A point of estimated score p̃ is kept with probability 1
    /// − (1 − p̃)^q̄, so the dictionary has at most about q̄·d_eff points. In practice 1 to 20;
    /// [`copies_for`](Self::copies_for) returns the number that the theory asks for.
    pub copies: u32,
    /// ε in (0, 1): the accuracy of the dictionary that the score formulas assume.
    pub epsilon: f64,
    /// Cap on the points of the dictionary, which may exceed it by at most one chunk. If the
    /// dictionary is above the cap after shrinking, further points are refused with
    /// [`Error::DictionaryFull`].
    pub max_dictionary: usize,
    /// Points added between two shrinkings. 1 is the published algorithm, which takes O(m³) flops
    /// per point. `None`: half the number of points in the dictionary, at least 64, which minimises
    /// the total work, O(m²) flops per point.
    pub chunk: Option<usize>,
    /// Whether p̃ may fall at most by half for every point added, as in the 2016 poster: p̃_t =
    /// max{min{τ̃_t, p̃_{t−1}}, p̃_{t−1}/2}. The 2017 paper has no floor.
    ///
    /// Off by default, because E\[Σq\] ≤ q̄·d_eff needs p̃ ≤ τ, and a floor can only raise p̃. The
    /// floor also has no benefit. If γ ≥ k(x, x), one more point lowers no exact score by more than
    /// half, so that the floor rarely binds: in one measurement, the dictionaries with it and
    /// without it had sizes within about 1 % of each other, at the same accuracy. When b
    /// points are added at once the floor is 2⁻ᵇ·p̃, which never binds in automatic chunks (b ≥
    /// 64). Merges have no floor: there b would be the number of points that the other stream has
    /// seen. New points are exempt: they start at p̃ = 1, so that the floor would keep them at ½,
    /// which may be above τ ≤ k/(k + γ).
    pub halving_floor: bool,
    /// The constants in the score formulas.
    pub scores: ScoreRule,
}

/// The constants in the score formulas of [`SqueakParams`]. In these formulas M = ΦSSᵀΦᵀ is the
/// covariance operator of the current dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ScoreRule {
    /// Adding points: τ̃ = (1 − ε)·φᵀ(M + γI)⁻¹φ. Merging: τ̃ = (1 − ε)·φᵀ(M + (1 + ε)γI)⁻¹φ. If
    /// the dictionaries are ε-accurate, τ/α ≤ τ̃ ≤ τ, with α = (1 + ε)/(1 − ε) when adding and α =
    /// (1 + 3ε)/(1 − ε) when merging.
    #[default]
    Provable,
    /// The constants of the authors' code: τ̃ = (1 − 2ε)·φᵀ(M + γI)⁻¹φ for adding and merging, ε <
    /// 1/2.
    ReferenceCode,
}

impl Default for SqueakParams {
    /// [`new`](Self::new) with 8 copies, the default of `nystrom scores`.
    fn default() -> Self {
        SqueakParams::new(8)
    }
}

/// The least length of automatic chunks.
const MIN_CHUNK: usize = 64;

impl SqueakParams {
    /// q̄ = `copies`, ε = 1/2, at most 4096 points, chunks of automatic length, no floor, provable
    /// scores.
    pub fn new(copies: u32) -> Self {
        SqueakParams {
            copies,
            epsilon: 0.5,
            max_dictionary: 4096,
            chunk: None,
            halving_floor: false,
            scores: ScoreRule::Provable,
        }
    }

    /// q̄ = ⌈39·α·ln(2n/δ)/ε²⌉ with α = (1 + 3ε)/(1 − ε): the theory's number of copies for n
    /// points, accuracy ε and failure probability δ.
    ///
    /// The form is that of the theorem of Calandriello, Lazaric & Valko (AISTATS 2017); the
    /// constant 39 was taken over without the printed theorem at hand. The number is much larger
    /// than needed in practice: measure the accuracy with far fewer copies first.
    ///
    /// Theorem 1 of the 2016 poster has q̄ = O(α ln(n/δ)/ε²) with α = (1 + ε)/(1 − ε), for one
    /// stream. The α here is the larger one of merging, so that the number suffices for a single
    /// stream too. The poster assumes γ > 1 and k(x, x) ≤ 1: one more point then lowers a score by
    /// at most half, as its halving floor needs. Without the floor, τ/α ≤ p̃ ≤ τ holds at any γ, so
    /// that γ is no argument here.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0, [`Error::InvalidParameter`] unless ε and δ lie in (0, 1) and q̄
    /// fits into 32 bits.
    pub fn copies_for(n: usize, epsilon: f64, delta: f64) -> Result<u32> {
        validate::not_empty("points (n)", n)?;
        check_unit("epsilon", epsilon)?;
        nystrom_sketch::check_failure_probability(delta)?;
        let alpha = SqueakParams { epsilon, ..SqueakParams::new(1) }.alpha_merging();
        let copies = (39.0 * alpha * (2.0 * n as f64 / delta).ln() / (epsilon * epsilon)).ceil();
        validate::require(
            copies <= f64::from(u32::MAX),
            "epsilon",
            epsilon,
            "larger: this epsilon needs more than 4294967295 copies per point",
        )?;
        Ok(copies as u32)
    }

    /// α = (1 + ε)/(1 − ε), of the scores when points are added.
    pub fn alpha_adding(&self) -> f64 {
        (1.0 + self.epsilon) / (1.0 - self.epsilon)
    }

    /// α = (1 + 3ε)/(1 − ε), of the scores when dictionaries are merged.
    pub fn alpha_merging(&self) -> f64 {
        (1.0 + 3.0 * self.epsilon) / (1.0 - self.epsilon)
    }

    /// # Errors
    /// [`Error::Empty`] for q̄, the cap or the chunk equal to 0, [`Error::InvalidParameter`] for ε
    /// outside its range.
    pub(crate) fn check(&self) -> Result<()> {
        validate::not_empty("copies per point (q)", self.copies as usize)?;
        validate::not_empty("max_dictionary", self.max_dictionary)?;
        validate::not_empty("chunk", self.chunk.unwrap_or(MIN_CHUNK))?;
        check_unit("epsilon", self.epsilon)?;
        validate::require(
            !(self.scores == ScoreRule::ReferenceCode && self.epsilon >= 0.5),
            "epsilon",
            self.epsilon,
            "below 1/2 with the reference code's scores, whose factor is 1 - 2 epsilon",
        )?;
        Ok(())
    }

    /// The length of the next chunk for a dictionary of `settled` points.
    pub(crate) fn chunk_for(&self, settled: usize) -> usize {
        self.chunk.unwrap_or(MIN_CHUNK.max(settled / 2))
    }

    /// (factor, ridge) of the score when fresh points of weight 1 are added.
    pub(crate) fn adding(&self, gamma: f64) -> (f64, f64) {
        match self.scores {
            ScoreRule::Provable => (1.0 - self.epsilon, gamma),
            ScoreRule::ReferenceCode => (1.0 - 2.0 * self.epsilon, gamma),
        }
    }

    /// (factor, ridge) of the score when two dictionaries are merged.
    pub(crate) fn merging(&self, gamma: f64) -> (f64, f64) {
        match self.scores {
            ScoreRule::Provable => (1.0 - self.epsilon, (1.0 + self.epsilon) * gamma),
            ScoreRule::ReferenceCode => (1.0 - 2.0 * self.epsilon, gamma),
        }
    }

    /// The least ratio of new p̃ to old p̃ when `added` points are added at once.
    pub(crate) fn floor(&self, added: usize) -> f64 {
        if self.halving_floor { 0.5_f64.powi(added.min(2000) as i32) } else { 0.0 }
    }

    /// [`Error::DictionaryFull`] if a dictionary of `size` points, after `seen` points of the
    /// stream, is above the cap.
    pub(crate) fn check_cap(&self, size: usize, seen: u64) -> Result<()> {
        if size <= self.max_dictionary {
            Ok(())
        } else {
            Err(Error::DictionaryFull { size, cap: self.max_dictionary, seen })
        }
    }
}

fn check_unit(name: &'static str, value: f64) -> Result<()> {
    validate::require(value > 0.0 && value < 1.0, name, value, "strictly between 0 and 1")
}
