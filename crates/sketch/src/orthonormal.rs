//! Orthonormal bases of tall matrices, from Gram matrices that are summed along the row tree.

use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::psd_factor::transpose_times;
use nystrom_linalg_core::{Cholesky, Result, Scalar, SymmetricEigen, ops};

/// Directions whose squared length is below CUTOFF·m·ε times the largest are rounding error. The
/// other directions are orthonormal to 10⁻³ after the first pass, and thus to rounding error after
/// the second.
const CUTOFF: f64 = 1e3;

/// Q, n × r orthonormal with r ≤ m, whose range is that of (I − UUᵀ)C up to rounding. `U` is n × i
/// orthonormal (i may be 0), `C` is n × m.
///
/// O(n(i + m)m) flops.
pub(crate) fn extend_basis<T: Scalar>(U: MatRef<'_, T>, mut C: Mat<T>) -> Result<Mat<T>> {
    let scale = largest_column(&C);
    project_away(U, &mut C);
    let gram = transpose_times(C.as_ref(), C.as_ref());
    let eigen = SymmetricEigen::new(gram.as_ref())?; //                  CᵀC = VΣ²Vᵀ
    let (V, sigma) = (eigen.vectors(), eigen.values());
    let smallest = CUTOFF * C.ncols() as f64 * T::EPS * sigma[0].f64().max(T::EPS * scale);
    let r = sigma.iter().take_while(|s| s.f64() > smallest).count();
    let VS = Mat::from_fn(C.ncols(), r, |i, j| V[(i, j)] / num_traits::Float::sqrt(sigma[j]));
    let mut Q = ops::times(C.as_ref(), VS.as_ref());
    project_away(U, &mut Q); //                                          again, against rounding
    if r > 0 {
        let R = Cholesky::new(transpose_times(Q.as_ref(), Q.as_ref()).as_ref())?;
        R.forward_in_place(Q.as_mut().transpose_mut()); //               Q ← QR⁻ᵀ
    }
    Ok(Q)
}

/// C ← C − U(UᵀC).
fn project_away<T: Scalar>(U: MatRef<'_, T>, C: &mut Mat<T>) {
    if U.ncols() > 0 {
        let along = transpose_times(U, C.as_ref());
        ops::matmul(C.as_mut(), Accum::Add, U, along.as_ref(), -T::one());
    }
}

/// The largest squared norm of a column of C.
fn largest_column<T: Scalar>(C: &Mat<T>) -> f64 {
    C.col_iter().map(|c| c.squared_norm_l2().f64()).fold(0.0, f64::max)
}

/// \[A, B\], the columns of A followed by those of B.
pub(crate) fn concat_columns<T: Scalar>(A: &Mat<T>, B: &Mat<T>) -> Mat<T> {
    let split = A.ncols();
    Mat::from_fn(A.nrows(), split + B.ncols(), |i, j| {
        if j < split { A[(i, j)] } else { B[(i, j - split)] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_linalg_core::random;
    use rand::SeedableRng;

    #[test]
    fn bases_are_orthonormal_and_span_what_they_should() {
        let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
        let a = random::standard_normal::<f64>(3000, 8, rng);
        let U = extend_basis(Mat::zeros(3000, 0).as_ref(), a.clone()).unwrap();
        let error = |q: &Mat<f64>| {
            (q.transpose() * q - Mat::<f64>::identity(q.ncols(), q.ncols())).norm_max()
        };
        assert!(U.ncols() == 8 && error(&U) < 1e-14);
        // columns from nearly dependent to exactly dependent, two of them in range(U)
        let b = random::standard_normal::<f64>(3000, 3, rng);
        let C = Mat::from_fn(3000, 6, |i, j| match j {
            0..3 => b[(i, j)] * [1.0, 1e-2, 1e-4][j],
            3 => 2.0 * b[(i, 0)] + 1e-3 * b[(i, 1)],
            _ => a[(i, j)] - a[(i, j - 1)],
        });
        let Q = extend_basis(U.as_ref(), C.clone()).unwrap();
        assert!(Q.ncols() == 3 && error(&Q) < 1e-14 && (U.transpose() * &Q).norm_max() < 1e-14);
        let all = Mat::from_fn(3000, 11, |i, j| if j < 8 { U[(i, j)] } else { Q[(i, j - 8)] });
        let left = &C - &all * (all.transpose() * &C);
        assert!(left.norm_max() < 1e-12);
        assert_eq!(extend_basis(U.as_ref(), a).unwrap().ncols(), 0);
    }
}
