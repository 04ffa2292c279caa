//! `METHOD:COUNT`, which chooses landmarks, and the leverage scores that some methods draw by.

use crate::text::option;
use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct LeverageArgs {
    /// λ of the leverage scores [K(K + nλI)⁻¹]_ii that some methods of --landmarks draw by
    /// [default: 1e-4]
    #[arg(long, value_name = "X", value_parser = super::lambda::positive,
        help_heading = "Landmarks")]
    pub leverage_lambda: Option<f64>,
}

impl LeverageArgs {
    pub fn lambda(&self) -> f64 {
        self.leverage_lambda.unwrap_or(1e-4)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LandmarkSpec {
    pub method: Selection,
    pub count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Selection {
    Uniform,
    #[value(name = "rpcholesky")]
    RpCholesky,
    Greedy,
    SparseGreedy,
    #[value(name = "kmeans++")]
    KMeansPlusPlus,
    Adaptive,
    Diagonal,
    Leverage,
    LeverageExact,
    LeverageFast,
    Bless,
    BlessR,
    Squeak,
    Sa,
    #[value(name = "kdpp")]
    KDpp,
    #[value(name = "kdpp-exact")]
    KDppExact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreMethod {
    /// The diagonal of K(K + nλI)⁻¹, from the n × n matrix K
    Exact,
    /// Approximate, from --columns columns of K (Alaoui & Mahoney)
    Fast,
    /// Approximate, by Recursive-RLS
    Recursive,
    /// Approximate, by BLESS
    Bless,
    /// Approximate, by BLESS-R
    BlessR,
    /// Approximate, by SQUEAK
    Squeak,
    /// Approximate, by spectral analysis: from the density of the rows, without kernel values; for
    /// stationary kernels and few features
    Sa,
}

/// The methods of `--landmarks`, for `--help`.
pub const METHODS: &str = "\
Methods of --landmarks (n rows, m landmarks; n·m: stores n·m numbers):
  uniform         all rows equally likely: a strong baseline
  rpcholesky      randomly pivoted Cholesky, most accurate for its kernel values; n·m
  greedy          Cholesky that pivots on the largest residual; picks outliers; n·m
  sparse-greedy   at every step, the best of 59 random rows
  kmeans++        D² sampling in feature space
  adaptive        batches drawn in proportion to the residual on the chosen columns; n·m
  diagonal        drawn in proportion to k(x, x)
  leverage        drawn by leverage scores (Recursive-RLS), at a ridge that m determines
  leverage-exact, leverage-fast, bless, bless-r, squeak, sa
                  drawn in proportion to leverage scores at --leverage-lambda, which are exact
                  (from the n × n matrix K), from 2m columns of K, by BLESS, BLESS-R, SQUEAK, or
                  from the density of the rows (stationary kernels and few features)
  kdpp            k-DPP, by 3000 steps of the swap chain
  kdpp-exact      k-DPP, exact: by rejection, or from the n × n matrix K if n ≤ 2000 or n < m²";

impl Selection {
    /// The leverage scores that this method draws by, if it draws by leverage scores.
    pub fn scores(self) -> Option<ScoreMethod> {
        Some(match self {
            Selection::Leverage => ScoreMethod::Recursive,
            Selection::LeverageExact => ScoreMethod::Exact,
            Selection::LeverageFast => ScoreMethod::Fast,
            Selection::Bless => ScoreMethod::Bless,
            Selection::BlessR => ScoreMethod::BlessR,
            Selection::Squeak => ScoreMethod::Squeak,
            Selection::Sa => ScoreMethod::Sa,
            _ => return None,
        })
    }
}

/// Reads the value of --landmarks.
pub fn landmarks(text: &str) -> Result<LandmarkSpec, String> {
    let Some((method, count)) = text.rsplit_once(':') else {
        return Err("expected METHOD:COUNT, such as rpcholesky:1000".into());
    };
    let Ok(method) = Selection::from_str(method, true) else {
        let names: Vec<String> = Selection::value_variants().iter().map(option).collect();
        return Err(format!("there is no method {method:?}; choose one of {}", names.join(", ")));
    };
    match count.parse() {
        Ok(count) if count > 0 => Ok(LandmarkSpec { method, count }),
        _ => Err(format!(
            "{count:?} is not a number of landmarks; write {}:1000, say",
            option(&method)
        )),
    }
}

impl std::fmt::Display for LandmarkSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", option(&self.method), self.count)
    }
}
