//! The library's selector for each `METHOD` of `METHOD:COUNT`, and its estimator for those that
//! draw by leverage scores.

use crate::args::{LandmarkSpec, ScoreMethod, Selection};
use crate::failure::{Result, usage};
use crate::kernel::{self, AnyKernel};
use crate::plan::{self, Step};
use crate::speed::TrialRun;
use crate::text;
use nystrom::leverage::{RecursiveNystrom, SpectralLeverage};
use nystrom::prelude::*;
use nystrom::sketch::{Draw, Uniform};

pub type Selector<'a> = Box<dyn LandmarkSelector<f64> + Send + 'a>;
pub type Estimator<'a> = Box<dyn RidgeLeverage<f64> + Send + 'a>;

/// The number of steps of the k-DPP chain in Li, Jegelka & Sra (2016).
pub const CHAIN_STEPS: usize = 3000;

/// The kernel, the points and the ridge that selectors need besides the matrix.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub kernel: &'a AnyKernel,
    pub points: Points<'a, f64>,
    /// λ of leverage scores.
    pub lambda: f64,
}

/// The selector of a method.
pub fn selector<'a>(spec: LandmarkSpec, setting: Setting<'a>) -> Result<Selector<'a>> {
    let walk =
        KDppChain { start: RpCholesky::default(), steps: CHAIN_STEPS, rule: SwapRule::Metropolis };
    Ok(match spec.method {
        Selection::Uniform => Box::new(Uniform::default()),
        Selection::Diagonal => Box::new(Diagonal { draw: Draw::WithoutReplacement }),
        Selection::RpCholesky => Box::new(RpCholesky::default()),
        Selection::Greedy => Box::new(Greedy::default()),
        Selection::SparseGreedy => Box::new(SparseGreedy::default()),
        Selection::KMeansPlusPlus => Box::new(KMeansPlusPlus),
        Selection::Adaptive => Box::new(AdaptivePartial::default()),
        Selection::Leverage => Box::new(RecursiveNystrom::default()),
        Selection::KDpp => Box::new(walk),
        Selection::KDppExact => Box::new(KDpp),
        _ => {
            let estimator = estimator_of(spec, setting)?;
            let ridge = Ridge::PerSample(setting.lambda);
            Box::new(LeverageProportional { estimator, ridge, draw: Draw::WithoutReplacement })
        }
    })
}

/// The estimator of leverage scores of this name; `columns` is the number of columns that the fast
/// estimator draws.
pub fn estimator<'a>(
    method: ScoreMethod,
    columns: usize,
    setting: Setting<'a>,
) -> Result<Estimator<'a>> {
    Ok(match method {
        ScoreMethod::Exact => Box::new(Exact),
        ScoreMethod::Fast => Box::new(AlaouiMahoney { columns }),
        ScoreMethod::Recursive => Box::new(RecursiveRls::default()),
        ScoreMethod::Bless => Box::new(Bless::default()),
        ScoreMethod::BlessR => Box::new(BlessR::default()),
        ScoreMethod::Squeak => Box::new(SqueakParams::default()),
        ScoreMethod::Sa => {
            Box::new(SpectralLeverage::new(kernel::stationary(setting.kernel)?, setting.points))
        }
    })
}

/// The estimator of the leverage scores that a method draws by; an error if it draws otherwise.
fn estimator_of<'a>(spec: LandmarkSpec, setting: Setting<'a>) -> Result<Estimator<'a>> {
    let method = spec.method.scores().ok_or_else(|| unweighted(spec))?;
    estimator(method, (2 * spec.count).min(setting.points.len()), setting)
}

/// The step that chooses the landmarks.
pub fn step(spec: LandmarkSpec, setting: Setting<'_>) -> Step {
    plan::selection(spec, setting.points.len(), trial_of(spec, setting))
}

/// A trial run of the leverage scores that a method draws by, if their cost depends on the data.
pub fn trial_of(spec: LandmarkSpec, setting: Setting<'_>) -> Option<TrialRun> {
    // the dictionary of `leverage` has a given size
    let scores = spec.method.scores().filter(|_| spec.method != Selection::Leverage);
    scores.and_then(|method| trial(method, setting))
}

/// A trial run of leverage scores, if their cost depends on the data.
pub fn trial(method: ScoreMethod, setting: Setting<'_>) -> Option<TrialRun> {
    if matches!(method, ScoreMethod::Exact | ScoreMethod::Fast) {
        return None; // the cost is known in advance
    }
    TrialRun::run(setting.kernel, setting.points, |k, points, rng| {
        let few = Setting { points, ..setting };
        Ok(estimator(method, 0, few)?.scores(k, Ridge::PerSample(setting.lambda), rng)?)
    })
}

/// Chooses rows: landmarks, or with `weighted` m draws with replacement and their weights, which
/// make E[SSᵀ] = I.
pub fn choose(
    spec: LandmarkSpec,
    weighted: bool,
    setting: Setting<'_>,
    k: &dyn PsdMatrix<f64>,
    rng: &mut dyn Rng,
) -> Result<(Vec<usize>, Option<Vec<f64>>)> {
    if !weighted {
        let chosen = selector(spec, setting)?.select(k, spec.count, rng)?;
        return Ok((chosen.indices().to_vec(), None));
    }
    let probabilities = match spec.method {
        Selection::Uniform => vec![1.0; k.dim()],
        Selection::Diagonal => k.diag(),
        _ => {
            let estimator = estimator_of(spec, setting)?;
            estimator.scores(k, Ridge::PerSample(setting.lambda), rng)?
        }
    };
    let dictionary = Dictionary::with_replacement(&probabilities, spec.count, rng)?;
    Ok((dictionary.indices().to_vec(), Some(dictionary.weights().to_vec())))
}

fn unweighted(spec: LandmarkSpec) -> anyhow::Error {
    usage(format!(
        "{} does not draw rows independently, so they have no weights; leave out --weights, or \
         choose uniform or leverage-fast",
        text::option(&spec.method)
    ))
}
