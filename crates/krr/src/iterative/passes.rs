//! Falkon and KRILL over rows that are not in memory: a pass for each iteration.

use super::again::{Again, Seen};
use super::falkon::preconditioner;
use super::krill::embedded_preconditioner;
use super::restricted::{Restricted, START, begun};
use super::run::{Watch, run_watched};
use super::system::{Constant, NormalProducts, System};
use super::{Extras, Falkon, IterativeFit, Krill, MemoryPlan, RowPasses};
use crate::kernel_rows::span;
use crate::problem::TILE_ROWS;
use crate::state::{CenterProducts, PassInput, RowSums};
use crate::whitener::factor;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, Error, Result, Scalar, Streams, ops, validate};
use nystrom_sketch::Sketch;
use rand::Rng;

impl<T: Scalar, K: Kernel<T> + Clone> Falkon<K, T> {
    /// As [`fit_with`](Self::fit_with), for rows that are shown in passes. There is one for the
    /// right-hand side, one an iteration, and one for every time the true residual is computed.
    /// Centres and the number of targets have to be known; how many rows there are need not be.
    ///
    /// Every centre stands for as many rows as any other, as those of a uniform sample do.
    ///
    /// # Cost
    /// That of [`fit`](Self::fit). Memory: 16M² bytes, vectors of M numbers and a tile of 1024
    /// rows; nothing that grows with n. The bits depend on the rows and on what of their sums was
    /// merged with what.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the passes;
    /// [`Error::Shape`] if rows are missing when they are read again.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Blocks, Extras, Falkon};
    /// use nystrom_linalg_core::Ridge;
    /// let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 2000.0).collect();
    /// let y = Mat::from_fn(4000, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Blocks::new((Points::from_slice(&x), &y), 600)?; // or files: any RowSource
    /// let centers: Vec<f64> = (0..40).map(|j| f64::from(j) / 20.0).collect();
    /// let falkon = Falkon::new(Gaussian::new(0.2)?, Ridge::PerSample(1e-6));
    /// let centers = Points::from_slice(&centers);
    /// let fit = falkon.fit_passes(&mut rows, centers, 1, Extras::default())?;
    /// assert!(fit.converged() && fit.report.passes >= fit.report.iterations + 1);
    /// let f = fit.model.predict(Points::from_slice(&[0.123]))?;
    /// assert!((f[(0, 0)] - 0.492_f64.sin()).abs() < 1e-3);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn fit_passes<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        centers: Points<'_, T>,
        targets: usize,
        extras: Extras<'_, K, T>,
    ) -> Result<IterativeFit<K, T>> {
        // every centre stands for as many rows: Ω = (Σw/M)I
        let precondition = |_: &mut P, R: &Cholesky<f64>, weight: f64, mu: f64| {
            let m = centers.len();
            preconditioner(R, &vec![weight / m as f64; m], mu)
        };
        let through = Through { centers, span: None };
        self.restricted().fit_passes(rows, &through, targets, extras, precondition)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Krill<K, T> {
    /// As [`fit_with`](Self::fit_with), for rows that are shown in passes: as
    /// [`Falkon::fit_passes`], with one pass more, for the embedding, and for centres of any kind.
    ///
    /// # Cost
    /// That of [`fit`](Self::fit). Memory: 32M² bytes, and 16M² more for every sum of the first
    /// passes that waits to be merged; nothing that grows with n.
    ///
    /// # Randomness
    /// One key. The embedding of a tile follows from the key and the number of its first row.
    ///
    /// # Errors
    /// As [`Falkon::fit_passes`].
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Blocks, Extras, Krill};
    /// use nystrom_linalg_core::Ridge;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 2000.0).collect();
    /// let y = Mat::from_fn(4000, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Blocks::new((Points::from_slice(&x), &y), 600)?; // or files: any RowSource
    /// let anywhere: Vec<f64> = (0..40).map(|j| f64::from(j) / 20.0).collect();
    /// let krill = Krill::new(Gaussian::new(0.2)?, Ridge::PerSample(1e-6));
    /// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
    /// let anywhere = Points::from_slice(&anywhere);
    /// let fit = krill.fit_passes(&mut rows, anywhere, 1, Extras::default(), rng)?;
    /// assert!(fit.converged() && fit.report.passes >= fit.report.iterations + 2);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn fit_passes<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        centers: Points<'_, T>,
        targets: usize,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        self.through(rows, &Through { centers, span: None }, targets, extras, rng)
    }

    /// As [`fit_passes`](Self::fit_passes), with f restricted to the span of a sketch S of `points`
    /// as in [`Falkon::fit_sketch`]. With M the rows of S that are not zero, K_nM S takes the place
    /// of K_nM, and SᵀKS that of K_MM. A start has a row for each column of S.
    ///
    /// # Cost
    /// That of the M centres.
    ///
    /// # Errors
    /// As [`fit_passes`](Self::fit_passes); [`Error::Shape`] unless S has a row for each point.
    ///
    /// # Randomness
    /// One key.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Blocks, Extras, Krill};
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Accumulation;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 2000.0).collect();
    /// let y = Mat::from_fn(4000, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Blocks::new((Points::from_slice(&x), &y), 600)?; // or files: any RowSource
    /// let sample: Vec<f64> = x.iter().copied().step_by(10).collect();
    /// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
    /// let sums = Accumulation::uniform(4).sample(400, 20, rng)?;
    /// let krill = Krill::new(Gaussian::new(0.4)?, Ridge::PerSample(1e-6));
    /// let (sample, extras) = (Points::from_slice(&sample), Extras::default());
    /// let fit = krill.fit_sketch_passes(&mut rows, sample, &sums, 1, extras, rng)?;
    /// assert!(fit.converged() && fit.model.report().m <= 80);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn fit_sketch_passes<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        points: Points<'_, T>,
        sketch: &dyn Sketch<T>,
        targets: usize,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        validate::same_size("rows of the sketch against points", points.len(), sketch.n())?;
        self.kernel.check_points(points)?;
        let centers = points.gather(sketch.support().into());
        let (centers, span) = (Points::from_cols(centers.as_ref()), Some(span(sketch)));
        let through = Through { centers, span };
        self.through(rows, &through, targets, extras, rng)
    }

    fn through<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        through: &Through<'_, T>,
        targets: usize,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        let streams = Streams::from_rng(rng);
        // Ψ√D K_nM S R⁻ᵀ
        let precondition = |rows: &mut P, R: &Cholesky<f64>, _: f64, mu: f64| {
            let input = PassInput::Embedded(streams.key());
            let empty = CenterProducts::new(&self.kernel, through.centers, targets, input)?;
            let (_, embedded) = rows.pass(empty)?.finish()?;
            embedded_preconditioner(through.gathered(embedded), R, mu)
        };
        self.restricted().fit_passes(rows, through, targets, extras, precondition)
    }
}

/// What f is restricted to: the span of kernels at M centres, or of m of their linear combinations.
struct Through<'a, T> {
    centers: Points<'a, T>,
    /// S, M × m.
    span: Option<Mat<f64>>,
}

impl<T: Scalar> Through<'_, T> {
    /// m, or M.
    fn width(&self) -> usize {
        self.span.as_ref().map_or(self.centers.len(), |S| S.ncols())
    }

    /// RRᵀ = SᵀK_MM S + δI.
    fn factor(&self, kernel: &dyn Kernel<T>) -> Result<Cholesky<f64>> {
        let K = kernel.gram(self.centers);
        if self.span.is_none() {
            return factor::<T>(K.as_ref());
        }
        let K = Mat::from_fn(K.nrows(), K.ncols(), |i, j| K[(i, j)].f64());
        let SK = self.gathered(K);
        factor::<T>(self.gathered(SK.transpose().to_owned()).as_ref())
    }

    /// SᵀA.
    fn gathered(&self, A: Mat<f64>) -> Mat<f64> {
        let Some(S) = &self.span else { return A };
        ops::times(S.transpose(), A.as_ref())
    }

    /// Sθ.
    fn spread(&self, theta: Mat<f64>) -> Mat<f64> {
        let Some(S) = &self.span else { return theta };
        ops::times(S.as_ref(), theta.as_ref())
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Restricted<'_, K, T> {
    /// Fits through centres; `precondition` makes G with GGᵀ ≈ ΦᵀDΦ + μI from R, Σw and μ.
    fn fit_passes<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        through: &Through<'_, T>,
        targets: usize,
        extras: Extras<'_, K, T>,
        precondition: impl FnOnce(&mut P, &Cholesky<f64>, f64, f64) -> Result<Cholesky<f64>>,
    ) -> Result<IterativeFit<K, T>> {
        let centers = through.centers;
        extras.check_start(START, through.width(), targets)?;
        let Begun { R, b, constant, n, weight, mu, memory } = self.begin(rows, through, targets)?;
        let G = precondition(rows, &R, weight, mu)?;
        let before = if matches!(self.solver, SolvedBy::Krill) { 2 } else { 1 };
        let (m, seen) = (centers.len() as u64, Seen::after(before));
        let start = extras.start.map(|theta| begun(&R, theta)); //                          β = Rᵀθ
        let model = |beta: MatRef<'_, f64>, condition: f64, reason: String| {
            let mut theta = beta.to_owned();
            R.backward_in_place(theta.as_mut()); //                                         θ = R⁻ᵀβ
            let b = constant.as_ref().map(|constant| constant.intercepts(beta));
            let report = FitReport {
                ridge: mu,
                jitter: R.jitter(),
                reason,
                condition,
                kernel_entries: (seen.passes() * n + m) * m,
                ..FitReport::sized(self.solver, n as usize, centers, targets)
            };
            let theta = through.spread(theta);
            let b = b.as_deref();
            KrrModel::from_parts(self.kernel.clone(), centers, theta.as_ref(), b, report)
        };
        let again = Again::new(rows, n, &seen);
        let products = Passing { kernel: self.kernel, again, through, targets };
        let mut system = System { products, R: &R, mu, G, constant: constant.as_ref() };
        let mut look = seen.until_failure(extras.monitor);
        let watch = Watch { start, resume: extras.resume, monitor: Some(&mut look) };
        let ran = run_watched(&mut system, b.as_ref(), watch, self.options, &model);
        let (model, ran) = system.products.again.unless_failed(ran)?;
        let mut fit = ran.finish(model, self.options, seen.passes() as usize, memory);
        // of a fit that was gone on with, too: without the passes that verified
        let once = fit.report.iterations as u64 + before;
        fit.model.report.kernel_entries = (once * n + m) * m;
        Ok(fit)
    }

    /// R, and the right-hand side by a first pass.
    fn begin<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        through: &Through<'_, T>,
        targets: usize,
    ) -> Result<Begun> {
        self.options.check()?;
        self.ridge.absolute(1)?; // before the pass, whose rows are n
        // K_nMᵀD[y 1]
        let (centers, input) = (through.centers, PassInput::Nothing);
        let empty = CenterProducts::new(self.kernel, centers, targets, input)?;
        let memory = self.memory_of_passes(through.centers.len(), targets)?;
        let R = through.factor(self.kernel)?;
        let sums = rows.pass(empty)?;
        let (n, (totals, moments)) = (sums.rows(), sums.finish()?);
        let (weight, mut moments) = (totals[0], through.gathered(moments));
        if !(weight > 0.0) {
            return Err(Error::Empty { what: "rows of positive weight" });
        }
        let mu = self.ridge.absolute(n as usize)?.f64(); //                                  μ = nλ
        R.forward_in_place(moments.as_mut());
        // b = ΦᵀDy
        let (b, constant) = Constant::eliminated(moments, weight, &totals[1..], self.intercept);
        Ok(Begun { R, b, constant, n, weight, mu, memory })
    }

    /// Bytes beside a block of rows.
    fn memory_of_passes(&self, m: usize, targets: usize) -> Result<MemoryPlan> {
        let (wide, narrow) = (size_of::<f64>() as u64, size_of::<T>() as u64);
        let (centers, columns) = (m as u64, (targets + usize::from(self.intercept)) as u64);
        let copy = if narrow < wide { wide } else { 0 };
        let plan = MemoryPlan {
            factors: (self.factors)(centers) * wide,
            vectors: 10 * centers * columns * wide,
            tiles: TILE_ROWS as u64 * centers * (narrow + copy),
            kept: 0,
            kept_rows: 0,
            tile_rows: TILE_ROWS,
        };
        plan.within(self.options.memory, "an iterative fit")
    }
}

/// What is known after the first pass.
struct Begun {
    /// RRᵀ = K_MM + δI.
    R: Cholesky<f64>,
    /// ΦᵀDy.
    b: Mat<f64>,
    constant: Option<Constant>,
    n: u64,
    /// Σ w.
    weight: f64,
    /// nλ.
    mu: f64,
    memory: MemoryPlan,
}

/// K_nMᵀDK_nM u, each by a pass.
struct Passing<'a, P, K, T> {
    kernel: &'a K,
    again: Again<'a, P>,
    through: &'a Through<'a, T>,
    targets: usize,
}

impl<T: Scalar, K: Kernel<T> + Clone, P: RowPasses<T>> NormalProducts for Passing<'_, P, K, T> {
    fn normal(&mut self, u: MatRef<'_, f64>) -> Mat<f64> {
        let (through, spread) = (self.through, self.through.spread(u.to_owned()));
        let (centers, input) = (through.centers, PassInput::Along(spread));
        let empty = CenterProducts::unchecked(self.kernel, centers, self.targets, input);
        let out = self.again.pass(empty, |sums| Ok(through.gathered(sums.finish()?.1)));
        out.unwrap_or_else(|| Mat::zeros(u.nrows(), u.ncols()))
    }
}
