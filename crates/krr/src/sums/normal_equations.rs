//! (ΦᵀΦ + nλI)β = Φᵀy, accumulated in one pass over the rows.

use crate::SolvedBy;
use crate::features::{FeatureRows, Tile, Whitener};
use crate::sums::{Accumulator, Decomposed, Products, Reader, Solution, Sums, condition};
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{Cholesky, GramSums, JitterLadder, Result, Scalar, SymmetricEigen, ops};

/// How far a refined fit may be from the minimiser at the rows, relative to the targets.
const REFINED: f64 = 1e-8;

/// The Gram sums of Z = √w[Φ 1] and Y.
#[derive(Debug, Clone)]
pub struct NormalSums(pub(crate) GramSums);

/// One pass over the rows takes n·m kernel values, nm² flops for the Gram matrix and, if tiles are
/// whitened, nm² for that. It holds 2m² numbers for the partial sums and 1024(m + t) for the tile,
/// twice that for `f32` and products in `f64`.
impl Accumulator for NormalSums {
    const KIND: u8 = 0;
    const SOLVED_BY: SolvedBy = SolvedBy::NormalEquations;

    fn zeros(p: usize, t: usize) -> Self {
        NormalSums(GramSums::zeros(p, t))
    }

    fn add<T: Scalar>(
        &mut self,
        tile: &Tile<T>,
        _: bool,
        products: Products,
        [Z, Y]: &mut [Mat<f64>; 2],
    ) {
        match products {
            Products::Scalar => self.0.add(tile.Z(), tile.Y()),
            Products::Double => self.0.add(tile.wide_Z(Z), ops::widened(tile.Y(), Y)),
        }
    }

    /// β = (A + nλI)⁻¹B by Cholesky; with an intercept its row and column are eliminated first (b
    /// is not penalised): A ← A − aaᵀ/s, B ← B − a·Σwy/s, then b = (Σwy − aᵀβ)/s with a = Φᵀw, s =
    /// Σw.
    ///
    /// # Errors
    /// `NotPositiveDefinite` if nλ is lost in the rounding errors of A.
    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        let penalised = self.penalised(|A| ops::add_to_diagonal(A, mu), intercept)?;
        let beta = penalised.solve(self.0.moments.as_ref());
        Ok(penalised.solution(beta, mu, |_| 1.0))
    }

    /// A ← A − aaᵀ/s, B ← B − a·Σwy/s, with the means a/s and Σwy/s; the constant is the last
    /// feature. Then A = VSVᵀ and g = VᵀB. S is accurate to about ε·tr A, with ε of the products.
    fn decomposed(&self, constant: bool) -> Result<Decomposed> {
        let m = self.0.gram.order() - usize::from(constant);
        let t = self.0.moments.ncols();
        let means = constant.then(|| {
            let s = self.0.gram.get(m, m);
            (
                (0..m).map(|j| self.0.gram.get(m, j) / s).collect::<Vec<f64>>(),
                (0..t).map(|j| self.0.moments[(m, j)] / s).collect(),
            )
        });
        let mean = |i: usize| means.as_ref().map_or(0.0, |means: &(Vec<f64>, Vec<f64>)| means.0[i]);
        let last = |j: usize| if constant { self.0.gram.get(m, j) } else { 0.0 };
        let A = Mat::from_fn(m, m, |i, j| {
            let (i, j) = (i.max(j), i.min(j));
            self.0.gram.get(i, j) - mean(i) * last(j)
        });
        let sum_wy = |j: usize| if constant { self.0.moments[(m, j)] } else { 0.0 };
        let B = Mat::from_fn(m, t, |i, j| self.0.moments[(i, j)] - mean(i) * sum_wy(j));
        let eigen = SymmetricEigen::new(A.as_ref())?;
        let V = eigen.vectors().to_owned();
        let values = eigen.values().iter().map(|s| s.max(0.0)).collect();
        Ok(Decomposed { values, g: ops::times(V.transpose(), B.as_ref()), V, means, floor: None })
    }
}

impl Sums for NormalSums {
    fn merge(&mut self, later: Self) {
        self.0 += &later.0;
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.0.gram.write(out);
        self.0.moments.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        let GramSums { gram, moments } = &self.0;
        NormalSums(GramSums { gram: gram.read(reader), moments: moments.read(reader) })
    }

    fn is_sound(&self, _: u64) -> bool {
        (0..self.0.gram.order()).all(|j| self.0.gram.get(j, j) >= 0.0)
    }
}

impl NormalSums {
    /// tr CᵀC if the tiles were not whitened, tr ΦᵀΦ if they were; m of the p features count, the
    /// constant does not.
    pub(crate) fn trace(&self, m: usize) -> f64 {
        (0..m).map(|j| self.0.gram.get(j, j)).sum()
    }

    /// [`solve`](Accumulator::solve) for sums over k_Z(x_i) instead of φ(x_i) = R⁻¹k_Z(x_i):
    /// θ = (A + nλRRᵀ)⁻¹B and β = Rᵀθ.
    ///
    /// The Cholesky factor of A + nλRRᵀ is R times that of R⁻¹AR⁻ᵀ + nλI, which therefore need not
    /// be formed. That takes 2m³/3 flops in place of 7m³/3, with the same bound on the rounding
    /// errors.
    ///
    /// # Errors
    /// As [`solve`](Accumulator::solve).
    pub(crate) fn solve_unwhitened<T: Scalar>(
        &self,
        mu: f64,
        intercept: bool,
        whitener: &Whitener<T>,
    ) -> Result<Solution> {
        let penalised = self.penalised(|A| whitener.add_gram(A, mu), intercept)?;
        let theta = penalised.solve(self.0.moments.as_ref());
        let whitened = penalised.whitened(theta, whitener);
        Ok(penalised.solution(whitened, mu, |i| whitener.diagonal(i)))
    }

    /// The same solution, refined until the fit at the rows is within 10⁻⁸ of the minimiser's,
    /// relative to the targets; `None` if rounding errors prevent it. The second number counts the
    /// passes over the rows, for which no tile is whitened.
    ///
    /// With ρ = Φᵀ(y − Φβ − b) − nλβ, the residual of the whitened equations, the fit is within
    /// ‖ρ‖/2√nλ, since ‖Φ(ΦᵀΦ + nλI)⁻¹‖ ≤ 1/2√nλ.
    pub(crate) fn solve_refined<T: Scalar>(
        &self,
        stream: &FeatureRows<'_, T>,
        mu: f64,
    ) -> Result<(Option<Solution>, usize)> {
        let (whitener, intercept) = (stream.whitener, stream.shift.is_some());
        let Ok(penalised) = self.penalised(|A| whitener.add_gram(A, mu), intercept) else {
            return Ok((None, 0));
        };
        let mut theta = penalised.solve(self.0.moments.as_ref());
        let (mut passes, mut last) = (0, f64::INFINITY);
        loop {
            passes += 1;
            let whitened = penalised.whitened(theta.clone(), whitener);
            let beta = whitened.as_ref().subrows(0, whitener.order());
            let (mut descent, squares) = stream.descent(theta.as_ref())?; // Cᵀ(y − Cθ − b)
            let mut rho = penalised.reduced(descent.as_ref());
            whitener.whiten_wide(rho.as_mut());
            rho -= faer::Scale(mu) * beta; //                                ρ = R⁻¹Cᵀ(…) − nλβ
            let share = |(j, square): (usize, &f64)| {
                let within = rho.col(j).norm_l2() / (2.0 * mu.sqrt()) + penalised.rest(&descent, j);
                if within > 0.0 { within / square.sqrt() } else { within }
            };
            let error = squares.iter().enumerate().map(share).fold(0.0, f64::max);
            if error <= REFINED {
                let solution = penalised.solution(whitened, mu, |i| whitener.diagonal(i));
                return Ok((Some(solution), passes));
            }
            if !(error < last / 2.0) {
                return Ok((None, passes));
            }
            last = error;
            let penalty = whitener.gram_times(beta); //                      RRᵀθ = Rβ
            let mut rows = descent.as_mut().subrows_mut(0, whitener.order());
            rows -= faer::Scale(mu) * &penalty;
            theta += penalised.solve(descent.as_ref());
        }
    }

    /// A + P, P being what `penalise` adds to the lower triangle of A.
    fn penalised(&self, penalise: impl Fn(MatMut<'_, f64>), intercept: bool) -> Result<Penalised> {
        let m = self.0.gram.order() - usize::from(intercept);
        let a: Vec<f64> =
            if intercept { (0..m).map(|j| self.0.gram.get(m, j)).collect() } else { vec![0.0; m] };
        let s = if intercept { self.0.gram.get(m, m) } else { 1.0 };
        let fill = |mut out: MatMut<'_, f64>| {
            for j in 0..m {
                for i in j..m {
                    out[(i, j)] = self.0.gram.get(i, j) - a[i] * (a[j] / s);
                }
            }
            penalise(out);
        };
        let factor = Cholesky::<f64>::from_fill(m, fill, JitterLadder::none())?;
        Ok(Penalised { factor, a, s, intercept })
    }
}

/// The factor of A + P less aaᵀ/s, what the elimination of an intercept leaves.
struct Penalised {
    factor: Cholesky<f64>,
    a: Vec<f64>,
    s: f64,
    intercept: bool,
}

impl Penalised {
    /// B without the intercept, m rows: B less a times its last row over s.
    fn reduced(&self, B: MatRef<'_, f64>) -> Mat<f64> {
        let (m, Penalised { a, s, .. }) = (self.factor.order(), self);
        let constant = |j: usize| if self.intercept { B[(m, j)] } else { 0.0 };
        Mat::from_fn(m, B.ncols(), |i, j| B[(i, j)] - a[i] * (constant(j) / s))
    }

    /// The error of the fit at the rows by the intercept of target j, from the last row of
    /// `descent`.
    fn rest(&self, descent: &Mat<f64>, j: usize) -> f64 {
        if self.intercept { descent[(self.factor.order(), j)].abs() / self.s.sqrt() } else { 0.0 }
    }

    /// The solution for a right-hand side of p × t, an intercept's row last.
    fn solve(&self, B: MatRef<'_, f64>) -> Mat<f64> {
        let (m, mut theta) = (self.factor.order(), self.reduced(B));
        self.factor.solve_in_place(theta.as_mut());
        if !self.intercept {
            return theta;
        }
        let fitted = |j: usize| ops::dot(&self.a, theta.col_as_slice(j));
        let b: Vec<f64> = (0..B.ncols()).map(|j| (B[(m, j)] - fitted(j)) / self.s).collect();
        Mat::from_fn(m + 1, B.ncols(), |i, j| if i < m { theta[(i, j)] } else { b[j] })
    }

    /// Its first m rows multiplied by Rᵀ.
    fn whitened<T: Scalar>(&self, mut theta: Mat<f64>, whitener: &Whitener<T>) -> Mat<f64> {
        let m = self.factor.order();
        let beta = whitener.whitened(theta.as_ref().subrows(0, m));
        theta.as_mut().subrows_mut(0, m).copy_from(beta);
        theta
    }

    /// β and b of a solution; `scale` divides the factor's diagonal.
    fn solution(&self, solved: Mat<f64>, mu: f64, scale: impl Fn(usize) -> f64) -> Solution {
        let (m, t) = (self.factor.order(), solved.ncols());
        let condition = condition(m, |i| self.factor.lower()[(i, i)] / scale(i));
        let b = self.intercept.then(|| (0..t).map(|j| solved[(m, j)]).collect());
        Solution { beta: solved.as_ref().subrows(0, m).to_owned(), b, mu, condition }
    }
}
