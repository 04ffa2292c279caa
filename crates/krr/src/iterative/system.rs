//! The normal equations of a restricted fit, in coordinates in which the penalty is the identity.

use crate::iterative::tiles::Tiles;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Cholesky, LinearSystem, Scalar, ops};

/// (ΦᵀDΦ − ssᵀ/ω + μI)β = ΦᵀDy with Φ = K_nM R⁻ᵀ, RRᵀ = K_MM + δI, preconditioned by GGᵀ.
///
/// With θ = R⁻ᵀβ this is Hθ = K_nMᵀDy for H = K_nMᵀDK_nM + μ(K_MM + δI), multiplied by R⁻¹. Its
/// residual is the gradient of the objective at f. The residual's Euclidean norm is the norm of
/// that gradient in the space of k, whatever the coordinates. With an intercept b is
/// eliminated, s = ΦᵀD1 and ω = Σ w_i; without one the term is absent.
pub(crate) struct System<'a, N> {
    pub products: N,
    pub R: &'a Cholesky<f64>,
    pub mu: f64,
    pub G: Cholesky<f64>,
    pub constant: Option<&'a Constant>,
}

/// What an iteration takes from the rows.
pub(crate) trait NormalProducts {
    /// K_nMᵀ D K_nM u, M × t.
    fn normal(&mut self, u: MatRef<'_, f64>) -> Mat<f64>;
}

impl<T: Scalar> NormalProducts for Tiles<'_, T> {
    fn normal(&mut self, u: MatRef<'_, f64>) -> Mat<f64> {
        Tiles::normal(self, u)
    }
}

/// What eliminates the intercept.
pub(crate) struct Constant {
    s: Mat<f64>,
    omega: f64,
    mean: Vec<f64>,
}

/// ΦᵀD(y − ȳ), M × t, in one pass; with an intercept ȳ is the weighted mean and s is made on the
/// way, otherwise ȳ = 0.
pub(crate) fn right_hand_side<T: Scalar>(
    tiles: &Tiles<'_, T>,
    R: &Cholesky<f64>,
    intercept: bool,
) -> (Mat<f64>, Option<Constant>) {
    let (samples, t) = (tiles.samples, tiles.samples.y.ncols());
    let mean = samples.mean_target(intercept);
    let entry = |i: usize, j: usize| if j < t { samples.y[(i, j)].f64() - mean[j] } else { 1.0 };
    let mut b = tiles.moment(t + usize::from(intercept), entry);
    R.forward_in_place(b.as_mut());
    if !intercept {
        return (b, None);
    }
    let s = b.as_ref().subcols(t, 1).to_owned();
    let omega = (0..samples.x.len()).map(|i| samples.weight(i)).sum();
    (b.as_ref().subcols(0, t).to_owned(), Some(Constant { s, omega, mean }))
}

impl Constant {
    /// ΦᵀD(y − ȳ) and what eliminates the constant, if there is one, from ΦᵀD[y 1], Σw and Σwy.
    pub fn eliminated(
        moments: Mat<f64>,
        weight: f64,
        targets: &[f64],
        intercept: bool,
    ) -> (Mat<f64>, Option<Constant>) {
        let t = targets.len();
        if !intercept {
            return (moments.subcols(0, t).to_owned(), None);
        }
        let mean: Vec<f64> = targets.iter().map(|sum| sum / weight).collect();
        let s = moments.as_ref().subcols(t, 1).to_owned();
        let b = Mat::from_fn(moments.nrows(), t, |i, j| moments[(i, j)] - mean[j] * s[(i, 0)]);
        (b, Some(Constant { s, omega: weight, mean }))
    }

    /// b for these β: ȳ − sᵀβ/ω.
    pub fn intercepts(&self, beta: MatRef<'_, f64>) -> Vec<f64> {
        let fitted = self.s.transpose() * beta;
        (0..beta.ncols()).map(|j| self.mean[j] - fitted[(0, j)] / self.omega).collect()
    }
}

impl<N: NormalProducts> LinearSystem<f64> for System<'_, N> {
    fn apply(&mut self, mut out: MatMut<'_, f64>, beta: MatRef<'_, f64>) {
        let mut u = beta.to_owned();
        self.R.backward_in_place(u.as_mut()); //                    u = R⁻ᵀβ
        let mut c = self.products.normal(u.as_ref()); //               c = K_nMᵀ(D K_nM u)
        self.R.forward_in_place(c.as_mut()); //                     R⁻¹c + μβ
        for j in 0..c.ncols() {
            for i in 0..c.nrows() {
                out[(i, j)] = c[(i, j)] + self.mu * beta[(i, j)];
            }
        }
        if let Some(Constant { s, omega, .. }) = self.constant {
            let mut mean = Mat::zeros(1, beta.ncols());
            ops::matmul(mean.as_mut(), Accum::Replace, s.transpose(), beta, 1.0 / omega);
            ops::matmul(out, Accum::Add, s.as_ref(), mean.as_ref(), -1.0); // − s(sᵀβ)/ω
        }
    }

    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(r);
        self.G.solve_in_place(out); //                              G⁻ᵀG⁻¹r
    }
}
