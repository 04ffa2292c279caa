//! The plan of a command: its steps with their kernel values, flops and memory, printed and checked
//! before the command starts.
//!
//! The counts are those in the documentation of each method.

use crate::args::{Certify, LandmarkSpec, ScoreMethod, Selection};
use crate::console::Console;
use crate::failure::Result;
use crate::kernel::AnyKernel;
use crate::session::Session;
use crate::speed::{Speed, TrialRun};
use crate::text;
use nystrom::dpp::Rejection;
use nystrom::krr::{Method, Plan, ProblemSize, TightCertificate};
use nystrom::linalg_core::PackedCholesky;
use nystrom::prelude::Points;
use serde::Serialize;

/// One step of a command, with its cost.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The name of the step in the error of a step that needs too much memory.
    #[serde(skip)]
    name: &'static str,
    pub what: String,
    /// Kernel values to evaluate, if their number is known in advance.
    pub kernel_values: Option<f64>,
    /// Flops in addition to those of the kernel values.
    pub flops: Option<f64>,
    /// Peak memory in bytes, beside the data.
    pub bytes: u64,
    /// Seconds, as extrapolated from a trial run. Not in the JSON, which depends on the seed alone.
    #[serde(skip)]
    pub seconds: Option<f64>,
    /// Why the plan has this method.
    pub reason: Option<String>,
}

impl Step {
    pub fn new(
        what: impl Into<String>,
        kernel_values: Option<f64>,
        flops: Option<f64>,
        bytes: f64,
    ) -> Self {
        let (what, bytes) = (what.into(), bytes as u64);
        Step { name: "", what, kernel_values, flops, bytes, seconds: None, reason: None }
    }

    /// The step with this name.
    pub fn named(self, name: &'static str) -> Step {
        Step { name, ..self }
    }

    /// A step whose cost depends on the data and is extrapolated from a trial run; without a trial,
    /// kernel values and time are unknown.
    pub fn tried(what: impl Into<String>, trial: Option<TrialRun>, bytes: f64) -> Self {
        let step = Step::new(what, trial.map(|trial| trial.kernel_values), None, bytes);
        match trial {
            Some(TrialRun { seconds, bytes, .. }) => {
                Step { seconds: Some(seconds), bytes: step.bytes.max(bytes as u64), ..step }
            }
            None => step,
        }
    }

    /// An error if the step needs more than `memory` bytes.
    pub fn check(&self, memory: Option<u64>) -> nystrom::Result<()> {
        match memory {
            Some(budget) if self.bytes > budget => {
                Err(nystrom::Error::OutOfBudget { what: self.name, needed: self.bytes, budget })
            }
            _ => Ok(()),
        }
    }

    /// The seconds extrapolated from a trial run, else computed from the counts.
    fn seconds(&self, speed: Speed) -> Option<f64> {
        let counted = |values| values * speed.value + self.flops.unwrap_or(0.0) * speed.flop;
        self.seconds.or_else(|| self.kernel_values.map(counted))
    }

    fn line(&self, speed: Speed) -> String {
        let mut parts = Vec::new();
        match self.kernel_values {
            Some(values) if values > 0.0 => {
                parts.push(format!("{} kernel values", text::number(values)))
            }
            Some(_) => {}
            None => parts.push("a number of kernel values that depends on the data".into()),
        }
        parts.extend(
            self.flops
                .filter(|flops| *flops > 0.0)
                .map(|flops| format!("{} flops", text::number(flops))),
        );
        parts.push(format!("{} of memory", text::bytes(self.bytes)));
        parts.extend(self.seconds(speed).map(text::duration));
        let reason = self.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        format!("{}: {}{reason}", self.what, parts.join(", "))
    }
}

impl Console {
    /// Starts the bar of a planned step. It counts kernel values; for a step without kernel values
    /// it shows the planned time.
    pub fn step(&self, what: &str, step: &Step) {
        match (step.kernel_values.filter(|values| *values > 0.0), step.seconds) {
            (None, Some(seconds)) => {
                self.stage(&format!("{what}, {} in all", text::duration(seconds)), None)
            }
            (values, _) => self.stage(what, values),
        }
    }
}

/// Prints the steps; then an error for the first that needs more memory than allowed.
pub fn announce(
    session: &Session<'_>,
    kernel: &AnyKernel,
    points: Points<'_, f64>,
    steps: &[Step],
) -> Result<()> {
    session.say(&describe(session, kernel, points, steps));
    check(session, steps)
}

/// An error for the first step that needs more memory than allowed.
pub fn check(session: &Session<'_>, steps: &[Step]) -> Result<()> {
    Ok(steps.iter().try_for_each(|step| step.check(session.memory))?)
}

/// The text of the plan: the size of the data, and a line for each step.
pub fn describe(
    session: &Session<'_>,
    kernel: &AnyKernel,
    points: Points<'_, f64>,
    steps: &[Step],
) -> String {
    let (n, d, speed) = (points.len(), points.dim(), Speed::measure(kernel, points));
    let (data, what) = match kernel.family().takes_bits() {
        // a value and its place, and where a row ends
        _ if points.is_sparse() => (12 * points.stored() + 16 * n, "sparse feature"),
        true => (n * (d + 1) * size_of::<f64>(), "packed number"),
        false => (n * (d + 1) * size_of::<f64>(), "feature"),
    };
    let mut text =
        format!("plan: {n} rows × {} ({})", text::count(d, what), text::bytes(data as u64));
    if let Some(memory) = session.memory {
        text += &format!(", {} of memory allowed beside them", text::bytes(memory));
    }
    for step in steps {
        text += &format!("\n  {}", step.line(speed));
    }
    text
}

/// The step that chooses m landmarks of n rows. `trial` is the trial run of leverage scores whose
/// cost depends on the data.
pub fn selection(spec: LandmarkSpec, n: usize, trial: Option<TrialRun>) -> Step {
    let (rows, m) = (n as f64, spec.count as f64);
    let method = text::option(&spec.method);
    let what = format!("choose {} by {method}", text::count(spec.count, "landmark"));
    let (tall, square) = (8.0 * rows * m, 8.0 * rows * rows);
    let (values, flops, bytes) = match spec.method {
        Selection::Uniform => (Some(0.0), None, 8.0 * m),
        Selection::Diagonal => (Some(0.0), None, 8.0 * rows),
        Selection::RpCholesky | Selection::Greedy | Selection::Adaptive => {
            (Some(rows * m), Some(rows * m * m), tall)
        }
        Selection::SparseGreedy => {
            (Some(59.0 * rows * m), Some(59.0 * rows * m * m), tall + 59.0 * 8.0 * rows)
        }
        Selection::KMeansPlusPlus => (Some(rows * m), None, 24.0 * rows),
        Selection::Leverage => (
            Some(2.0 * rows * m),
            Some(2.0 * rows * m * m),
            8.0 * (3.0 * m * m + 1024.0 * m + rows),
        ),
        Selection::KDpp => (Some(rows * m + 3000.0 * m), Some(rows * m * m + 3000.0 * m * m), tall),
        Selection::KDppExact if Rejection::suits(n, spec.count) => {
            (None, None, 8.0 * (4.0 * rows + (4.0 * m * m + 2000.0).min(80_000.0) * 6.0 * m))
        }
        Selection::KDppExact => (Some(rows * rows), Some(9.0 * rows.powi(3)), 3.0 * square),
        by_scores => {
            let scores = by_scores.scores().unwrap_or(ScoreMethod::Recursive);
            return self::scores(what, scores, 2 * spec.count, n, trial).named(CHOOSING);
        }
    };
    Step::new(what, values, flops, bytes).named(CHOOSING)
}

const CHOOSING: &str = "choosing landmarks by this method";

/// The step that chooses landmarks from a sample of n rows; an error if it needs more than `memory`
/// bytes.
pub fn selection_from_sample(spec: LandmarkSpec, n: usize, memory: u64) -> nystrom::Result<Step> {
    let step = selection(spec, n, None).named("choosing landmarks from the sample");
    step.check(Some(memory)).map(|()| step)
}

/// The step that computes leverage scores of n rows: the counts in the documentation of each
/// estimator. `columns` is the number of columns that the fast estimator draws.
pub fn scores(
    what: impl Into<String>,
    method: ScoreMethod,
    columns: usize,
    n: usize,
    trial: Option<TrialRun>,
) -> Step {
    let (rows, p) = (n as f64, columns as f64);
    match method {
        // 16n² bytes also cover the fallback at a tiny ridge, which needs more than the half square
        // that the scores take otherwise
        ScoreMethod::Exact => {
            let values = PackedCholesky::<f64>::entries(n) as f64;
            Step::new(what, Some(values), Some(2.0 / 3.0 * rows.powi(3)), 16.0 * rows * rows)
        }
        ScoreMethod::Fast => {
            let bytes = (8.0 * rows * p).min(67e6) + 24.0 * p * p;
            Step::new(what, Some(2.0 * rows * p), Some(2.0 * rows * p * p), bytes)
        }
        _ => Step::tried(what, trial, 16.0 * rows),
    }
}

/// The step that fits a path of `lambdas` ridges and computes their leave-one-out errors: the
/// counts of `NystromKrr::path`.
pub fn path(n: usize, m: usize, lambdas: usize) -> Step {
    let (rows, m, l) = (n as f64, m as f64, lambdas as f64);
    let flops = 5.0 * rows * m * m + 10.0 * m.powi(3) + 4.0 * rows * m * l;
    let bytes = 8.0 * (6.0 * m * m + 4.0 * 1024.0 * (m + 2.0 * l));
    let what = format!("fit at {lambdas} values of lambda from one decomposition");
    Step::new(what, Some(2.0 * rows * m + m * m), Some(flops), bytes)
}

/// The step that computes the cross-validation errors of `lambdas` ridges and the best fit: the
/// counts of `FoldedEquations`.
pub fn by_folds(n: usize, m: usize, folds: usize, lambdas: usize) -> Step {
    let (rows, m, k, l) = (n as f64, m as f64, folds as f64, lambdas as f64);
    let flops = 2.0 * rows * m * m + (k + 1.0) * 10.0 * m.powi(3) + 2.0 * k * m * m * l;
    let bytes = 8.0 * ((0.5 * k + 8.0) * m * m + 3.0 * 1024.0 * m + 3.0 * m * l);
    let what = format!("fit at {lambdas} values of lambda by {folds} folds");
    Step::new(what, Some(rows * m + m * m), Some(flops), bytes)
}

/// The step of a fit at one λ by the normal equations.
pub fn direct(n: usize, m: usize) -> Step {
    let (rows, m) = (n as f64, m as f64);
    let flops = 2.0 * rows * m * m + m.powi(3);
    let bytes = 8.0 * (3.0 * m * m + 3.0 * 1024.0 * m);
    Step::new("fit at one lambda", Some(rows * m + m * m), Some(flops), bytes)
}

/// The step that draws m sums of `each` rows.
pub fn drawing(m: usize, each: usize) -> Step {
    let what = format!("draw {} for each of {m} sums", text::count(each, "row"));
    Step::new(what, Some(0.0), None, 16.0 * (m * each) as f64).named(CHOOSING)
}

/// The expected number of distinct rows in `draws` draws from n rows with replacement.
pub fn distinct(n: usize, draws: usize) -> usize {
    let rows = n as f64;
    let missed = (draws as f64 * (-1.0 / rows).ln_1p()).exp();
    (rows * (1.0 - missed)).round().max(1.0) as usize
}

/// The step of a fit in the span of m sums of `each` rows, of u distinct rows in all, from the step
/// `fit` with m landmarks. The counts are those of `SketchedKrr` with `passes` passes over the
/// rows, or of its sums by folds.
pub fn in_span(fit: Step, [n, m, each, u]: [usize; 4], (passes, folds): (usize, bool)) -> Step {
    let is_kept = !folds && 4 * u > n;
    // with few entries in each column of the sketch, the sums use a sparse product
    let each = if folds && 8 * each > u { u } else { each };
    let [rows, m, each, u] = [n, m, each, u].map(|size| size as f64);
    let (values, times) =
        if is_kept { (rows * u, 1.0) } else { (passes as f64 * rows * u + u * u, passes as f64) };
    let product = times * 2.0 * rows * m * each;
    let kept = if is_kept { rows * m } else { 0.0 };
    let bytes = fit.bytes + (8.0 * (u * m + 1024.0 * u + kept)) as u64;
    let flops = fit.flops.map(|flops| flops + product);
    Step { kernel_values: Some(values), flops, bytes, ..fit }
}

/// The step of a fit at one λ, by the plan of the library.
pub fn single(
    size: ProblemSize,
    options: &nystrom::krr::IterativeOptions,
) -> nystrom::Result<Step> {
    let plan = Plan::new::<f64>(size, options)?;
    let Some(chosen) = plan.estimates.iter().find(|estimate| estimate.method == plan.method) else {
        return Err(nystrom::Error::Empty { what: "estimates of the plan" });
    };
    let passes = match plan.method {
        Method::Direct => 1.0,
        Method::Falkon | Method::Krill => (chosen.iterations + 2) as f64,
    };
    let values = passes * size.n as f64 * size.m as f64;
    let step =
        Step::new("fit at one lambda", Some(values), Some(chosen.flops), chosen.bytes as f64);
    Ok(Step { reason: Some(plan.reason), ..step })
}

const CERTIFYING: &str = "the certificate";

/// The step that bounds the distance to exact regression: the counts of `Certificate` and of
/// `TightCertificate`.
pub fn certificate(
    certify: Certify,
    size: ProblemSize,
    memory: Option<u64>,
) -> nystrom::Result<Step> {
    let (n, m) = (size.n as f64, size.m as f64);
    match certify {
        Certify::Rows(rows) => {
            let rows = rows.get().min(size.n);
            let what = format!("certify from {}", text::count(rows, "row"));
            let values = (2.0 * n + m) * m + rows as f64 * n;
            let bytes = 8.0 * (3.0 * m * m + 1024.0 * (m + rows as f64) + 6.0 * n);
            let flops = n * m * m + m.powi(3) / 3.0;
            Ok(Step::new(what, Some(values), Some(flops), bytes).named(CERTIFYING))
        }
        Certify::Passes(passes) => {
            let cost = tight(passes.get(), memory).cost::<f64>(size)?;
            let plural = if passes.get() == 1 { "" } else { "es" };
            let what = format!("certify by {passes} pass{plural}");
            let bytes = cost.memory.total() as f64;
            let values = cost.kernel_entries as f64;
            Ok(Step::new(what, Some(values), Some(cost.flops), bytes).named(CERTIFYING))
        }
    }
}

/// The certificate of `--certify=passes:N`, which evaluates the kernel for all pairs of rows.
pub fn tight(passes: usize, memory: Option<u64>) -> TightCertificate {
    TightCertificate { passes, memory, ..TightCertificate::default() }
}

/// The step of a computation with `matrices` matrices of size n × n and `flops`·n³ flops.
pub fn square(what: &str, n: usize, matrices: f64, flops: f64) -> Step {
    let rows = n as f64;
    Step::new(what, Some(rows * rows), Some(flops * rows.powi(3)), 8.0 * matrices * rows * rows)
}
