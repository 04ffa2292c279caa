//! √D K √D + μI for all the data, one triangle of K kept where there is room, and its
//! preconditioner.

use super::MemoryPlan;
use super::full_memory::Sizes;
use crate::device::KernelProduct;
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    KeptTriangle, LinearSystem, PsdMatrix, Result, Scalar, ShiftedLowRank, TallFactor,
};
use nystrom_sketch::RpCholesky;
use rand::Rng;
use rayon::prelude::*;

/// The largest rounding of K to `f32`, as a share of the smallest μ. The rounded system is then
/// positive definite, and a round of refinement leaves at most a third of a residual.
const SHARE_OF_RIDGE: f64 = 0.25;

/// (√D FFᵀ √D + μI)⁻¹ for each μ.
pub(super) struct ShiftedFactor {
    solver: ShiftedLowRank<Box<dyn TallFactor>>,
    /// ‖√D F‖_F².
    squared_norm: f64,
    /// A bound on the amount by which rounding raises √D FFᵀ √D above √D K √D.
    excess: f64,
}

/// √D K √D + μI, for one or several μ at once: the columns of a vector are a group for each μ.
pub(crate) struct FullSystem<M> {
    K: M,
    /// √D.
    root: Vec<f64>,
    mu: Vec<f64>,
    P: ShiftedFactor,
    /// Bytes that K may take if it must not be rounded.
    exact_budget_bytes: u64,
    pub passes: usize,
    /// Whether the stored K̂ is treated as K.
    pub treat_rounded_as_exact: bool,
}

/// Products that a caller or a device computes, or those of a triangle.
pub(crate) type Products<'a> = Box<dyn KernelProduct + 'a>;

impl<'a> FullSystem<Products<'a>> {
    /// The system with its preconditioner, and its memory. Without `products` they are those of K,
    /// of which a triangle is stored as far as the budget allows.
    ///
    /// # Randomness
    /// That of [`RpCholesky`].
    pub fn preconditioned<T: Scalar>(
        products: Option<Products<'a>>,
        K: &'a dyn PsdMatrix<T>,
        sizes: &Sizes,
        (root, mu): (&[f64], &[f64]),
        budget: Option<u64>,
        rng: &mut dyn Rng,
    ) -> Result<(Self, MemoryPlan)> {
        let mut memory = sizes.plan::<T>(budget)?;
        let F = factor(K, sizes, root, mu, rng)?; //                                 K ≈ FFᵀ
        if let Some(products) = products {
            let P = ShiftedFactor::new(F, root, mu, false)?;
            return Ok((FullSystem::new(products, P, root, mu, 0), memory));
        }
        let exact = memory.left_for_kernel_values(budget);
        let FullSystem { K, P, .. } = FullSystem::keeping(K, F, root, mu, [memory.kept, exact])?;
        (memory.kept, memory.kept_rows) = (K.kept_bytes(), K.kept_rows());
        Ok((FullSystem::new(Box::new(K), P, root, mu, exact), memory))
    }
}

impl<'a, T: Scalar> FullSystem<KeptTriangle<'a, T>> {
    /// With K ≈ FFᵀ and at most `bytes` of K stored in `f32`. If rounding K
    /// to `f32` would spoil the fit, K is stored in its own type, up to `exact_budget_bytes`.
    pub fn keeping(
        K: &'a dyn PsdMatrix<T>,
        F: Mat<T>,
        root: &[f64],
        mu: &[f64],
        [bytes, exact_budget_bytes]: [u64; 2],
    ) -> Result<Self> {
        let P = ShiftedFactor::new(F, root, mu, bytes > 0)?;
        let most = SHARE_OF_RIDGE * least(mu) / largest(root);
        Ok(FullSystem::new(KeptTriangle::within(K, bytes, most), P, root, mu, exact_budget_bytes))
    }

    /// Other weights and ridges for the same stored K; K ≈ FFᵀ.
    pub fn reweight(&mut self, F: Mat<T>, root: &[f64], mu: &[f64]) -> Result<()> {
        self.P = ShiftedFactor::new(F, root, mu, self.K.kept_bytes() > 0)?;
        (self.root, self.mu) = (root.to_vec(), mu.to_vec());
        self.check_rounding();
        Ok(())
    }

    /// K·α.
    pub fn times(&mut self, alpha: MatRef<'_, f64>) -> Mat<f64> {
        self.passes += 1;
        let mut out = Mat::zeros(alpha.nrows(), alpha.ncols());
        self.K.mul_into(out.as_mut(), alpha);
        out
    }
}

impl<M: KernelProduct> FullSystem<M> {
    /// What the products say about where they were computed.
    pub fn notice(&self) -> Option<String> {
        self.K.notice()
    }

    pub(super) fn new(
        K: M,
        P: ShiftedFactor,
        root: &[f64],
        mu: &[f64],
        exact_budget_bytes: u64,
    ) -> Self {
        let (root, mu) = (root.to_vec(), mu.to_vec());
        let (passes, treat_rounded_as_exact) = (0, false);
        let mut system =
            FullSystem { K, root, mu, P, exact_budget_bytes, passes, treat_rounded_as_exact };
        system.check_rounding();
        system
    }

    /// Gives up a rounding for which the ridge does not allow.
    fn check_rounding(&mut self) {
        if !(self.error() <= SHARE_OF_RIDGE * least(&self.mu)) {
            self.K.give_up_rounding(self.exact_budget_bytes);
        }
    }

    /// c with (√D K √D + μI)⁻¹ ⪯ cP⁻¹, if rounding leaves one.
    ///
    /// FFᵀ ⪯ √D K √D in exact arithmetic. Rounded it may be larger by δ, and then
    /// √D K √D + μI ⪰ P − δI ⪰ (1 − δ/μ)P, as P ⪰ μI.
    pub fn above(&self) -> Option<f64> {
        let share = self.P.excess / least(&self.mu);
        (share <= 0.5).then(|| 1.0 / (1.0 - share))
    }

    /// A bound on ‖√D K √D‖₂: ‖√D FFᵀ √D‖₂ and the trace of the remainder.
    pub fn norm(&self, trace: f64) -> f64 {
        let ShiftedFactor { solver, squared_norm, excess } = &self.P;
        solver.norm() + (largest(&self.root) * trace - squared_norm).max(0.0) + excess
    }
}

impl<M: KernelProduct> LinearSystem for FullSystem<M> {
    /// out = √D K √D γ + μγ.
    fn apply(
        &mut self,
        mut out: MatMut<'_, f64>,
        gamma: MatRef<'_, f64>,
        exact: bool,
    ) -> Result<()> {
        let exact = exact && self.K.rounding() > 0.0 && !self.treat_rounded_as_exact;
        self.passes += 1;
        let alpha = Mat::from_fn(gamma.nrows(), gamma.ncols(), |i, j| self.root[i] * gamma[(i, j)]);
        self.K.product(out.rb_mut(), alpha.as_ref(), exact)?;
        let width = out.ncols() / self.mu.len();
        for j in 0..out.ncols() {
            let mu = self.mu[j / width];
            for i in 0..out.nrows() {
                out[(i, j)] = self.root[i] * out[(i, j)] + mu * gamma[(i, j)];
            }
        }
        Ok(())
    }

    fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        self.P.solver.solve_into(out, r);
    }

    fn error(&self) -> f64 {
        largest(&self.root) * self.K.rounding()
    }

    fn fall_back(&mut self) -> bool {
        let rounded = self.K.rounding() > 0.0;
        if rounded {
            self.K.give_up_rounding(self.exact_budget_bytes);
        }
        rounded
    }
}

/// The largest sample weight.
fn largest(root: &[f64]) -> f64 {
    root.iter().map(|root| root * root).fold(0.0, f64::max)
}

fn least(mu: &[f64]) -> f64 {
    mu.iter().copied().fold(f64::INFINITY, f64::min)
}

/// F with K ≈ FFᵀ, of a rank of at most `sizes.rank`. Unless the caller gave the rank, F ends when
/// tr √D(K − FFᵀ)√D ≤ μ: the condition number is then at most 2.
pub(crate) fn factor<T: Scalar>(
    K: &dyn PsdMatrix<T>,
    sizes: &Sizes,
    root: &[f64],
    mu: &[f64],
    rng: &mut dyn Rng,
) -> Result<Mat<T>> {
    let share = least(mu) / (largest(root) * K.trace());
    // a ridge above tr K wants no preconditioner, but there is always one column
    let tolerance = if !sizes.asked && share > 0.0 { share.min(0.9) } else { 0.0 };
    let select = RpCholesky { tolerance, ..RpCholesky::default() };
    Ok(select.factor(K, sizes.rank, rng)?.into_factor())
}

impl ShiftedFactor {
    /// From F, held in `f32` if `narrow` and if μ allows for the rounding.
    pub fn new<T: Scalar>(
        mut F: Mat<T>,
        root: &[f64],
        mu: &[f64],
        narrow: bool,
    ) -> Result<ShiftedFactor> {
        scale_rows(F.as_mut(), root);
        let [size, lost] = sizes(F.as_ref());
        let of_narrow = (2.0 * size + lost) * lost;
        // what the pivoted factorisation takes for 0
        let excess = (F.ncols() + 10) as f64 * T::EPS * size * size;
        let small = narrow && of_narrow <= SHARE_OF_RIDGE * least(mu);
        let (F, excess): (Box<dyn TallFactor>, f64) =
            if small { (Box::new(narrowed(F)), excess + of_narrow) } else { (Box::new(F), excess) };
        let solver = ShiftedLowRank::new(F, mu)?;
        Ok(ShiftedFactor { solver, squared_norm: size * size, excess })
    }
}

/// ‖F‖_F and ‖δ‖_F, δ what `f32` would round away: ‖(F + δ)(F + δ)ᵀ − FFᵀ‖₂ ≤ (2‖F‖_F +
/// ‖δ‖_F)‖δ‖_F.
fn sizes<T: Scalar>(F: MatRef<'_, T>) -> [f64; 2] {
    let of_column = |column: faer::ColRef<'_, T>| {
        column.iter().fold([0.0, 0.0], |[size, lost], F| {
            let F = F.f64();
            [size + F.powi(2), lost + (F - f64::from(F as f32)).powi(2)]
        })
    };
    let columns: Vec<[f64; 2]> = F.par_col_iter().map(of_column).collect();
    columns.iter().fold([0.0, 0.0], |[s, l], [size, lost]| [s + size, l + lost]).map(f64::sqrt)
}

fn narrowed<T: Scalar>(F: Mat<T>) -> Mat<f32> {
    let mut narrow = Mat::<f32>::zeros(F.nrows(), F.ncols());
    let columns = narrow.as_mut().par_col_iter_mut().zip(F.as_ref().par_col_iter());
    columns.for_each(|(narrow, F)| {
        narrow.iter_mut().zip(F.iter()).for_each(|(narrow, F)| *narrow = F.f64() as f32);
    });
    narrow
}

fn scale_rows<T: Scalar>(F: MatMut<'_, T>, root: &[f64]) {
    F.par_col_iter_mut().for_each(|column| {
        column.iter_mut().zip(root).for_each(|(entry, root)| *entry *= T::lit(*root));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Points};
    use nystrom_linalg_core::{Cholesky, ConjugateGradients, Stop, SymmetricEigen, ops, random};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// K of n points in the plane and F of rank k.
    fn problem(n: usize, k: usize, ell: f64, seed: u64) -> (Mat<f64>, Mat<f64>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let x: Mat<f64> = random::standard_normal(n, 2, &mut rng);
        let (kernel, x) = (Gaussian::new(ell).unwrap(), Points::from_rows(x.as_ref()));
        let K = kernel.gram(x);
        let matrix = KernelMatrix::new(kernel, x).unwrap();
        (K, RpCholesky::default().factor(&matrix, k, &mut rng).unwrap().into_factor())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn it_is_the_inverse(n in 2..200usize, k in 1..20usize, t in 1..3usize,
        log_mu in -3.0..2.0f64, seed in 0..1000u64) {
            let (_, F) = problem(n, k.min(n), 0.5, seed);
            let mu = 10f64.powf(log_mu);
            let r: Mat<f64> = random::standard_normal(n, t, &mut Pcg64::seed_from_u64(seed));
            let out = ShiftedLowRank::new(F.clone(), &[mu]).unwrap().solve(r.as_ref());
            let back = &F * (F.transpose() * &out) + faer::Scale(mu) * &out;
            // P⁻¹ is rounded by ε/μ, and P is at most n + μ
            prop_assert!((back - &r).norm_max() < 1e-13 * (1.0 + n as f64 / mu) * r.norm_max());
        }

        /// The eigenvalues of P^(−1/2)(K + μI)P^(−1/2) lie in [1, 1 + ‖K − K̂‖/μ]: with K̂ ⪯ K for
        /// every factor, not in the mean.
        #[test]
        fn the_preconditioned_spectrum_is_within_its_bounds(
            n in 5..80usize, k in 1..30usize, log_mu in -4.0..1.0f64, ell in 0.2..2.0f64,
            seed in 0..1000u64,
        ) {
            let (K, F) = problem(n, k.min(n), ell, seed);
            let mu = 10f64.powf(log_mu);
            let low = &F * F.transpose();
            let error = SymmetricEigen::new((&K - &low).as_ref()).unwrap().values()[0].max(0.0);
            let (mut P, mut A) = (low, K);
            ops::add_to_diagonal(P.as_mut(), mu);
            ops::add_to_diagonal(A.as_mut(), mu);
            let L = Cholesky::new(P.as_ref()).unwrap();
            L.forward_in_place(A.as_mut());
            L.forward_in_place(A.transpose_mut()); //           similar to P^(−1/2)(K + μI)P^(−1/2)
            let eigen = SymmetricEigen::new(A.as_ref()).unwrap();
            let rounding = 1e-14 * n as f64 * n as f64 / mu;
            prop_assert!(eigen.values()[n - 1] > 1.0 - rounding, "{:e}",
                eigen.values()[n - 1] - 1.0);
            prop_assert!(eigen.values()[0] < 1.0 + error / mu + rounding, "{} {}",
                eigen.values()[0], 1.0 + error / mu);
        }
    }

    /// K of nearly equal points has entries that `f32` cannot tell apart. Where nobody looks at the
    /// bound, the kept matrix is indefinite at the level of the ridge, and the run falls back on K.
    #[test]
    fn an_indefinite_rounding_falls_back() {
        let (n, mu) = (300, 1e-7);
        let mut rng = Pcg64::seed_from_u64(7);
        let x: Mat<f64> = random::standard_normal(n, 2, &mut rng);
        let kernel = Gaussian::new(3.0).unwrap();
        let matrix = KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap();
        let F = RpCholesky::default().factor(&matrix, 5, &mut rng).unwrap().into_factor();
        let root = vec![1.0; n];
        let checked = FullSystem::keeping(&matrix, F.clone(), &root, &[mu], [u64::MAX; 2]).unwrap();
        let whole = 2 * KeptTriangle::<f64>::bytes(n);
        assert_eq!((checked.K.kept_bytes(), checked.error()), (whole, 0.0)); // not rounded
        let solver = ShiftedLowRank::new(Box::new(F) as Box<dyn TallFactor>, &[mu]).unwrap();
        let P = ShiftedFactor { solver, squared_norm: 0.0, excess: 0.0 };
        let K = KeptTriangle::new(&matrix, u64::MAX);
        let mut system = FullSystem {
            K,
            root,
            mu: vec![mu],
            P,
            exact_budget_bytes: 0,
            passes: 0,
            treat_rounded_as_exact: false,
        };
        assert!(system.K.kept_bytes() > 0 && system.error() > mu);
        let b: Mat<f64> = random::standard_normal(n, 1, &mut rng);
        let mut cg = ConjugateGradients::start(&mut system, b.as_ref(), None).unwrap();
        let stop = cg.run(&mut system, b.as_ref(), 1e-4, 3000, &mut |_| None).unwrap();
        assert!(stop == Stop::Converged && system.K.kept_bytes() == 0, "{stop:?}");
        let mut A = matrix.block((0..n).into(), (0..n).into());
        ops::add_to_diagonal(A.as_mut(), mu);
        assert!((&b - &A * cg.x()).norm_l2() <= 1.001e-4 * b.norm_l2());
    }
}
