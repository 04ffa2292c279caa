//! How draws by rejection are prepared.

use nystrom_linalg_core::{Result, validate};

/// Rows up to which a spectrum is cheap.
const SPECTRUM_UP_TO: usize = 2000;
/// Items of the sample that the guide is made from: at most by default.
const MOST_ROWS: usize = 40_000;

/// How [`RejectionKDpp`](crate::RejectionKDpp) prepares and when it gives up. None of it changes
/// the distribution of a draw.
///
/// ```
/// use nystrom_dpp::Rejection;
/// let usual = Rejection::of_size(20);
/// let patient = Rejection { trials: 100_000, ..usual };
/// assert_eq!((usual.dictionary, patient.rounds), (120, 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rejection {
    /// m: items of the dictionary. With more of them fewer trials fail, and each score costs more.
    pub dictionary: usize,
    /// Rows that the dictionary and its spectrum are found from, in each round.
    pub sample: usize,
    /// Rounds: each samples by the scores of the one before, the first by the diagonal. One is made
    /// where the sample is all rows.
    pub rounds: usize,
    /// t: items of an intermediate sample, at least c. None: the size at which the work of a draw
    /// is expected to be least.
    pub intermediate: Option<usize>,
    /// Trials after which a draw is given up.
    pub trials: usize,
}

impl Rejection {
    /// What suits subsets of `c` items: 6c items from 2c² + 1000 rows (40,000 at most) in three
    /// rounds, and 1000 trials.
    pub fn of_size(c: usize) -> Self {
        Rejection {
            dictionary: c.saturating_mul(6),
            sample: c.saturating_mul(c).saturating_mul(2).saturating_add(1000).min(MOST_ROWS),
            rounds: 3,
            intermediate: None,
            trials: 1000,
        }
    }

    /// Whether draws of c of n items are better made by rejection than from the spectrum: n > 2000
    /// and c² ≤ n.
    ///
    /// ```
    /// use nystrom_dpp::Rejection;
    /// assert!(Rejection::suits(10_000, 100) && !Rejection::suits(10_000, 101));
    /// assert!(!Rejection::suits(2000, 3));
    /// ```
    pub fn suits(n: usize, c: usize) -> bool {
        n > SPECTRUM_UP_TO && c.checked_mul(c).is_some_and(|square| square <= n)
    }

    pub(super) fn check(&self, c: usize) -> Result<()> {
        validate::not_empty("dictionary", self.dictionary)?;
        validate::not_empty("sample", self.sample)?;
        validate::not_empty("rounds", self.rounds)?;
        validate::not_empty("trials", self.trials)?;
        let t = self.intermediate.unwrap_or(c);
        let requirement = "at least the size c of a draw";
        validate::require(t >= c, "intermediate sample", t as f64, requirement)
    }
}
