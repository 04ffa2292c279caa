//! The kernel that the command line names.

use crate::args::{Bandwidth, KernelArgs, KernelName};
use crate::failure::{Result, usage};
use nystrom::leverage::Stationary;
use nystrom::prelude::*;
pub use nystrom_pipeline::AnyKernel;
use nystrom_pipeline::Family;

/// The kernel that `args` name. Its length scale is the median distance of `points` unless `args`
/// give one. It calls `meter` with the number of values of every block, for the progress bar.
pub fn kernel(
    args: &KernelArgs,
    points: Points<'_, f64>,
    meter: impl Fn(usize) + Send + Sync + 'static,
    rng: &mut dyn Rng,
) -> Result<AnyKernel> {
    args.check()?;
    Ok(args.family().kernel_for(points, args.scale(), rng)?.metered(meter))
}

/// The kernel and its bandwidth, for the summary.
pub fn describe(kernel: &AnyKernel) -> String {
    match kernel.bandwidth() {
        Some(scale) => {
            format!("{}, bandwidth {}", kernel.describe(), crate::text::number(scale))
        }
        None => kernel.describe(),
    }
}

/// The kernel as spectral analysis uses it; an error unless the kernel is stationary with a known
/// spectral density.
pub fn stationary(kernel: &AnyKernel) -> Result<&dyn Stationary> {
    kernel.stationary().ok_or_else(|| {
        let text = "spectral analysis (sa) needs a stationary kernel; choose gaussian, matern, \
                    laplacian or rational-quadratic, or another method";
        usage(text)
    })
}

impl KernelArgs {
    /// Whether any kernel option is given but --fingerprint, with which a fit also searches.
    pub fn is_given(&self) -> bool {
        let parameters = [self.nu.is_some(), self.alpha.is_some(), self.power.is_some()];
        let others = [self.kernel.is_some(), self.bandwidth.is_some(), self.degree.is_some()];
        parameters.contains(&true) || others.contains(&true)
    }

    /// The length scale, if --bandwidth is a number.
    pub fn scale(&self) -> Option<f64> {
        match self.bandwidth {
            Some(Bandwidth::Given(scale)) => Some(scale),
            _ => None,
        }
    }

    fn name(&self) -> KernelName {
        self.kernel.unwrap_or(KernelName::Gaussian)
    }

    pub fn family(&self) -> Family {
        if self.fingerprint.is_some() {
            return Family::Tanimoto;
        }
        match self.name() {
            KernelName::Gaussian => Family::Gaussian,
            KernelName::Matern => Family::Matern { nu: self.nu.unwrap_or(1.5) },
            KernelName::Laplacian => Family::Matern { nu: 0.5 },
            KernelName::LaplacianL1 => Family::LaplacianL1,
            KernelName::RationalQuadratic => {
                Family::RationalQuadratic { alpha: self.alpha.unwrap_or(1.0) }
            }
            KernelName::PowerExponential => {
                Family::PowerExponential { power: self.power.unwrap_or(1.0) }
            }
            KernelName::Linear => Family::Linear,
            KernelName::Polynomial => Family::Polynomial { degree: self.degree.unwrap_or(3) },
            KernelName::MinMax => Family::MinMax,
        }
    }

    /// Refuses an option that is no parameter of the kernel, and so would have no effect.
    pub fn check(&self) -> Result<()> {
        let bandwidth = self.scale().is_some() && !self.family().has_scale();
        let options = [
            ("--nu", self.nu.is_some(), KernelName::Matern),
            ("--alpha", self.alpha.is_some(), KernelName::RationalQuadratic),
            ("--power", self.power.is_some(), KernelName::PowerExponential),
            ("--degree", self.degree.is_some(), KernelName::Polynomial),
            ("--bandwidth", bandwidth, KernelName::Gaussian),
        ];
        let Some((option, kernel)) = of_another(self.name(), &options) else { return Ok(()) };
        Err(usage(format!(
            "{option} has no effect on this kernel; leave it out, or add --kernel {kernel}"
        )))
    }
}

/// The first option that is given although it belongs to another value than `chosen`, and the name
/// of that value.
pub fn of_another<'a, V: clap::ValueEnum + PartialEq>(
    chosen: V,
    options: &[(&'a str, bool, V)],
) -> Option<(&'a str, String)> {
    let wrong = options.iter().find(|(_, given, owner)| *given && chosen != *owner);
    wrong.map(|(option, _, owner)| (*option, crate::text::option(owner)))
}
