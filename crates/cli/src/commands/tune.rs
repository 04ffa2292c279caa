//! `nystrom tune`.

use super::select::{self, Setting};
use crate::args::{Selection, Tune};
use crate::failure::{Failure, Result};
use crate::input::{Features, Input, Supervised};
use crate::kernel::{self, AnyKernel};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::number;
use nystrom::krr::{CvScore, NystromGrid};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use serde::Serialize;
use std::process::ExitCode;

/// Times the bandwidth, if none are given.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// A line of the table.
#[derive(Serialize)]
struct Candidate {
    bandwidth: Option<f64>,
    lambda: f64,
    rmse: f64,
    /// Of the mean squared error over the folds.
    mse: f64,
    mse_standard_error: f64,
}

pub fn run(args: &Tune) -> Result<ExitCode> {
    let (session, mut rng) = Session::start(&args.run)?;
    let rng = &mut rng;
    if args.landmarks.method == Selection::Sa {
        return Err(Failure::Usage(
            "sa is bound to one kernel; tune with uniform or leverage landmarks".into(),
        )
        .into());
    }
    session.progress.stage("reading", None);
    let target = args.regression.target()?;
    let Supervised { x, y, features, .. } =
        Input::read(&args.data, 0)?.supervised(target, &args.data, &session)?;
    let x = Features::new(x, features, &args.run, &session)?.x;
    let points = Points::from_rows(x.as_ref());
    let kernels = kernels(args, &session, points, rng)?;
    let lambdas: Vec<Ridge<f64>> =
        args.lambdas.values().into_iter().map(Ridge::PerSample).collect();
    let setting = Setting { kernel: &kernels[0], points, lambda: args.leverage.lambda() };
    let step = announce(args, &session, setting, kernels.len())?;

    session.progress.step("cross-validating", &step);
    let selector = select::selector(args.landmarks, setting)?;
    let grid =
        NystromGrid { selector, m: args.landmarks.count, intercept: !args.regression.no_intercept };
    let cross_validation = CrossValidation { folds: args.folds, ..CrossValidation::default() };
    let table = cross_validation.run(&grid, &kernels, &lambdas, (points, &y), rng)?;

    let candidate = |score: &CvScore| -> Result<Candidate> {
        let lambda = lambdas[score.ridge].per_sample(x.nrows())?;
        let (bandwidth, mse) = (kernels[score.kernel].bandwidth(), score.mean);
        Ok(Candidate {
            bandwidth,
            lambda,
            rmse: mse.sqrt(),
            mse,
            mse_standard_error: score.standard_error,
        })
    };
    let candidates = table.scores.iter().map(candidate).collect::<Result<Vec<_>>>()?;
    let best =
        table.best().ok_or(nystrom::Error::Empty { what: "candidates with a finite error" })?;
    report(args, &session, &candidates, candidate(best)?)
}

/// One kernel for each bandwidth; one only if the kernel has none.
fn kernels(
    args: &Tune,
    session: &Session,
    points: Points<'_, f64>,
    rng: &mut dyn Rng,
) -> Result<Vec<AnyKernel>> {
    let first = kernel::kernel(&args.kernel, points, session.progress.meter(), rng)?;
    let bandwidths = match (first.bandwidth(), args.bandwidths.is_empty()) {
        (None, true) => return Ok(vec![first]),
        (None, false) => {
            return Err(Failure::Usage(
                "--bandwidths means nothing to this kernel; leave it out".into(),
            )
            .into());
        }
        (Some(scale), true) => FACTORS.iter().map(|factor| factor * scale).collect(),
        (Some(_), false) => args.bandwidths.clone(),
    };
    let meter = || session.progress.meter();
    bandwidths
        .iter()
        .map(|&scale| kernel::with_scale(&args.kernel, scale, points.dim(), meter()))
        .collect()
}

fn announce(args: &Tune, session: &Session, setting: Setting<'_>, kernels: usize) -> Result<Step> {
    let n = setting.points.len();
    validate::at_most("folds", args.folds, n)?;
    let train = n - n / args.folds.max(1);
    let m = args.landmarks.count.min(train);
    let fits = (args.folds * kernels) as f64;
    let one = plan::path(train, m, args.lambdas.count);
    let choose = select::step(args.landmarks, setting);
    let what = format!(
        "{} folds × {kernels} kernels × {} values of lambda",
        args.folds, args.lambdas.count
    );
    let values = choose.kernel_values.map(|choose| fits * (choose + (n * m) as f64));
    let flops = one.flops.map(|flops| fits * (flops + choose.flops.unwrap_or(0.0)));
    let step = Step::new(what, values, flops, one.bytes.max(choose.bytes) as f64);
    plan::announce(session, setting.kernel, setting.points, &[("cross-validation", &step)])?;
    Ok(step)
}

fn report(
    args: &Tune,
    session: &Session,
    candidates: &[Candidate],
    best: Candidate,
) -> Result<ExitCode> {
    session.progress.clear();
    let scale = |candidate: &Candidate| candidate.bandwidth.map_or_else(|| "-".into(), number);
    let mut summary = Summary::of("tune");
    if !session.json {
        let mut text = format!("{:>12} {:>12} {:>12}\n", "bandwidth", "lambda", "RMSE");
        for candidate in candidates {
            let [a, b, c] = [scale(candidate), number(candidate.lambda), number(candidate.rmse)];
            text += &format!("{a:>12} {b:>12} {c:>12}\n");
        }
        crate::output::print(&text)?;
    }
    let error = format!("RMSE {} over {} folds", number(best.rmse), args.folds);
    let bandwidth =
        best.bandwidth.map_or_else(String::new, |scale| format!("--bandwidth {scale} "));
    summary.line("best", format!("{bandwidth}--lambda {:?}: {error}", best.lambda));
    summary.value("table", candidates);
    summary.value("best", &best);
    summary.value("folds", args.folds);
    summary.value("seed", args.run.seed);
    summary.print(session, false)?;
    Ok(ExitCode::SUCCESS)
}
