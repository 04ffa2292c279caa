//! Many candidates on few rows, the best of them on more.

use super::candidate::{Candidate, FAMILIES, leaders};
use super::{SHARES, Search};
use crate::columns::Shape;
use crate::effort::Size;
use crate::error::Result;
use crate::report::Trial;

/// Multiples of the median distance that are tried first.
const MULTIPLES: [f64; 4] = [1.0, 0.5, 2.0, 4.0];
/// Candidates that the next rung takes over.
const KEPT: usize = 3;
/// Candidates that are fitted at full size.
const FINALISTS: usize = 2;

impl Search<'_> {
    /// The candidates for the final fit, best first; at least one.
    pub(super) fn rungs(&mut self) -> Result<Vec<Candidate>> {
        let first = self.families()?;
        let second = self.metrics(&first)?;
        self.length_scales(&second)
    }

    /// All families at some length scales; then other shapes of the columns with the best of them.
    fn families(&mut self) -> Result<Vec<Candidate>> {
        let plain = |multiple| move |family| Candidate { family, multiple, ..Candidate::PLAIN };
        let all: Vec<Candidate> =
            MULTIPLES.iter().flat_map(|&multiple| FAMILIES.map(plain(multiple))).collect();
        let shapes: Vec<Shape> = self.shapes[1..].iter().map(|shaped| shaped.shape).collect();
        let size = self.size(SHARES[0], all.len() + 2 * shapes.len());
        let mut trials = self.try_all(&all, size)?;
        let best = leaders(&trials, 2, |a, b| a.family == b.family);
        let bent = |shape| best.iter().map(move |&leader| Candidate { shape, ..leader });
        let bent: Vec<Candidate> = shapes.into_iter().flat_map(bent).collect();
        trials.extend(self.try_all(&bent, size)?);
        Ok(leaders(&trials, KEPT, |a, b| (a.family, a.shape) == (b.family, b.shape)))
    }

    /// The best candidates before with the metrics that can be learnt.
    fn metrics(&mut self, before: &[Candidate]) -> Result<Vec<Candidate>> {
        if before.len() < 2 || self.stopped {
            return Ok(before.to_vec());
        }
        let size = self.size(SHARES[1], before.len());
        let trials = self.try_all(before, size)?;
        Ok(leaders(&trials, KEPT, |a, b| {
            (a.family, a.shape, a.metric) == (b.family, b.shape, b.metric)
        }))
    }

    /// Better length scales for the best candidates: by ratios that shrink, as long as it helps.
    fn length_scales(&mut self, before: &[Candidate]) -> Result<Vec<Candidate>> {
        if self.stopped {
            return Ok(before.to_vec());
        }
        let start = &before[..before.len().min(FINALISTS)];
        let size = self.size(SHARES[2], 4 * start.len());
        let mut trials = self.try_all(start, size)?;
        for &candidate in start {
            let mut multiple = candidate.multiple;
            for ratio in [2_f64.sqrt(), 2_f64.powf(0.25)] {
                let near = [multiple / ratio, multiple * ratio]
                    .map(|multiple| Candidate { multiple, ..candidate });
                trials.extend(self.try_all(&near, size)?);
                let own: Vec<(Candidate, Trial)> = trials
                    .iter()
                    .filter(|(other, _)| {
                        Candidate { multiple: other.multiple, ..candidate } == *other
                    })
                    .cloned()
                    .collect();
                if let Some(best) = leaders(&own, 1, |_, _| true).first() {
                    multiple = best.multiple;
                }
            }
        }
        let same = |a: &Candidate, b: &Candidate| {
            (a.family, a.shape, a.metric) == (b.family, b.shape, b.metric)
        };
        let finalists = leaders(&trials, FINALISTS, same);
        Ok(if finalists.is_empty() { before.to_vec() } else { finalists })
    }

    /// Trials of candidates until told to stop; those without a finite error are left out.
    pub(super) fn try_all(
        &mut self,
        candidates: &[Candidate],
        size: Size,
    ) -> Result<Vec<(Candidate, Trial)>> {
        let mut trials = Vec::new();
        for &candidate in candidates {
            if !self.goes_on(&candidate.what()) && !self.trials.is_empty() {
                break;
            }
            let trial = self.trial(candidate, size)?;
            let better = |best: &Trial| {
                (best.rows, best.centers) != (trial.rows, trial.centers) || trial.error < best.error
            };
            if self.best.as_ref().is_none_or(better) {
                self.best = Some(trial.clone());
            }
            if trial.error.is_finite() {
                trials.push((candidate, trial));
            }
        }
        Ok(trials)
    }
}
