//! `nystrom sample`.

use super::select::CHAIN_STEPS;
use crate::args::{Sample, Sampler};
use crate::failure::{Failure, Result};
use crate::input::{self, Data};
use crate::kernel;
use crate::output::{Columns, LINE, Values, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use std::process::ExitCode;

/// Rows up to which `auto` is exact.
const EXACT_UP_TO: usize = 2000;

pub fn run(args: &Sample) -> Result<ExitCode> {
    let (session, mut rng) = Session::start(&args.run)?;
    check_writable(&args.output, &[&args.data.data])?;
    validate::not_empty("number of subsets (--draws)", args.draws)?;
    let Data { x, rows: numbers, lines, constant, .. } =
        input::points(&args.data, &args.run, &session)?;
    let points = Points::from_rows(x.as_ref());
    validate::at_most("rows in a subset (--size)", args.size, x.nrows())?;
    let exact = match args.method {
        Sampler::Auto => x.nrows() <= EXACT_UP_TO,
        Sampler::Exact => true,
        Sampler::Swap => false,
    };
    if exact && args.steps.is_some() {
        return Err(Failure::Usage(
            "--steps means nothing to exact draws; say --method swap".into(),
        )
        .into());
    }
    let kernel = kernel::kernel(&args.kernel, points, session.progress.meter(), &mut rng)?;
    let steps = args.steps.unwrap_or(CHAIN_STEPS);
    let step = step(exact, x.nrows(), args, steps);
    plan::announce(&session, &kernel, points, &[("drawing this way", &step)])?;

    session.progress.step("drawing", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let subsets = if exact {
        exactly(&matrix, args, &mut rng)?
    } else {
        by_chain(&matrix, args, steps, &mut rng)?
    };
    session.progress.clear();
    let draws: Vec<usize> = (0..args.draws).flat_map(|draw| vec![draw; args.size]).collect();
    let rows: Vec<usize> =
        subsets.iter().flat_map(|subset| subset.indices()).map(|&i| numbers[i]).collect();
    let lines: Vec<usize> =
        subsets.iter().flat_map(|subset| subset.indices()).map(|&i| lines[i]).collect();
    let columns = [
        ("draw", Values::Counts(&draws)),
        ("row", Values::Counts(&rows)),
        (LINE, Values::Counts(&lines)),
    ];
    Columns(columns.into()).write(&args.output, &session)?;

    let mut summary = Summary::of("sample");
    let how = if exact {
        "exactly".to_owned()
    } else {
        format!("by {steps} steps of the swap chain each")
    };
    summary.line(
        "drawn",
        format!("{} of {} rows each, {how}", text::count(args.draws, "subset"), args.size),
    );
    summary.line("kernel", kernel::describe(&kernel));
    summary.value("exact", exact);
    summary.value("subsets", rows.chunks(args.size).collect::<Vec<_>>());
    summary.value("lines", lines.chunks(args.size).collect::<Vec<_>>());
    summary.value("constant", &constant);
    summary.value("rows", x.nrows());
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())?;
    Ok(ExitCode::SUCCESS)
}

fn step(exact: bool, n: usize, args: &Sample, steps: usize) -> Step {
    if exact {
        return plan::square("eigendecomposition (n × n)", n, 3.0, 9.0);
    }
    let (rows, k, walked) = (n as f64, args.size as f64, (steps * args.draws) as f64);
    let what = format!("{} steps of the swap chain", steps * args.draws);
    Step::new(
        what,
        Some(rows * k + walked * k),
        Some(rows * k * k + walked * k * k),
        8.0 * (rows * k + 3.0 * k * k),
    )
}

fn exactly(k: &dyn PsdMatrix<f64>, args: &Sample, rng: &mut dyn Rng) -> Result<Vec<Landmarks>> {
    let ensemble = LEnsemble::new(k)?;
    let k_dpp = ensemble.k_dpp(args.size)?;
    Ok((0..args.draws).map(|_| k_dpp.sample(rng)).collect())
}

/// One chain; each draw is `steps` steps after the one before.
fn by_chain(
    k: &dyn PsdMatrix<f64>,
    args: &Sample,
    steps: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<Landmarks>> {
    let mut chain =
        SwapChain::start(k, args.size, &RpCholesky::default(), SwapRule::Metropolis, rng)?;
    let mut draw = || {
        chain.run(steps, rng)?;
        Ok(chain.landmarks())
    };
    (0..args.draws).map(|_| draw()).collect()
}
