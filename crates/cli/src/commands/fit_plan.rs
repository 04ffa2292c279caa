//! The plan of a fit in memory: the number of landmarks that the memory allows, and the cost of
//! choosing them and of the fit.

use super::select::{self, Setting};
use crate::args::{FitArgs, Lambda, LandmarkSpec, Selection};
use crate::failure::Result;
use crate::plan::{self, Step};
use crate::session::Session;
use crate::speed::TrialRun;
use nystrom::krr::{IterativeOptions, ProblemSize};
use nystrom::linalg_core::validate;
use nystrom_pipeline::largest_fitting;

/// The default number of landmarks.
const LANDMARKS: usize = 500;

/// The landmarks to choose, and the steps of the fit with their costs.
pub struct Planned {
    pub spec: LandmarkSpec,
    /// Choosing landmarks, the fit, and with --certify the certificate.
    pub steps: Vec<Step>,
}

/// Prints the plan. An error for an impossible number of landmarks, or for a plan that needs more
/// memory than allowed, with the number of landmarks that would fit.
pub fn announce(args: &FitArgs, session: &Session, setting: Setting<'_>) -> Result<Planned> {
    let n = setting.points.len();
    let usual = LandmarkSpec { method: Selection::RpCholesky, count: LANDMARKS.min(n) };
    let asked = args.landmarks.unwrap_or(usual);
    validate::at_most("landmarks", asked.count, n)?;
    validate::positive("--tolerance", options(args).tolerance)?;
    let trial = select::trial_of(asked, setting);
    let planned = |count| plan(args, LandmarkSpec { count, ..asked }, setting, trial);
    let fits = |count| planned(count).is_ok_and(|plan| plan::check(session, &plan.steps).is_ok());
    let fitting = Some(largest_fitting(0, asked.count, fits)).filter(|count| *count > 0);
    let count = match args.landmarks {
        None => fitting.unwrap_or(asked.count),
        Some(_) => asked.count,
    };
    let announced = planned(count).and_then(|planned| {
        let (kernel, points, steps) = (setting.kernel, setting.points, &planned.steps);
        if !args.plan {
            session.say(&plan::describe(session, kernel, points, steps));
        } else if !session.json {
            session.clear();
            crate::output::print(plan::describe(session, kernel, points, steps) + "\n")?;
        }
        plan::check(session, steps)?;
        Ok(planned)
    });
    announced.map_err(|error| match (error.downcast_ref(), fitting) {
        (Some(nystrom::Error::OutOfBudget { .. }), Some(count)) => {
            error.context(format!("--landmarks {} would fit", LandmarkSpec { count, ..asked }))
        }
        _ => error,
    })
}

fn plan(
    args: &FitArgs,
    spec: LandmarkSpec,
    setting: Setting<'_>,
    trial: Option<TrialRun>,
) -> Result<Planned> {
    let (n, d, m) = (setting.points.len(), setting.points.mean_stored(), spec.count);
    let t = 1 + usize::from(!args.regression.no_intercept);
    let one_pass = !matches!(args.lambda(), Lambda::Auto | Lambda::Gcv);
    let fit = match args.lambda() {
        Lambda::Given(_) if args.accumulate.is_some() => plan::direct(n, m),
        Lambda::Given(_) => {
            plan::single(ProblemSize { n, d, m, t, weighted: false }, &options(args))?
        }
        Lambda::Auto | Lambda::Gcv => plan::path(n, m, args.grid().len()),
        Lambda::Folds(folds) => plan::by_folds(n, m, folds, args.grid().len()),
    };
    let (m, choose, fit) = match args.accumulate {
        None => (m, plan::selection(spec, n, trial), fit),
        Some(each) => {
            let folds = matches!(args.lambda(), Lambda::Folds(_));
            let u = plan::distinct(n, each * m);
            let step = plan::in_span(fit, [n, m, each, u], (if one_pass { 1 } else { 2 }, folds));
            (u, plan::drawing(m, each), step)
        }
    };
    let memory = options(args).memory;
    let size = ProblemSize { n, d, m, t: 1, weighted: false };
    let certify = args.certify.map(|certify| plan::certificate(certify, size, memory));
    let steps = [choose, fit.named("the fit")].into_iter().chain(certify.transpose()?);
    Ok(Planned { spec, steps: steps.collect() })
}

/// The options of a fit at one λ.
pub fn options(args: &FitArgs) -> IterativeOptions {
    let memory = args.run.memory.map(|bytes| bytes.0);
    let usual = IterativeOptions::default();
    IterativeOptions { tolerance: args.tolerance.unwrap_or(1e-6), memory, ..usual }
}
