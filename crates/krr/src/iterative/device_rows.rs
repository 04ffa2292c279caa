//! Products with K_nm of rows in memory by a device.

use crate::{Device, Problem};
use faer::{Mat, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Scalar};

/// K̂_nmᵀ D K̂_nm u, rounded to the precision of a device.
pub(super) type DeviceProduct<'a> = Box<dyn Fn(MatRef<'_, f64>) -> Result<Mat<f64>> + Sync + 'a>;

/// With the rows of the problem and the centres z.
pub(super) fn device_product<'a, K: Sync, T: Scalar>(
    device: &'a dyn Device<K, T>,
    (kernel, z, samples): (&'a K, Points<'a, T>, Problem<'a, T>),
) -> DeviceProduct<'a> {
    Box::new(move |u| {
        let mut f = device.times(kernel, [samples.x, z], u)?;
        if samples.weights.is_some() {
            for i in 0..f.nrows() {
                f.row_mut(i).iter_mut().for_each(|f| *f *= samples.weight(i));
            }
        }
        device.times(kernel, [z, samples.x], f.as_ref())
    })
}
