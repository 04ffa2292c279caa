//! Candidates: a treatment of the columns, a family, a metric and a length scale.

use crate::columns::Shape;
use crate::error::Result;
use crate::kernel::{AnyKernel, Family};
use crate::report::{Centers, Metric, Trial};
use crate::target::TargetScale;
use nystrom::prelude::*;

/// A candidate; its length scale is a multiple of the median distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub shape: Shape,
    pub family: Family,
    pub metric: Metric,
    pub multiple: f64,
}

pub(super) const SMOOTH: Family = Family::Matern { nu: 2.5 };
pub(super) const MIDDLE: Family = Family::Matern { nu: 1.5 };
pub(super) const ROUGH: Family = Family::Matern { nu: 0.5 };
pub(super) const CITY: Family = Family::LaplacianL1;
pub(super) const ROUGH_CITY: Family = Family::PowerExponentialL1 { power: 0.7 };
const ROUGHER: Family = Family::PowerExponential { power: 0.7 };
/// ⟨x, y⟩/ℓ² + 1: only tried on sparse rows.
const LINEAR: Family = Family::Polynomial { degree: 1 };

/// All families that are tried, simpler ones first.
const FAMILIES: [Family; 8] =
    [LINEAR, Family::Gaussian, SMOOTH, MIDDLE, ROUGH, CITY, ROUGHER, ROUGH_CITY];

/// The families of sparse rows, which have neither shapes nor a metric.
pub(super) const OF_SPARSE: [Family; 3] = [LINEAR, Family::Gaussian, ROUGH];

/// Families and the metrics that are learnt with them. An L1 distance has no full form.
pub(super) const LEARNT: [(Family, Metric); 8] = [
    (SMOOTH, Metric::Diagonal { power: 1.0 }),
    (SMOOTH, Metric::Full { power: 1.0 }),
    (SMOOTH, Metric::Full { power: 0.5 }),
    (SMOOTH, Metric::Diagonal { power: 0.5 }),
    (ROUGH, Metric::Full { power: 0.5 }),
    (ROUGH, Metric::Full { power: 1.0 }),
    (CITY, Metric::Diagonal { power: 1.0 }),
    (CITY, Metric::Diagonal { power: 0.5 }),
];

/// The multiple of the median distance at which a family is first tried. With a long scale, the
/// Laplacian of the L1 distance is close to a sum of one-dimensional kernels.
pub(super) fn usual(family: Family) -> f64 {
    match family {
        ROUGH | ROUGHER => 1.5,
        CITY => 3.0,
        ROUGH_CITY => 4.0,
        _ => 1.0,
    }
}

/// Families rougher or smoother than one, which may use its metric.
pub(super) fn neighbours(family: Family) -> &'static [Family] {
    match family {
        SMOOTH => &[MIDDLE],
        ROUGH => &[MIDDLE, ROUGHER],
        MIDDLE => &[SMOOTH, ROUGH],
        CITY => &[ROUGH_CITY],
        ROUGH_CITY => &[CITY],
        _ => &[],
    }
}

impl Candidate {
    /// The plain default: Gaussian with the median distance as length scale.
    pub const PLAIN: Candidate = Candidate {
        shape: Shape::PLAIN,
        family: Family::Gaussian,
        metric: Metric::None,
        multiple: 1.0,
    };

    /// The only candidate for fingerprints.
    pub const OF_BITS: Candidate = Candidate { family: Family::Tanimoto, ..Candidate::PLAIN };

    /// The candidate with the usual length scale of its family.
    pub fn usual(shape: Shape, family: Family, metric: Metric) -> Candidate {
        Candidate { shape, family, metric, multiple: usual(family) }
    }

    /// The candidate of a trial.
    pub fn of(trial: &Trial) -> Candidate {
        let Trial { shape, family, metric, multiple, .. } = *trial;
        Candidate { shape, family, metric, multiple }
    }

    /// The complexity; of candidates with the same error, the simplest is chosen.
    pub fn complexity(&self) -> u32 {
        let shape = u32::from(self.shape != Shape::PLAIN);
        let metric = match self.metric {
            Metric::None => 0,
            Metric::Diagonal { .. } => 2,
            Metric::Full { .. } => 4,
        };
        let family = FAMILIES.iter().position(|family| *family == self.family);
        100 * (shape + metric) + family.unwrap_or(FAMILIES.len()) as u32
    }

    /// Whether the candidates differ at most in the length scale.
    pub fn is_like(&self, other: &Candidate) -> bool {
        Candidate { multiple: other.multiple, ..*self } == *other
    }

    /// The kernel for d features whose median Euclidean and L1 distances are `medians`.
    pub fn kernel(&self, medians: [f64; 2], d: usize) -> Result<AnyKernel> {
        let median = if self.family.is_manhattan() { medians[1] } else { medians[0] };
        let scale = self.multiple * median;
        Ok(match self.family {
            LINEAR => AnyKernel::linear(scale)?,
            family => family.kernel(scale, d)?,
        })
    }

    /// A trial of the candidate without results.
    pub fn trial(&self, rows: usize, centers: Centers) -> Trial {
        Trial {
            shape: self.shape,
            family: self.family,
            metric: self.metric,
            bandwidth: 0.0,
            multiple: self.multiple,
            mu: 0.0,
            rows,
            centers,
            error: 0.0,
            errors: Vec::new(),
            work: 0.0,
            residual: None,
            combined: false,
            target: TargetScale::Plain,
        }
    }

    pub fn what(&self) -> String {
        if !self.family.has_scale() {
            return self.family.to_string();
        }
        format!("{}, {}, {:.2} × the median distance", self.family, self.metric, self.multiple)
    }
}

/// Errors with a ratio below this count as equal.
const TIE: f64 = 1.001;

/// The simplest of the trials whose errors count as equal to the smallest error.
pub(super) fn best(trials: &[Trial]) -> Option<&Trial> {
    let least = least(trials);
    let good = trials.iter().filter(|trial| trial.error <= TIE * least);
    let complexity = |trial: &Trial| Candidate::of(trial).complexity();
    good.min_by(|a, b| complexity(a).cmp(&complexity(b)).then(a.error.total_cmp(&b.error)))
}

pub(super) fn least<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> f64 {
    trials.into_iter().map(|trial| trial.error).fold(f64::INFINITY, f64::min)
}

/// The best candidates, best first, at most `count`, which differ in more than the length scale.
pub(super) fn leaders(trials: &[Trial], count: usize) -> Vec<Candidate> {
    let mut rest = trials.to_vec();
    let mut leaders = Vec::new();
    while leaders.len() < count {
        let Some(leader) = best(&rest).map(Candidate::of) else { break };
        rest.retain(|other| !Candidate::of(other).is_like(&leader));
        leaders.push(leader);
    }
    leaders
}

/// The median Euclidean and L1 distances of random pairs of rows.
pub(super) fn medians(x: Points<'_, f64>, rng: &mut dyn Rng) -> Result<[f64; 2]> {
    const PAIRS: usize = 1000;
    let n = x.len();
    let (mut euclidean, mut manhattan) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
        let (mut squares, mut sizes) = (0.0, 0.0);
        x.for_each_difference(i, j, |gap: f64| {
            squares += gap.powi(2);
            sizes += gap.abs();
        });
        let distance = squares.sqrt();
        if distance > 0.0 {
            euclidean.push(distance);
            manhattan.push(sizes);
        }
    }
    Ok([euclidean, manhattan].map(|mut distances: Vec<f64>| {
        distances.sort_by(f64::total_cmp);
        distances.get(distances.len() / 2).copied().unwrap_or(1.0)
    }))
}
