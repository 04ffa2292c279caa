//! Reduction of a dense symmetric matrix to a band matrix, mostly by matrix products.

use super::Band;
use super::vectors::{add_in, reflection_in};
use crate::{Scalar, dispatch, ops, work};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef, unzip, zip};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Rows of a product that one thread computes.
const ROWS: usize = 128;
/// Columns of a panel within which reflections are applied one by one.
const COLUMNS: usize = 8;
/// Side of the blocks of the trailing matrix that one thread updates.
const SIDE: usize = 256;

/// H = I − VSVᵀ, a product of reflections, acting on the m rows from `first` on.
#[derive(Debug, Clone)]
pub(super) struct Reflector<T> {
    first: usize,
    V: Mat<T>, // m × b, lower trapezoidal
    S: Mat<T>, // b × b, upper triangular
}

/// B = QᵀAQ with b subdiagonals, and Q = H₁H₂ ⋯; reads the lower triangle of A.
///
/// Each panel of b columns is triangularised below its b-th subdiagonal, A₂₁ = HR. Then
/// HᵀA₂₂H = A₂₂ − VYᵀ − YVᵀ with W = A₂₂VS and Y = W − ½VSᵀVᵀW.
///
/// 4n³/3 flops for b ≪ n.
///
/// # Source
/// C. Bischof, B. Lang & X. Sun, *A framework for symmetric band reduction*, ACM TOMS 26 (2000).
pub(super) fn to_band<T: Scalar>(mut A: Mat<T>, b: usize) -> (Band, Vec<Reflector<T>>) {
    let n = A.nrows();
    let mut reflectors = Vec::new();
    for start in (0..n).step_by(b).take_while(|start| start + b + 1 < n) {
        let first = start + b;
        let below = A.as_mut().submatrix_mut(first, start, n - first, n - start);
        let (panel, trailing) = below.split_at_col_mut(b);
        let H = Reflector::of(panel, first); //                               A₂₁ = HR
        H.both_sides(trailing); //                                            A₂₂ ← HᵀA₂₂H
        reflectors.push(H);
    }
    (Band::of(A.as_ref(), b), reflectors)
}

impl<T: Scalar> Reflector<T> {
    /// The H of a QR factorisation of `panel` (m × b), a few columns at a time; `panel` becomes R.
    fn of(mut panel: MatMut<'_, T>, first: usize) -> Self {
        let (m, b) = panel.shape();
        let mut wide = Mat::<f64>::zeros(m, b);
        zip!(&mut wide, &panel).for_each(|unzip!(wide, a)| *wide = a.f64());
        work::qr(m.max(b), b.min(m), 0);
        let mut tau = Vec::with_capacity(b);
        for start in (0..m.min(b)).step_by(COLUMNS) {
            let below = wide.as_mut().subrows_mut(start, m - start);
            let (some, later) = below.split_at_col_mut(start + COLUMNS.min(b - start));
            let mut some = some.subcols_mut(start, COLUMNS.min(b - start));
            let found = dispatch(Triangularise(some.rb_mut()));
            let V = vectors_of(some.rb(), &found);
            Reflector { first: 0, S: coupling(&V, &found), V }.apply_transpose(later);
            tau.extend(found);
        }
        let V = vectors_of(wide.as_ref(), &tau);
        let S = coupling(&V, &tau);
        for j in 0..b {
            let column = panel.rb_mut().col_mut(j).iter_mut().enumerate();
            column.for_each(|(i, a)| *a = if i <= j { T::lit(wide[(i, j)]) } else { T::zero() });
        }
        Reflector { first, V: narrow(&V), S: narrow(&S) }
    }

    /// A ← HᵀAH, in the lower triangle.
    fn both_sides(&self, A: MatMut<'_, T>) {
        let V = self.V.as_ref();
        let mut W = ops::times(symmetric_times(A.rb(), V).as_ref(), self.S.as_ref());
        let VtW = ops::times(V.transpose(), W.as_ref());
        let SVtW = ops::times(self.S.transpose(), VtW.as_ref());
        ops::matmul(W.as_mut(), Accum::Add, V, SVtW.as_ref(), T::lit(-0.5)); // Y
        // [V Y][Y V]ᵀ
        let (left, right) = (concat_columns(V, W.as_ref()), concat_columns(W.as_ref(), V));
        ops::lower_blocks(A, SIDE).into_par_iter().for_each(|block| {
            let (left, right) = (left.transpose(), right.transpose());
            ops::block_of_product(block, Accum::Add, left, right, -T::one());
        });
    }

    /// X ← HX.
    pub fn apply(&self, X: MatMut<'_, T>) {
        self.apply_by(self.S.as_ref(), X);
    }

    /// X ← HᵀX.
    fn apply_transpose(&self, X: MatMut<'_, T>) {
        self.apply_by(self.S.transpose(), X);
    }

    fn apply_by(&self, S: MatRef<'_, T>, X: MatMut<'_, T>) {
        let mut X = X.subrows_mut(self.first, self.V.nrows());
        let VtX = ops::times(self.V.transpose(), X.rb());
        let SVtX = ops::times(S, VtX.as_ref());
        ops::matmul(X.rb_mut(), Accum::Add, self.V.as_ref(), SVtX.as_ref(), -T::one());
    }
}

/// V (m × b), from the vectors that [`Triangularise`] stores below the diagonal.
fn vectors_of(panel: MatRef<'_, f64>, tau: &[f64]) -> Mat<f64> {
    let mut V = panel.subcols(0, tau.len()).to_owned();
    for (j, tau) in tau.iter().enumerate() {
        let nothing = if *tau == 0.0 { V.nrows() } else { j };
        V.as_mut().col_mut(j).subrows_mut(0, nothing).fill(0.0);
        if *tau != 0.0 {
            V[(j, j)] = 1.0;
        }
    }
    V
}

/// S (b × b), where S⁻¹ = diag(1/τ) + the strict upper triangle of VᵀV.
fn coupling(V: &Mat<f64>, tau: &[f64]) -> Mat<f64> {
    let b = tau.len();
    let mut inverse = ops::times(V.transpose(), V.as_ref());
    for (j, tau) in tau.iter().enumerate() {
        inverse[(j, j)] = if *tau == 0.0 { 1.0 } else { tau.recip() };
    }
    let mut S = Mat::<f64>::identity(b, b);
    ops::solve_upper(inverse.as_ref(), S.as_mut()); //  does not read below the diagonal
    S
}

fn narrow<T: Scalar>(a: &Mat<f64>) -> Mat<T> {
    let mut out = Mat::zeros(a.nrows(), a.ncols());
    zip!(&mut out, a).for_each(|unzip!(out, a)| *out = T::lit(*a));
    out
}

/// [X Z], both m × b.
fn concat_columns<T: Scalar>(X: MatRef<'_, T>, Z: MatRef<'_, T>) -> Mat<T> {
    let b = X.ncols();
    let mut both = Mat::zeros(X.nrows(), 2 * b);
    both.as_mut().subcols_mut(0, b).copy_from(X);
    both.as_mut().subcols_mut(b, b).copy_from(Z);
    both
}

/// AV for a symmetric A, reading its lower triangle, in parallel over fixed groups of rows.
fn symmetric_times<T: Scalar>(A: MatRef<'_, T>, V: MatRef<'_, T>) -> Mat<T> {
    let (m, b) = V.shape();
    let mut out = Mat::zeros(m, b);
    out.as_mut().par_row_chunks_mut(ROWS).enumerate().for_each(|(piece, mut out)| {
        let (start, size) = (piece * ROWS, out.nrows());
        let (end, one) = (start + size, T::one());
        let square = A.submatrix(start, start, size, size);
        let square = Mat::from_fn(size, size, |i, j| square[(i.max(j), i.min(j))]);
        let at = |start: usize, size: usize| V.subrows(start, size);
        ops::matmul_here(out.rb_mut(), Accum::Replace, square.as_ref(), at(start, size), one);
        if start > 0 {
            let left = A.submatrix(start, 0, size, start);
            ops::matmul_here(out.rb_mut(), Accum::Add, left, at(0, start), one);
        }
        if end < m {
            let below = A.submatrix(end, start, m - end, size).transpose();
            ops::matmul_here(out.rb_mut(), Accum::Add, below, at(end, m - end), one);
        }
    });
    out
}

/// QR factorisation of a panel in place: R on and above the diagonal, the vectors of the
/// reflections below. The output is their τ.
struct Triangularise<'a>(MatMut<'a, f64>);

impl WithSimd for Triangularise<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut panel = self.0;
        let (m, b) = panel.shape();
        let reflect = |k: usize| {
            let (done, mut later) = panel.rb_mut().split_at_col_mut(k + 1);
            let v = &mut slice_of(done, k)[k..];
            let (beta, tau) = reflection_in(simd, v);
            for j in 0..later.ncols() {
                let x = &mut slice_of(later.rb_mut(), j)[k..];
                let along = ops::dot_in(simd, v, x);
                add_in(simd, x, -tau * along, v);
            }
            v[0] = beta;
            tau
        };
        (0..m.min(b)).map(reflect).collect()
    }
}

fn slice_of(a: MatMut<'_, f64>, j: usize) -> &mut [f64] {
    a.col_mut(j).try_as_col_major_mut().expect("columns of an own matrix").as_slice_mut()
}
