//! The eight data sets of Li, Jegelka & Sra (2016) as the paper prepares them: random subsets, an
//! RBF kernel, σ and λ by ten-fold cross-validation. And the selectors of landmarks that the paper
//! compares, with three later ones.

use std::sync::Mutex;

use nystrom::kernels::median_heuristic;
use nystrom::krr::{ExactGrid, lambda_grid};
use nystrom::leverage::ExactSpectrum;
use nystrom::sketch::Uniform;

use crate::claim::Kind;
use crate::context::experiment_seed;
use crate::datasets::MissingData;
use crate::lab::*;

const ABALONE: Set = Set { label: "Abalone", name: "abalone" };
/// The set of the paper's examples.
pub const AILERONS: Set = Set { label: "Ailerons", name: "ailerons" };
/// The largest.
pub const CALIFORNIA: Set = Set { label: "California Housing", name: "california-housing" };

/// The paper's eight sets.
pub const SETS: [Set; 8] = [
    ABALONE,
    AILERONS,
    Set { label: "Elevators", name: "elevators" },
    Set { label: "CompAct", name: "cpu-act" },
    Set { label: "CompAct(s)", name: "cpu-small" },
    Set { label: "Bank32NH", name: "bank32nh" },
    Set { label: "Bank8FM", name: "bank8fm" },
    CALIFORNIA,
];

/// The names of the eight sets in the catalog.
pub const NAMES: [&str; 8] = {
    let [a, b, c, d, e, f, g, h] = SETS;
    [a.name, b.name, c.name, d.name, e.name, f.name, g.name, h.name]
};

pub const FROBENIUS: Measure = Measure::new("relative error", "‖K − K̃‖_F / ‖K − K_c‖_F").log();
pub const SPECTRAL_NORM: Measure =
    Measure::new("relative spectral error", "‖K − K̃‖₂ / ‖K − K_c‖₂").log();
pub const TRAIN: Measure = Measure::new("training error", "mean squared training error").log();

/// [`FROBENIUS`] and [`SPECTRAL_NORM`] of K̃ = L; `best` are the norms of K − K_c.
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
    Ok([(FROBENIUS, frobenius / best.frobenius), (SPECTRAL_NORM, spectral / best.spectral)])
}

/// The sets at hand, of those that an experiment is about, and those that are missing.
///
/// If none is at hand, Abalone stands in for them, which is embedded.
pub fn at_hand(ctx: &Context, wanted: &[Set]) -> anyhow::Result<(Vec<Set>, Vec<MissingData>)> {
    let (mut sets, mut missing) = (vec![], vec![]);
    for set in wanted {
        match ctx.dataset(set.name) {
            Ok(_) => sets.push(*set),
            Err(error) => missing.push(error.downcast::<MissingData>()?.needed_for(set.label)),
        }
    }
    if sets.is_empty() {
        sets.push(ABALONE);
    }
    Ok((sets, missing))
}

/// Makes claims ours. A claim on an average is the paper's only if no set is missing, one on a
/// single set only if no other set [stands in](stands_in).
pub fn ours_if(ours: bool, mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.iter_mut().filter(|_| ours).for_each(|claim| claim.kind = Kind::Ours);
    claims
}

/// Whether another set stands in for the wanted ones.
pub fn stands_in(sets: &[Set]) -> bool {
    *sets == [ABALONE]
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
    chosen: Chosen,
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
    pub fn subset(&self, part: usize, n: usize, n_test: usize) -> anyhow::Result<Subset> {
        let rng = &mut generator(&format!("{}, subset {part}", self.set.name));
        let rows = random::uniform_subset(self.x.nrows(), (n + n_test).min(self.x.nrows()), rng)?;
        let (train, test) = rows.split_at(n.min(rows.len()));
        let [(x, y), (x_test, y_test)] =
            [train, test].map(|rows| (gather(&self.x, rows), gather(&self.y, rows)));
        Ok(Subset { x, y, x_test, y_test, chosen: self.chosen })
    }
}

/// One random subset of a data set.
pub struct Subset {
    x: Mat<f64>,
    /// n × 1.
    pub y: Mat<f64>,
    x_test: Mat<f64>,
    /// Targets of the test points.
    pub y_test: Mat<f64>,
    /// σ and λ.
    pub chosen: Chosen,
}

impl Subset {
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

/// Steps of the chain in the paper's comparisons.
pub const STEPS: usize = 3000;

// the paper's names
pub const UNIF: Method = UNIFORM.called("Unif");
pub const LEV: Method = RANK_K.called("Lev");
pub const REG_LEV: Method = LEVERAGE.called("RegLev");
pub const ADAP_FULL: Method = ADAPTIVE.called("AdapFull");
pub const ADAP_PART: Method = ADAPTIVE_PARTIAL.called("AdapPart");
pub const APP_LEV: Method = APPROXIMATE_RANK_K.called("AppLev");
pub const APP_REG_LEV: Method = FAST_LEVERAGE.called("AppRegLev");
pub const KDPP: Method = K_DPP.called("kDPP");
// not in the paper
pub const KDPP_EXACT: Method = K_DPP_EXACT.called("kDPP, exact draw");

/// Numbers of landmarks.
pub fn sizes(ctx: &Context) -> &'static [usize] {
    ctx.pick(&[5, 20], &[10, 25, 50, 100], &[20, 50, 100, 150, 200])
}

/// The selector of a method that needs no more than K. `parameter` is the number of columns of
/// approximate scores or of steps of the chain; `ridge` is that of the regression.
///
/// # Errors
/// If the method needs more.
pub fn selector(
    method: Method,
    parameter: usize,
    ridge: Ridge<f64>,
) -> anyhow::Result<Box<dyn LandmarkSelector<f64>>> {
    let (draw, columns, steps) = (Draw::WithoutReplacement, parameter, parameter);
    Ok(match method {
        m if m == UNIF => Box::new(Uniform::default()),
        m if m == ADAP_FULL => Box::new(AdaptiveFull::default()),
        m if m == ADAP_PART => Box::new(AdaptivePartial::default()),
        m if m == RP_CHOLESKY => Box::new(RpCholesky::default()),
        m if m == GREEDY => Box::new(Greedy::default()),
        m if m == APP_LEV => Box::new(FastRankLeverage { columns, rank: None, draw }),
        m if m == APP_REG_LEV => {
            Box::new(LeverageProportional { estimator: AlaouiMahoney { columns }, ridge, draw })
        }
        m if m == KDPP => {
            Box::new(KDppChain { start: KMeansPlusPlus, steps, rule: SwapRule::LazyGibbs })
        }
        other => anyhow::bail!("{} chooses no landmarks here", other.name),
    })
}

/// A stored kernel matrix with its spectrum.
///
/// It is n × n, since the paper's errors are against the best approximation of rank c.
pub struct Matrix<'a> {
    /// K.
    pub dense: Dense<'a, f64>,
    /// Its eigenvalues, and scores of any rank and ridge.
    pub spectrum: ExactSpectrum<f64>,
    /// The same for exact draws.
    ensemble: LEnsemble<f64>,
    /// Of the regression, which RegLev uses.
    ridge: Ridge<f64>,
}

impl<'a> Matrix<'a> {
    /// From K, stored: two eigendecompositions.
    pub fn new(k: &'a Mat<f64>, ridge: Ridge<f64>) -> anyhow::Result<Self> {
        let dense = Dense::new(k.as_ref())?;
        let spectrum = ExactSpectrum::new(&dense)?;
        let ensemble = LEnsemble::new(&dense)?;
        Ok(Matrix { dense, spectrum, ensemble, ridge })
    }

    /// c landmarks. Lev takes rank k = c.
    ///
    /// # Errors
    /// Those of the selectors; a method that is none of the above.
    pub fn select(&self, method: Method, c: usize, rng: &mut dyn Rng) -> anyhow::Result<Landmarks> {
        let drawn = |scores: &[f64], rng| Landmarks::draw(scores, c, Draw::WithoutReplacement, rng);
        Ok(match method {
            m if m == LEV => drawn(&self.spectrum.rank_k_scores(c)?, rng)?,
            m if m == REG_LEV => drawn(&self.spectrum.scores(self.ridge)?.scores, rng)?,
            m if m == KDPP_EXACT => self.ensemble.k_dpp(c)?.sample(rng),
            other => selector(other, STEPS, self.ridge)?.select(&self.dense, c, rng)?,
        })
    }

    /// ‖K − K_c‖, the least error of rank c.
    pub fn best(&self, c: usize) -> ErrorNorms {
        ErrorNorms::of_best_rank(self.spectrum.eigenvalues(), c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_the_papers_only_on_its_own_sets() {
        let kind =
            |ours| ours_if(ours, vec![measured("x", 0.0).at_most("", 1.0).printed()])[0].kind;
        assert_eq!([false, true].map(kind), [Kind::Printed, Kind::Ours]);
        let progress = crate::progress::Progress::captured();
        let ctx = crate::testing::context(&progress); // has no data but what is embedded
        let (sets, missing) = at_hand(&ctx, &SETS).unwrap();
        assert_eq!((sets, missing.len()), (vec![ABALONE], 7));
        let (sets, missing) = at_hand(&ctx, &[AILERONS]).unwrap();
        assert!(stands_in(&sets) && missing[0].needed_for == "Ailerons");
    }
}
