//! `nystrom landmarks`.

use super::select::{self, Setting};
use super::span::why_fewer;
use crate::args::LandmarksCommand;
use crate::failure::Result;
use crate::input::{self, Data};
use crate::kernel;
use crate::output::{Columns, LINE, Values, check_writable};
use crate::plan;
use crate::session::Session;
use crate::summary::Summary;
use crate::text::number;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{NystromStream, Whitening};

pub fn run(args: &LandmarksCommand) -> Result<()> {
    let (session, mut rng) = Session::start(&args.run)?;
    let (rng, spec) = (&mut rng, args.landmarks);
    check_writable(&args.output, &[&args.data.data])?;
    let Data { x, rows: numbers, lines, constant, .. } =
        input::points(&args.data, &args.run, &session)?;
    let points = Points::from_rows(x.as_ref());
    validate::at_most("landmarks", spec.count, x.nrows())?;
    let kernel = kernel::kernel(&args.kernel, points, session.progress.meter(), rng)?;
    let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
    let step = select::step(spec, setting);
    plan::announce(&session, &kernel, points, &[("choosing landmarks by this method", &step)])?;

    session.progress.step("choosing landmarks", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let (chosen, weights) = if args.weights {
        let dictionary = select::dictionary(spec, setting, &matrix, rng)?;
        let chosen = Landmarks::new(x.nrows(), dictionary.indices().to_vec())?;
        (chosen, Some(dictionary.weights().to_vec()))
    } else {
        (select::selector(spec, setting)?.select(&matrix, spec.count, rng)?, None)
    };
    let entries = x.nrows() * chosen.len();
    session.progress.stage("measuring", Some(entries as f64));
    let left =
        NystromStream::new(&matrix, &chosen, Whitening::default())?.trace_error()? / matrix.trace();
    session.progress.clear();

    let rows: Vec<usize> = chosen.indices().iter().map(|&i| numbers[i]).collect();
    let lines: Vec<usize> = chosen.indices().iter().map(|&i| lines[i]).collect();
    let mut columns = vec![("row", Values::Counts(&rows)), (LINE, Values::Counts(&lines))];
    columns.extend(weights.as_ref().map(|weights| ("weight", Values::Numbers(weights))));
    Columns(columns).write(&args.output, &session)?;

    let mut summary = Summary::of("landmarks");
    let fewer = why_fewer(rows.len(), spec.count);
    summary.line(
        "landmarks",
        format!("{} of {} rows by {}{fewer}", rows.len(), x.nrows(), spec.method.name()),
    );
    summary.line("kernel", kernel::describe(&kernel));
    summary.line("left over", format!("tr(K − L)/tr K = {}", number(left)));
    summary.value("rows", x.nrows());
    summary.value("constant", &constant);
    summary.value("landmarks", &rows);
    summary.value("lines", &lines);
    summary.value("weights", &weights);
    summary.value("selection", spec.method.name());
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("relative_trace_error", left);
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}
