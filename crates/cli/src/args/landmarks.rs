//! How landmarks are chosen, `METHOD:COUNT`, and the leverage scores that some are drawn by.

use clap::{Args, ValueEnum};
use std::str::FromStr;

#[derive(Args)]
pub struct LeverageArgs {
    /// λ in K + nλI at which leverage scores are taken, if --landmarks uses them [default: 1e-4]
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
    /// K(K + nλI)⁻¹ as it stands: n × n
    Exact,
    /// Alaoui & Mahoney: from --columns columns of K
    Fast,
    /// Recursive-RLS
    Recursive,
    Bless,
    BlessR,
    Squeak,
    /// From the density of the rows: no kernel value at all; stationary kernels, few features
    Sa,
}

/// What `--landmarks` says of its methods in --help.
pub const METHODS: &str = "\
Methods of --landmarks (n rows, m landmarks):
  uniform         all rows equally likely: a strong baseline
  rpcholesky      randomly pivoted Cholesky: the best per kernel value; n·m numbers of memory
  greedy          Cholesky with the largest residual first; finds outliers; n·m numbers
  sparse-greedy   the best of 59 random rows at every step
  kmeans++        D² sampling in feature space
  adaptive        batches in proportion to the residual of the known columns; n·m numbers
  diagonal        in proportion to k(x, x)
  leverage        Recursive-RLS: leverage scores at the ridge that suits m
  leverage-exact, leverage-fast, bless, bless-r, squeak, sa
                  in proportion to leverage scores at --leverage-lambda: exact (n × n), by \
                  columns, by
                  BLESS, BLESS-R, SQUEAK, or from the density of the rows (stationary kernels, \
                  few features)
  kdpp            k-DPP, 3000 steps of the swap chain
  kdpp-exact      k-DPP, exactly: by rejection, or n × n up to 2000 rows or n < m²";

impl Selection {
    /// The leverage scores that it draws by, if it does.
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

    /// As it is written on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl FromStr for LandmarkSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((method, count)) = text.rsplit_once(':') else {
            return Err("expected METHOD:COUNT, such as rpcholesky:1000".into());
        };
        let Ok(method) = Selection::from_str(method, true) else {
            let names: Vec<String> =
                Selection::value_variants().iter().map(|method| method.name()).collect();
            return Err(format!("there is no method {method:?}; there are {}", names.join(", ")));
        };
        match count.parse() {
            Ok(count) if count > 0 => Ok(LandmarkSpec { method, count }),
            _ => Err(format!(
                "{count:?} is not a number of landmarks; write {}:1000, say",
                method.name()
            )),
        }
    }
}

impl std::fmt::Display for LandmarkSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.method.name(), self.count)
    }
}
