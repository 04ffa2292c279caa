//! Points in the memory of a device.

use crate::device::Gpu;
use crate::formula::Formula;
use crate::shader::{TILE, chunks};
use crate::{GpuError, Result};
use nystrom_kernels::Points;
use nystrom_linalg_core::Error;
use wgpu::BufferUsages;

/// The farthest that a coordinate may be from the mean, in length scales: squared distances stay
/// finite in `f32`.
const FARTHEST: f64 = 1e15;

/// n points, by features: (x_k − c_k)/ℓ_k in `f32`, padded with zeros.
#[derive(Debug, Clone)]
pub(crate) struct DevicePoints {
    pub buffer: wgpu::Buffer,
    pub len: usize,
    /// n, rounded up to whole tiles.
    pub padded: usize,
}

/// n rounded up to whole tiles.
pub(crate) fn padded(n: usize) -> usize {
    n.next_multiple_of(TILE)
}

/// Bytes of n points in d dimensions.
pub(crate) fn bytes(n: usize, d: usize) -> u64 {
    let [count, chunk] = chunks(d);
    4 * (count * chunk) as u64 * padded(n) as u64
}

/// The mean of each coordinate. O(nd).
pub(crate) fn mean(x: Points<'_, f64>) -> Vec<f64> {
    // each term is divided, so that the sum of large coordinates stays finite
    let n = x.len() as f64;
    let of = |k: usize| (0..x.len()).map(|i| x.coordinate(i, k) / n).sum();
    (0..x.dim()).map(of).collect()
}

impl DevicePoints {
    /// Copies points to the device, in units of length scales from the point `center`. They are
    /// rounded to `f32` after that, so that points far from 0 keep their digits. `None` if there is
    /// no memory for them.
    ///
    /// # Errors
    /// A coordinate more than 10¹⁵ length scales from the center.
    pub fn new(
        gpu: &Gpu,
        formula: &Formula,
        x: Points<'_, f64>,
        center: &[f64],
    ) -> Result<Option<Self>> {
        let (n, d) = (x.len(), x.dim());
        let scaled =
            |i: usize, k: usize| (x.coordinate(i, k) - center[k]) / formula.length_scale(k);
        for k in 0..d {
            for value in (0..n).map(|i| scaled(i, k)) {
                if !(value.abs() <= FARTHEST) {
                    return Err(GpuError::Input(Error::InvalidParameter {
                        name: "distance of a coordinate from the mean, in length scales",
                        value,
                        requirement: "at most 1e15 on a device; remove such points, or use the CPU",
                    }));
                }
            }
        }
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let Some(buffer) = gpu.buffer(bytes(n, d), usage)? else { return Ok(None) };
        let points = DevicePoints { buffer, len: n, padded: padded(n) };
        let [count, chunk] = chunks(d);
        for k in 0..count * chunk {
            let value = |i: usize| if i < n && k < d { scaled(i, k) as f32 } else { 0.0 };
            let feature: Vec<f32> = (0..points.padded).map(value).collect();
            gpu.write(&points.buffer, 4 * (k * points.padded) as u64, &feature)?;
        }
        Ok(Some(points))
    }
}
