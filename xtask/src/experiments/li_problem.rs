//! The eight data sets of Li, Jegelka & Sra (2016) as the paper prepares them.
//!
//! Random subsets, an RBF kernel, σ and λ by ten-fold cross-validation.

use std::sync::Mutex;

use nystrom::kernels::median_heuristic;
use nystrom::krr::{ExactGrid, lambda_grid};
use nystrom::linalg_core::random;
use nystrom::prelude::*;

use crate::claim::{Claim, Kind};
use crate::context::experiment_seed;
use crate::datasets::MissingData;
use crate::experiment::{Context, Outcome};
pub use crate::lab::Set;
use crate::lab::{Measure, Results};
use crate::statistics::mean_and_deviation;

const ABALONE: Set = Set::new("Abalone", "abalone");
/// The set of the paper's examples.
pub const AILERONS: Set = Set::new("Ailerons", "ailerons");
/// The largest.
pub const CALIFORNIA: Set = Set::new("California Housing", "california-housing");

/// The paper's eight sets.
pub const SETS: [Set; 8] = [
    ABALONE,
    AILERONS,
    Set::new("Elevators", "elevators"),
    Set::new("CompAct", "cpu-act"),
    Set::new("CompAct(s)", "cpu-small"),
    Set::new("Bank32NH", "bank32nh"),
    Set::new("Bank8FM", "bank8fm"),
    CALIFORNIA,
];

/// The names of the eight sets in the catalog.
pub const NAMES: [&str; 8] = {
    let (mut names, mut i) = ([""; 8], 0);
    while i < names.len() {
        names[i] = SETS[i].name;
        i += 1;
    }
    names
};

pub const FROBENIUS: Measure = Measure::new("relative error", "‖K − K̃‖_F / ‖K − K_c‖_F").log();
pub const SPECTRAL: Measure =
    Measure::new("relative spectral error", "‖K − K̃‖₂ / ‖K − K_c‖₂").log();
pub const TRAIN: Measure = Measure::new("training error", "mean squared training error").log();

/// [`FROBENIUS`] and [`SPECTRAL`] of K̃ = L; `best` are the norms of K − K_c.
///
/// # Randomness
/// That of [`SpectralNorm`].
pub fn relative_errors(
    k: &Dense<'_, f64>,
    l: &Nystrom<f64>,
    best: &ErrorNorms,
    rng: &mut dyn Rng,
) -> anyhow::Result<[(Measure, f64); 2]> {
    let spectral = SpectralNorm::default().estimate(k, l, rng)?.value;
    let frobenius = frobenius_error(k, l)?;
    Ok([(FROBENIUS, frobenius / best.frobenius), (SPECTRAL, spectral / best.spectral)])
}

/// The sets at hand, of those that an experiment is about.
///
/// If none is, Abalone stands in for them, which is embedded.
pub struct AtHand {
    /// What to run on.
    pub sets: Vec<Set>,
    /// What is missing.
    pub missing: Vec<MissingData>,
    stands_in: bool,
}

impl AtHand {
    /// Looks for the sets.
    pub fn of(ctx: &Context, wanted: &[Set]) -> anyhow::Result<Self> {
        let (mut sets, mut missing) = (vec![], vec![]);
        for set in wanted {
            match ctx.dataset(set.name) {
                Ok(_) => sets.push(*set),
                Err(error) => missing.push(error.downcast::<MissingData>()?.needed_for(set.label)),
            }
        }
        let stands_in = sets.is_empty();
        sets.extend(stands_in.then_some(ABALONE));
        Ok(AtHand { sets, missing, stands_in })
    }

    /// What the reports of all figures have.
    pub fn outcome(&self, results: &Results, scale_note: String) -> Outcome {
        Outcome { missing: self.missing.clone(), ..results.outcome(scale_note) }
    }

    /// Claims on single sets: ours where the set is not the paper's.
    pub fn judge(&self, claims: Vec<Claim>) -> Vec<Claim> {
        ours_if(self.stands_in, claims)
    }

    /// Claims on averages over the paper's sets: ours where some are missing.
    pub fn judge_averages(&self, claims: Vec<Claim>) -> Vec<Claim> {
        ours_if(!self.missing.is_empty(), claims)
    }
}

fn ours_if(ours: bool, mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.iter_mut().filter(|_| ours).for_each(|claim| claim.kind = Kind::Ours);
    claims
}

/// Multiples of the median distance that are tried for σ.
const SIGMAS: [f64; 7] = [0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1.0];
/// The largest λ, the smallest, and how many.
const LAMBDAS: (f64, f64, usize) = (1e-1, 1e-6, 6);

/// What ten-fold cross-validation chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Bandwidth of exp(−‖x − y‖²/(2σ²)).
    pub sigma: f64,
    /// λ in K + nλI; the paper's γ.
    pub lambda: f64,
}

/// A data set with σ and λ.
pub struct Whole {
    set: Set,
    x: Mat<f64>,
    /// In units of its standard deviation, not centred.
    ///
    /// Predicting the mean has a mean squared error of 1, predicting 0 more.
    y: Mat<f64>,
    /// σ and λ.
    pub chosen: Chosen,
}

impl Whole {
    /// Reads the set and cross-validates.
    pub fn new(ctx: &Context, set: &Set) -> anyhow::Result<Self> {
        let data = ctx.dataset(set.name)?;
        let (_, deviation) = mean_and_deviation(&data.y);
        let y = Mat::from_fn(data.y.len(), 1, |i, _| data.y[i] / deviation);
        let most_rows = ctx.pick(150, 400, 3000); // n³ work for each of 420 fits
        let chosen = cross_validated(*set, &data.x, &y, most_rows)?;
        Ok(Whole { set: *set, x: data.x, y, chosen })
    }

    /// Subset number `part`: `n` training and `n_test` test rows, drawn without replacement.
    ///
    /// The rows are the same in every experiment.
    pub fn subset(&self, part: usize, n: usize, n_test: usize) -> anyhow::Result<Problem> {
        let rng = &mut generator(&format!("{}, subset {part}", self.set.name));
        let rows = random::uniform_subset(self.x.nrows(), (n + n_test).min(self.x.nrows()), rng)?;
        let (train, test) = rows.split_at(n.min(rows.len()));
        let [(x, y), (x_test, y_test)] =
            [train, test].map(|rows| (gather(&self.x, rows), gather(&self.y, rows)));
        Ok(Problem { x, y, x_test, y_test, chosen: self.chosen })
    }
}

/// One random subset of a data set.
pub struct Problem {
    x: Mat<f64>,
    /// n × 1.
    pub y: Mat<f64>,
    x_test: Mat<f64>,
    /// Targets of the test points.
    pub y_test: Mat<f64>,
    /// σ and λ.
    pub chosen: Chosen,
}

impl Problem {
    /// The training points.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_rows(self.x.as_ref())
    }

    /// The test points.
    pub fn test_points(&self) -> Points<'_, f64> {
        Points::from_rows(self.x_test.as_ref())
    }

    /// The kernel with the chosen bandwidth.
    pub fn kernel(&self) -> anyhow::Result<Gaussian> {
        Ok(Gaussian::new(self.chosen.sigma)?)
    }

    /// K on the training points, not stored.
    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, Gaussian>> {
        Ok(KernelMatrix::new(self.kernel()?, self.points())?)
    }

    /// K on the training points, n × n: the paper's errors are against the best approximation of
    /// rank c.
    pub fn stored(&self) -> anyhow::Result<Mat<f64>> {
        let n = self.x.nrows();
        Ok(self.matrix()?.block((0..n).into(), (0..n).into()))
    }

    /// The chosen λ.
    pub fn ridge(&self) -> Ridge<f64> {
        Ridge::PerSample(self.chosen.lambda)
    }
}

fn gather(a: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
}

/// Subsets and folds belong to the set, not to the experiment, and are drawn once for all of them.
fn generator(what: &str) -> Pcg64 {
    Pcg64::seed_from_u64(experiment_seed(0, &format!("Li, Jegelka & Sra 2016: {what}")))
}

/// σ and λ of smallest ten-fold cross-validation error on at most `rows` rows.
///
/// They are kept for the next experiment of this run.
fn cross_validated(set: Set, x: &Mat<f64>, y: &Mat<f64>, rows: usize) -> anyhow::Result<Chosen> {
    static KEPT: Mutex<Vec<((&str, usize), Chosen)>> = Mutex::new(Vec::new());
    let kept = || KEPT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = kept().iter().find(|(key, _)| *key == (set.name, rows)).map(|(_, chosen)| *chosen);
    if let Some(chosen) = known {
        return Ok(chosen);
    }
    let rng = &mut generator(&format!("{}, cross-validation", set.name));
    let sample = random::uniform_subset(x.nrows(), rows.min(x.nrows()), rng)?;
    let (x, y) = (gather(x, &sample), gather(y, &sample));
    let points = Points::from_rows(x.as_ref());
    let median: f64 = median_heuristic(points, 10_000, rng)?;
    let kernels =
        SIGMAS.iter().map(|s| Gaussian::new(s * median)).collect::<Result<Vec<_>, _>>()?;
    let ridges = lambda_grid(LAMBDAS.0, LAMBDAS.1, LAMBDAS.2)?;
    let table = CrossValidation::default().run(
        &ExactGrid::default(),
        &kernels,
        &ridges,
        (points, y.as_ref()),
        rng,
    )?;
    let best = table
        .best()
        .ok_or_else(|| anyhow::anyhow!("{}: no candidate predicts finite numbers", set.label))?;
    let Ridge::PerSample(lambda) = ridges[best.ridge] else { unreachable!("lambda_grid gives λ") };
    let chosen = Chosen { sigma: SIGMAS[best.kernel] * median, lambda };
    kept().push(((set.name, rows), chosen));
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measured;

    #[test]
    fn claims_are_the_papers_only_on_its_own_sets() {
        let claims = || vec![measured("x", 0.0).at_most("", 1.0).printed()];
        let found = |missing: &[MissingData], stands_in| AtHand {
            sets: vec![ABALONE],
            missing: missing.to_vec(),
            stands_in,
        };
        let (all, some) = (found(&[], false), found(&[crate::testing::missing()], false));
        assert_eq!([&all, &some].map(|at| at.judge(claims())[0].kind), [Kind::Printed; 2]);
        assert_eq!(all.judge_averages(claims())[0].kind, Kind::Printed);
        assert_eq!(some.judge_averages(claims())[0].kind, Kind::Ours);
        assert_eq!(found(&[], true).judge(claims())[0].kind, Kind::Ours);
    }
}
