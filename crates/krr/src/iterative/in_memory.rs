//! Falkon and KRILL over rows in memory.

use super::device_rows::device_product;
use super::restricted::{Restricted, START, Span};
use super::tiles::KernelTiles;
use super::{Extras, IterativeFit, MemoryPlan};
use crate::direct::{SketchRows, is_streamed};
use crate::features::{KernelRows, factor};
use crate::{Centers, Problem};
use nystrom_kernels::{Kernel, KernelMatrix};
use nystrom_linalg_core::{Result, Scalar, validate};
use nystrom_sketch::{Sketch, SketchProduct};
use std::sync::atomic::AtomicU64;

impl<T: Scalar, K: Kernel<T> + Clone> Restricted<'_, K, T> {
    /// Fits through centres.
    pub fn fit(
        &self,
        samples: Problem<'_, T>,
        centers: Centers<'_, T>,
        extras: Extras<'_, K, T>,
    ) -> Result<IterativeFit<K, T>> {
        samples.check(self.kernel)?;
        if extras.device.is_some() {
            samples.x.check_dense()?;
        }
        self.options.check()?;
        let (x, t) = (samples.x, samples.y.ncols());
        let (z, omega) = (centers.points(x, self.kernel)?, centers.weights_in(samples)?);
        let z = z.points();
        extras.check_start(START, z.len(), t)?;
        self.ridge.absolute(x.len())?;
        let memory = self.plan(x.len(), z.len(), t, 0)?;
        // RRᵀ = K_mm + δI
        let R = factor::<T>(self.kernel.gram(z).as_ref())?;
        let span = Span { centers: z, expand: &|theta| theta, R, omega };
        let entries = AtomicU64::new((z.len() as u64).pow(2));
        let source = KernelRows::new(self.kernel, z, None);
        let tiles = KernelTiles::new(&source, samples, &memory, None, (z.len(), &entries));
        let moments = tiles.moments(self.intercept);
        let by = |device| device_product(device, (self.kernel, z, samples));
        let tiles = tiles.on(extras.device.map(by));
        self.solve(tiles, moments, span, (memory, &entries), extras)
    }

    /// Fits through the span of a sketch: KS for K_nm and SᵀKS for K_mm, column j standing
    /// for c_j², the square of its scale.
    pub fn fit_sketch(
        &self,
        samples: Problem<'_, T>,
        sketch: &dyn Sketch<T>,
    ) -> Result<IterativeFit<K, T>> {
        samples.check(self.kernel)?;
        self.options.check()?;
        let (x, n, u) = (samples.x, samples.x.len(), sketch.support().len());
        validate::same_size("rows of the sketch against number of points", n, sketch.n())?;
        self.ridge.absolute(n)?;
        // KS has to be kept whole where its support is large
        let (width, streamed) = (sketch.width(), is_streamed(sketch));
        let least = self.plan(n, width, samples.y.ncols(), u)?;
        let kept = |plan: MemoryPlan| plan.all_kept::<T>(n, width, self.options.memory);
        let memory = if streamed { least } else { kept(least)? };
        let k = KernelMatrix::new(self.kernel, x)?;
        let product = SketchProduct::new(&k, sketch)?;
        let on_support = product.on_support()?; //                     KS on the support
        // RRᵀ = SᵀKS + δI
        let R = factor::<T>(product.gram(on_support.as_ref()).as_ref())?;
        let (stored, rest) = if streamed {
            (None, 0)
        } else {
            let KS = product.stored(on_support.as_ref())?;
            (Some(KS.transpose().to_owned()), ((n - u) * u) as u64)
        };
        drop(on_support);
        let entries = AtomicU64::new(product.support_entries() + rest);
        let mean_weight = samples.mean_weight();
        let omega = sketch.scales().iter().map(|c| c * c * mean_weight).collect();
        let centers = x.gather(sketch.support().into());
        let centers = centers.points();
        let expand = |theta: faer::Mat<f64>| sketch.expand(theta.as_ref());
        let span = Span { centers, expand: &expand, R, omega };
        let source = SketchRows { kernel: self.kernel, product, kept: None };
        let tiles = KernelTiles::new(&source, samples, &memory, stored, (u, &entries));
        let moments = tiles.moments(self.intercept);
        self.solve(tiles, moments, span, (memory, &entries), Extras::default())
    }

    /// For m features, those of a sketch with u rows in its support.
    fn plan(&self, n: usize, m: usize, t: usize, u: usize) -> Result<MemoryPlan> {
        let columns = t + usize::from(self.intercept);
        let factors = self.preconditioner.numbers(m as u64) + u as u64 * m as u64;
        MemoryPlan::restricted::<T>(n, m, columns, factors, self.options.memory)
    }
}
