//! Independent draws in proportion to the scores of a guide, most of which are never computed.

use super::guide::Guide;
use nystrom_linalg_core::random::Cumulated;
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};
use rand::{Rng, RngExt};

/// Fewest candidates drawn together.
const FEWEST: usize = 64;
/// Most candidates drawn together.
const MOST: usize = 8192;
/// Once the scores of n divided by this rows are known, those of all rows are computed.
const SHARE: usize = 4;

/// Draws of j with probability g_j / Σ g.
///
/// A candidate is drawn in proportion to the bound w_0 K_jj of its score and accepted with
/// probability g_j/(w_0 K_jj); scores are stored. Once there were n candidates, or a quarter of the
/// scores is known, all scores are computed and items are drawn in proportion to them.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    guide: Guide,
    diagonal: Vec<f64>,   // K_jj/unit
    scores: Vec<f64>,     // g_j, NaN if it is not known
    cumulated: Cumulated, // of K_jj/unit, or of g_j if `by_scores`
    by_scores: bool,      // whether all g_j are known
    known: usize,
    candidates: u64,
    taken: u64,
    values: u64,
}

impl Proposal {
    /// Draws in proportion to the diagonal of K: n numbers, at least 0 and with a positive sum.
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

    /// From now on, draws in proportion to the scores of another guide.
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

    /// Number of entries of K evaluated for scores.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// K_jj/unit for all j.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Candidates per item drawn, so far with this guide; 1 if all scores are known.
    pub fn candidates_per_item(&self) -> f64 {
        if self.by_scores { 1.0 } else { self.candidates as f64 / self.taken.max(1) as f64 }
    }

    /// Whether all scores are known and items are drawn in proportion to them.
    pub fn by_scores(&self) -> bool {
        self.by_scores
    }

    /// `count` independent draws with their scores.
    ///
    /// # Randomness
    /// Two uniforms for every candidate.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the entry of K.
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

    /// Computes the missing scores of `rows`.
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

    /// Computes the missing scores of all rows and from now on draws in proportion to the scores.
    /// (n − known)·m entries.
    pub fn score_all<T: Scalar>(&mut self, k: &dyn PsdMatrix<T>) -> Result<()> {
        self.score(k, (0..self.scores.len()).collect())?;
        self.by_scores = true;
        self.cumulated = Cumulated::of(self.scores.iter().copied());
        Ok(())
    }
}
