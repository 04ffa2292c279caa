//! The DPP of a projection VVᵀ: the second half of every exact sampler.

use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::random::Cumulated;
use nystrom_linalg_core::{Scalar, ops, work};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// Rows of V done by one thread.
const ROWS: usize = 512;
/// Squares below which waking other threads costs more than they save.
const WORTH_A_THREAD: usize = 1 << 17;
/// Columns that a candidate is multiplied by before it is asked whether it is lost.
const COLUMNS: usize = 16;
/// A multiply-add in the product of a refresh costs about a third of one in the test of a proposal.
const PRODUCT_GAIN: f64 = 3.0;

/// A draw from Pr(C) = det((VVᵀ)_CC), |C| = c, for the c orthonormal columns V = `vectors`\[:,
/// `chosen`\].
///
/// The chain rule draws item s with probability proportional to its residual ‖V_j‖² − ‖QᵀV_j‖², Q
/// an orthonormal basis of the rows drawn before. Here a candidate is drawn by its residual of an
/// earlier round (at first ‖V_j‖²), which is larger. It is accepted with the ratio of the two, so
/// accepted items have the same probabilities. All residuals add up to c − s, so the acceptance
/// rate is known in advance. The old residuals are brought up to date (one product) only where that
/// is cheaper than the rejections it saves.
///
/// That product is taken in the precision of V, and leaves rounding errors where a residual is 0.
/// So the residual of a drawn row is 0 by definition. A candidate must also pass with its own
/// residual, which is taken from its vector in `f64`.
///
/// O(nc + c³ ln c) for n ≫ c², never more than O(nc²); memory n + c².
///
/// # Source
/// S. Barthelmé, N. Tremblay, P.-O. Amblard, *A faster sampler for discrete determinantal point
/// processes*, AISTATS 2023 (PMLR 206).
///
/// # Departures
/// The refreshed residuals: theirs stay the first ones.
pub(crate) fn draw<T: Scalar>(
    vectors: MatRef<'_, T>,
    chosen: &[usize],
    rng: &mut dyn Rng,
) -> Vec<usize> {
    let (n, c) = (vectors.nrows(), chosen.len());
    let V: Vec<&[T]> = chosen.iter().map(|&column| column_of(vectors, column)).collect();
    let mut proposal = Proposal::new(squared_norms(n, &V));
    let mut Q = Mat::<f64>::zeros(c, c);
    let (mut v, mut along) = (Mat::zeros(c, 1), Mat::zeros(c, 1));
    // columns fresh..s of Q are unknown to the proposal
    let (mut C, mut fresh) = (Vec::with_capacity(c), 0);
    while C.len() < c {
        let s = C.len();
        if 2 * (s - fresh) >= c - fresh && refresh_pays(n, c, s) {
            proposal.lower(&V, Q.as_ref().subcols(fresh, s - fresh));
            fresh = s;
        }
        let (j, weight) = proposal.draw(rng);
        v.col_mut(0).iter_mut().zip(&V).for_each(|(v, column)| *v = column[j].f64());
        // accept if u·old < new, new = old − ‖Q_newᵀV_j‖²
        let slack = (1.0 - rng.random::<f64>()) * weight;
        let new = Q.as_ref().subcols(fresh, s - fresh);
        if lost_at_most(slack, along.as_mut(), v.as_ref(), new)
            && weight - slack < orthonormalise(v.as_mut(), along.as_mut(), Q.as_ref().subcols(0, s))
        {
            Q.col_mut(s).copy_from(v.col(0));
            proposal.take(j);
            C.push(j);
        }
    }
    C
}

/// With the residuals of item s instead of those of about c/2 items before, ln(c − s)·s/2
/// rejections are saved, of about c·s multiply-adds each. The product takes n·c·s/2.
fn refresh_pays(n: usize, c: usize, s: usize) -> bool {
    (n as f64) < PRODUCT_GAIN * s as f64 * ((c - s) as f64).ln()
}

/// ‖Qᵀv‖² < slack, giving up as soon as it is not. `along` is room for products.
fn lost_at_most(
    slack: f64,
    mut along: MatMut<'_, f64>,
    v: MatRef<'_, f64>,
    Q: MatRef<'_, f64>,
) -> bool {
    let mut lost = 0.0;
    for start in (0..Q.ncols()).step_by(COLUMNS) {
        let some = Q.subcols(start, COLUMNS.min(Q.ncols() - start));
        let mut along = along.rb_mut().subrows_mut(start, some.ncols());
        ops::matmul_here(along.rb_mut(), Accum::Replace, some.transpose(), v, 1.0);
        lost += along.squared_norm_l2();
        if lost >= slack {
            return false;
        }
    }
    slack > 0.0
}

/// v ← (v − QQᵀv)/‖…‖, with a second v ← v − QQᵀv if the first leaves less than half of ‖v‖²:
/// twice is enough. Returns ‖v − QQᵀv‖², to about (ε‖v‖)²; 0 if nothing of v is left.
fn orthonormalise(mut v: MatMut<'_, f64>, mut along: MatMut<'_, f64>, Q: MatRef<'_, f64>) -> f64 {
    let mut along = along.rb_mut().subrows_mut(0, Q.ncols());
    let mut left = v.squared_norm_l2();
    for _ in 0..2 {
        let before = left;
        ops::matmul_here(along.rb_mut(), Accum::Replace, Q.transpose(), v.rb(), 1.0);
        ops::matmul_here(v.rb_mut(), Accum::Add, Q, along.rb(), -1.0);
        left = v.squared_norm_l2();
        if left > 0.5 * before {
            break;
        }
    }
    if !(left > 0.0) {
        return 0.0;
    }
    let norm = left.sqrt();
    v.col_mut(0).iter_mut().for_each(|v| *v /= norm);
    left
}

fn column_of<T: Scalar>(vectors: MatRef<'_, T>, j: usize) -> &[T] {
    vectors.col(j).try_as_col_major().expect("columns of an own matrix").as_slice()
}

/// ‖V_j‖² for every one of the n rows j.
fn squared_norms<T: Scalar>(n: usize, V: &[&[T]]) -> Vec<f64> {
    let mut norms = vec![0.0; n];
    work::product(n, 1, V.len());
    let piece = |(p, norms): (usize, &mut [f64])| {
        for column in V {
            let rows = &column[p * ROWS..p * ROWS + norms.len()];
            norms.iter_mut().zip(rows).for_each(|(norm, v)| *norm += v.f64().powi(2));
        }
    };
    if n * V.len() < WORTH_A_THREAD {
        norms.chunks_mut(ROWS).enumerate().for_each(piece)
    } else {
        norms.par_chunks_mut(ROWS).enumerate().for_each(piece)
    }
    norms
}

/// Draws of a row in proportion to weights.
struct Proposal {
    weights: Vec<f64>,
    cumulated: Cumulated,
}

impl Proposal {
    fn new(weights: Vec<f64>) -> Self {
        Proposal { cumulated: Cumulated::of(weights.iter().copied()), weights }
    }

    fn draw(&self, rng: &mut dyn Rng) -> (usize, f64) {
        let j = self.cumulated.draw(rng);
        (j, self.weights[j])
    }

    /// Row j is drawn: from now on its residual is 0, by definition.
    fn take(&mut self, j: usize) {
        self.weights[j] = 0.0;
    }

    /// weight_j −= ‖QᵀV_j‖² for every row j: one product.
    fn lower<T: Scalar>(&mut self, V: &[&[T]], Q: MatRef<'_, f64>) {
        let Q = Mat::from_fn(Q.nrows(), Q.ncols(), |i, j| T::lit(Q[(i, j)]));
        self.weights.par_chunks_mut(ROWS).enumerate().for_each(|(piece, weights)| {
            let V = Mat::from_fn(weights.len(), V.len(), |i, j| V[j][piece * ROWS + i]);
            for column in ops::times(V.as_ref(), Q.as_ref()).col_iter() {
                weights
                    .iter_mut()
                    .zip(column.iter())
                    .for_each(|(weight, a)| *weight -= a.f64().powi(2));
            }
            weights.iter_mut().for_each(|weight| *weight = weight.max(0.0));
        });
        self.cumulated = Cumulated::of(self.weights.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_linalg_core::{SymmetricEigen, random};
    use rand::SeedableRng;

    /// In `f32` the refreshed residual of a drawn row is rounding error of about 1e-8, and a draw
    /// of 200 refreshes many times.
    #[test]
    fn a_drawn_row_has_no_residual() {
        let (n, c) = (300, 60);
        let rng = &mut rand_pcg::Pcg64::seed_from_u64(1);
        let z = random::standard_normal::<f32>(n, n, rng);
        let V = SymmetricEigen::new((&z + z.transpose()).as_ref()).unwrap();
        let V: Vec<&[f32]> = (0..c).map(|column| column_of(V.vectors(), column)).collect();
        let row = |j: usize| Mat::from_fn(c, 1, |t, _| f64::from(V[t][j]));
        let mut along = Mat::zeros(c, 1);
        let drawn: Vec<usize> = (0..c - 1).map(|t| 5 * t).collect();
        let mut Q = Mat::<f64>::zeros(c, c);
        let (mut proposal, mut kept) =
            (Proposal::new(squared_norms(n, &V)), Proposal::new(squared_norms(n, &V)));
        for (s, &j) in drawn.iter().enumerate() {
            let mut v = row(j);
            let known = Q.as_ref().subcols(0, s);
            assert!(orthonormalise(v.as_mut(), along.as_mut(), known) > 1e-6);
            Q.col_mut(s).copy_from(v.col(0));
            proposal.take(j);
        }
        for weights in [&mut proposal, &mut kept] {
            weights.lower(&V, Q.as_ref().subcols(0, c - 1));
        }
        assert!(drawn.iter().all(|&j| proposal.weights[j] == 0.0));
        // Without the definition some of them could be drawn again, …
        assert!(drawn.iter().any(|&j| kept.weights[j] > 0.0));
        // … and their vectors alone say that nothing is left.
        for &j in &drawn {
            let known = Q.as_ref().subcols(0, c - 1);
            assert!(orthonormalise(row(j).as_mut(), along.as_mut(), known) < 1e-28);
        }
    }
}
