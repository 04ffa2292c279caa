//! What is compared: a treatment of the columns, a family, a metric, a length scale.

use super::Search;
use crate::columns::Shape;
use crate::error::Result;
use crate::kernel::{AnyKernel, Family};
use crate::report::{Metric, Trial};
use nystrom::faer::MatRef;
use nystrom::prelude::*;

/// A candidate; its length scale is a multiple of the median distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub shape: Shape,
    pub family: Family,
    pub metric: Metric,
    pub multiple: f64,
}

/// Families that are tried, simpler ones first.
pub(super) const FAMILIES: [Family; 6] = [
    Family::Gaussian,
    Family::Matern { nu: 2.5 },
    Family::Matern { nu: 1.5 },
    Family::Matern { nu: 0.5 },
    Family::LaplacianL1,
    Family::RationalQuadratic { alpha: 1.0 },
];

impl Candidate {
    /// Gaussian at the median distance.
    pub const PLAIN: Candidate = Candidate {
        shape: Shape::Plain,
        family: Family::Gaussian,
        metric: Metric::None,
        multiple: 1.0,
    };

    /// How much there is to it; of candidates that are as good the simplest is taken.
    pub fn complexity(&self) -> u32 {
        let shape = u32::from(self.shape != Shape::Plain);
        let metric = match self.metric {
            Metric::None => 0,
            Metric::Diagonal { .. } => 2,
            Metric::Full { .. } => 4,
        };
        let family = FAMILIES.iter().position(|family| *family == self.family);
        100 * (shape + metric) + family.unwrap_or(FAMILIES.len()) as u32
    }

    /// The kernel, if `medians` are the distances of its points.
    pub fn kernel(&self, medians: [f64; 2], d: usize) -> Result<AnyKernel> {
        let median = if self.family == Family::LaplacianL1 { medians[1] } else { medians[0] };
        Ok(self.family.kernel(self.multiple * median, d)?)
    }

    pub fn what(&self) -> String {
        format!("{}, {}, {} × the median distance", self.family, self.metric, self.multiple)
    }
}

/// Errors that differ by less than this are the same.
const TIE: f64 = 1.001;

/// The best of some trials: the simplest of those that are as good as the smallest error.
pub(super) fn best(trials: &[(Candidate, Trial)]) -> Option<&(Candidate, Trial)> {
    let least = trials.iter().map(|(_, trial)| trial.error).fold(f64::INFINITY, f64::min);
    let good = trials.iter().filter(|(_, trial)| trial.error <= TIE * least);
    good.min_by(|(a, s), (b, t)| {
        a.complexity().cmp(&b.complexity()).then(s.error.total_cmp(&t.error))
    })
}

/// The best candidates that `same` does not take for the same, best first, at most `count`.
pub(super) fn leaders(
    trials: &[(Candidate, Trial)],
    count: usize,
    same: impl Fn(&Candidate, &Candidate) -> bool,
) -> Vec<Candidate> {
    let mut rest = trials.to_vec();
    let mut leaders = Vec::new();
    while leaders.len() < count {
        let Some((leader, _)) = best(&rest).cloned() else { break };
        rest.retain(|(other, _)| !same(other, &leader));
        leaders.push(leader);
    }
    leaders
}

/// The median Euclidean and L1 distances of random pairs of rows.
pub(super) fn medians(x: MatRef<'_, f64>, rng: &mut dyn Rng) -> Result<[f64; 2]> {
    const PAIRS: usize = 1000;
    let n = x.nrows();
    let (mut euclidean, mut manhattan) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
        let gap = |k: usize| (x[(i, k)] - x[(j, k)]).abs();
        let distance = (0..x.ncols()).map(|k| gap(k).powi(2)).sum::<f64>().sqrt();
        if distance > 0.0 {
            euclidean.push(distance);
            manhattan.push((0..x.ncols()).map(gap).sum());
        }
    }
    Ok([euclidean, manhattan].map(|mut distances: Vec<f64>| {
        distances.sort_by(f64::total_cmp);
        distances.get(distances.len() / 2).copied().unwrap_or(1.0)
    }))
}

impl Search<'_> {
    /// The distances of a candidate's points in a fold.
    pub(super) fn medians(&self, candidate: &Candidate, fold: usize) -> [f64; 2] {
        self.learnt(candidate, fold)
            .map_or(self.shaped(candidate.shape).medians, |learnt| learnt.medians)
    }
}
