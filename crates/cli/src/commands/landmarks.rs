//! `nystrom landmarks`.

use super::select::{self, Setting};
use crate::args::LandmarksCommand;
use crate::failure::Result;
use crate::input::{Input, Scaling};
use crate::kernel::AnyKernel;
use crate::output::{Columns, Values, check_writable};
use crate::plan;
use crate::session::Session;
use crate::summary::Summary;
use crate::text::number;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{NystromStream, Whitening};
use std::process::ExitCode;

pub fn run(args: &LandmarksCommand) -> Result<ExitCode> {
    let (session, mut rng) = Session::start(&args.run)?;
    let (rng, spec) = (&mut rng, args.landmarks);
    check_writable(args.output.as_ref())?;
    session.progress.stage("reading", None);
    let data = Input::read(&args.data, None)?.drop_missing(&args.data)?.points()?;
    let scaling = Scaling::fit(data.x.as_ref(), &data.features, !args.run.no_standardize)?;
    let x = Scaling::apply(scaling.as_ref(), data.x)?;
    let points = Points::from_rows(x.as_ref());
    validate::at_most("landmarks", spec.count, x.nrows())?;
    let kernel = AnyKernel::new(&args.kernel, points, session.progress.meter(), rng)?;
    let step = plan::selection(spec, x.nrows());
    plan::announce(&session, x.nrows(), x.ncols(), &[("choosing landmarks this way", &step)])?;

    session.progress.stage("choosing landmarks", step.kernel_values);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let setting = Setting { kernel: &kernel, points, lambda: args.leverage_lambda };
    let (chosen, weights) = match args.weights {
        true => {
            let dictionary = select::dictionary(spec, setting, &matrix, rng)?;
            (Landmarks::new(x.nrows(), dictionary.indices().to_vec())?, Some(dictionary.weights().to_vec()))
        }
        false => (select::selector(spec, setting)?.select(&matrix, spec.count, rng)?, None),
    };
    let entries = x.nrows() * chosen.len();
    session.progress.stage("measuring", Some(entries as f64));
    let left = NystromStream::new(&matrix, &chosen, Whitening::default())?.trace_error()? / matrix.trace();
    session.progress.clear();

    let rows: Vec<usize> = chosen.indices().iter().map(|&i| data.rows[i]).collect();
    let mut columns = vec![("row", Values::Counts(&rows))];
    columns.extend(weights.as_ref().map(|weights| ("weight", Values::Numbers(weights))));
    Columns(columns).write(args.output.as_deref(), &session)?;

    let mut summary = Summary::default();
    summary.line("landmarks", format!("{} of {} rows by {}", rows.len(), x.nrows(), spec.method.name()));
    summary.line("kernel", kernel.describe());
    summary.line("left over", format!("tr(K − L)/tr K = {}", number(left)));
    summary.value("rows", x.nrows());
    summary.value("landmarks", &rows);
    summary.value("weights", &weights);
    summary.value("selection", spec.method.name());
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("relative_trace_error", left);
    summary.value("seed", args.run.seed);
    if let Some(output) = &args.output {
        summary.line("written", output.display().to_string());
        summary.value("output", output);
    }
    summary.print(&session, args.output.is_none())?;
    Ok(ExitCode::SUCCESS)
}
