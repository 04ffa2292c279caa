//! Regression on all the data over rows that are read again for every iteration.

use super::full::{FullKrr, START};
use super::full_memory::{ITERATIONS, PRECONDITIONER, SHARE_OF_BUDGET, Sizes};
use super::full_system::{FullSystem, ShiftedFactor, factor};
use super::row_passes::{CheckedPasses, RowPasses};
use super::{Extras, IterativeFit, MemoryPlan};
use crate::data::TILE_ROWS;
use crate::device::KernelProduct;
use crate::model::Targets;
use crate::state::{RowSums, RowValues};
use faer::{MatMut, MatRef};
use nystrom_kernels::{Kernel, KernelMatrix, PointSet};
use nystrom_linalg_core::{Result, Scalar, validate};
use rand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Copies of the points while they travel: what a merge takes, and its message.
const COPIES: u64 = 3;

impl<T: Scalar, K: Kernel<T> + Clone> FullKrr<K, T> {
    /// As [`fit_with`](Self::fit_with), for rows that are read in passes. The first collects d
    /// coordinates, t targets and the weight of each row. There is one more for each iteration, and
    /// for each computation of the true residual.
    ///
    /// From then on every process holds all points. A pass computes K\[i, all\]v for the rows i of
    /// a process and concatenates the results of all processes in the order of the rows. So the n²
    /// kernel values are distributed. Every process runs conjugate gradients and the preconditioner
    /// by itself, on the same numbers. With a [device](Extras::device) the rows are read once, and
    /// each process computes whole products on its device.
    ///
    /// # Cost
    /// The preconditioner takes nk + n kernel values and nk² flops, a pass n² kernel values and
    /// 2n²t flops: twice the values of [`fit`](Self::fit), which evaluates one triangle. Memory:
    /// [`memory_in_passes`](Self::memory_in_passes). The bits depend on the rows and on where tiles
    /// of 1024 rows begin, not on the distribution of rows. They differ from those of
    /// [`fit`](Self::fit).
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the passes;
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if rows are missing when they are read again.
    ///
    /// # Randomness
    /// As [`fit`](Self::fit).
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Extras, FullKrr, Problem};
    /// use nystrom_linalg_core::Ridge;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..1500).map(|i| f64::from(i) / 750.0).collect();
    /// let y = Mat::from_fn(1500, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Problem::from((Points::from_slice(&x), &y)); // or files: any RowSource
    /// let full = FullKrr::new(Gaussian::new(0.2)?, Ridge::PerSample(1e-6));
    /// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
    /// let fit = full.fit_passes(&mut rows, [1, 1], Extras::default(), rng)?;
    /// assert!(fit.converged() && fit.model.centers().len() == 1500);
    /// let f = fit.model.predict(Points::from_slice(&[0.123]))?;
    /// assert!((f[(0, 0)] - 0.492_f64.sin()).abs() < 1e-3);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn fit_passes<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        [dim, targets]: [usize; 2],
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        self.options.check()?;
        validate::not_empty("coordinates (d)", dim)?;
        validate::not_empty("targets", targets)?;
        // what can be known before the rows are
        self.ridge.absolute(1)?;
        validate::not_empty(PRECONDITIONER, self.rank.unwrap_or(1))?;
        extras.check_columns(targets)?;
        let most = self.most_rows([dim, targets])?;
        let sums = rows.pass(RowValues::rows(&self.kernel, [dim, targets], most))?;
        let n = RowSums::rows(&sums) as usize;
        let memory = self.memory_in_passes([n, dim, targets])?;
        let all = sums.collected()?;
        let samples = all.problem();
        samples.check(&self.kernel)?;
        let mu = self.ridge.absolute(n)?.f64(); //                              μ = nλ
        extras.check_start(START, n, targets)?;
        extras.check_resume(n, targets + usize::from(self.intercept))?;

        let matrix = KernelMatrix::new(&self.kernel, samples.x)?;
        let sizes = self.sizes_in_passes([n, dim, targets])?;
        let prepared = Targets::new(samples, self.intercept); //                √D, y − ȳ
        let root = &prepared.root;
        // refused before the preconditioner
        let on_device =
            extras.device.map(|device| device.matrix(&self.kernel, samples.x, sizes.columns, rng));
        let on_device = on_device.transpose()?;
        let F = factor(&matrix, &sizes, root, &[mu], rng)?; //                  K ≈ FFᵀ
        let before = ((F.ncols() + 1) * n) as u64;
        let P = ShiftedFactor::new(F, root, &[mu], false)?;
        let entries = AtomicU64::new(before);
        let passes = CheckedPasses { rows, n, row_entries: n, entries: &entries };
        let K: Box<dyn KernelProduct> = on_device.unwrap_or_else(|| {
            Box::new(AllRowProducts { kernel: &self.kernel, points: &all.x, targets, passes })
        });
        let system = FullSystem::new(K, P, root, &[mu], 0);
        let so_far = || entries.load(Relaxed);
        let mut fit = self.solve(system, &prepared, mu, (memory, &so_far), extras)?;
        fit.report.passes += 1; // that collected the rows
        // without passes that verify a residual, of which a resumed fit may take fewer
        let square = (n as u64).pow(2);
        fit.model.report.kernel_entries = before + fit.report.iterations as u64 * square;
        Ok(fit)
    }

    /// The memory of [`fit_passes`](Self::fit_passes) on each process, in bytes, for n rows of d
    /// coordinates and t targets. c = t, or t + 1 with an intercept:
    ///
    /// | | |
    /// |---|---|
    /// | `kept` | 24n(d + t + 1): the rows, what a merge takes, and its message |
    /// | `vectors` | 128nc: of conjugate gradients, and products on their way |
    /// | `factors` | 8nk + 48k² (4nk + 48k² in `f32`): F of the preconditioner, and squares |
    /// | `tiles` | 8 MiB, for a MiB a thread |
    ///
    /// More processes do not reduce it: K\[i, all\] needs all points, and each pivot of F needs the
    /// rows of F at earlier pivots. With `options.memory` the factors take at most a quarter of
    /// that memory, unless the caller gave the rank. So less memory means a smaller k and more
    /// iterations.
    ///
    /// # Errors
    /// As [`fit`](Self::fit) for a rank;
    /// [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) if `options.memory` does not hold
    /// it, [`Empty`](nystrom_linalg_core::Error::Empty) without rows.
    pub fn memory_in_passes(&self, size: [usize; 3]) -> Result<MemoryPlan> {
        let sizes = self.sizes_in_passes(size)?;
        let [n, dim, targets] = size.map(|size| size as u64);
        let (wide, columns) = (size_of::<f64>() as u64, sizes.columns as u64);
        let least = sizes.plan::<T>(None)?;
        let plan = MemoryPlan {
            vectors: least.vectors + 2 * n * columns * wide,
            kept: COPIES * n * (dim + targets + 1) * wide,
            kept_rows: size[0],
            tile_rows: TILE_ROWS,
            ..least
        };
        plan.within(self.options.memory, "regression on all rows, which every process holds")
    }

    /// The most rows that `options.memory` holds.
    ///
    /// # Errors
    /// As [`memory_in_passes`](Self::memory_in_passes) for a single row.
    fn most_rows(&self, [dim, targets]: [usize; 2]) -> Result<u64> {
        let holds = |n: u64| self.memory_in_passes([n as usize, dim, targets]);
        let Some(budget) = self.options.memory else { return Ok(u64::MAX) };
        let rank = self.rank.unwrap_or(1).max(1) as u64;
        holds(rank)?;
        // a row is a number at least
        let (mut fits, mut fails) = (rank, budget.max(rank + 1));
        while fails - fits > 1 {
            let n = fits + (fails - fits) / 2;
            if holds(n).is_ok() { fits = n } else { fails = n }
        }
        Ok(fits)
    }

    fn sizes_in_passes(&self, [n, dim, targets]: [usize; 3]) -> Result<Sizes> {
        validate::not_empty("points (n)", n)?;
        // all of K an iteration, in the place of a triangle
        let size = [n, dim, targets + usize::from(self.intercept)];
        let sizes = Sizes::new::<T>(self.rank, size, 1, 2.0 * ITERATIONS, None)?;
        let (None, Some(budget)) = (self.rank, self.options.memory) else { return Ok(sizes) };
        // nk numbers of F and six squares in a share of the memory: 48k² + wnk = share
        let (w, share) = ((n * size_of::<T>()) as f64, (budget / SHARE_OF_BUDGET) as f64);
        let within = (((w * w + 192.0 * share).sqrt() - w) / 96.0) as usize;
        Ok(Sizes { rank: sizes.rank.min(within).max(1), ..sizes })
    }
}

/// Kα, by a pass in which every row has its kernel values with all points.
struct AllRowProducts<'a, P, K, T> {
    kernel: &'a K,
    points: &'a Arc<PointSet<T>>,
    targets: usize,
    passes: CheckedPasses<'a, P>,
}

impl<T: Scalar, K: Kernel<T> + Clone, P: RowPasses<T>> KernelProduct
    for AllRowProducts<'_, P, K, T>
{
    fn product(&mut self, mut out: MatMut<'_, f64>, alpha: MatRef<'_, f64>, _: bool) -> Result<()> {
        let empty = RowValues::product(self.kernel, self.points, self.targets, alpha);
        out.copy_from(self.passes.pass(empty)?.values()?);
        Ok(())
    }
}
