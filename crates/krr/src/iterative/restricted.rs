//! A fit restricted to M centres, whatever the preconditioner.

use crate::iterative::run::{Watch, run_watched};
use crate::iterative::system::{System, right_hand_side};
use crate::iterative::tiles::{Count, Tiles};
use crate::iterative::{Extras, IterativeFit, IterativeOptions, MemoryPlan};
use crate::kernel_rows::KernelRows;
use crate::rows::Source;
use crate::sketched::{STREAMED_SHARE, SketchRows};
use crate::whitener::{factor, whitened};
use crate::{Centers, FitReport, KrrModel, Problem, SolvedBy};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_linalg_core::{Cholesky, Result, Ridge, Scalar, ops, validate};
use nystrom_sketch::{Sketch, SketchProduct};

/// What a start is checked against.
pub(super) const START: &str = "rows of the start against number of centres";

/// What Falkon and KRILL have in common.
pub(crate) struct Restricted<'a, K, T> {
    pub kernel: &'a K,
    pub ridge: Ridge<T>,
    pub intercept: bool,
    pub options: &'a IterativeOptions,
    pub solver: SolvedBy,
    /// Numbers of `f64` in factorisations for m centres, at the peak.
    pub factors: fn(u64) -> u64,
}

/// What a preconditioner is made from.
pub(crate) struct Ingredients<'a, 'b, T> {
    pub tiles: &'a Tiles<'b, T>,
    /// RRᵀ = K_MM + δI.
    pub R: &'a Cholesky<f64>,
    /// What each centre stands for.
    pub omega: &'a [f64],
    pub mu: f64,
}

/// The space that f is restricted to: its M features of a row before whitening, and the way back.
struct Space<'a, T> {
    source: &'a dyn Source<T>,
    /// The features of all rows, M × n, if they are at hand.
    stored: Option<Mat<T>>,
    /// RRᵀ = K_MM + δI.
    R: Cholesky<f64>,
    omega: Vec<f64>,
    count: Count,
    memory: MemoryPlan,
    /// The model's centres, and its coefficients from θ.
    centers: Points<'a, T>,
    expand: &'a (dyn Fn(Mat<f64>) -> Mat<f64> + Sync),
}

impl<T: Scalar, K: Kernel<T> + Clone> Restricted<'_, K, T> {
    /// Fits through centres; `precondition` makes G with GGᵀ ≈ ΦᵀDΦ + μI.
    pub fn fit(
        &self,
        samples: Problem<'_, T>,
        centers: Centers<'_, T>,
        extras: Extras<'_, K, T>,
        precondition: impl FnOnce(Ingredients<'_, '_, T>) -> Result<Cholesky<f64>>,
    ) -> Result<IterativeFit<K, T>> {
        samples.check(self.kernel)?;
        self.options.check()?;
        let (x, t) = (samples.x, samples.y.ncols());
        let (z, omega) = (centers.points(x, self.kernel)?, centers.weights_in(samples)?);
        let z = Points::from_cols(z.as_ref());
        extras.check_start(START, z.len(), t)?;
        let mu = self.ridge.absolute(x.len())?.f64(); //                                     μ = nλ
        let memory = self.plan(x.len(), z.len(), t, 0)?;
        let space = Space {
            source: &KernelRows::new(self.kernel, z, None),
            stored: None,
            // RRᵀ = K_MM + δI
            R: factor::<T>(self.kernel.gram(z).as_ref())?,
            omega,
            count: Count::new(z.len(), (z.len() as u64).pow(2)),
            memory,
            centers: z,
            expand: &|theta| theta,
        };
        self.solve(samples, space, mu, extras, precondition)
    }

    /// Fits through the span of a sketch: KS for K_nM and SᵀKS for K_MM, column j standing
    /// for c_j², the square of its scale.
    pub fn fit_sketch(
        &self,
        samples: Problem<'_, T>,
        sketch: &dyn Sketch<T>,
        precondition: impl FnOnce(Ingredients<'_, '_, T>) -> Result<Cholesky<f64>>,
    ) -> Result<IterativeFit<K, T>> {
        samples.check(self.kernel)?;
        self.options.check()?;
        let (x, n, u) = (samples.x, samples.x.len(), sketch.support().len());
        validate::same_size("rows of the sketch against number of points", n, sketch.n())?;
        let mu = self.ridge.absolute(n)?.f64(); //                                           μ = nλ
        let memory = self.plan_sketch(sketch, samples.y.ncols())?;
        let k = KernelMatrix::new(self.kernel, x)?;
        let product = SketchProduct::new(&k, sketch)?;
        // KS on the support
        let on_support = product.on_support()?;
        // RRᵀ = SᵀKS + δI
        let R = factor::<T>(product.gram(on_support.as_ref()).as_ref())?;
        let (stored, rest) = if streamed(sketch) {
            (None, 0)
        } else {
            let KS = product.stored(on_support.as_ref())?;
            (Some(KS.transpose().to_owned()), ((n - u) * u) as u64)
        };
        let (before, mean_weight) = (product.support_entries() + rest, samples.mean_weight());
        drop(on_support);
        let centers = x.gather(sketch.support().into());
        let space = Space {
            source: &SketchRows { kernel: self.kernel, product, kept: None },
            stored,
            R,
            omega: sketch.scales().iter().map(|c| c * c * mean_weight).collect(),
            count: Count::new(u, before),
            memory,
            centers: Points::from_cols(centers.as_ref()),
            expand: &|theta| sketch.expand(theta.as_ref()),
        };
        self.solve(samples, space, mu, Extras::default(), precondition)
    }

    fn solve(
        &self,
        samples: Problem<'_, T>,
        space: Space<'_, T>,
        mu: f64,
        extras: Extras<'_, K, T>,
        precondition: impl FnOnce(Ingredients<'_, '_, T>) -> Result<Cholesky<f64>>,
    ) -> Result<IterativeFit<K, T>> {
        let Space { source, stored, R, omega, count, memory, centers: z, expand } = space;
        let tiles = Tiles::new(source, samples, &memory, stored, &count);
        // GGᵀ ≈ ΦᵀDΦ + μI
        let G = precondition(Ingredients { tiles: &tiles, R: &R, omega: &omega, mu })?;
        // b = ΦᵀDy
        let (b, constant) = right_hand_side(&tiles, &R, self.intercept);
        let start = extras.start.map(|theta| begun(&R, theta)); //                           β = Rᵀθ
        let model = |beta: MatRef<'_, f64>, condition: f64, reason: String| {
            let mut theta = beta.to_owned();
            R.backward_in_place(theta.as_mut()); //                                      θ = R⁻ᵀβ
            let theta = expand(theta);
            let b = constant.as_ref().map(|constant| constant.intercepts(beta));
            let report = FitReport {
                ridge: mu,
                jitter: R.jitter(),
                reason,
                condition,
                kernel_entries: count.entries(),
                ..FitReport::sized(self.solver, samples.x.len(), z, beta.ncols())
            };
            KrrModel::from_parts(self.kernel.clone(), z, theta.as_ref(), b.as_deref(), report)
        };
        let mut system = System { products: tiles, R: &R, mu, G, constant: constant.as_ref() };
        let watch = Watch { start, resume: extras.resume, monitor: extras.monitor };
        let (model, ran) = run_watched(&mut system, b.as_ref(), watch, self.options, &model)?;
        Ok(ran.finish(model, self.options, count.passes(), memory))
    }

    /// For m features, those of a sketch with u rows in its support.
    fn plan(&self, n: usize, m: usize, t: usize, u: usize) -> Result<MemoryPlan> {
        let columns = t + usize::from(self.intercept);
        let factors = (self.factors)(m as u64) + u as u64 * m as u64;
        MemoryPlan::restricted::<T>(n, m, columns, factors, self.options.memory)
    }

    /// For a sketch; KS has to be kept whole where its support is large.
    fn plan_sketch(&self, sketch: &dyn Sketch<T>, t: usize) -> Result<MemoryPlan> {
        let (n, d) = (sketch.n(), sketch.width());
        let plan = self.plan(n, d, t, sketch.support().len())?;
        if streamed(sketch) { Ok(plan) } else { plan.all_kept::<T>(n, d, self.options.memory) }
    }
}

/// Whether KS is computed tile by tile in every pass.
fn streamed<T: Scalar>(sketch: &dyn Sketch<T>) -> bool {
    sketch.support().len() <= sketch.n() / STREAMED_SHARE
}

/// β = Rᵀθ of coefficients to begin with.
pub(crate) fn begun<T: Scalar>(R: &Cholesky<f64>, theta: MatRef<'_, T>) -> Mat<f64> {
    whitened(R.lower(), ops::widened(theta, &mut Mat::new()))
}
