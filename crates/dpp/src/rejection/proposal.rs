//! Independent items in proportion to the scores of a guide, most of which are never computed.

use super::guide::Guide;
use nystrom_linalg_core::random::Cumulated;
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};
use rand::{Rng, RngExt};

/// Candidates drawn at once: at least, and at most.
const FEWEST: usize = 64;
const MOST: usize = 8192;
/// Once one in so many rows has its score, all others get theirs.
const SHARE: usize = 4;

/// Draws of j with probability g_j / Σ g.
///
/// A candidate is drawn by its bound w_0 K_jj and accepted with g_j/(w_0 K_jj); scores are kept.
/// Where candidates become as many as rows, or a quarter of the scores is known, all are computed
/// and candidates are drawn by them.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    guide: Guide,
    diagonal: Vec<f64>,   // K_jj/unit
    scores: Vec<f64>,     // g_j, NaN where it is not known
    cumulated: Cumulated, // of K_jj/unit, or of g_j where all are known
    by_scores: bool,      // the latter
    known: usize,
    candidates: u64,
    taken: u64,
    values: u64,
}

impl Proposal {
    /// By the diagonal of K, which is n numbers, at least 0 and with a positive sum.
    pub fn new(diagonal: Vec<f64>) -> Self {
        Proposal {
            guide: Guide::diagonal(),
            cumulated: Cumulated::of(diagonal.iter().copied()),
            by_scores: true,
            known: diagonal.len(),
            scores: diagonal.clone(),
            diagonal,
            candidates: 0,
            taken: 0,
            values: 0,
        }
    }

    /// From now on by the scores of another guide.
    pub fn follow(&mut self, guide: Guide) {
        self.guide = guide;
        self.scores.fill(f64::NAN);
        (self.known, self.candidates, self.taken) = (0, 0, 0);
        self.by_scores = false;
        self.cumulated = Cumulated::of(self.diagonal.iter().copied());
    }

    /// The guide.
    pub fn guide(&self) -> &Guide {
        &self.guide
    }

    /// Kernel values that scores took.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// K_jj/unit.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Candidates for every item drawn, so far with this guide; 1 where all scores are known.
    pub fn candidates_per_item(&self) -> f64 {
        if self.by_scores { 1.0 } else { self.candidates as f64 / self.taken.max(1) as f64 }
    }

    /// Whether every score is known and drawn by.
    pub fn by_scores(&self) -> bool {
        self.by_scores
    }

    /// `count` independent draws with their scores.
    ///
    /// # Randomness
    /// Two uniforms for every candidate.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) naming an entry of K.
    pub fn draw<T: Scalar>(
        &mut self,
        k: &dyn PsdMatrix<T>,
        count: usize,
        rng: &mut dyn Rng,
    ) -> Result<Vec<(usize, f64)>> {
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count {
            let n = self.scores.len();
            if !self.by_scores && (self.candidates >= n as u64 || self.known * SHARE >= n) {
                self.score_all(k)?;
            }
            let per_item = self.candidates_per_item();
            let some = ((count - drawn.len()) as f64 * per_item) as usize;
            let candidates: Vec<(usize, f64)> = (0..some.clamp(FEWEST, MOST))
                .map(|_| (self.cumulated.draw(rng), rng.random::<f64>()))
                .collect();
            self.score(k, candidates.iter().map(|&(j, _)| j).collect())?;
            self.candidates += candidates.len() as u64;
            let accepted = candidates.into_iter().filter(|&(j, coin)| {
                self.by_scores || coin * self.guide.bound() * self.diagonal[j] < self.scores[j]
            });
            let before = drawn.len();
            drawn.extend(accepted.map(|(j, _)| (j, self.scores[j])));
            self.taken += (drawn.len() - before) as u64;
        }
        drawn.truncate(count);
        Ok(drawn)
    }

    /// Gives those of `rows` their scores that have none.
    fn score<T: Scalar>(&mut self, k: &dyn PsdMatrix<T>, mut rows: Vec<usize>) -> Result<()> {
        rows.retain(|&j| self.scores[j].is_nan());
        rows.sort_unstable();
        rows.dedup();
        let scores = self.guide.scores(k, &rows, |j| self.diagonal[j])?;
        rows.iter().zip(scores).for_each(|(&j, g)| self.scores[j] = g);
        self.known += rows.len();
        self.values += (rows.len() * self.guide.items().len()) as u64;
        Ok(())
    }

    /// Gives every row its score, and draws by them from now on. (n − known)·m entries.
    pub fn score_all<T: Scalar>(&mut self, k: &dyn PsdMatrix<T>) -> Result<()> {
        self.score(k, (0..self.scores.len()).collect())?;
        self.by_scores = true;
        self.cumulated = Cumulated::of(self.scores.iter().copied());
        Ok(())
    }
}
