//! The error type of the workspace. Every variant carries the offending numbers and says what to
//! change.

/// An error caused by a caller's input.
///
/// Broken internal contracts panic instead; a user's input never does.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input has no rows, no columns, or nothing to select from.
    #[error("{what} is empty: at least one is needed")]
    Empty {
        /// Name of the empty input, e.g. `"points"`.
        what: &'static str,
    },
    /// Two sizes that must agree do not.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// Which sizes are compared, e.g. `"rows of y against number of points"`.
        what: &'static str,
        /// The size asked for.
        expected: usize,
        /// The size found.
        got: usize,
    },
    /// An entry is NaN or infinite.
    #[error(
        "{what} has the non-finite entry {value} at row {row}, column {col}; remove or impute it \
         first"
    )]
    NonFinite {
        /// Which input.
        what: &'static str,
        /// Row (for points: the number of the point), from 0.
        row: usize,
        /// Column (for points: the number of the feature), from 0.
        col: usize,
        /// The entry: NaN, inf or -inf.
        value: f64,
    },
    /// A coordinate of a point is outside the set on which a kernel is defined.
    #[error("point {row} has the coordinate {value} in column {col}, which must be {requirement}")]
    Coordinate {
        /// The number of the point, from 0.
        row: usize,
        /// The number of the coordinate, from 0.
        col: usize,
        /// The coordinate.
        value: f64,
        /// What it must be, and what to do instead.
        requirement: &'static str,
    },
    /// Sparse points where they cannot be used.
    #[error("sparse points: {problem}")]
    Sparse {
        /// The problem and its remedy.
        problem: &'static str,
    },
    /// A row of bits cannot be read.
    #[error("row {row} of bits: {problem}")]
    Bits {
        /// The number of the row, from 0.
        row: usize,
        /// The problem with its value and place, and the remedy.
        problem: String,
    },
    /// A scalar parameter is outside its range.
    #[error("{name} = {value} is not valid: it must be {requirement}")]
    InvalidParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be, and what to do instead.
        requirement: &'static str,
    },
    /// More items were asked for than exist.
    #[error(
        "asked for {requested} {what} but only {available} are available; ask for at most \
         {available}"
    )]
    TooMany {
        /// Which items, e.g. `"landmarks"`.
        what: &'static str,
        /// The number asked for.
        requested: usize,
        /// The number that exists.
        available: usize,
    },
    /// An index points outside the matrix or point set.
    #[error(
        "{what}: index {index} at position {position} is out of range for {n} items (indices \
         start at 0)"
    )]
    IndexOutOfRange {
        /// Which list of indices.
        what: &'static str,
        /// Position in that list, from 0.
        position: usize,
        /// The index.
        index: usize,
        /// The number of items.
        n: usize,
    },
    /// An index occurs twice where all must differ.
    #[error(
        "{what}: index {index} occurs more than once (positions {first} and {second}); remove the \
         repetition"
    )]
    DuplicateIndex {
        /// Which list of indices.
        what: &'static str,
        /// The index.
        index: usize,
        /// Its first position.
        first: usize,
        /// Its second position.
        second: usize,
    },
    /// Two dictionaries to be merged give the same number to a point: they come from the same data,
    /// or both shards were numbered from 0.
    #[error(
        "position {position} is in both dictionaries; start the numbers of each shard where those \
         of the shard before it end (`starting_at`), and do not merge two dictionaries of the same \
         data"
    )]
    SamePosition {
        /// The first position that is in both.
        position: u64,
    },
    /// A row in a list of rows depends on the rows before it.
    #[error(
        "{what}: row {index} (position {position}) depends on the rows before it, so that no set \
         with all of them has a positive determinant; leave it out"
    )]
    Dependent {
        /// Which list of rows.
        what: &'static str,
        /// The row.
        index: usize,
        /// Its position in the list, from 0.
        position: usize,
    },
    /// A group of rows cannot fill its quota.
    #[error("group {group}: its quota is {quota}, but {found} {problem}")]
    Quota {
        /// The number of the group.
        group: usize,
        /// The number of its rows asked for.
        quota: usize,
        /// The number of rows found.
        found: usize,
        /// What was found, and the remedy.
        problem: &'static str,
    },
    /// A matrix that must be symmetric is not.
    #[error(
        "{what} is not symmetric: entry ({row}, {col}) is {upper}, entry ({col}, {row}) is \
         {lower}; if that is rounding, use (A + A^T)/2"
    )]
    NotSymmetric {
        /// Which matrix.
        what: &'static str,
        /// Row of the first entry.
        row: usize,
        /// Column of the first entry.
        col: usize,
        /// Entry (row, col).
        upper: f64,
        /// Entry (col, row).
        lower: f64,
    },
    /// A Cholesky factorisation broke down, even with jitter if jitter was allowed.
    #[error(
        "matrix of order {order} is not positive definite: pivot {pivot} failed with jitter up to \
         {jitter:e}; \
         raise the ridge, or drop duplicate landmarks"
    )]
    NotPositiveDefinite {
        /// Order of the matrix.
        order: usize,
        /// Index of the pivot that was not positive.
        pivot: usize,
        /// The largest jitter tried (0 if none was allowed).
        jitter: f64,
    },
    /// A matrix that must be positive semi-definite has an eigenvalue below 0, beyond rounding.
    #[error(
        "{what} is not positive semi-definite: its smallest eigenvalue is {smallest:.3e}, its \
         largest {largest:.3e}; add {:.2e} to its diagonal, or take another kernel",
        -1.01 * smallest
    )]
    Indefinite {
        /// Which matrix.
        what: &'static str,
        /// The smallest eigenvalue.
        smallest: f64,
        /// The largest eigenvalue.
        largest: f64,
    },
    /// More items were asked for than the numerical rank of a matrix allows.
    #[error("asked for {requested} items but the numerical rank is {rank}; ask for at most {rank}")]
    RankDeficient {
        /// The number asked for.
        requested: usize,
        /// The numerical rank.
        rank: usize,
    },
    /// Weights or probabilities that do not describe a distribution.
    #[error("{}", invalid_weight(what, *index, *value))]
    InvalidWeight {
        /// Which weights.
        what: &'static str,
        /// Index of the first offending entry; the length of the list if all entries are 0; the
        /// index of the largest entry if the sum overflows.
        index: usize,
        /// Value of that entry; 0 if all entries are 0.
        value: f64,
    },
    /// An entry that must be positive and finite is not.
    #[error("{what}: entry {index} is {value}; every entry must be positive and finite")]
    NotPositive {
        /// Which entries, e.g. `"density"`.
        what: &'static str,
        /// Index of the first offending entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A random selection is empty.
    #[error(
        "nothing was selected at ridge {ridge:e} (expected {expected:.2} items); raise the \
         oversampling"
    )]
    EmptySample {
        /// The absolute ridge of the level whose selection is empty.
        ridge: f64,
        /// The expected number of items.
        expected: f64,
    },
    /// The dictionary of a stream is larger than its cap. Nothing is lost: the dictionary is valid,
    /// and the stream can continue with a larger cap.
    #[error(
        "the dictionary has {size} points, above its cap of {cap}, after {seen} points of the \
         stream; raise the cap or the ridge, or lower the copies per point (the dictionary is \
         still valid)"
    )]
    DictionaryFull {
        /// Number of points in the dictionary.
        size: usize,
        /// The cap.
        cap: usize,
        /// Number of points of the stream that the dictionary represents.
        seen: u64,
    },
    /// A sample would be larger than a stated cap.
    #[error(
        "about {size} rows would be kept at ridge {ridge:e}, above the cap of {cap}; \
         raise the ridge or the cap, or lower the oversampling"
    )]
    SampleTooLarge {
        /// The absolute ridge of the level that would have exceeded the cap.
        ridge: f64,
        /// The expected number of rows.
        size: usize,
        /// The cap.
        cap: usize,
    },
    /// An iterative method ended before it reached its tolerance.
    #[error(
        "no convergence after {iterations} iterations: relative residual {residual:e} > \
         {tolerance:e}; raise the iteration limit or the ridge, or improve the preconditioner"
    )]
    NotConverged {
        /// Iterations done.
        iterations: usize,
        /// The true relative residual at the end.
        residual: f64,
        /// Relative residual asked for.
        tolerance: f64,
    },
    /// No proposal of a rejection sampler was accepted.
    #[error(
        "none of {trials} trials was accepted; allow more trials or a larger dictionary, or draw \
         fewer items"
    )]
    NotAccepted {
        /// Trials made.
        trials: usize,
    },
    /// The monitor that a caller passed to a computation failed. The report that returned this
    /// error holds what was computed until then.
    #[error("the monitor failed at iteration {iteration}: {problem}")]
    MonitorFailed {
        /// The iteration after which the monitor was called, from 1.
        iteration: usize,
        /// The monitor's message.
        problem: String,
    },
    /// A computation does not fit the memory allowed.
    #[error(
        "{what} needs at least {needed} bytes, above the {budget} allowed; allow more, or take \
         fewer landmarks"
    )]
    OutOfBudget {
        /// Which computation.
        what: &'static str,
        /// The least memory it needs, in bytes.
        needed: u64,
        /// The bytes allowed.
        budget: u64,
    },
    /// An iterative eigenvalue computation did not converge (only seen on non-finite input).
    #[error(
        "the eigendecomposition of a matrix of order {order} did not converge; check it for huge \
         or tiny entries"
    )]
    EigenFailure {
        /// Order of the matrix.
        order: usize,
    },
    /// A device that computes for the caller failed.
    #[error("a device failed: {problem}")]
    Device {
        /// The device's message, with its remedy.
        problem: String,
    },
    /// A saved object cannot be used.
    #[error("saved {what}: {problem}")]
    Incompatible {
        /// What was loaded, e.g. `"model"`.
        what: &'static str,
        /// The problem and its remedy.
        problem: String,
    },
}

impl Error {
    /// Turns an error about a part of a matrix or list into the same error about the whole.
    /// `place` maps (row, col) within the part to (row, col) within the whole: of a non-finite
    /// entry, its row and column; of a bad weight at index i, (i, i), and the resulting row is the
    /// new index. [`InvalidWeight`](Self::InvalidWeight) with value 0 (all weights are 0) has no
    /// position and stays unchanged, as does every other error.
    ///
    /// ```
    /// use faer::mat;
    /// use nystrom_linalg_core::{Error, validate};
    /// // rows 3 and 7 of a matrix, from column 10 on
    /// let block = mat![[1.0, 2.0], [f64::NAN, 4.0]];
    /// let error = validate::finite("matrix", block.as_ref()).unwrap_err();
    /// let error = error.placed(|row, col| ([3, 7][row], 10 + col));
    /// assert!(matches!(error, Error::NonFinite { row: 7, col: 10, .. }));
    /// ```
    #[must_use]
    pub fn placed(self, place: impl FnOnce(usize, usize) -> (usize, usize)) -> Self {
        match self {
            Error::NonFinite { what, row, col, value } => {
                let (row, col) = place(row, col);
                Error::NonFinite { what, row, col, value }
            }
            Error::InvalidWeight { what, index, value } if value != 0.0 => {
                Error::InvalidWeight { what, index: place(index, index).0, value }
            }
            other => other,
        }
    }
}

/// `std::result::Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn invalid_weight(what: &str, index: usize, value: f64) -> String {
    if value == 0.0 {
        format!("{what}: all {index} entries are 0; at least one must be positive")
    } else {
        format!(
            "{what}: entry {index} is {value}; every entry must be finite and >= 0, and so \
                 must their sum"
        )
    }
}
