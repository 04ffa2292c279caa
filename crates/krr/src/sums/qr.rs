//! min ‖√w(y − Φβ)‖² + nλ‖β‖² without the normal equations, whose condition is squared: a streamed
//! (tall-skinny) QR factorisation.

use crate::SolvedBy;
use crate::algebra::svd::{self, Svd};
use crate::features::Tile;
use crate::sums::{Accumulator, Decomposed, Products, Reader, Solution, Sums, condition};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor::{
    qr_in_place, qr_in_place_scratch, recommended_block_size,
};
use faer::{Conj, Mat, MatMut, Par};
use nystrom_linalg_core::{PackedLower, Result, Scalar, ops, work};

/// R (p × p, kept as its transpose) and c = Qᵀ√wY (p × t) of √w[1 Φ | Y], p = m + 1 with an
/// intercept.
///
/// The column of ones comes first: it is not penalised, and its row of R then gives b after β.
///
/// # Source
/// J. Demmel, L. Grigori, M. Hoemmen, J. Langou, *Communication-optimal parallel and sequential QR
/// and LU factorizations*, SIAM J. Sci. Comput. 34 (2012), section 3: the tree here is
/// [`RowTree`](nystrom_linalg_core::RowTree), sequential within a leaf.
#[derive(Debug, Clone)]
pub struct QrSums {
    pub(crate) Rt: PackedLower<f64>,
    pub(crate) c: Mat<f64>,
}

/// One pass over the rows, in `f64` whatever T is, takes n·m kernel values and
/// (3 + m/768)nm² + 23m³ flops. It holds 2m² numbers for the partial triangles and
/// (m + max(m, 1024))·(m + t) for the one being updated.
impl Accumulator for QrSums {
    const KIND: u8 = 1;
    const SOLVED_BY: SolvedBy = SolvedBy::Qr;

    fn zeros(p: usize, t: usize) -> Self {
        QrSums { Rt: PackedLower::zeros(p), c: Mat::zeros(p, t) }
    }

    /// QR of [R c; tile].
    fn add<T: Scalar>(
        &mut self,
        tile: &Tile<T>,
        intercept: bool,
        _: Products,
        _: &mut [Mat<f64>; 2],
    ) {
        let p = self.Rt.order();
        // the ones are the last column of Z
        let first = |k: usize| if intercept { (k + p - 1) % p } else { k };
        let (Z, Y) = (tile.Z(), tile.Y());
        self.put_below(tile.rows(), |i, j| Z[(i, first(j))].f64(), |i, j| Y[(i, j)].f64());
    }

    /// β from the QR factorisation of [R; √(nλ) I], the intercept's row set aside; then b = (c₀ −
    /// R₀β)/R₀₀.
    ///
    /// A ridge below (64·m·ε·‖R‖_F)² is smaller than the rounding errors of Φ and is raised to
    /// that, so that a solution always exists.
    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        let skip = usize::from(intercept);
        let (m, t) = (self.Rt.order() - skip, self.c.ncols());
        let mu = mu.max(self.floor(skip));
        let mut ridge = QrSums {
            Rt: PackedLower::from_fn(m, |j, i| self.Rt.get(j + skip, i + skip)),
            c: Mat::from_fn(m, t, |i, j| self.c[(i + skip, j)]),
        };
        let root = mu.sqrt();
        ridge.put_below(m, |i, j| if i == j { root } else { 0.0 }, |_, _| 0.0);
        let upper = Mat::from_fn(m, m, |i, j| if i <= j { ridge.Rt.get(j, i) } else { 0.0 });
        let mut beta = ridge.c;
        ops::solve_upper(upper.as_ref(), beta.as_mut());
        let b = intercept.then(|| {
            let dot = |j: usize| ops::dot(&self.Rt.col(0)[1..], beta.col_as_slice(j));
            (0..t).map(|j| (self.c[(0, j)] - dot(j)) / self.Rt.get(0, 0)).collect()
        });
        Ok(Solution { condition: condition(m, |i| upper[(i, i)]), beta, b, mu })
    }

    /// By the singular values of R = U√S Vᵀ, which are accurate to ε·‖Φ‖. The constant is the first
    /// column. The others are orthogonalised against it, so that nothing need be subtracted.
    fn decomposed(&self, constant: bool) -> Result<Decomposed> {
        let skip = usize::from(constant);
        let (m, t) = (self.Rt.order() - skip, self.c.ncols());
        let means = constant.then(|| {
            let root = self.Rt.get(0, 0); //                                ±√Σw
            (
                (0..m).map(|j| self.Rt.get(j + 1, 0) / root).collect(),
                (0..t).map(|j| self.c[(0, j)] / root).collect(),
            )
        });
        let entry = |i, j| if i <= j { self.Rt.get(j + skip, i + skip) } else { 0.0 };
        let Svd { values: s, U, V } = svd::thin(Mat::from_fn(m, m, entry).as_ref(), true)?;
        let Uc = ops::times(U.transpose(), self.c.subrows(skip, m).to_owned().as_ref());
        let g = Mat::from_fn(m, t, |i, j| s[i] * Uc[(i, j)]);
        let (values, floor) = (s.iter().map(|s| s * s).collect(), Some(self.floor(skip)));
        Ok(Decomposed { values, g, V, means, floor })
    }
}

impl Sums for QrSums {
    /// QR of [R c; R' c'].
    fn merge(&mut self, later: Self) {
        let entry = |i: usize, j: usize| if i <= j { later.Rt.get(j, i) } else { 0.0 };
        self.put_below(self.Rt.order(), entry, |i, j| later.c[(i, j)]);
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.Rt.write(out);
        self.c.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        QrSums { Rt: self.Rt.read(reader), c: self.c.read(reader) }
    }
}

impl QrSums {
    /// QR of [R c; below], `below` given by its entries: `rows` rows, p columns of features, t of
    /// targets.
    fn put_below(
        &mut self,
        rows: usize,
        features: impl Fn(usize, usize) -> f64,
        targets: impl Fn(usize, usize) -> f64,
    ) {
        let (p, t) = (self.Rt.order(), self.c.ncols());
        let R = |i: usize, j: usize| if i <= j { self.Rt.get(j, i) } else { 0.0 };
        let mut stacked = Mat::from_fn(p + rows, p + t, |i, j| match (i < p, j < p) {
            (true, true) => R(i, j),
            (true, false) => self.c[(i, j - p)],
            (false, true) => features(i - p, j),
            (false, false) => targets(i - p, j - p),
        });
        *self = Self::zeros(0, 0); // frees its memory
        triangularise(stacked.as_mut(), p);
        *self = QrSums {
            Rt: PackedLower::from_fn(p, |i, j| stacked[(j, i)]),
            c: Mat::from_fn(p, t, |i, j| stacked[(i, p + j)]),
        };
    }

    /// (64·m·ε·‖R‖_F)², R without its first `skip` rows and columns.
    fn floor(&self, skip: usize) -> f64 {
        let m = self.Rt.order() - skip;
        let norm2: f64 = (0..m)
            .map(|j| (0..=j).map(|i| self.Rt.get(j + skip, i + skip).powi(2)).sum::<f64>())
            .sum();
        (64.0 * m as f64 * f64::EPSILON).powi(2) * norm2
    }
}

/// The first `p` columns of `a` become upper triangular; what is below their diagonal is left
/// undefined. The same orthogonal transformation is applied to the other columns. On one
/// thread: faer's reflections use matrix-vector products, whose bits depend on the number of
/// threads.
fn triangularise(a: MatMut<'_, f64>, p: usize) {
    let (rows, par) = (a.nrows(), Par::Seq);
    let (mut basis, rest) = a.split_at_col_mut(p);
    work::qr(rows, p, rest.ncols());
    let block = recommended_block_size::<f64>(rows, p);
    let mut coefficients = Mat::zeros(block, p.min(rows));
    let scratch =
        StackReq::any_of(&[
            qr_in_place_scratch::<f64>(rows, p, block, par, Default::default()),
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<
                f64,
            >(rows, block, rest.ncols()),
        ]);
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    qr_in_place(basis.rb_mut(), coefficients.as_mut(), par, stack, Default::default());
    householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
        basis.rb(),
        coefficients.as_ref(),
        Conj::No,
        rest,
        par,
        stack,
    );
}

use faer::reborrow::*;
