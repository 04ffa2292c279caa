//! The parameters of draws by rejection.

use nystrom_linalg_core::{Result, validate};

/// For n up to this the spectrum is cheap to compute.
const SPECTRUM_UP_TO: usize = 2000;
/// The default cap on the rows of the sample that the guide is computed from.
const MOST_ROWS: usize = 40_000;

/// The parameters of [`RejectionKDpp`](crate::RejectionKDpp): its preparation, and its limit on
/// trials. They do not affect the distribution of a draw.
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
    /// m, the number of items of the dictionary. With a larger dictionary fewer trials fail, but
    /// each score costs more.
    pub dictionary: usize,
    /// Number of rows in the sample of each round, from which the dictionary and its spectrum are
    /// computed.
    pub sample: usize,
    /// Number of rounds. The first round samples by the diagonal of K, each later one by the scores
    /// of the round before. If the sample is all rows, a single round is made.
    pub rounds: usize,
    /// t, the number of items of an intermediate sample, at least c. `None`: the size that
    /// minimises the expected work of a draw.
    pub intermediate: Option<usize>,
    /// Cap on the trials of a draw, which then fails with
    /// [`NotAccepted`](nystrom_linalg_core::Error::NotAccepted).
    pub trials: usize,
}

impl Rejection {
    /// Parameters for subsets of `c` items: a dictionary of 6c items from 2c² + 1000 rows (at most
    /// 40,000), three rounds, and 1000 trials.
    pub fn of_size(c: usize) -> Self {
        Rejection {
            dictionary: c.saturating_mul(6),
            sample: c.saturating_mul(c).saturating_mul(2).saturating_add(1000).min(MOST_ROWS),
            rounds: 3,
            intermediate: None,
            trials: 1000,
        }
    }

    /// Whether rejection is recommended over the spectrum for draws of c of n items: true if n >
    /// 2000 and c² ≤ n.
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
        let requirement = "at least c, the number of items of a draw";
        validate::require(t >= c, "intermediate sample", t as f64, requirement)
    }
}
