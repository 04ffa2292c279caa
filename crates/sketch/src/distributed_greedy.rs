//! Greedy selection from more rows than fit in memory, in two rounds.

use crate::select::lazy_greedy::lazy_greedy;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, validate};

/// GreeDi: k rows with a large ln det, chosen greedily from rows that come in blocks.
///
/// The first round chooses up to k candidates greedily from each block ([`add`](Self::add)); the
/// second chooses k rows greedily among the candidates of all blocks ([`finish`](Self::finish)).
/// The result is the better of the second round and the best block, by ln det. Only the candidates
/// need to be kept between the rounds: k rows of each block.
///
/// The blocks may be on different machines: each has a state of its own, and
/// [`merge`](Self::merge) joins them. The result depends on how the rows are cut into blocks, and
/// on nothing else.
///
/// *What is promised.* Let f be monotone and submodular with f(∅) = 0, such as f(C) = ln det (I +
/// L_CC), for which the blocks are those of I + L. With b blocks, the result has f ≥ (1 −
/// 1/e)/min(b, k)·max f. Proof: min(b, k) blocks at most contain rows of the best set; by
/// submodularity, the part of this set in one of them has at least 1/min(b, k) of its value; greedy
/// selection from that block keeps 1 − 1/e of that. For ln det L_CC itself, which is neither
/// monotone nor positive, nothing is promised; the result is at least as good as the greedy choice
/// from each single block.
///
/// # Cost
/// With n rows: at most about (k + 1)n entries and nk² flops in the first round, and memory for at
/// most k + 8 numbers for each row of one block. Residuals are computed only where they may be the
/// largest. With b blocks the second round is the same for bk rows.
///
/// # Source
/// B. Mirzasoleiman, A. Karbasi, R. Sarkar & A. Krause, *Distributed submodular maximization:
/// identifying representative elements in massive data*, NIPS 2013 (Algorithm 2), and *Distributed
/// submodular maximization*, JMLR 17, 2016.
///
/// # Departures
/// The blocks are those in which the rows come, not a random partition; for rows in a random order
/// they are one.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Dense, PsdMatrix};
/// use nystrom_sketch::DistributedGreedy;
/// let kernel = |i: usize, j: usize| (-(i as f64 - j as f64).powi(2) / 200.0).exp();
/// let matrix = |rows: &[usize]| {
///     Mat::from_fn(rows.len(), rows.len(), |s, t| kernel(rows[s], rows[t]))
/// };
/// let mut greedy = DistributedGreedy::new(5)?;
/// for first in [0, 50] {
///     let block = matrix(&(first..first + 50).collect::<Vec<_>>());
///     greedy.add(&Dense::new(block.as_ref())?, first as u64)?;
/// }
/// let candidates: Vec<usize> = greedy.candidates().iter().map(|&row| row as usize).collect();
/// assert_eq!(candidates.len(), 10);
/// let chosen = greedy.finish(&Dense::new(matrix(&candidates).as_ref())?)?;
/// assert!(chosen.len() == 5 && chosen.log_det() > -0.1);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Stored"))]
pub struct DistributedGreedy {
    k: usize,
    candidates: Vec<u64>,
    /// The number of candidates of each block, in order, and their ln det.
    blocks: Vec<(usize, f64)>,
}

/// The result of [`DistributedGreedy::finish`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DistributedChoice {
    /// The positions of the chosen rows among the candidates, in the order of the choice.
    pub positions: Vec<usize>,
    /// The rows.
    pub rows: Vec<u64>,
    /// Whether the rows are those of one block, whose ln det exceeds that of the second round.
    pub from_one_block: bool,
    log_det: f64,
}

impl DistributedChoice {
    /// The number of rows: k, or fewer if the candidates have a smaller numerical rank.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// ln det L_CC of the rows C.
    pub fn log_det(&self) -> f64 {
        self.log_det
    }
}

impl DistributedGreedy {
    /// No rows yet; `k` rows will be chosen.
    ///
    /// # Errors
    /// [`Error::Empty`] if k = 0.
    pub fn new(k: usize) -> Result<Self> {
        validate::not_empty("rows to choose (k)", k)?;
        Ok(DistributedGreedy { k, candidates: Vec::new(), blocks: Vec::new() })
    }

    /// The first round for one block: the matrix of the rows `first`, `first` + 1, …. Returns the
    /// positions of its candidates in the block, whose points the caller keeps for
    /// [`finish`](Self::finish); at most k, in the order of the choice.
    ///
    /// A block without a positive diagonal entry has no candidates. Cost: at most that of
    /// [`Greedy`](crate::Greedy) on the block, whose n·k numbers are allocated at the start.
    ///
    /// # Errors
    /// [`Error::Empty`] for a block without rows. [`Error::InvalidWeight`] for a diagonal entry
    /// that is negative or not finite, [`Error::NonFinite`] for another entry, with their places in
    /// the block.
    pub fn add<T: Scalar>(&mut self, block: &dyn PsdMatrix<T>, first: u64) -> Result<Vec<usize>> {
        validate::not_empty("block", block.dim())?;
        let (positions, log_det) = match lazy_greedy(block, self.k.min(block.dim())) {
            // all diagonal entries are 0
            Err(Error::InvalidWeight { value: 0.0, .. }) => return Ok(Vec::new()),
            choice => choice?,
        };
        self.candidates.extend(positions.iter().map(|&i| first + i as u64));
        self.blocks.push((positions.len(), log_det));
        Ok(positions)
    }

    /// Adds the blocks of `later` after those of `self`.
    ///
    /// # Errors
    /// [`Error::Shape`] if `later` chooses another number of rows.
    pub fn merge(&mut self, later: DistributedGreedy) -> Result<()> {
        validate::same_size("rows to choose (k)", self.k, later.k)?;
        self.candidates.extend(later.candidates);
        self.blocks.extend(later.blocks);
        Ok(())
    }

    /// The candidates of all blocks, block by block.
    pub fn candidates(&self) -> &[u64] {
        &self.candidates
    }

    /// The second round: `among` is the matrix of the candidates, in the order of
    /// [`candidates`](Self::candidates). Cost: that of [`Greedy`](crate::Greedy) on the
    /// candidates at most.
    ///
    /// # Errors
    /// [`Error::Empty`] without candidates, [`Error::Shape`] for a matrix of another order, and
    /// those of [`add`](Self::add).
    pub fn finish<T: Scalar>(&self, among: &dyn PsdMatrix<T>) -> Result<DistributedChoice> {
        let candidates = self.candidates.len();
        validate::not_empty("candidates", candidates)?;
        validate::same_size("rows of the matrix of all candidates", candidates, among.dim())?;
        let (second, log_det) = lazy_greedy(among, self.k.min(candidates))?;
        let found = (second.len(), log_det);
        let best = self.best_block().filter(|(_, block)| is_better(*block, found));
        let (positions, log_det) = match best {
            Some((first, (count, log_det))) => ((first..first + count).collect(), log_det),
            None => (second, log_det),
        };
        let from_one_block = best.is_some();
        let rows = positions.iter().map(|&i| self.candidates[i]).collect();
        Ok(DistributedChoice { positions, rows, from_one_block, log_det })
    }

    /// The position of the first candidate of the best block; its number of candidates and their
    /// ln det.
    fn best_block(&self) -> Option<(usize, (usize, f64))> {
        let starts = self.blocks.iter().scan(0, |next, &(count, log_det)| {
            let first = *next;
            *next += count;
            Some((first, (count, log_det)))
        });
        starts.reduce(|best, block| if is_better(block.1, best.1) { block } else { best })
    }
}

/// Whether the first set, given by its number of rows and its ln det, is better than the second:
/// larger, or as large with a larger ln det.
fn is_better((rows, log_det): (usize, f64), (others, other): (usize, f64)) -> bool {
    rows > others || (rows == others && log_det > other)
}

/// The fields of a [`DistributedGreedy`] in a file or a message.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stored {
    k: usize,
    candidates: Vec<u64>,
    blocks: Vec<(usize, f64)>,
}

#[cfg(feature = "serde")]
impl TryFrom<Stored> for DistributedGreedy {
    type Error = Error;

    /// # Errors
    /// [`Error::Empty`] if k = 0 or a block has no candidates, [`Error::TooMany`] for a block with
    /// more than k, [`Error::Shape`] if the blocks have another number of candidates than there
    /// are, [`Error::InvalidParameter`] if an ln det is NaN.
    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { k, candidates, blocks } = stored;
        validate::not_empty("rows to choose (k)", k)?;
        let mut sum = 0_usize;
        for &(count, log_det) in &blocks {
            validate::at_most("candidates of a block", count, k)?;
            let requirement = "a number; choose from this block again";
            validate::require(!log_det.is_nan(), "ln det of a block", log_det, requirement)?;
            sum = sum.saturating_add(count); // no list of candidates has usize::MAX
        }
        validate::same_size("candidates of all blocks", sum, candidates.len())?;
        Ok(DistributedGreedy { k, candidates, blocks })
    }
}
