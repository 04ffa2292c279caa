//! What points and right-hand sides take of a device's memory, and how many fit.

use crate::device::Gpu;
use crate::points::{bytes, padded};
use crate::{GpuError, Result};
use wgpu::BufferUsages;

/// How buffers are used.
pub(crate) mod usage {
    use wgpu::BufferUsages;
    pub const INPUT: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_DST);
    pub const OUTPUT: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC);
    pub const RESULT: BufferUsages = BufferUsages::MAP_READ.union(BufferUsages::COPY_DST);
    pub const BLOCK: BufferUsages = BufferUsages::UNIFORM.union(BufferUsages::COPY_DST);
}

/// The sizes of products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Rows.
    pub n: usize,
    /// Columns; `None` if they are the rows.
    pub m: Option<usize>,
    pub d: usize,
    /// Right-hand sides at a time.
    pub width: usize,
}

impl Sizes {
    /// Rows of V and of Y: products with the transpose have the larger number of both.
    fn most(&self) -> u64 {
        padded(self.n.max(self.m.unwrap_or(0))) as u64
    }

    /// Bytes of V.
    pub fn sides_bytes(&self) -> u64 {
        4 * self.width as u64 * self.most()
    }

    /// Bytes of Y, a two-float number for each sum.
    pub fn result_bytes(&self) -> u64 {
        2 * self.sides_bytes()
    }

    fn largest(&self) -> u64 {
        let points = bytes(self.n.max(self.m.unwrap_or(0)), self.d);
        points.max(self.result_bytes())
    }

    /// Bytes in all; Y twice, for its copy that the host reads.
    pub fn total(&self) -> u64 {
        let points = bytes(self.n, self.d) + self.m.map_or(0, |m| bytes(m, self.d));
        points + self.sides_bytes() + 2 * self.result_bytes()
    }

    /// An error if a buffer or all buffers are larger than the device or the caller allows.
    pub fn check(&self, gpu: &Gpu) -> Result<()> {
        let fits =
            |sizes: &Sizes| sizes.total() <= gpu.memory && sizes.largest() <= gpu.largest_buffer();
        if fits(self) {
            return Ok(());
        }
        let (needed, available) = if self.total() > gpu.memory {
            (self.total(), gpu.memory)
        } else {
            (self.largest(), gpu.largest_buffer())
        };
        Err(self.too_many(needed, available, fits))
    }

    /// The error of a device that gives less than was asked for. What it gives is found by trying.
    pub fn full(&self, gpu: &Gpu) -> GpuError {
        let piece = gpu.largest_buffer().min(1 << 30);
        let gives = |bytes: u64| {
            let mut held = Vec::new();
            for start in (0..bytes).step_by(piece as usize) {
                match gpu.buffer(piece.min(bytes - start), BufferUsages::STORAGE) {
                    Ok(Some(buffer)) => held.push(buffer),
                    _ => return false,
                }
            }
            true
        };
        let (mut given, mut refused) = (0, self.total());
        // to a 256th
        while refused - given > self.total() / 256 + 1 {
            let bytes = given + (refused - given) / 2;
            if gives(bytes) { given = bytes } else { refused = bytes }
        }
        if let Err(lost) = gpu.check() {
            return lost;
        }
        self.too_many(self.total(), given, |sizes| sizes.total() <= given)
    }

    fn too_many(&self, needed: u64, available: u64, fits: impl Fn(&Sizes) -> bool) -> GpuError {
        // rows and columns in the same proportion
        let share = |n: usize| Sizes {
            n,
            m: self.m.map(|m| (m as u128 * n as u128 / self.n as u128) as usize),
            ..*self
        };
        let (mut fitting, mut fails) = (0, self.n);
        while fails - fitting > 1 {
            let n = fitting + (fails - fitting) / 2;
            if fits(&share(n)) { fitting = n } else { fails = n }
        }
        let rows = self.n + self.m.unwrap_or(0);
        let fitting = fitting + share(fitting).m.unwrap_or(0);
        GpuError::OutOfMemory { rows, needed, available, fitting }
    }
}
