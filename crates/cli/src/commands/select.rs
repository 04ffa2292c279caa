//! The library's selector for each `METHOD` of `METHOD:COUNT`, and its estimator for those that draw by leverage scores.

use crate::args::{LandmarkSpec, Selection};
use crate::failure::{Failure, Result};
use crate::kernel::AnyKernel;
use nystrom::leverage::{RecursiveNystromSelector, SpectralLeverage};
use nystrom::prelude::*;
use nystrom::sketch::Draw;

pub type Selector<'a> = Box<dyn LandmarkSelector<f64> + Send + 'a>;
pub type Estimator<'a> = Box<dyn RidgeLeverage<f64> + Send + 'a>;

/// Copies of every row in a SQUEAK dictionary.
const COPIES: u32 = 8;
/// Steps of the k-DPP's chain, those of Li, Jegelka & Sra (2016).
pub const CHAIN_STEPS: usize = 3000;

/// What selectors need to know besides the matrix.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub kernel: &'a AnyKernel,
    pub points: Points<'a, f64>,
    /// λ of leverage scores.
    pub lambda: f64,
}

/// The selector of a method.
pub fn selector<'a>(spec: LandmarkSpec, setting: Setting<'a>) -> Result<Selector<'a>> {
    let walk = KDppChain { start: RpCholesky::default(), steps: CHAIN_STEPS, rule: SwapRule::Metropolis };
    Ok(match spec.method {
        Selection::Uniform => Box::new(Uniform::default()),
        Selection::Diagonal => Box::new(Diagonal { draw: Draw::WithoutReplacement }),
        Selection::RpCholesky => Box::new(RpCholesky::default()),
        Selection::Greedy => Box::new(Greedy::default()),
        Selection::SparseGreedy => Box::new(SparseGreedy::default()),
        Selection::KMeansPlusPlus => Box::new(KMeansPlusPlus),
        Selection::Adaptive => Box::new(AdaptivePartial::default()),
        Selection::Leverage => Box::new(RecursiveNystromSelector::default()),
        Selection::KDpp => Box::new(walk),
        Selection::KDppExact => Box::new(KDpp),
        _ => {
            let estimator = estimator(spec, setting)?.ok_or_else(|| unweighted(spec))?;
            let ridge = Ridge::PerSample(setting.lambda);
            Box::new(LeverageProportional { estimator, ridge, draw: Draw::WithoutReplacement })
        }
    })
}

/// The estimator of leverage scores that a method draws by, if it does.
fn estimator<'a>(spec: LandmarkSpec, setting: Setting<'a>) -> Result<Option<Estimator<'a>>> {
    let n = setting.points.len();
    Ok(Some(match spec.method {
        Selection::LeverageExact => Box::new(Exact),
        Selection::LeverageFast => Box::new(AlaouiMahoney { columns: (2 * spec.count).min(n) }),
        Selection::Leverage => Box::new(RecursiveRls::default()),
        Selection::Bless => Box::new(Bless::default()),
        Selection::BlessR => Box::new(BlessR::default()),
        Selection::Squeak => Box::new(SqueakParams::new(COPIES)),
        Selection::Sa => Box::new(SpectralLeverage::new(setting.kernel.stationary()?, setting.points)),
        _ => return Ok(None),
    }))
}

/// m draws with replacement and their weights, E[SSᵀ] = I.
pub fn dictionary(
    spec: LandmarkSpec,
    setting: Setting<'_>,
    k: &dyn PsdMatrix<f64>,
    rng: &mut dyn Rng,
) -> Result<Dictionary<f64>> {
    let probabilities = match spec.method {
        Selection::Uniform => vec![1.0; k.dim()],
        Selection::Diagonal => k.diag(),
        _ => {
            let estimator = estimator(spec, setting)?.ok_or_else(|| unweighted(spec))?;
            estimator.scores(k, Ridge::PerSample(setting.lambda), rng)?
        }
    };
    Ok(Dictionary::with_replacement(&probabilities, spec.count, rng)?)
}

fn unweighted(spec: LandmarkSpec) -> Failure {
    let name = spec.method.name();
    Failure::Usage(format!(
        "{name} draws by no fixed law, so its rows have no weights; leave out --weights, or take uniform or leverage-fast"
    ))
}
