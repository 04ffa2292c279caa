//! The options of each command.

use super::landmarks::METHODS;
use super::{
    Certify, DataArgs, GpuArgs, KernelArgs, Lambda, LambdaRange, LandmarkSpec, LeverageArgs,
    ModelArgs, Output, PointArgs, RegressionArgs, RunArgs, ScoreMethod, SearchArgs, SparseArgs,
    StreamArgs,
};
use clap::Args;
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
  nystrom fit words.libsvm --sparse -o model.json

docs/columns.md says how numbers, texts, dates and missing values become features, and which \
options change that.";

/// Find the best fit for a table and save it
///
/// The search compares kernel families, length scales, learned metrics, values of λ and centres by
/// their errors on validation rows. Any kernel, landmark or λ option turns the search off, and so
/// do --certify, --tolerance and --no-intercept: then one kernel ridge regression is fitted, which
/// minimises (1/n) Σ (y_i − f(x_i) − b)² + λ‖f‖². If the table is read block by block, only a
/// kernel option turns the search off.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = FIT,
    after_long_help = format!("{METHODS}\n\n{FIT}"))]
pub struct FitArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub rows: SparseArgs,
    #[command(flatten)]
    pub regression: RegressionArgs,
    /// File for the model, replaced only when the new model is complete; `-` is standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "plan")]
    pub output: Option<Output>,
    /// File for an HTML report: errors on validation rows, importance and effect of each column,
    /// the candidates tried, and the command that repeats the fit
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Method that chooses the landmarks, and their number [default: rpcholesky:500, or fewer if
    /// there are fewer rows or --memory is too small; block by block: uniform, as many as memory
    /// and work allow]
    #[arg(long, value_name = "METHOD:COUNT", value_parser = super::landmarks::landmarks,
        help_heading = "Landmarks")]
    pub landmarks: Option<LandmarkSpec>,
    /// Replace each of the COUNT landmarks of --landmarks uniform:COUNT by a sum of this many
    /// random rows with random signs (an accumulation). With the same COUNT, the fit is closer to
    /// exact regression and takes this many times the kernel values. In memory, the solver is
    /// direct
    #[arg(long, value_name = "ROWS", requires = "landmarks", conflicts_with = "all_rows",
        help_heading = "Landmarks",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 16))]
    pub accumulate: Option<usize>,
    /// Ridge λ in K + nλI: a number, or the value of --lambdas with the smallest error, by
    /// leave-one-out (`auto`), generalised cross-validation (`gcv`) or five folds (`cv:5`)
    /// [default: auto; block by block: gcv]
    #[arg(long, value_name = "auto|gcv|cv:K|X", value_parser = super::lambda::lambda,
        help_heading = "Fit")]
    pub lambda: Option<Lambda>,
    /// Values tried by `--lambda auto`, `gcv` and `cv:K`, equally spaced in log λ [default:
    /// 1e-1:1e-10:28]
    #[arg(long, value_name = "LARGEST:SMALLEST:COUNT", value_parser = super::lambda::lambda_range,
        help_heading = "Fit")]
    pub lambdas: Option<LambdaRange>,
    #[command(flatten)]
    pub leverage: LeverageArgs,
    #[command(flatten)]
    pub stream: StreamArgs,
    /// Fit without this share of the rows, and report the error on them: random rows, random groups
    /// of rows with --group, or the last rows with --time-column
    #[arg(long, value_name = "SHARE", help_heading = "Fit")]
    pub hold_out: Option<f64>,
    /// Upper bound on the distance to exact kernel ridge regression, with 99 % confidence, from
    /// this many sampled rows (`--certify` alone: 1000). `passes:5` computes an upper and a lower
    /// bound by five passes over all pairs of rows
    #[arg(
        long,
        value_name = "ROWS|passes:N",
        value_parser = super::certify::certify,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1000",
        help_heading = "Fit"
    )]
    pub certify: Option<Certify>,
    /// Relative residual at which an iterative fit stops (needs a number for --lambda) [default:
    /// 1e-6]. Block by block, this option makes the fit iterative, with one pass over the rows for
    /// each iteration
    #[arg(long, value_name = "X", help_heading = "Fit")]
    pub tolerance: Option<f64>,
    /// Print the plan to standard output and stop; no model is written
    #[arg(long, help_heading = "Run")]
    pub plan: bool,
    #[command(flatten)]
    pub gpu: GpuArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

impl FitArgs {
    /// Whether an option on the kernel, the landmarks, λ or the regression turns the search off.
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

    /// Where the model goes; without --output, which only --plan allows, nothing is written there.
    pub fn output(&self) -> &Output {
        self.output.as_ref().unwrap_or(&Output::Stdout)
    }

    /// The values from which λ is chosen; one if it is given.
    pub fn grid(&self) -> Vec<f64> {
        match self.lambda {
            Some(Lambda::Given(lambda)) => vec![lambda],
            _ => self.lambdas.unwrap_or(LambdaRange::USUAL).values(),
        }
    }

    /// The ridge of a fit without a search; leave-one-out unless an option names another.
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

For a target of classes, the output has the likeliest class and, for each class, a column p_CLASS \
with its probability.

Columns are matched by name, or by position if the file has no names (.npy, --no-header). The file \
need not hold the target; if it does, the error of the predictions is reported.";

/// Predict with a model that `nystrom fit` saved
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = PREDICT)]
pub struct Predict {
    #[command(flatten)]
    pub of: ModelArgs,
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// Write the probabilities of the classes without the likeliest class: only numbers, even if
    /// the classes are text
    #[arg(long)]
    pub probabilities: bool,
    /// Add columns `lower` and `upper` that contain the true value with at least this probability,
    /// such as 0.9, on average over rows like those of the fit. Needs a model fitted with
    /// --calibrate; with cv:K and loo only about 2·LEVEL − 1 is guaranteed
    #[arg(long, value_name = "LEVEL")]
    pub interval: Option<f64>,
    /// Add the standard deviations of the Gaussian process: column `std` for a new value, column
    /// `std_of_function` for the function without noise. Needs a model fitted with --std
    #[arg(long)]
    pub std: bool,
    /// Columns of DATA to copy unchanged beside the predictions, by name or number
    #[arg(long, value_name = "COLUMN,…", allow_hyphen_values = true)]
    pub keep: Vec<String>,
    /// File for the predictions, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
}

const SCORES: &str = "\
Examples:
  nystrom scores houses.csv --drop price --lambda 1e-4 -o scores.csv
  nystrom scores houses.csv --drop price --method exact --kernel matern > scores.csv
  nystrom scores sensors.npy --method sa --bandwidth 0.5 -o scores.npy --json
  nystrom scores 'shards/*.csv' --method squeak --lambda 1e-4 -o scores.csv

A folder, a pattern or a table too large for --memory is read block by block: in three passes with \
squeak, whose dictionary is drawn from all rows, and in two with recursive, bless and bless-r, \
whose dictionary is drawn from a uniform sample. Column `row` counts the rows of all files from 0, \
column `line` the lines of each file from 1.";

/// Compute ridge leverage scores l_i = [K(K + nλI)⁻¹]_ii: how little the other rows explain row i
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = SCORES)]
pub struct Scores {
    #[command(flatten)]
    pub of: PointArgs,
    #[command(flatten)]
    pub rows: SparseArgs,
    /// Method that computes the scores
    #[arg(long, value_enum, default_value_t = ScoreMethod::Recursive)]
    pub method: ScoreMethod,
    /// Ridge λ in K + nλI
    #[arg(long, value_name = "X", default_value_t = 1e-4, value_parser = super::lambda::positive)]
    pub lambda: f64,
    /// Number of columns of K that `--method fast` draws [default: 1000, or all if there are fewer
    /// rows]
    #[arg(long, value_name = "P")]
    pub columns: Option<usize>,
    /// Copies of each row that `--method squeak` starts with: more copies give a larger dictionary
    /// and more accurate scores [default: 8]
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u32).range(1..))]
    pub copies: Option<u32>,
    /// File for the scores, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
}

const LANDMARKS: &str = "\
Examples:
  nystrom landmarks houses.csv --drop price --landmarks rpcholesky:100 -o rows.csv
  nystrom landmarks houses.csv --drop price --landmarks leverage-fast:200 --weights > rows.csv
  nystrom landmarks 'shards/*.csv' --landmarks squeak:500 -o rows.csv

Column `row` counts data rows from 0, as NumPy does; column `line` is the line in an editor.

A folder, a pattern or a table too large for --memory is read block by block. Then squeak draws by \
the leverage scores of all rows, in three passes; the other methods choose from a uniform sample, \
in one pass.";

/// Choose landmark rows, and report the share of the kernel matrix that they leave unexplained
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = LANDMARKS,
    after_long_help = format!("{METHODS}\n\n{LANDMARKS}"))]
pub struct LandmarksCommand {
    #[command(flatten)]
    pub of: PointArgs,
    #[command(flatten)]
    pub rows: SparseArgs,
    /// Method that chooses the landmarks, and their number
    #[arg(long, value_name = "METHOD:COUNT", value_parser = super::landmarks::landmarks,
        help_heading = "Landmarks")]
    pub landmarks: LandmarkSpec,
    #[command(flatten)]
    pub leverage: LeverageArgs,
    /// Draw with replacement, and write weights that make E[SSᵀ] = I (only with uniform, diagonal
    /// and the leverage-score methods)
    #[arg(long)]
    pub weights: bool,
    /// File for the rows, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
}

const TEST: &str = "\
Examples:
  nystrom test january.csv february.csv
  nystrom test train.csv served.csv --drop id,price --landmarks 1000 --permutations 9999
  nystrom test 'january/*.csv' 'february/*.csv' --memory 1GB

The p-value is exact: if the rows of both tables come independently from one distribution, it is \
at most 0.05 in 5 % of such tests, for any kernel and any number of rows. Columns are \
standardised, and landmarks and bandwidth chosen, from the rows of both tables.

Folders, patterns and tables too large for --memory are read block by block, in two passes: \
landmarks and bandwidth then come from a uniform sample of the rows of both.";

/// Test whether the rows of two tables come from the same distribution
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = TEST)]
pub struct TestArgs {
    #[command(flatten)]
    pub of: PointArgs,
    /// The table to compare with, in the same format and with the same columns
    #[arg(value_name = "OTHER")]
    pub other: PathBuf,
    /// Number of landmarks, random rows of both tables
    #[arg(long, value_name = "M", default_value_t = 500)]
    pub landmarks: usize,
    /// Number of random permutations
    #[arg(long, value_name = "P", default_value_t = 999)]
    pub permutations: usize,
    /// Number of bins of rows that are permuted, of both tables together
    #[arg(long, value_name = "S", default_value_t = 512)]
    pub bins: usize,
}

const EVALUATE: &str = "\
Examples:
  nystrom evaluate houses.json test-houses.csv
  nystrom evaluate houses.json test-houses.csv --interval 0.8 --json

Like `predict`, but the file must hold the target, and only the errors are printed. For numbers: \
RMSE, MAE and R², and the share of values in their intervals. For classes: error rate, \
logarithmic loss, area under the ROC curve (two classes), and calibration error over 15 bins of \
equally many rows.";

/// Compute the error of a saved model on rows whose target is known
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EVALUATE)]
pub struct Evaluate {
    #[command(flatten)]
    pub of: ModelArgs,
    /// Level of the intervals that are evaluated, if the model was fitted with --calibrate
    /// [default: 0.9]
    #[arg(long, value_name = "LEVEL")]
    pub interval: Option<f64>,
}

const INSPECT: &str = "\
Examples:
  nystrom inspect houses.json
  nystrom inspect houses.json --json";

/// Describe a saved model and how it was fitted
#[derive(Args)]
#[command(after_help = INSPECT)]
pub struct Inspect {
    /// Model file
    pub model: PathBuf,
    /// Print the description as JSON
    #[arg(long, help_heading = "Run")]
    pub json: bool,
}
