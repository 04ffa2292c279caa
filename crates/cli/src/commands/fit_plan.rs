//! The plan of a fit in memory: the number of landmarks that the memory allows, and the cost of
//! choosing them and of the fit.

use super::select::{self, Setting};
use crate::args::{Fit, Lambda, LambdaRange, LandmarkSpec, Selection};
use crate::failure::Result;
use crate::plan::{self, Step};
use crate::session::Session;
use crate::speed::Trial;
use nystrom::krr::{IterativeOptions, ProblemSize};
use nystrom::linalg_core::validate;

/// The default of `--lambdas`.
const LAMBDAS: LambdaRange = LambdaRange { largest: 1e-1, smallest: 1e-10, count: 28 };

/// The default number of landmarks.
const LANDMARKS: usize = 500;

/// The landmarks to choose, and the steps of the fit with their costs.
pub struct Planned {
    pub spec: LandmarkSpec,
    pub choose: Step,
    pub fit: Step,
    pub certify: Option<Step>,
}

impl Planned {
    fn steps(&self) -> Vec<(&'static str, &Step)> {
        let steps = [("choosing landmarks by this method", &self.choose), ("the fit", &self.fit)];
        let certify = self.certify.iter().map(|step| ("the certificate", step));
        steps.into_iter().chain(certify).collect()
    }

    /// The steps without their names, for `--json`.
    pub fn listed(&self) -> Vec<&Step> {
        self.steps().into_iter().map(|(_, step)| step).collect()
    }
}

/// Prints the plan. An error for an impossible number of landmarks, or for a plan that needs more
/// memory than allowed, with the number of landmarks that would fit.
pub fn announce(args: &Fit, session: &Session, setting: Setting<'_>) -> Result<Planned> {
    let n = setting.points.len();
    let usual = LandmarkSpec { method: Selection::RpCholesky, count: LANDMARKS.min(n) };
    let asked = args.landmarks.unwrap_or(usual);
    validate::at_most("landmarks", asked.count, n)?;
    validate::positive("--tolerance", options(args).tolerance)?;
    let trial = select::trial_of(asked, setting);
    let planned = |count| plan(args, LandmarkSpec { count, ..asked }, setting, trial);
    let fits = |count| {
        let steps_fit = |plan: Planned| {
            plan.steps().iter().all(|(name, step)| step.check(name, session.memory).is_ok())
        };
        planned(count).is_ok_and(steps_fit)
    };
    let fitting = plan::largest(asked.count, fits);
    let count = match args.landmarks {
        None => fitting.unwrap_or(asked.count),
        Some(_) => asked.count,
    };
    let announced = planned(count).and_then(|planned| {
        match (args.plan, session.json) {
            (false, _) => {
                plan::announce(session, setting.kernel, setting.points, &planned.steps())?
            }
            (true, true) => plan::check(session, &planned.steps())?,
            (true, false) => {
                let text =
                    plan::describe(session, setting.kernel, setting.points, &planned.steps());
                session.progress.clear();
                crate::output::print(text + "\n")?;
                plan::check(session, &planned.steps())?;
            }
        }
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
    args: &Fit,
    spec: LandmarkSpec,
    setting: Setting<'_>,
    trial: Option<Trial>,
) -> Result<Planned> {
    let (n, d, m) = (setting.points.len(), setting.points.dim(), spec.count);
    let t = 1 + usize::from(!args.regression.no_intercept);
    let one_pass = !matches!(args.lambda(), Lambda::Auto | Lambda::Gcv);
    let fit = match args.lambda() {
        Lambda::Given(_) if args.accumulate.is_some() => plan::direct(n, m),
        Lambda::Given(_) => {
            plan::single(ProblemSize { n, d, m, t, weighted: false }, &options(args))?
        }
        Lambda::Auto | Lambda::Gcv => plan::path(n, m, lambdas(args).count),
        Lambda::Folds(folds) => plan::by_folds(n, m, folds, lambdas(args).count),
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
    let certify =
        args.certify.map(|certify| plan::certificate(certify, size, memory)).transpose()?;
    Ok(Planned { spec, choose, fit, certify })
}

/// The options of a fit at one λ.
pub fn options(args: &Fit) -> IterativeOptions {
    let memory = args.run.memory.map(|bytes| bytes.0);
    let usual = IterativeOptions::default();
    IterativeOptions { tolerance: args.tolerance.unwrap_or(1e-6), memory, ..usual }
}

/// The ridges from which λ is chosen.
pub fn lambdas(args: &Fit) -> LambdaRange {
    args.lambdas.unwrap_or(LAMBDAS)
}
