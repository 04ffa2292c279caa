//! Dense products at the current pool's parallelism.
//!
//! faer's product and Cholesky give the same bits at every degree of parallelism (held by `tests/threads.rs`), so the degree
//! follows the rayon pool the caller runs in; the symmetric eigendecomposition does not, and is pinned in
//! [`SymmetricEigen`](crate::SymmetricEigen).

use crate::Scalar;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

/// As many threads as the current rayon pool has.
pub fn par() -> Par {
    match rayon::current_num_threads() {
        1 => Par::Seq,
        n => Par::rayon(n),
    }
}

/// `out = alpha·a·b` or `out += alpha·a·b`; `out` is m × n, `a` m × k, `b` k × n.
///
/// # Panics
/// If the shapes do not fit.
pub fn matmul<T: Scalar>(out: MatMut<'_, T>, accum: Accum, a: MatRef<'_, T>, b: MatRef<'_, T>, alpha: T) {
    faer::linalg::matmul::matmul(out, accum, a, b, alpha, par());
}

/// The lower triangle of `out` (with the diagonal) becomes, or gains, `alpha·aᵀ·a`; `a` is k × m, `out` m × m.
///
/// Half the work of [`matmul`]. The strict upper triangle of `out` is neither read nor written.
///
/// # Panics
/// If `out` is not a.ncols() × a.ncols().
pub fn gram_lower<T: Scalar>(out: MatMut<'_, T>, accum: Accum, a: MatRef<'_, T>, alpha: T) {
    triangular::matmul(
        out,
        BlockStructure::TriangularLower,
        accum,
        a.transpose(),
        BlockStructure::Rectangular,
        a,
        BlockStructure::Rectangular,
        alpha,
        par(),
    );
}

/// Copies the strict lower triangle onto the upper one.
///
/// # Panics
/// If `a` is not square.
pub fn mirror_lower<T: Scalar>(mut a: MatMut<'_, T>) {
    assert_eq!(a.nrows(), a.ncols(), "a square matrix");
    for col in 0..a.ncols() {
        for row in 0..col {
            a[(row, col)] = a[(col, row)];
        }
    }
}

/// Adds `mu` to the diagonal.
///
/// # Panics
/// If `a` is not square.
pub fn add_to_diagonal<T: Scalar>(mut a: MatMut<'_, T>, mu: T) {
    assert_eq!(a.nrows(), a.ncols(), "a square matrix");
    for i in 0..a.nrows() {
        a[(i, i)] += mu;
    }
}
