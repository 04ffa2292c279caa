//! Falkon and KRILL over rows that are not in memory: a pass for each iteration.

use super::restricted::{Restricted, START, Span};
use super::row_passes::{CheckedPasses, RowPasses};
use super::system::{Moments, RowProducts};
use super::{Extras, Falkon, IterativeFit, Krill, MemoryPlan};
use crate::features::{factor, gathered, span, spread};
use crate::state::{CenterProducts, PassInput, RowSums};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, Error, Result, Scalar, Streams, validate};
use nystrom_sketch::Sketch;
use rand::Rng;
use std::sync::atomic::AtomicU64;

impl<T: Scalar, K: Kernel<T> + Clone> Falkon<K, T> {
    /// As [`fit_with`](Self::fit_with), for rows that are read in passes: one for the right-hand
    /// side, one for each iteration, and one for each computation of the true residual. Centres and
    /// the number of targets must be known, the number of rows need not.
    ///
    /// All centres represent equally many rows, as those of a uniform sample do.
    ///
    /// # Cost
    /// That of [`fit`](Self::fit). Memory: 16m² bytes, vectors of m numbers and a tile of 1024
    /// rows, for any n. The bits depend on the rows and on the order in which sums were merged.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the passes;
    /// [`Error::Shape`] if rows are missing when they are read again.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{Extras, Falkon, Problem};
    /// use nystrom_linalg_core::Ridge;
    /// let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 2000.0).collect();
    /// let y = Mat::from_fn(4000, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Problem::from((Points::from_slice(&x), &y)); // or files: any RowSource
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
        self.restricted().fit_passes(rows, centers, None, targets, extras)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Krill<K, T> {
    /// As [`fit_with`](Self::fit_with), for rows that are read in passes: those of
    /// [`Falkon::fit_passes`], and one for the embedding. Centres of any kind.
    ///
    /// # Cost
    /// That of [`fit`](Self::fit). Memory: 32m² bytes, and 16m² more for each sum of the first two
    /// passes that is not merged yet; for any n.
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
    /// use nystrom_krr::{Extras, Krill, Problem};
    /// use nystrom_linalg_core::Ridge;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 2000.0).collect();
    /// let y = Mat::from_fn(4000, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Problem::from((Points::from_slice(&x), &y)); // or files: any RowSource
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
        self.restricted(rng).fit_passes(rows, centers, None, targets, extras)
    }

    /// As [`fit_passes`](Self::fit_passes), with f restricted to the span of a sketch S of `points`
    /// as in [`Falkon::fit_sketch`]. The u points at which S has a row that is not zero are the
    /// centres. K_nu S takes the place of K_nm, and SᵀK_uu S that of K_mm. A start has a row for
    /// each column of S.
    ///
    /// # Cost
    /// That of u centres.
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
    /// use nystrom_krr::{Extras, Krill, Problem};
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Accumulation;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 2000.0).collect();
    /// let y = Mat::from_fn(4000, 1, |i, _| (4.0 * x[i]).sin());
    /// let mut rows = Problem::from((Points::from_slice(&x), &y)); // or files: any RowSource
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
        let centers = centers.points();
        self.restricted(rng).fit_passes(rows, centers, Some(span(sketch)), targets, extras)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Restricted<'_, K, T> {
    /// Fits through m centres, or through m linear combinations of u centres: the columns of S,
    /// u × m.
    fn fit_passes<P: RowPasses<T>>(
        &self,
        rows: &mut P,
        centers: Points<'_, T>,
        S: Option<Mat<f64>>,
        targets: usize,
        extras: Extras<'_, K, T>,
    ) -> Result<IterativeFit<K, T>> {
        let unknowns = S.as_ref().map_or(centers.len(), Mat::ncols);
        extras.check_start(START, unknowns, targets)?;
        extras.check_resume(unknowns, targets)?;
        self.options.check()?;
        self.ridge.absolute(1)?; // before the pass, whose rows are n
        let empty = CenterProducts::new(self.kernel, centers, targets, PassInput::Nothing)?;
        let (m, columns) = (centers.len(), targets + usize::from(self.intercept));
        let factors = self.preconditioner.numbers(m as u64);
        let memory = MemoryPlan::in_passes::<T>(m, columns, factors, self.options.memory)?;
        let S = S.as_ref();
        let R = gram_factor(S, self.kernel.gram(centers))?; //      RRᵀ = SᵀK_uu S + δI
        let sums = rows.pass(empty)?; //                                K_nuᵀD[y 1]
        let (n, (totals, moments)) = (sums.rows() as usize, sums.finish()?);
        let (weight, centred) = (totals[0], false);
        if !(weight > 0.0) {
            return Err(Error::Empty { what: "rows of positive weight" });
        }
        let mean = totals[1..].iter().map(|sum| sum / weight).collect();
        let sums = gathered(S, moments);
        let moments = Moments { n, weight, sums, mean, centred };
        let entries_after = |passes: usize| (passes * n + m) as u64 * m as u64;
        let entries = AtomicU64::new(entries_after(1));
        let expand = |theta| spread(S, theta);
        let span = Span { centers, expand: &expand, R, omega: vec![weight / m as f64; m] };
        let passes = CheckedPasses { rows, n, row_entries: m, entries: &entries };
        let products = CenterRowProducts { kernel: self.kernel, passes, centers, S, targets };
        let mut fit = self.solve(products, moments, span, (memory, &entries), extras)?;
        // without passes that verify a residual, of which a resumed fit may take fewer
        fit.model.report.kernel_entries =
            entries_after(1 + self.preconditioner.passes() + fit.report.iterations);
        Ok(fit)
    }
}

/// R of RRᵀ = SᵀKS + δI, or of K + δI.
fn gram_factor<T: Scalar>(S: Option<&Mat<f64>>, K: Mat<T>) -> Result<Cholesky<f64>> {
    if S.is_none() {
        return factor::<T>(K.as_ref());
    }
    let K = Mat::from_fn(K.nrows(), K.ncols(), |i, j| K[(i, j)].f64());
    let SK = gathered(S, K);
    factor::<T>(gathered(S, SK.transpose().to_owned()).as_ref())
}

/// Products with K_nm, or K_nu S, by passes.
struct CenterRowProducts<'a, P, K, T> {
    kernel: &'a K,
    passes: CheckedPasses<'a, P>,
    centers: Points<'a, T>,
    S: Option<&'a Mat<f64>>,
    targets: usize,
}

impl<T: Scalar, K: Kernel<T> + Clone, P: RowPasses<T>> RowProducts
    for CenterRowProducts<'_, P, K, T>
{
    fn embedding(&mut self, streams: Streams) -> Result<Mat<f64>> {
        let CenterRowProducts { kernel, centers, targets, .. } = *self;
        let input = PassInput::Embedded(streams.key());
        let sums = self.passes.pass(CenterProducts::new(kernel, centers, targets, input)?)?;
        Ok(gathered(self.S, sums.finish()?.1))
    }

    fn normal(&mut self, u: MatRef<'_, f64>, _: bool) -> Result<Mat<f64>> {
        let CenterRowProducts { kernel, centers, targets, .. } = *self;
        let input = PassInput::Along(spread(self.S, u.to_owned()));
        let sums = self.passes.pass(CenterProducts::new(kernel, centers, targets, input)?)?;
        Ok(gathered(self.S, sums.finish()?.1))
    }
}
