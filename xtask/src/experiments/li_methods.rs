//! The ways of choosing landmarks that Li, Jegelka & Sra (2016) compare, and two of today's.

use nystrom::dpp::{KDppChain, SwapRule};
use nystrom::faer::Mat;
use nystrom::leverage::ExactSpectrum;
use nystrom::linalg_core::{Dense, PsdMatrix, Ridge};
use nystrom::sketch::{
    AdaptiveFull, Draw, ErrorNorms, Greedy, KMeansPlusPlus, LandmarkSelector, Landmarks, RpCholesky, Uniform,
};
use rand::Rng;

/// Steps of the chain in the paper's comparisons.
pub const STEPS: usize = 3000;

/// A way of choosing c landmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Uniform,
    RankK,
    RidgeLeverage,
    AdaptiveFull,
    KDpp,
    RpCholesky,
    Greedy,
}

use Method::{KDpp, RankK, RidgeLeverage};

impl Method {
    /// The paper's name, or ours for what it does not have.
    pub fn name(self) -> &'static str {
        match self {
            Method::Uniform => "Unif",
            RankK => "Lev",
            RidgeLeverage => "RegLev",
            Method::AdaptiveFull => "AdapFull",
            KDpp => "kDPP",
            Method::RpCholesky => "RPCholesky",
            Method::Greedy => "greedy",
        }
    }

    /// Its look in plots.
    pub fn style(self) -> &'static str {
        match self {
            Method::Uniform => "uniform",
            RankK => "rank-k",
            RidgeLeverage => "leverage",
            Method::AdaptiveFull => "adaptive",
            KDpp => "k-dpp",
            Method::RpCholesky => "rp-cholesky",
            Method::Greedy => "greedy",
        }
    }
}

/// A stored kernel matrix with its spectrum: n × n, since the paper's errors are against the best approximation of rank c.
pub struct Matrix<'a> {
    /// K.
    pub dense: Dense<'a, f64>,
    /// Its eigenvalues, and scores of any rank and ridge.
    pub spectrum: ExactSpectrum<f64>,
}

impl<'a> Matrix<'a> {
    /// From K, stored: one eigendecomposition.
    pub fn new(k: &'a Mat<f64>) -> anyhow::Result<Self> {
        let dense = Dense::new(k.as_ref())?;
        let spectrum = ExactSpectrum::new(&dense)?;
        Ok(Matrix { dense, spectrum })
    }

    /// c landmarks; `ridge` is that of the regression, which RegLev uses. Lev takes rank k = c.
    pub fn select(&self, method: Method, c: usize, ridge: Ridge<f64>, rng: &mut dyn Rng) -> anyhow::Result<Landmarks> {
        let k: &dyn PsdMatrix<f64> = &self.dense;
        Ok(match method {
            Method::Uniform => Uniform::default().select(k, c, rng)?,
            RankK => Landmarks::draw(&self.spectrum.rank_k_scores(c)?, c, Draw::WithoutReplacement, rng)?,
            RidgeLeverage => Landmarks::draw(&self.spectrum.scores(ridge)?.scores, c, Draw::WithoutReplacement, rng)?,
            Method::AdaptiveFull => AdaptiveFull::default().select(k, c, rng)?,
            KDpp => {
                let chain = KDppChain { start: KMeansPlusPlus, steps: STEPS, rule: SwapRule::LazyGibbs };
                chain.select(k, c, rng)?
            }
            Method::RpCholesky => RpCholesky::default().select(k, c, rng)?,
            Method::Greedy => Greedy::default().select(k, c, rng)?,
        })
    }

    /// ‖K − K_c‖, the least error of rank c.
    pub fn best(&self, c: usize) -> ErrorNorms {
        ErrorNorms::of_best_rank(self.spectrum.eigenvalues(), c)
    }
}
