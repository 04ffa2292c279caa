//! `nystrom landmarks`.

use super::basis::why_fewer;
use super::select::{self, Setting};
use crate::args::LandmarksCommand;
use crate::failure::Result;
use crate::input;
use crate::kernel::{self, AnyKernel};
use crate::output::{ResultColumns, ResultValues, check_writable};
use crate::plan;
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{NystromStream, Whitening};
use nystrom_pipeline::Alone;

pub fn run(args: &LandmarksCommand) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, &Alone)?;
    let (rng, spec) = (&mut rng, args.landmarks);
    check_writable(&args.output, &[&args.of.data.data], &session)?;
    let data = input::points(&args.of, args.rows.sparse, &session)?;
    let points = data.points();
    let n = points.len();
    validate::at_most("landmarks", spec.count, n)?;
    let kernel = kernel::kernel(&args.of.kernel, points, session.meter(), rng)?;
    let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
    let step = select::step(spec, setting);
    plan::announce(&session, &kernel, points, std::slice::from_ref(&step))?;

    session.step("choosing landmarks", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let (chosen, weights) = select::choose(spec, args.weights, setting, &matrix, rng)?;
    session.stage("measuring", Some((n * chosen.len()) as f64));
    let (rows, lines) = data.at(chosen.iter().copied());
    let chosen = Landmarks::new(n, chosen)?;
    let left =
        NystromStream::new(&matrix, &chosen, Whitening::default())?.trace_error()? / matrix.trace();
    let (of, constant) = (format!("{n} rows"), &data.constant[..]);
    let report = LandmarksReport {
        of,
        all: n as u64,
        rows,
        lines,
        weights,
        left,
        sampled: None,
        constant,
        kernel: &kernel,
    };
    report.write(args, &session)?.print(&session, args.output.is_stdout())
}

/// Landmarks, and what is known of them.
pub struct LandmarksReport<'a> {
    /// The rows from which they were chosen, in words.
    pub of: String,
    /// The number of all rows.
    pub all: u64,
    /// The number of each landmark among all rows, and its line.
    pub rows: Vec<usize>,
    pub lines: Vec<usize>,
    pub weights: Option<Vec<f64>>,
    /// tr(K − L)/tr K.
    pub left: f64,
    /// The number of rows that `left` is about, if these are not all.
    pub sampled: Option<usize>,
    pub constant: &'a [String],
    pub kernel: &'a AnyKernel,
}

impl LandmarksReport<'_> {
    /// Writes the landmarks and describes them.
    pub fn write(&self, args: &LandmarksCommand, session: &Session<'_>) -> Result<Summary> {
        session.clear();
        let mut columns = ResultColumns::of_rows(self.rows.clone(), self.lines.clone());
        if let Some(weights) = &self.weights {
            columns.push("weight", ResultValues::Numbers(weights.clone()));
        }
        columns.write(&args.output, session)?;

        let mut summary = Summary::of("landmarks");
        let (count, method) = (self.rows.len(), text::option(&args.landmarks.method));
        let fewer = why_fewer(count, args.landmarks.count);
        let of = self.sampled.map_or_else(String::new, |rows| format!(", of {rows} rows"));
        summary.line("landmarks", format!("{count} of {} by {method}{fewer}", self.of));
        summary.line("kernel", kernel::describe(self.kernel));
        summary.line("left over", format!("tr(K − L)/tr K = {}{of}", number(self.left)));
        summary.value("rows", self.all);
        summary.value("constant", self.constant);
        summary.value("landmarks", &self.rows);
        summary.value("lines", &self.lines);
        summary.value("weights", &self.weights);
        summary.value("selection", method);
        summary.value("bandwidth", self.kernel.bandwidth());
        summary.value("relative_trace_error", self.left);
        summary.value("seed", args.of.run.seed);
        summary.written(&args.output);
        Ok(summary)
    }
}
