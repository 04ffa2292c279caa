//! The options of each command.

use super::landmarks::METHODS;
use super::{
    BlockArgs, Certify, DataArgs, KernelArgs, Lambda, LambdaRange, LandmarkSpec, LeverageArgs,
    Output, RegressionArgs, RunArgs, ScoreMethod, SearchArgs, StreamArgs,
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const FIT: &str = "\
Examples:
  nystrom fit houses.csv --target price -o houses.json
  nystrom fit houses.csv --target price -o houses.json --report houses.html
  nystrom fit houses.csv --target price --effort thorough --group town -o houses.json
  nystrom fit stars.csv --target class --class-weights balanced -o stars.json
  nystrom fit houses.csv --target price --kernel matern --nu 1.5 --landmarks rpcholesky:2000 \\
      --lambda auto --hold-out 0.2 --certify --memory 2GB -o houses.json
  nystrom fit 'shards/*.parquet' --target y --memory 2GB --checkpoint state -o model.json
  nystrom fit train.libsvm --bandwidth 0.5 --lambda 1e-6 -o model.json

Numbers, texts, dates and missing values become features: docs/columns.md says how, and which option
changes what.";

/// Find the best fit for a table and save it
///
/// Families of kernels, length scales, learned metrics, λ and centres are compared on rows set
/// aside. Any kernel, landmark or λ option turns the search off: then one kernel ridge regression
/// is fitted, which minimises (1/n) Σ (y_i − f(x_i) − b)² + λ‖f‖².
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = FIT,
    after_long_help = format!("{METHODS}\n\n{FIT}"))]
pub struct Fit {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub regression: RegressionArgs,
    /// File for the model, written only when it is whole; `-` is standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "plan")]
    pub output: Option<Output>,
    /// File for a page to look at: errors on new rows, which columns matter and how, what was
    /// tried, how to repeat it
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// How landmarks are chosen, and how many [default: rpcholesky with 500, or as many as there
    /// are rows and as --memory allows]
    #[arg(long, value_name = "METHOD:COUNT", help_heading = "Landmarks")]
    pub landmarks: Option<LandmarkSpec>,
    /// Fit in the span of COUNT sums of so many random rows each, with random signs (an
    /// accumulation), in the place of COUNT rows. This is nearer to exact regression with the same
    /// COUNT, for so many times the kernel values. In memory it is solved directly. With
    /// --landmarks uniform:COUNT
    #[arg(long, value_name = "ROWS", requires = "landmarks", conflicts_with = "all_rows",
        help_heading = "Landmarks",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 16))]
    pub accumulate: Option<usize>,
    /// Ridge λ in K + nλI. A number, or the one of --lambdas with the smallest error: `auto` by
    /// leave-one-out, `gcv` by generalised cross-validation, `cv:5` by five folds [default: auto]
    #[arg(long, value_name = "auto|gcv|cv:K|X", help_heading = "Fit")]
    pub lambda: Option<Lambda>,
    /// The values that `--lambda auto`, `gcv` and `cv:K` try [default: 1e-1:1e-10:28]
    #[arg(long, value_name = "LARGEST:SMALLEST:COUNT", help_heading = "Fit")]
    pub lambdas: Option<LambdaRange>,
    #[command(flatten)]
    pub leverage: LeverageArgs,
    #[command(flatten)]
    pub stream: StreamArgs,
    /// Hold out this share of the rows, and report the error on them. Rows are drawn at random;
    /// with --group whole groups are, with --time-column the last rows are held out
    #[arg(long, value_name = "SHARE", help_heading = "Fit")]
    pub hold_out: Option<f64>,
    /// Bound the distance to exact kernel ridge regression, from this many sampled rows
    /// (`--certify` alone: 1000). With `passes:5`, bound it from both sides by five passes over all
    /// pairs of rows
    #[arg(
        long,
        value_name = "ROWS|passes:N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1000",
        help_heading = "Fit"
    )]
    pub certify: Option<Certify>,
    /// Iterative fits (of a given --lambda) stop at this relative residual [default: 1e-6]. Block
    /// by block: iterate, with a pass for each iteration
    #[arg(long, value_name = "X", help_heading = "Fit")]
    pub tolerance: Option<f64>,
    /// Print the plan to standard output and stop; no model is written
    #[arg(long, help_heading = "Run")]
    pub plan: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

impl Fit {
    /// Whether anything says how to fit, so that nothing is to be searched.
    pub fn is_manual(&self) -> bool {
        self.kernel.is_given()
            || self.landmarks.is_some()
            || self.lambda.is_some()
            || self.lambdas.is_some()
            || self.leverage.leverage_lambda.is_some()
            || self.certify.is_some()
            || self.tolerance.is_some()
            || self.regression.no_intercept
    }

    /// Which ridge, if one is fitted.
    pub fn lambda(&self) -> Lambda {
        self.lambda.unwrap_or(Lambda::Auto)
    }
}

const PREDICT: &str = "\
Examples:
  nystrom predict houses.json new-houses.csv -o prices.csv
  nystrom predict houses.json new-houses.csv > prices.csv
  nystrom predict houses.json new-houses.csv --keep street,town -o prices.csv
  nystrom predict houses.json new-houses.csv -o prices.npy --json

Of classes there is the likeliest, and a column p_CLASS with the probability of each.

Features are found by name; where a file has no names (.npy, --no-header) by position. If the
target is among the columns, the error of the predictions is reported; it need not be there.";

/// Predict with a model that `nystrom fit` saved
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = PREDICT)]
pub struct Predict {
    /// Model file
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// The probabilities of classes alone, without the likeliest: numbers, also where classes are
    /// text
    #[arg(long)]
    pub probabilities: bool,
    /// Read the table block by block, also where it is one file that fits in memory
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Columns `lower` and `upper`, between which the truth is with this probability or more, such
    /// as 0.9. This holds on average over rows like those of the fit, which has to --calibrate
    #[arg(long, value_name = "LEVEL")]
    pub interval: Option<f64>,
    /// Columns `std`, the standard deviation of a new value, and `std_of_function`, the same
    /// without noise, of the Gaussian process. The fit has to keep them (--std)
    #[arg(long)]
    pub std: bool,
    /// Columns of DATA to copy beside the predictions, as they stand there, by name or number
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true)]
    pub keep: Vec<String>,
    /// File for the predictions, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Run")]
    pub threads: Option<u16>,
    /// Print the outcome as JSON
    #[arg(long, help_heading = "Run")]
    pub json: bool,
    /// No notes and no progress
    #[arg(short, long, help_heading = "Run")]
    pub quiet: bool,
}

const SCORES: &str = "\
Examples:
  nystrom scores houses.csv --drop price --lambda 1e-4 -o scores.csv
  nystrom scores houses.csv --drop price --method exact --kernel matern > scores.csv
  nystrom scores sensors.npy --method sa --bandwidth 0.5 -o scores.npy --json
  nystrom scores 'shards/*.csv' --method squeak --lambda 1e-4 -o scores.csv

A folder, a pattern of several files or a table too large for --memory is read block by block, in
two passes, or three of squeak. Then squeak makes its dictionary of all rows; recursive, bless and
bless-r make theirs of a uniform sample. `row` counts the rows of all files from 0, `line` the lines
of each file.";

/// Ridge leverage scores l_i = [K(K + nλI)⁻¹]_ii: how little the other rows explain of row i
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = SCORES)]
pub struct Scores {
    #[command(flatten)]
    pub data: DataArgs,
    /// How scores are computed
    #[arg(long, value_enum, default_value_t = ScoreMethod::Recursive)]
    pub method: ScoreMethod,
    /// Ridge λ in K + nλI
    #[arg(long, value_name = "X", default_value_t = 1e-4, value_parser = super::lambda::positive)]
    pub lambda: f64,
    /// Columns that `--method fast` draws [default: 1000, or all rows if there are fewer]
    #[arg(long, value_name = "P")]
    pub columns: Option<usize>,
    /// Copies of each row with which `--method squeak` begins: with more the dictionary is larger
    /// and the scores are more accurate [default: 8]
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u32).range(1..))]
    pub copies: Option<u32>,
    /// File for the scores, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub blocks: BlockArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

const LANDMARKS: &str = "\
Examples:
  nystrom landmarks houses.csv --drop price --landmarks rpcholesky:100 -o rows.csv
  nystrom landmarks houses.csv --drop price --landmarks leverage-fast:200 --weights > rows.csv
  nystrom landmarks 'shards/*.csv' --landmarks squeak:500 -o rows.csv

`row` counts rows of data from 0, as NumPy does; `line` is the line of the file, as editors count.

A folder, a pattern of several files or a table too large for --memory is read block by block. Then
squeak draws by the scores of all rows, in three passes. The other methods choose from a uniform
sample, in one pass.";

/// Choose rows that stand for all, and say what they leave of the kernel matrix
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = LANDMARKS,
    after_long_help = format!("{METHODS}\n\n{LANDMARKS}"))]
pub struct LandmarksCommand {
    #[command(flatten)]
    pub data: DataArgs,
    /// How they are chosen, and how many
    #[arg(long, value_name = "METHOD:COUNT", help_heading = "Landmarks")]
    pub landmarks: LandmarkSpec,
    #[command(flatten)]
    pub leverage: LeverageArgs,
    /// Draw with replacement and write weights with E[SSᵀ] = I (uniform, diagonal and the methods
    /// by leverage scores)
    #[arg(long)]
    pub weights: bool,
    /// File for the rows, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub blocks: BlockArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sampler {
    /// Exact up to 2000 rows, and by rejection up to √rows in a subset; else the swap chain
    Auto,
    /// Exactly, by eigendecomposition: n × n
    Exact,
    /// Exactly, by rejection: never n × n, for subsets of up to a hundred rows or so
    Rejection,
    /// A Markov chain, O(size²) a step whatever n is
    Swap,
}

const SAMPLE: &str = "\
Examples:
  nystrom sample houses.csv --drop price --size 50 -o diverse.csv
  nystrom sample houses.csv --drop price --size 20 --draws 10 --method exact > draws.csv
  nystrom sample million.csv --size 50 --method rejection -o diverse.csv
  nystrom sample large.csv --size 100 --method swap --steps 20000 --json -o diverse.csv

`row` counts rows of data from 0, as NumPy does; `line` is the line of the file, as editors count.";

/// Draw diverse subsets of rows: a k-DPP, Pr(C) ∝ det K_CC
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = SAMPLE)]
pub struct Sample {
    #[command(flatten)]
    pub data: DataArgs,
    /// Rows in a subset
    #[arg(long, value_name = "K")]
    pub size: usize,
    /// Number of subsets
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub draws: usize,
    /// How subsets are drawn
    #[arg(long, value_enum, default_value_t = Sampler::Auto)]
    pub method: Sampler,
    /// Steps of the chain before each draw [default: 3000]
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
    /// As many steps as it takes until the chain is so close to the k-DPP in total variation.
    /// Chains beside exact draws show it with a confidence of 95 %
    #[arg(long, value_name = "DISTANCE", conflicts_with = "steps")]
    pub within: Option<f64>,
    /// File for the rows, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

const EVALUATE: &str = "\
Examples:
  nystrom evaluate houses.json test-houses.csv
  nystrom evaluate houses.json test-houses.csv --json

As `predict`, but the target must be there, and only the errors are printed: RMSE and R² of
numbers; of classes the error rate, the logarithmic loss, the area under the ROC curve (of two) and
the calibration error in 15 bins of as many rows.";

/// The error of a saved model on rows whose target is known
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EVALUATE)]
pub struct Evaluate {
    /// Model file
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// Read the table block by block, also where it is one file that fits in memory
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Run")]
    pub threads: Option<u16>,
    /// Print the outcome as JSON
    #[arg(long, help_heading = "Run")]
    pub json: bool,
    /// No notes and no progress
    #[arg(short, long, help_heading = "Run")]
    pub quiet: bool,
}

const INSPECT: &str = "\
Examples:
  nystrom inspect houses.json
  nystrom inspect houses.json --json";

/// What a saved model is, and how it was made
#[derive(Args)]
#[command(after_help = INSPECT)]
pub struct Inspect {
    /// Model file
    pub model: PathBuf,
    /// Print it as JSON
    #[arg(long, help_heading = "Run")]
    pub json: bool,
}

const COMPLETIONS: &str = "\
Examples:
  nystrom completions bash > ~/.local/share/bash-completion/completions/nystrom
  nystrom completions fish > ~/.config/fish/completions/nystrom.fish";

/// Print a completion script
#[derive(Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
