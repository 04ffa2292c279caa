//! Products K(X, Z)·V whose kernel values are never stored.

use crate::device::Gpu;
use crate::formula::{DeviceKernel, Formula};
use crate::memory::{Sizes, usage};
use crate::points::{DevicePoints, mean};
use crate::shader::{COLUMNS, TILE, Width, text};
use crate::{GpuError, Result};
use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{Error, validate};

/// The most rows of a dispatch.
const ROWS: usize = 1 << 18;
/// Operations of a kernel value besides those of its coordinates and products.
const OPERATIONS: u64 = 16;

/// Products with the n × m matrix K(X, Z), computed on a device. Points and the memory of
/// right-hand sides stay there; kernel values are never stored.
///
/// # Precision
/// The device multiplies by K̃, whose entries are k(x̃, z̃) in `f32` for points rounded to `f32`:
/// x̃ = (x − c)/ℓ with the mean c, so that |x̃_k − (x_k − c_k)/ℓ_k| ≤ 2⁻²⁴|x_k − c_k|/ℓ_k. Two
/// points closer than 10⁻¹⁹ length scales are equal. V is rounded to `f32`. Sums of 128 products
/// are `f32`, with at most 40 roundings of a term; sums of these sums are two-float numbers of some
/// 48 bits. So the rounding error of a sum does not grow with m. In the tests the error of an entry
/// is at most 3·10⁻⁷ of Σ|k v|; for most kernels it is below 10⁻⁷.
///
/// # Cost
/// m·n kernel values for every 32 columns of V, 2d + t + 16 operations each. Memory of the device:
/// 4d(n + m) bytes for the points (4dn if X is Z), and 20·max(n, m) for each of 1, 8 or 32
/// right-hand sides at a time. On the host: n + m numbers for each of them.
///
/// ```no_run
/// use faer::Mat;
/// use nystrom_gpu::{Gpu, GpuOptions, GpuProducts};
/// use nystrom_kernels::{Gaussian, Points};
/// let x = Mat::from_fn(100_000, 10, |i, k| ((i * (k + 3)) as f64).sin());
/// let v = Mat::from_fn(100_000, 1, |i, _| (i as f64).cos());
/// let gpu = Gpu::open(&GpuOptions::default())?;
/// let points = Points::from_rows(x.as_ref());
/// let mut K = GpuProducts::symmetric(&gpu, &Gaussian::new(1.0)?, points, 1)?;
/// let y = K.mul(v.as_ref())?; // 10¹⁰ kernel values
/// assert_eq!(y.nrows(), 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GpuProducts {
    gpu: Gpu,
    x: DevicePoints,
    /// `None` if Z is X.
    z: Option<DevicePoints>,
    dim: usize,
    width: Width,
    pipeline: wgpu::ComputePipeline,
    v: wgpu::Buffer,
    y: wgpu::Buffer,
    results: wgpu::Buffer,
    block: wgpu::Buffer,
}

impl GpuProducts {
    /// Products with K(X, Z) for n rows X and m columns Z, and with its transpose, with memory for
    /// `targets` right-hand sides at a time (at most 32).
    ///
    /// # Errors
    /// Those of [`Kernel::check_points`](nystrom_kernels::Kernel::check_points) (no points, NaN);
    /// sparse points; different dimensions; a coordinate more than 10¹⁵ length scales from the mean
    /// of Z; [`GpuError::Unsupported`], [`GpuError::OutOfMemory`] with the number of points that
    /// fit, [`GpuError::Lost`].
    pub fn new(
        gpu: &Gpu,
        kernel: &impl DeviceKernel,
        x: Points<'_, f64>,
        z: Points<'_, f64>,
        targets: usize,
    ) -> Result<Self> {
        x.check_same_dim(z)?;
        kernel.check_points(x)?;
        kernel.check_points(z)?;
        Self::of_formula(gpu, &kernel.formula()?, x, Some(z), targets)
    }

    /// Products with K(X, X).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn symmetric(
        gpu: &Gpu,
        kernel: &impl DeviceKernel,
        x: Points<'_, f64>,
        targets: usize,
    ) -> Result<Self> {
        kernel.check_points(x)?;
        Self::of_formula(gpu, &kernel.formula()?, x, None, targets)
    }

    pub(crate) fn of_formula(
        gpu: &Gpu,
        formula: &Formula,
        x: Points<'_, f64>,
        z: Option<Points<'_, f64>>,
        targets: usize,
    ) -> Result<Self> {
        x.check_dense()?;
        z.map_or(Ok(()), |z| z.check_dense())?;
        let (n, d, width) = (x.len(), x.dim(), Width::of(targets));
        let sizes = Sizes { n, m: z.map(|z| z.len()), d, width: width.width };
        sizes.check(gpu)?;
        let center = mean(z.unwrap_or(x));
        let or_full = |points: Option<DevicePoints>| match points {
            Some(points) => Ok(points),
            None => Err(sizes.full(gpu)),
        };
        let x = or_full(DevicePoints::new(gpu, formula, x, &center)?)?;
        let z = match z {
            Some(z) => Some(or_full(DevicePoints::new(gpu, formula, z, &center)?)?),
            None => None,
        };
        let pipeline = pipeline(gpu, &text(formula, d, width))?;
        let buffer = |bytes, usage| match gpu.buffer(bytes, usage)? {
            Some(buffer) => Ok(buffer),
            None => Err(sizes.full(gpu)),
        };
        let v = buffer(sizes.sides_bytes(), usage::INPUT)?;
        let y = buffer(sizes.result_bytes(), usage::OUTPUT)?;
        let results = buffer(sizes.result_bytes(), usage::RESULT)?;
        let block = buffer(32, usage::BLOCK)?;
        Ok(GpuProducts { gpu: gpu.clone(), x, z, dim: d, width, pipeline, v, y, results, block })
    }

    /// The bytes of the device's memory that products with K(X, Z) take, for n rows and m columns
    /// of points in d dimensions (`None`: Z is X) and this many right-hand sides at a time.
    ///
    /// ```
    /// use nystrom_gpu::GpuProducts;
    /// assert_eq!(GpuProducts::bytes(1_000_000, None, 10, 1), 60_000_000);
    /// ```
    pub fn bytes(n: usize, m: Option<usize>, d: usize, targets: usize) -> u64 {
        Sizes { n, m, d, width: Width::of(targets).width }.total()
    }

    /// n, the number of rows.
    pub fn rows(&self) -> usize {
        self.x.len
    }

    /// m, the number of columns.
    pub fn columns(&self) -> usize {
        self.z().len
    }

    /// K(X, Z)·V as a new n × t matrix, for V of m × t.
    ///
    /// # Errors
    /// As [`mul_into`](Self::mul_into).
    pub fn mul(&mut self, v: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let mut out = Mat::zeros(self.rows(), v.ncols());
        self.mul_into(out.as_mut(), v)?;
        Ok(out)
    }

    /// out = K(X, Z)·V for V of m × t and `out` of n × t. The same bits every time on the same
    /// device.
    ///
    /// # Errors
    /// A wrong shape, an entry that is not finite; [`GpuError::Lost`], after which `out` has no
    /// meaning: what the caller holds is not touched.
    pub fn mul_into(&mut self, out: MatMut<'_, f64>, v: MatRef<'_, f64>) -> Result<()> {
        let (x, z) = (self.x.clone(), self.z().clone());
        self.product(out, v, [&x, &z])
    }

    /// out = K(X, Z)ᵀ·V for V of n × t and `out` of m × t.
    ///
    /// # Errors
    /// As [`mul_into`](Self::mul_into).
    pub fn transposed_mul_into(&mut self, out: MatMut<'_, f64>, v: MatRef<'_, f64>) -> Result<()> {
        let (x, z) = (self.x.clone(), self.z().clone());
        self.product(out, v, [&z, &x])
    }

    fn z(&self) -> &DevicePoints {
        self.z.as_ref().unwrap_or(&self.x)
    }

    /// out = K(rows, columns)·V, 32 columns of V at a time.
    fn product(
        &mut self,
        mut out: MatMut<'_, f64>,
        v: MatRef<'_, f64>,
        [rows, columns]: [&DevicePoints; 2],
    ) -> Result<()> {
        validate::same_size("rows of the right-hand sides", columns.len, v.nrows())?;
        validate::same_size("rows of the product", rows.len, out.nrows())?;
        validate::same_size("columns of the product", v.ncols(), out.ncols())?;
        validate::finite("right-hand sides", v)?;
        self.gpu.check()?;
        let width = self.width.width;
        for first in (0..v.ncols()).step_by(width) {
            let count = width.min(v.ncols() - first);
            let units = self.write_sides(v.subcols(first, count), columns)?;
            self.dispatch(rows, columns)?;
            self.read_sums(out.rb_mut().subcols_mut(first, count), &units, rows)?;
        }
        Ok(())
    }

    /// Writes V, each column in a unit of its own, and returns the units.
    fn write_sides(&self, v: MatRef<'_, f64>, columns: &DevicePoints) -> Result<Vec<f64>> {
        let units: Vec<f64> = v.col_iter().map(|v| unit(v.norm_max())).collect();
        let width = self.width.width;
        let value = |at: usize| {
            let (i, j) = (at / width, at % width);
            if i < v.nrows() && j < v.ncols() { (v[(i, j)] / units[j]) as f32 } else { 0.0 }
        };
        let values: Vec<f32> = (0..columns.padded * width).map(value).collect();
        self.gpu.write(&self.v, 0, &values)?;
        Ok(units)
    }

    /// Adds up all blocks of rows and columns. While one is computed, the next is queued.
    fn dispatch(&self, rows: &DevicePoints, columns: &DevicePoints) -> Result<()> {
        let buffers = [&rows.buffer, &columns.buffer, &self.v, &self.y, &self.block];
        let resources = buffers.map(|buffer| buffer.as_entire_binding());
        let numbered = resources.into_iter().zip(0..);
        let entries: Vec<_> = numbered
            .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let [height, length] = self.block_size(rows.padded);
        let mut before = None;
        for row in (0..rows.padded).step_by(height) {
            for column in (0..columns.padded).step_by(length) {
                let end = columns.padded.min(column + length);
                let sizes = [row, column, end, rows.padded / 4, columns.padded / 4, 0, 0, 0];
                let bytes: Vec<u8> =
                    sizes.iter().flat_map(|&size| (size as u32).to_le_bytes()).collect();
                self.gpu.queue.write_buffer(&self.block, 0, &bytes);
                let groups = height.min(rows.padded - row) / TILE;
                let sent = self.gpu.queue.submit([self.commands(&group, groups as u32)]);
                if let Some(before) = before.replace(sent) {
                    self.gpu.wait(Some(before))?;
                }
            }
        }
        self.gpu.wait(None)
    }

    fn commands(&self, group: &wgpu::BindGroup, groups: u32) -> wgpu::CommandBuffer {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(groups, 1, 1);
        drop(pass);
        encoder.finish()
    }

    /// Rows and columns of a dispatch: as many rows as there are, and columns as the operations
    /// allow.
    fn block_size(&self, rows: usize) -> [usize; 2] {
        let each = 2 * self.dim as u64 + self.width.width as u64 + OPERATIONS;
        let entries = (self.gpu.operations / each).max(1) as usize;
        let height = rows.min(ROWS).min(entries / COLUMNS / TILE * TILE).max(TILE);
        let length = (entries / height / COLUMNS * COLUMNS).max(COLUMNS);
        [height, length]
    }

    /// out = the sums, in the units of V.
    fn read_sums(
        &self,
        mut out: MatMut<'_, f64>,
        units: &[f64],
        rows: &DevicePoints,
    ) -> Result<()> {
        let count = 2 * units.len() * rows.padded;
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.y, 0, &self.results, 0, 4 * count as u64);
        self.gpu.queue.submit([encoder.finish()]);
        let sums = self.gpu.read(&self.results, count)?;
        for (j, sums) in sums.chunks_exact(2 * rows.padded).enumerate() {
            let (hi, lo) = sums.split_at(rows.padded);
            for i in 0..rows.len {
                out[(i, j)] = (f64::from(hi[i]) + f64::from(lo[i])) * units[j];
            }
        }
        match out.norm_max().is_finite() {
            true => Ok(()),
            false => Err(GpuError::Input(Error::InvalidParameter {
                name: "entry of a product",
                value: out.norm_max(),
                requirement: "finite; divide the right-hand sides by their largest entry",
            })),
        }
    }
}

/// A power of two of the size of `largest`.
fn unit(largest: f64) -> f64 {
    if largest > 0.0 { largest.log2().floor().clamp(-1020.0, 1020.0).exp2() } else { 1.0 }
}

fn pipeline(gpu: &Gpu, text: &str) -> Result<wgpu::ComputePipeline> {
    gpu.check()?;
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let compilation_options = wgpu::PipelineCompilationOptions {
        zero_initialize_workgroup_memory: false,
        ..Default::default()
    };
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options,
        cache: None,
    });
    gpu.check()?;
    Ok(pipeline)
}

use faer::reborrow::*;
