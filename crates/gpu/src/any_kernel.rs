//! The kernels of the program, which are known by family and length scale.

use crate::formula::{DeviceKernel, Formula};
use crate::{GpuError, Result};
use nystrom_kernels::{
    Gaussian, LaplacianL1, Matern, PowerExponential, PowerExponentialL1, RationalQuadratic,
};
use nystrom_pipeline::{AnyKernel, Family};

impl DeviceKernel for AnyKernel {
    fn formula(&self) -> Result<Formula> {
        let scale = self.bandwidth().unwrap_or(1.0);
        match self.family() {
            Family::Gaussian => Gaussian::new(scale)?.formula(),
            Family::Matern { nu } => Matern::new(nu, scale)?.formula(),
            Family::LaplacianL1 => LaplacianL1::new(scale)?.formula(),
            Family::RationalQuadratic { alpha } => RationalQuadratic::new(alpha, scale)?.formula(),
            Family::PowerExponential { power } => PowerExponential::new(power, scale)?.formula(),
            Family::PowerExponentialL1 { power } => {
                PowerExponentialL1::new(power, scale)?.formula()
            }
            _ => Err(GpuError::Unsupported {
                what: "a kernel that is not one of the distance",
                remedy: "take a kernel of the distance, or compute on the CPU",
            }),
        }
    }
}
