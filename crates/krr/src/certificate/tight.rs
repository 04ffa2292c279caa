//! Lower and upper bounds on the distance to exact regression, by a few passes over K.

use super::dual::{Dual, has_constant};
use super::{CertificateReport, check_fit, without_nan};
use crate::algebra::{share, subtract};
use crate::iterative::full_memory::{ITERATIONS, Sizes};
use crate::iterative::full_system::{FullSystem, Products};
use crate::{KrrModel, MemoryPlan, Problem, ProblemSize};
use faer::{ColMut, ColRef, Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, KernelMatrix};
use nystrom_linalg_core::{
    ConjugateGradients, Counted, KeptTriangle, LinearSystem, PsdMatrix, Result, Scalar, ops,
    validate,
};
use rand::Rng;

/// The preconditioner may cost this many times that of a fit, since there are few passes.
const WORTH: f64 = 2.0;

/// A lower and an upper bound on the distance between a fit f and exact kernel ridge regression f_K
/// at the training points, by a few passes over all of K. They hold with certainty.
///
/// [`Certificate`](crate::Certificate) reads few rows of K, and its upper bound may be many times
/// too large. The bounds here approach each other with every pass.
///
/// # What is bounded
/// Exact regression f_K = Kα* solves (K + μI)α* = y, so that f_K = y − μα*. Any fit is
/// f = y − μα_0 with α_0 = (y − f)/μ. Conjugate gradients on the exact
/// system, begun at α_0, have the iterate α_j and the residual r_j = y − (K + μI)α_j. Hence
/// α* − α_j = (K + μI)⁻¹r_j and
///
/// ```text
/// f_K − f = μ(α_0 − α_j) − S r_j,      S = μ(K + μI)⁻¹.
/// ```
///
/// The iterations have a preconditioner P = FFᵀ + μI with FFᵀ ⪯ K. Hence 0 ⪯ S ⪯ T = μP⁻¹ ⪯ I,
/// and nothing but K ⪰ 0 is used. As ‖T^(−½)(S − T/2)T^(−½)‖ ≤ ½ and ‖T‖ ≤ 1,
///
/// ```text
/// ‖S r − T r/2‖ ≤ √(rᵀT r)/2      for every r, and
/// | ‖f_K − f‖ − ‖μ(α_0 − α_j) − μP⁻¹r_j/2‖ |  ≤  √(μ r_jᵀP⁻¹r_j)/2.
/// ```
///
/// The iterations compute P⁻¹r_j and r_jᵀP⁻¹r_j anyway. With T = I, from ‖S‖ ≤ 1 alone, the
/// distance is also within ‖r_j‖ of ‖μ(α_0 − α_j)‖. For another α_0, the coefficients of f, it is
/// within ‖r_j‖ of ‖K(α_j − α_0)‖, since ‖K(K + μI)⁻¹‖ ≤ 1. With j = 0 the upper side is at most
/// ‖r_0‖ = ‖Kα_0 − f‖, the bound that [`Certificate`](crate::Certificate) has from all rows.
///
/// With weights D all of this holds for √D K √D, √D y, √D f and γ = D^(−1/2)α. If the model has a
/// constant, so has the exact regression. With u = √D1 and M = √D K √D + μI it has γ* = Q√D y for
/// Q = M⁻¹ − M⁻¹uuᵀM⁻¹/uᵀM⁻¹u. As Qu = 0, γ* − γ = Q(√D y − Mγ − βu) for every β and every γ with
/// uᵀγ = 0. As 0 ⪯ Q ⪯ M⁻¹, S = μQ is again between 0 and I. So the iterations stay orthogonal to
/// u. The mean residual of f, if it has one, is orthogonal to all else and added by Pythagoras.
///
/// # Rounding
/// Where `memory` stores K in `f32`, r_j changes by at most ‖E‖·‖γ_j − γ_0‖, with E the rounding
/// errors, whose norm is known. This number widens both bounds. If it is most of the distance
/// between them, the last pass computes r_j from K itself.
///
/// The iterations have rounding errors too: ε(‖K‖ + μ) times the norm of γ_0, once, the norm of
/// γ_j, by half a unit per step, and the norms of the steps. The component of γ_j along u counts
/// 2(‖K‖ + μ) times its length. All these widen the bounds; the iterations end when nothing else is
/// left. By rounding of F, FFᵀ may exceed K by some δ. Then T = cμP⁻¹ with c = 1/(1 − δ/μ), ‖T‖ ≤
/// c, and the radius is √(c rᵀT r)/2. If δ > μ/2, T = I. Rounding errors of kernel values are not
/// counted: K is the matrix of the computed values.
///
/// # Cost
/// A pass takes n²/2 kernel values and 2n²t flops. The preconditioner of
/// [`FullKrr`](crate::FullKrr), here of a higher rank, takes nk values and 2nk² flops; α_0 takes
/// 2nm values and nm² flops, as for [`Certificate`](crate::Certificate). With `memory` for half a
/// matrix in `f32`, all passes together take at most 3n²/2 values. [`cost`](Self::cost) computes
/// the cost beforehand. The bits do not depend on the number of threads.
///
/// # Source
/// The inequalities are elementary and ours. The iterations are those of Díaz et al.,
/// arXiv:2304.12465, projected where there is a constant. See N. Gould, M. Hribar, J. Nocedal, *On
/// the solution of equality constrained quadratic programming problems arising in optimization*,
/// SIAM J. Sci. Comput. 23 (2001), Algorithm 2.1.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{Closeness, NystromKrr, TightCertificate};
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Landmarks;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..1000).map(|i| i as f64 / 100.0).collect();
/// let y = Mat::from_fn(1000, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
/// let (points, krr) =
///     (Points::from_slice(&x), NystromKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-4)));
/// let landmarks = Landmarks::new(1000, (0..1000).step_by(150).collect())?; // 7 of them
/// let model = krr.fit((points, &y), &landmarks)?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let report = TightCertificate::default().certify(&model, (points, &y), rng)?;
/// let target = &report.targets[0];
/// println!("{:.2e} to {:.2e} from exact KRR", target.lower, target.bound);
/// assert!(0.0 < target.lower && target.bound < 1.1 * target.lower);
/// // 7 landmarks are not enough, and that is certain
/// assert!(matches!(report.closeness(), Closeness::Far { .. }));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TightCertificate {
    /// The largest number of passes over K: one for the residual of the fit, the others iterations.
    /// There are fewer if only rounding errors are left.
    pub passes: usize,
    /// The fit counts as close to exact regression if their distance is at most this times the root
    /// mean square of the residuals y − f.
    pub tolerance: f64,
    /// Bytes that it may use; those left store one triangle of K in `f32`. `None`: no limit, and K
    /// is not stored.
    pub memory: Option<u64>,
}

/// The cost of a [`TightCertificate`], computed from the sizes before it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CertificateCost {
    /// Kernel values, accurate to a few per cent. The certificate takes more if K cannot be stored
    /// in `f32` because the ridge is too small for the rounding errors.
    pub kernel_entries: u64,
    /// Flops other than those of kernel values.
    pub flops: f64,
    /// Bytes by purpose.
    pub memory: MemoryPlan,
}

impl Default for TightCertificate {
    /// 5 passes, a tenth of the residuals, nothing kept.
    fn default() -> Self {
        TightCertificate { passes: 5, tolerance: 0.1, memory: None }
    }
}

impl TightCertificate {
    /// Compares `model` with the exact regression of the data that it was fitted to: y (n × t) at
    /// the n points x.
    ///
    /// # Randomness
    /// That of [`RpCholesky`](nystrom_sketch::RpCholesky). The bounds depend on it, but are always
    /// valid.
    ///
    /// # Errors
    /// As [`Certificate::certify`](crate::Certificate::certify);
    /// [`Empty`](nystrom_linalg_core::Error::Empty) for 0 passes,
    /// [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) if the memory does not hold it.
    pub fn certify<'a, T: Scalar, K: Kernel<T> + Clone>(
        &self,
        model: &KrrModel<K, T>,
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<CertificateReport> {
        let samples = problem.into();
        check_fit(model, samples)?;
        self.check()?;
        let (n, t) = (samples.x.len(), samples.y.ncols());
        let sizes = self.sizes::<T>([n, samples.x.mean_stored(), t])?;
        sizes.plan::<T>(self.memory)?; //                        refused before any work
        let dual = Dual::new(model, samples)?;
        let (gamma_0, mu) = (dual.gamma(), dual.mu); //          √D(y − f)/μ, the mean taken off
        let root: Vec<f64> = samples.root_weights(); //          √D
        let K = Counted::new(KernelMatrix::new(model.kernel(), samples.x)?);
        let (system, _) =
            FullSystem::preconditioned(None, &K, &sizes, (&root, &[mu]), self.memory, rng)?;
        let mut system = Orthogonal::to_constant(system, has_constant(model), &root);
        let mut b = Mat::from_fn(n, t, |i, j| root[i] * samples.y[(i, j)].f64());
        system.project(b.as_mut());

        // r_0 = √Dy − Mγ_0
        let cg = ConjugateGradients::start(&mut system, b.as_ref(), Some(gamma_0.as_ref()))?;
        let mut gap = dual.gap.clone();
        system.project(gap.as_mut());
        let rho = cg.r() + gap; //                               −Eα, orthogonal to u
        let first: Vec<_> =
            (0..t).map(|j| [cg.r(), rho.as_ref()].map(|a| a.col(j).norm_l2())).collect();
        let norm_of_M = system.system.norm(K.trace()) + mu;
        let kept = system.error();
        let mut reached = Reached { gamma_0: &gamma_0, cg, mu, kept, norm_of_M, passes: 1 };
        while reached.passes < self.passes && reached.next(&mut system, &b, self.passes)? {}
        let target = |j: usize| {
            let Ball { centre, radius, kept, rounding } = reached.ball(&system, j);
            let ball = [centre, radius + kept + rounding];
            dual.bracketed(ball, first[j].map(|length| length + rounding), j)
        };
        Ok(CertificateReport {
            n,
            rows: n,
            passes: reached.passes,
            confidence: 1.0,
            tolerance: self.tolerance,
            ridge: mu,
            trace_error: dual.residual_diagonal.iter().sum(),
            kernel_entries: dual.kernel_entries + K.entries(),
            delta: 0.0,
            targets: without_nan((0..t).map(target).collect())?,
        })
    }

    /// The cost of [`certify`](Self::certify) for a fit of n points in d coordinates with m centres
    /// and t targets.
    ///
    /// # Errors
    /// [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) if the memory does not hold it.
    pub fn cost<T: Scalar>(&self, size: ProblemSize) -> Result<CertificateCost> {
        self.check()?;
        let ProblemSize { n, d, m, t, .. } = size;
        let sizes = self.sizes::<T>([n, d, t])?;
        let memory = sizes.plan::<T>(self.memory)?;
        let [rows, centers, rank, passes] = [n, m, sizes.rank, self.passes].map(|size| size as f64);
        let triangle = (KeptTriangle::<T>::bytes(n) / 4) as f64;
        // what is kept is evaluated once to be kept, once for r_0, and at most once in the end
        let share = memory.kept as f64 / (4.0 * triangle).max(1.0);
        let end = if self.passes > 1 { share } else { 0.0 };
        let all = triangle * (1.0 + share + (passes - 1.0) * (1.0 - share) + end);
        let values = all + rows * rank + (2.0 * rows + centers) * centers;
        let products = passes * t as f64 * (2.0 * rows * rows + 4.0 * rows * rank);
        let factors = 2.0 * rows * rank.powi(2) + rows * centers.powi(2) + centers.powi(3) / 3.0;
        Ok(CertificateCost {
            kernel_entries: values.ceil() as u64,
            flops: products + factors,
            memory,
        })
    }

    fn check(&self) -> Result<()> {
        validate::not_empty("passes over the kernel matrix", self.passes)?;
        validate::positive("tolerance", self.tolerance)
    }

    fn sizes<T: Scalar>(&self, [n, d, t]: [usize; 3]) -> Result<Sizes> {
        let sizes = Sizes::new::<T>(None, [n, d, t], 1, WORTH * ITERATIONS, self.memory)?;
        // one column more for u and what the fit is compared by
        Ok(Sizes { columns: t + 1, ..sizes })
    }
}

/// The state of the iterations.
struct Reached<'a> {
    gamma_0: &'a Mat<f64>,
    cg: ConjugateGradients,
    mu: f64,
    /// Rounding errors of r_j where K is stored in `f32`, in units of ‖γ_j − γ_0‖.
    kept: f64,
    /// A bound on ‖M‖.
    norm_of_M: f64,
    passes: usize,
}

/// A ball that contains μ(γ* − γ_0) of a target, up to rounding errors.
struct Ball {
    /// The length of its centre.
    centre: f64,
    radius: f64,
    /// Rounding errors of K stored in `f32`.
    kept: f64,
    /// Other rounding errors.
    rounding: f64,
}

impl Reached<'_> {
    /// One more pass, of at most `all`; false if no further pass would reduce the radius.
    fn next(&mut self, system: &mut Orthogonal<'_>, b: &Mat<f64>, all: usize) -> Result<bool> {
        let balls: Vec<Ball> = (0..b.ncols()).map(|j| self.ball(system, j)).collect();
        let settled = balls.iter().all(|ball| ball.radius <= ball.rounding);
        let apart_by_kept = balls.iter().any(|ball| ball.kept > ball.radius.max(ball.rounding));
        let last = settled || (apart_by_kept && self.passes + 1 == all);
        if !last && self.cg.step(system, f64::EPSILON)? {
            self.passes += 1;
            return Ok(true);
        }
        // the last pass is by K itself, if rounding of the kept K is most of what separates the
        // bounds
        if apart_by_kept {
            self.cg.true_residual(system, b.as_ref())?;
            self.cg.restart(system);
            (self.kept, self.passes) = (0.0, self.passes + 1);
        }
        Ok(false)
    }

    /// ‖Sr − Tr/2‖ ≤ √(c rᵀTr)/2 for 0 ⪯ S ⪯ T ⪯ cI: T = cμP⁻¹, or I where rounding leaves no c.
    fn ball(&self, system: &Orthogonal<'_>, target: usize) -> Ball {
        let Reached { gamma_0, cg, mu, norm_of_M, .. } = self;
        let (from, gamma) = (gamma_0.col(target), cg.x().col(target));
        let (r, z) = (cg.r().col(target), cg.z().col(target));
        let norm = |entry: &dyn Fn(usize) -> f64| {
            (0..r.nrows()).map(|i| entry(i).powi(2)).sum::<f64>().sqrt()
        };
        // what a product with M is rounded by in units of the vector, and P⁻¹ in units of 1/μ
        let product = f64::EPSILON * norm_of_M;
        let solved = product / mu;
        let [centre, diameter] = match system.system.above() {
            Some(c) => [
                norm(&|i| mu * (from[i] - gamma[i]) - c * mu * z[i] / 2.0),
                c * (mu * cg.rho()[target] + solved * r.norm_l2().powi(2)).sqrt(),
            ],
            None => [norm(&|i| mu * (from[i] - gamma[i]) - r[i] / 2.0), r.norm_l2()],
        };
        let moved = norm(&|i| from[i] - gamma[i]);
        // r_0 once, γ_j at every step by half a unit, the steps themselves; what they have of u
        let steps = self.passes as f64;
        let rounding = product * (0.5 * (1.0 + steps) * from.norm_l2() + steps * moved)
            + solved * r.norm_l2()
            + 2.0 * norm_of_M * system.along_constant(gamma);
        Ball { centre, radius: diameter / 2.0, kept: self.kept * moved, rounding }
    }
}

/// M on the complement of u = √D1 if there is a constant: ΠMΠ with Π = I − uuᵀ/uᵀu, by P⁻¹ −
/// P⁻¹uuᵀP⁻¹/uᵀP⁻¹u. Directions are projected once more: there is no curvature along u, and
/// rounding errors there would make steps of any length.
struct Orthogonal<'a> {
    system: FullSystem<Products<'a>>,
    /// u, scaled to length 1, and P⁻¹u/uᵀP⁻¹u.
    constant: Option<[Vec<f64>; 2]>,
}

impl<'a> Orthogonal<'a> {
    fn to_constant(mut system: FullSystem<Products<'a>>, constant: bool, root: &[f64]) -> Self {
        let length = ops::dot(root, root).sqrt();
        let constant = constant.then(|| {
            let unit: Vec<f64> = root.iter().map(|root| root / length).collect();
            let mut direction = vec![0.0; root.len()];
            let out = ColMut::from_slice_mut(&mut direction).as_mat_mut();
            system.precondition(out, ColRef::from_slice(&unit).as_mat());
            let product = ops::dot(&unit, &direction);
            direction.iter_mut().for_each(|entry| *entry *= 1.0 / product);
            [unit, direction]
        });
        Orthogonal { system, constant }
    }

    /// The length of the component of γ along u.
    fn along_constant(&self, gamma: ColRef<'_, f64>) -> f64 {
        self.constant.as_ref().map_or(0.0, |[unit, _]| share(unit, gamma).abs())
    }

    /// a = Πa.
    fn project(&self, mut a: MatMut<'_, f64>) {
        if let Some([unit, _]) = &self.constant {
            subtract(a.rb_mut(), unit, unit);
        }
    }
}

impl LinearSystem for Orthogonal<'_> {
    fn apply(
        &mut self,
        mut out: MatMut<'_, f64>,
        gamma: MatRef<'_, f64>,
        exact: bool,
    ) -> Result<()> {
        self.system.apply(out.rb_mut(), gamma, exact)?;
        self.project(out);
        Ok(())
    }

    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        self.system.precondition(out.rb_mut(), r);
        if let Some([unit, direction]) = &self.constant {
            subtract(out.rb_mut(), direction, unit);
            self.project(out);
        }
    }

    fn error(&self) -> f64 {
        self.system.error()
    }
}

use faer::reborrow::*;
