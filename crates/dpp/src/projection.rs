//! Draws from the DPP of a projection VVᵀ, the second step of every exact sampler.

use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::random::Cumulated;
use nystrom_linalg_core::{Scalar, ops, work};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// Number of rows of V per parallel task.
const ROWS: usize = 512;
/// Number of squares below which one thread is faster than several.
const WORTH_A_THREAD: usize = 1 << 17;
/// Number of columns of Q multiplied with a candidate between two checks for its rejection.
const COLUMNS: usize = 16;
/// A multiply-add in a proposal test takes about this many times as long as one in the product of a
/// refresh.
const PRODUCT_GAIN: f64 = 3.0;

/// A draw from Pr(C) = det((VVᵀ)_CC), |C| = c, for the c orthonormal columns V = `vectors`\[:,
/// `chosen`\].
///
/// By the chain rule, the next item after s items is j with probability proportional to its
/// residual ‖V_j‖² − ‖QᵀV_j‖², where Q is an orthonormal basis of the rows drawn before. Here a
/// candidate is drawn in proportion to an older residual (at first ‖V_j‖²), which is at least as
/// large, and accepted with the ratio of the new residual to the old. Accepted items thus have the
/// required probabilities. The residuals sum to c − s, so that the acceptance rate is known in
/// advance. The old residuals are refreshed (by one matrix product) only if that is cheaper than
/// the rejections it avoids.
///
/// The product is computed in the precision of V, so that residuals that should be 0 have rounding
/// errors. The residual of a drawn row is therefore set to 0, and every candidate must also be
/// accepted with its residual recomputed in `f64`.
///
/// Time O(nc + c³ ln c) for n ≫ c², never more than O(nc²); memory n + c² numbers.
///
/// # Source
/// S. Barthelmé, N. Tremblay, P.-O. Amblard, *A faster sampler for discrete determinantal point
/// processes*, AISTATS 2023 (PMLR 206).
///
/// # Departures
/// The residuals are refreshed; the published sampler keeps the initial ones.
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
    // the weights of the proposal do not include columns fresh..s of Q yet
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

/// A refresh after s items avoids about ln(c − s)·s/2 rejections of about c·s multiply-adds each.
/// Its product takes about n·c·s/2 multiply-adds.
fn refresh_pays(n: usize, c: usize, s: usize) -> bool {
    (n as f64) < PRODUCT_GAIN * s as f64 * ((c - s) as f64).ln()
}

/// Whether ‖Qᵀv‖² < slack; stops as soon as the partial sum reaches `slack`. `along` is scratch
/// memory.
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

/// v ← (v − QQᵀv)/‖…‖. The projection is repeated once if the first leaves less than half of ‖v‖²;
/// twice is enough. Returns ‖v − QQᵀv‖², with an error of about (ε‖v‖)²; 0 if the remainder is 0.
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

/// ‖V_j‖² for every row j, n numbers.
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

/// Draws rows in proportion to weights.
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

    /// Sets the residual of row j, which was drawn, to 0.
    fn take(&mut self, j: usize) {
        self.weights[j] = 0.0;
    }

    /// weight_j −= ‖QᵀV_j‖² for every row j, by one matrix product.
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

    /// In `f32` the refreshed residual of a drawn row is a rounding error of about 1e-8, and a draw
    /// of 200 items refreshes many times.
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
        // Without setting residuals to 0 some rows could be drawn again, …
        assert!(drawn.iter().any(|&j| kept.weights[j] > 0.0));
        // … although the residuals recomputed from their vectors are 0 up to rounding.
        for &j in &drawn {
            let known = Q.as_ref().subcols(0, c - 1);
            assert!(orthonormalise(row(j).as_mut(), along.as_mut(), known) < 1e-28);
        }
    }
}
