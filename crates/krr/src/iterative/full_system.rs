//! √D K √D + μI for all the data, one triangle of K kept where there is room, and its
//! preconditioner.

use crate::iterative::MemoryPlan;
use crate::iterative::full_sizes::{Sizes, enough};
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

/// (√D FFᵀ √D + μI)⁻¹.
pub(super) type Preconditioner = ShiftedLowRank<Box<dyn TallFactor>>;

/// √D K √D + μI, for one or several μ at once: the columns of a vector are a group for each μ.
pub(crate) struct System<'a, T> {
    K: KeptTriangle<'a, T>,
    /// √D.
    root: Vec<f64>,
    mu: Vec<f64>,
    P: Preconditioner,
    /// The largest sample weight.
    largest: f64,
    /// Bytes that K may take if it must not be rounded.
    room: u64,
    pub passes: usize,
    /// Whether K as it is kept is taken for K.
    pub kept_is_all: bool,
    /// ‖F‖_F², and δ with FFᵀ ⪯ √D K √D + δI.
    factor: [f64; 2],
}

impl<'a, T: Scalar> System<'a, T> {
    /// With the preconditioner of a rank of at most `sizes.rank`, which was `asked` for or not, and
    /// what is held.
    ///
    /// # Randomness
    /// That of [`RpCholesky`].
    pub fn preconditioned(
        K: &'a dyn PsdMatrix<T>,
        sizes: &Sizes,
        asked: Option<usize>,
        root: &[f64],
        mu: &[f64],
        budget: Option<u64>,
        rng: &mut dyn Rng,
    ) -> Result<(Self, MemoryPlan)> {
        let mut memory = sizes.plan::<T>(budget)?;
        let F = factor(K, sizes, asked, root, mu, rng)?; //                          K ≈ FFᵀ
        let system = System::new(K, F, root, mu, [memory.kept, memory.room(budget)])?;
        (memory.kept, memory.kept_rows) = (system.kept(), system.kept_rows());
        Ok((system, memory))
    }

    /// With K ≈ FFᵀ and at most `bytes` of K kept in `f32`. Where it may not be rounded at most
    /// `room` bytes of it are kept as it is.
    pub fn new(
        K: &'a dyn PsdMatrix<T>,
        F: Mat<T>,
        root: &[f64],
        mu: &[f64],
        [bytes, room]: [u64; 2],
    ) -> Result<Self> {
        let P = preconditioner(F, root, mu, bytes > 0)?;
        let most = SHARE_OF_RIDGE * least(mu) / largest(root);
        Ok(System::of(KeptTriangle::within(K, bytes, most), P, root, mu, room))
    }

    /// The same K, as it is kept, with other weights and ridges; K ≈ FFᵀ.
    pub fn reweighted(self, F: Mat<T>, root: &[f64], mu: &[f64]) -> Result<Self> {
        let P = preconditioner(F, root, mu, self.K.kept_bytes() > 0)?;
        let System { K, passes, kept_is_all, room, .. } = self;
        Ok(System { passes, kept_is_all, ..System::of(K, P, root, mu, room) })
    }

    fn of(
        mut K: KeptTriangle<'a, T>,
        (P, factor): (Preconditioner, [f64; 2]),
        root: &[f64],
        mu: &[f64],
        room: u64,
    ) -> Self {
        let largest = largest(root);
        if !(largest * K.error() <= SHARE_OF_RIDGE * least(mu)) {
            K.keep_exactly(room);
        }
        System {
            K,
            root: root.to_vec(),
            mu: mu.to_vec(),
            P,
            largest,
            room,
            passes: 0,
            kept_is_all: false,
            factor,
        }
    }

    /// c with (√D K √D + μI)⁻¹ ⪯ cP⁻¹, if rounding leaves one.
    ///
    /// FFᵀ ⪯ √D K √D in exact arithmetic. Rounded it may be larger by δ, and then
    /// √D K √D + μI ⪰ P − δI ⪰ (1 − δ/μ)P, as P ⪰ μI.
    pub fn above(&self) -> Option<f64> {
        let share = self.factor[1] / least(&self.mu);
        (share <= 0.5).then(|| 1.0 / (1.0 - share))
    }

    /// A bound on ‖√D K √D‖₂: what F has of it, and the trace of what is left.
    pub fn norm(&self, trace: f64) -> f64 {
        self.P.norm() + (self.largest * trace - self.factor[0]).max(0.0) + self.factor[1]
    }

    /// K·α.
    pub fn times(&mut self, alpha: MatRef<'_, f64>) -> Mat<f64> {
        self.passes += 1;
        let mut out = Mat::zeros(alpha.nrows(), alpha.ncols());
        self.K.mul_into(out.as_mut(), alpha);
        out
    }

    /// Bytes of K that are kept.
    pub fn kept(&self) -> u64 {
        self.K.kept_bytes()
    }

    /// n times the share of K that is kept.
    pub fn kept_rows(&self) -> usize {
        self.K.kept_rows()
    }

    /// out = √D K √D γ + μγ, K as `product` multiplies by it.
    fn by(
        &mut self,
        mut out: MatMut<'_, f64>,
        gamma: MatRef<'_, f64>,
        product: impl Fn(&KeptTriangle<'_, T>, MatMut<'_, f64>, MatRef<'_, f64>),
    ) {
        self.passes += 1;
        let alpha = Mat::from_fn(gamma.nrows(), gamma.ncols(), |i, j| self.root[i] * gamma[(i, j)]);
        product(&self.K, out.rb_mut(), alpha.as_ref());
        let width = out.ncols() / self.mu.len();
        for j in 0..out.ncols() {
            let mu = self.mu[j / width];
            for i in 0..out.nrows() {
                out[(i, j)] = self.root[i] * out[(i, j)] + mu * gamma[(i, j)];
            }
        }
    }
}

impl<T: Scalar> LinearSystem<f64> for System<'_, T> {
    fn apply(&mut self, out: MatMut<'_, f64>, gamma: MatRef<'_, f64>) {
        self.by(out, gamma, |K, out, x| K.mul_into(out, x));
    }

    fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        self.P.solve_into(out, r);
    }

    fn apply_exactly(&mut self, out: MatMut<'_, f64>, gamma: MatRef<'_, f64>) {
        if self.K.error() > 0.0 && !self.kept_is_all {
            self.by(out, gamma, |K, out, x| K.exact_mul_into(out, x));
        } else {
            self.apply(out, gamma);
        }
    }

    fn error(&self) -> f64 {
        self.largest * self.K.error()
    }

    fn fall_back(&mut self) -> bool {
        let rounded = self.K.error() > 0.0;
        if rounded {
            self.K.keep_exactly(self.room);
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

/// F with K ≈ FFᵀ, of a rank of at most `sizes.rank`, which was `asked` for or not.
pub(crate) fn factor<T: Scalar>(
    K: &dyn PsdMatrix<T>,
    sizes: &Sizes,
    asked: Option<usize>,
    root: &[f64],
    mu: &[f64],
    rng: &mut dyn Rng,
) -> Result<Mat<T>> {
    let tolerance = enough(asked, K, least(mu), root);
    let select = RpCholesky { tolerance, ..RpCholesky::default() };
    Ok(select.factor(K, sizes.rank, rng)?.into_factor())
}

/// √D FFᵀ √D + μI for each μ, ‖√D F‖_F², and by how much rounding may raise √D FFᵀ √D above
/// √D K √D.
pub(super) fn preconditioner<T: Scalar>(
    mut F: Mat<T>,
    root: &[f64],
    mu: &[f64],
    narrow: bool,
) -> Result<(Preconditioner, [f64; 2])> {
    scale_rows(F.as_mut(), root);
    let [size, lost] = sizes(F.as_ref());
    let of_narrow = (2.0 * size + lost) * lost;
    // what the pivoted factorisation takes for 0
    let excess = (F.ncols() + 10) as f64 * T::EPS * size * size;
    let small = narrow && of_narrow <= SHARE_OF_RIDGE * least(mu);
    let (F, excess): (Box<dyn TallFactor>, f64) =
        if small { (Box::new(narrowed(F)), excess + of_narrow) } else { (Box::new(F), excess) };
    Ok((ShiftedLowRank::new(F, mu)?, [size * size, excess]))
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
    use nystrom_linalg_core::{Cholesky, PcgOptions, Solve, SymmetricEigen, ops, random};
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
        let checked = System::new(&matrix, F.clone(), &root, &[mu], [u64::MAX; 2]).unwrap();
        let whole = 2 * KeptTriangle::<f64>::bytes(n);
        assert_eq!((checked.kept(), checked.error()), (whole, 0.0)); // not rounded
        let P = ShiftedLowRank::new(Box::new(F) as Box<dyn TallFactor>, &[mu]).unwrap();
        let K = KeptTriangle::new(&matrix, u64::MAX);
        let mut system = System {
            K,
            root,
            mu: vec![mu],
            P,
            largest: 1.0,
            room: 0,
            passes: 0,
            kept_is_all: false,
            factor: [0.0; 2],
        };
        assert!(system.kept() > 0 && system.error() > mu);
        let b: Mat<f64> = random::standard_normal(n, 1, &mut rng);
        let options = PcgOptions { tolerance: 1e-4, max_iterations: 3000 };
        let mut solve = Solve::start(&mut system, b.as_ref(), None).unwrap();
        let report = solve.run(&mut system, b.as_ref(), &options, &mut |_| false).unwrap();
        assert!(report.converged && system.kept() == 0, "{:?} {}", report.end, report.residual);
        let mut A = matrix.block((0..n).into(), (0..n).into());
        ops::add_to_diagonal(A.as_mut(), mu);
        assert!((&b - &A * solve.cg().x()).norm_l2() <= 1.001e-4 * b.norm_l2());
    }
}
