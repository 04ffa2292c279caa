//! The normal equations of a restricted fit, in coordinates in which the penalty is the identity.

use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Cholesky, LinearSystem, Result, Streams, ops};

/// (ΦᵀDΦ − ssᵀ/ω + μI)β = ΦᵀDy with Φ = K_nm R⁻ᵀ, RRᵀ = K_mm + δI, preconditioned by GGᵀ.
///
/// With θ = R⁻ᵀβ this is Hθ = K_nmᵀDy for H = K_nmᵀDK_nm + μ(K_mm + δI), multiplied by R⁻¹. Its
/// residual is the gradient of the objective at f. The residual's Euclidean norm is the norm of
/// that gradient in the space of k, whatever the coordinates. With an intercept b is
/// eliminated, s = ΦᵀD1 and ω = Σ w_i; without one the term is absent.
pub(crate) struct RestrictedSystem<'a, N> {
    pub rows: N,
    pub R: &'a Cholesky<f64>,
    pub mu: f64,
    pub G: Cholesky<f64>,
    pub constant: Option<&'a Constant>,
    pub passes: usize,
}

/// Products with K_nm, each by a pass over the rows. K_nm is KS for a sketch S.
pub(crate) trait RowProducts {
    /// (Ψ√D K_nm)ᵀ, m × 2m.
    fn embedding(&mut self, streams: Streams) -> Result<Mat<f64>>;
    /// K_nmᵀ D K_nm u, m × t; or with a nearby K̂_nm, unless it has to be `exact`.
    fn normal(&mut self, u: MatRef<'_, f64>, exact: bool) -> Result<Mat<f64>>;
    /// From now on K̂_nm is K_nm. False if it was already.
    fn give_up_rounding(&mut self) -> bool {
        false
    }
    /// What a caller should know about where the products were computed.
    fn notice(&self) -> Option<String> {
        None
    }
}

/// The results of the first pass.
pub(crate) struct Moments {
    pub n: usize,
    /// Σ w.
    pub weight: f64,
    /// K_nmᵀD[y − ȳ, 1] if `centred`, else K_nmᵀD[y, 1].
    pub sums: Mat<f64>,
    /// ȳ, the weighted mean of each target, or what it is centred by.
    pub mean: Vec<f64>,
    pub centred: bool,
}

/// The sums that eliminate the intercept.
pub(crate) struct Constant {
    s: Mat<f64>,
    omega: f64,
    mean: Vec<f64>,
}

impl Moments {
    /// ΦᵀD(y − ȳ), m × t, and what eliminates the constant; ȳ = 0 without an intercept.
    pub fn right_hand_side(
        self,
        R: &Cholesky<f64>,
        intercept: bool,
    ) -> (Mat<f64>, Option<Constant>) {
        let Moments { weight: omega, sums: mut b, mean, centred, .. } = self;
        let t = mean.len();
        R.forward_in_place(b.as_mut());
        if !intercept {
            return (b.subcols(0, t).to_owned(), None);
        }
        let s = b.subcols(t, 1).to_owned();
        let shift = |i: usize, j: usize| if centred { 0.0 } else { mean[j] * s[(i, 0)] };
        let b = Mat::from_fn(b.nrows(), t, |i, j| b[(i, j)] - shift(i, j));
        (b, Some(Constant { s, omega, mean }))
    }
}

impl Constant {
    /// b for these β: ȳ − sᵀβ/ω.
    pub fn intercepts(&self, beta: MatRef<'_, f64>) -> Vec<f64> {
        let fitted = self.s.transpose() * beta;
        (0..beta.ncols()).map(|j| self.mean[j] - fitted[(0, j)] / self.omega).collect()
    }
}

impl<N: RowProducts> LinearSystem for RestrictedSystem<'_, N> {
    /// out = (ΦᵀDΦ − ssᵀ/ω + μI)β.
    fn apply(
        &mut self,
        mut out: MatMut<'_, f64>,
        beta: MatRef<'_, f64>,
        exact: bool,
    ) -> Result<()> {
        self.passes += 1;
        let mut u = beta.to_owned();
        self.R.backward_in_place(u.as_mut()); //                    u = R⁻ᵀβ
        let mut c = self.rows.normal(u.as_ref(), exact)?; //        c = K_nmᵀ(D K_nm u)
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
        Ok(())
    }

    // No `error`: R⁻¹ multiplies K̂_nm − K_nm by up to 1/√δ, and no useful bound is known.

    fn fall_back(&mut self) -> bool {
        self.rows.give_up_rounding()
    }

    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(r);
        self.G.solve_in_place(out); //                              G⁻ᵀG⁻¹r
    }
}
