//! Products with K_nm of rows in memory, by a device if there is one.

use super::system::RowProducts;
use super::tiles::KernelTiles;
use crate::{Device, Problem};
use faer::{Mat, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{Error, Result, Scalar, Streams};

/// K_nm in tiles on the CPU, and K̂_nm on a device, whose products are rounded to its precision.
/// Exact products, which measure residuals, and KRILL's embedding are the CPU's.
pub(super) struct DeviceRows<'a, K, T> {
    tiles: KernelTiles<'a, T>,
    kernel: &'a K,
    z: Points<'a, T>,
    samples: Problem<'a, T>,
    device: Option<&'a dyn Device<K, T>>,
    notice: Option<String>,
}

impl<'a, K, T> DeviceRows<'a, K, T> {
    /// The `tiles` of this kernel, these centres and rows.
    pub fn new(
        tiles: KernelTiles<'a, T>,
        (kernel, z, samples): (&'a K, Points<'a, T>, Problem<'a, T>),
        device: Option<&'a dyn Device<K, T>>,
    ) -> Self {
        DeviceRows { tiles, kernel, z, samples, device, notice: None }
    }
}

impl<K, T: Scalar> DeviceRows<'_, K, T> {
    /// K̂_nmᵀ D K̂_nm u.
    fn on_device(&self, device: &dyn Device<K, T>, u: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let (x, z) = (self.samples.x, self.z);
        let mut f = device.times(self.kernel, [x, z], u)?;
        if self.samples.weights.is_some() {
            for i in 0..f.nrows() {
                f.row_mut(i).iter_mut().for_each(|f| *f *= self.samples.weight(i));
            }
        }
        device.times(self.kernel, [z, x], f.as_ref())
    }
}

impl<K, T: Scalar> RowProducts for DeviceRows<'_, K, T> {
    fn embedding(&mut self, streams: Streams) -> Result<Mat<f64>> {
        self.tiles.embedding(streams)
    }

    /// A device that returns an error is given up, and the CPU goes on.
    fn normal(&mut self, u: MatRef<'_, f64>, exact: bool) -> Result<Mat<f64>> {
        if let Some(device) = self.device.filter(|_| !exact) {
            match self.on_device(device, u) {
                Err(Error::Device { problem }) => {
                    let went_on = "the CPU went on from the last iterate";
                    self.notice = Some(format!("a device failed: {problem}; {went_on}"));
                    self.device = None;
                }
                product => return product,
            }
        }
        self.tiles.normal(u, exact)
    }

    fn is_rounded(&self) -> bool {
        self.device.is_some()
    }

    fn give_up_rounding(&mut self) {
        if self.device.take().is_some() {
            let why = "its precision does not reach the tolerance";
            self.notice = Some(format!("the CPU replaced the device: {why}"));
        }
    }

    fn notice(&self) -> Option<String> {
        self.notice.clone()
    }
}
