//! The functions that a fit in memory combines: one for each landmark, or with `--accumulate` one
//! for each sum of rows.

use super::fit_plan;
use super::select::{self, Setting};
use crate::args::{FitArgs, LandmarkSpec, Selection};
use crate::failure::{Result, usage};
use crate::kernel::AnyKernel;
use crate::summary::Summary;
use crate::text;
use nystrom::krr::{IterationReport, LambdaPath, NormalEquations, Problem};
use nystrom::prelude::*;
use nystrom::sketch::SparseSketch;

pub enum Basis {
    Landmarks(Landmarks),
    Sums(SparseSketch<f64>),
}

/// The number of rows in each sum, with `--accumulate`; an error unless landmarks are uniform.
pub fn accumulate(args: &FitArgs) -> Result<Option<usize>> {
    let by_chance = args.landmarks.is_none_or(|spec| spec.method == Selection::Uniform);
    if args.accumulate.is_some() && !by_chance {
        return Err(usage(
            "--accumulate sums uniformly drawn rows; write --landmarks uniform:COUNT",
        ));
    }
    Ok(args.accumulate)
}

/// The description of the centres that is written into the model.
pub fn name(spec: LandmarkSpec, accumulate: Option<usize>) -> String {
    match accumulate {
        Some(each) => format!("{} sums of {each} rows", spec.count),
        None => spec.to_string(),
    }
}

/// Why there are fewer landmarks than `asked`; empty if there are as many.
pub fn why_fewer(count: usize, asked: usize) -> String {
    let explain = if count == 1 { "this one explains" } else { "these explain" };
    match asked.saturating_sub(count) {
        0 => String::new(),
        more => format!(
            "; the other {more} of {asked} would add nothing: up to rounding, {explain} every \
             row"
        ),
    }
}

impl Basis {
    pub fn choose(
        args: &FitArgs,
        spec: LandmarkSpec,
        setting: Setting<'_>,
        rng: &mut dyn Rng,
    ) -> Result<Basis> {
        if let Some(each) = args.accumulate {
            let sums = Accumulation::uniform(each).sample(setting.points.len(), spec.count, rng)?;
            return Ok(Basis::Sums(sums));
        }
        let matrix = KernelMatrix::new(setting.kernel, setting.points)?;
        let landmarks = select::selector(spec, setting)?.select(&matrix, spec.count, rng)?;
        Ok(Basis::Landmarks(landmarks))
    }

    /// The number of rows whose kernel values a prediction needs.
    pub fn centers(&self) -> usize {
        match self {
            Basis::Landmarks(landmarks) => landmarks.len(),
            Basis::Sums(sketch) => sketch.support().len(),
        }
    }

    pub fn describe(&self, args: &FitArgs, spec: LandmarkSpec, summary: &mut Summary) {
        let centers = self.centers();
        match self {
            Basis::Landmarks(_) => {
                let fewer = why_fewer(centers, spec.count);
                summary.line(
                    "landmarks",
                    format!("{centers} by {}{fewer}", text::option(&spec.method)),
                );
            }
            Basis::Sums(sketch) => {
                let (named, rows) = (name(spec, args.accumulate), text::count(centers, "row"));
                summary.line("span", format!("{named}, {rows} in all"));
                summary.value("columns", sketch.width());
            }
        }
    }

    /// The fit at one λ.
    pub fn fit(
        &self,
        args: &FitArgs,
        (kernel, lambda): (&AnyKernel, f64),
        rows: Problem<'_, f64>,
        rng: &mut dyn Rng,
    ) -> Result<(KrrModel<AnyKernel, f64>, Option<IterationReport>)> {
        let (intercept, ridge) = (!args.regression.no_intercept, Ridge::PerSample(lambda));
        match self {
            Basis::Landmarks(landmarks) => {
                let options = fit_plan::options(args);
                let krr = AutoKrr { intercept, options, ..AutoKrr::new(kernel.clone(), ridge) };
                let fit = krr.fit(rows, landmarks, rng)?;
                Ok((fit.model, fit.iterations))
            }
            Basis::Sums(sketch) => {
                let krr = SketchedKrr { intercept, ..SketchedKrr::new(kernel.clone(), ridge) };
                Ok((krr.fit(rows, sketch)?, None))
            }
        }
    }

    /// The fits at these ridges, with their leave-one-out errors.
    pub fn path(
        &self,
        intercept: bool,
        kernel: &AnyKernel,
        rows: Problem<'_, f64>,
        ridges: &[Ridge<f64>],
    ) -> nystrom::Result<LambdaPath<AnyKernel, f64>> {
        let kernel = kernel.clone();
        match self {
            Basis::Landmarks(landmarks) => {
                let krr = NystromKrr { intercept, ..NystromKrr::without_ridge(kernel) };
                krr.path(rows, landmarks, ridges)
            }
            Basis::Sums(sketch) => {
                let krr = SketchedKrr { intercept, ..SketchedKrr::without_ridge(kernel) };
                krr.path(rows, sketch, ridges)
            }
        }
    }

    /// The normal equations over no rows, for one target. With an intercept, `mean` is the mean of
    /// the target.
    pub fn state(
        &self,
        kernel: &AnyKernel,
        x: Points<'_, f64>,
        mean: Option<f64>,
    ) -> nystrom::Result<NormalEquations<AnyKernel, f64>> {
        let (kernel, offset) = (kernel.clone(), mean.as_ref().map(std::slice::from_ref));
        let landmarks = match self {
            Basis::Landmarks(landmarks) => landmarks,
            Basis::Sums(sketch) => return NormalEquations::sketched(kernel, x, sketch, 1, offset),
        };
        let centers = x.gather(landmarks.indices().into());
        let centers = centers.points();
        match offset {
            Some(offset) => NormalEquations::with_intercept(kernel, centers, offset),
            None => NormalEquations::new(kernel, centers, 1),
        }
    }
}
