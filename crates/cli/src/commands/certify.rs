//! `--certify`: the distance to exact regression.

use crate::args::{Certify, Output};
use crate::kernel::AnyKernel;
use crate::plan;
use crate::summary::Summary;
use crate::text::number;
use nystrom::krr::{CertificateReport, Closeness, Problem, TargetCertificate};
use nystrom::prelude::*;

/// The certificate of a fit to rows in memory.
pub fn certify(
    how: Certify,
    memory: Option<u64>,
    model: &KrrModel<AnyKernel, f64>,
    problem: Problem<'_, f64>,
    rng: &mut dyn Rng,
) -> nystrom::Result<CertificateReport> {
    match how {
        Certify::Rows(rows) => {
            Certificate { rows: rows.get(), ..Certificate::default() }.certify(model, problem, rng)
        }
        Certify::Passes(passes) => plan::tight(passes.get(), memory).certify(model, problem, rng),
    }
}

/// The error of a certificate whose model is already written.
pub fn after(error: impl Into<anyhow::Error>, output: &Output) -> anyhow::Error {
    error.into().context(format!("the model is written to {output}, but not certified"))
}

/// Adds the certificate of the target that is farthest from exact regression, relative to the size
/// of its residuals.
pub fn describe(report: &CertificateReport, summary: &mut Summary) {
    let share = |target: &TargetCertificate| target.bound / target.residual;
    let farthest = report.targets.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let Some(target) = farthest else { return };
    let by_passes = report.passes > 0;
    let verdict = match report.closeness() {
        Closeness::Close => "close to exact regression".to_owned(),
        Closeness::MoreRows { rows } => format!("probably close; check with --certify={rows}"),
        Closeness::MorePasses => {
            format!("perhaps close; check with --certify=passes:{}", 2 * report.passes)
        }
        Closeness::Far { factor } if by_passes => format!(
            "not close: the distance is {} times the largest that counts as close; take more \
             landmarks",
            number(factor)
        ),
        Closeness::Far { factor } => {
            format!(
                "not shown to be close: K − L would have to be about {} times smaller; take more \
                 landmarks",
                number(factor)
            )
        }
    };
    let distance = if by_passes {
        format!("{} to {} RMS", number(target.lower), number(target.bound))
    } else {
        format!("at most {} RMS ({} %)", number(target.bound), 100.0 * report.confidence)
    };
    summary.line("certificate", format!("exact regression differs by {distance}: {verdict}"));
    summary.value("certificate", report);
}
