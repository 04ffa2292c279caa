//! The contracts of [`Kernel`] and [`DifferentiableKernel`] as tests for any implementation
//! (feature `testing`).

use crate::{DifferentiableKernel, Kernel, Points};
use faer::{ColMut, Mat};
use nystrom_linalg_core::Scalar;
use nystrom_linalg_core::testing::same_at_any_thread_count;

/// Checks that `kernel` keeps the contract of [`Kernel`] on `points`; from 2 to a few hundred
/// points are enough, and quick. With u = 64 ulp of the largest k(x, x), the checks are:
///
/// * k(x, y) = k(y, x) to u.
/// * The Gram matrix is exactly symmetric, and has exactly the diagonal of `diag_into`.
/// * To u, the Gram matrix agrees with `eval_into`: as one block, by single rows or columns, and
///   with a row-major output.
/// * No eigenvalue of the Gram matrix is below −n·√d·u.
/// * 1, 2 and 8 threads give the same bits.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{FromFn, Points, testing::check_kernel};
/// let x = Mat::from_fn(30, 1, |i, _| i as f64 / 29.0);
/// check_kernel(
///     &FromFn::new(|x: &[f64], y: &[f64]| x[0].min(y[0])),
///     Points::from_rows(x.as_ref()),
/// );
/// ```
///
/// # Panics
/// If a check fails; the message names the check and the entry.
pub fn check_kernel<T: Scalar>(kernel: &dyn Kernel<T>, points: Points<'_, T>) {
    let n = points.len();
    kernel
        .check_points(points)
        .unwrap_or_else(|error| panic!("the kernel refuses the points: {error}"));
    let gram = kernel.gram(points);
    let mut diagonal = vec![T::zero(); n];
    kernel.diag_into(ColMut::from_slice_mut(&mut diagonal), points);
    let largest = diagonal.iter().fold(0.0, |m: f64, k| m.max(k.f64()));
    let tolerance = 64.0 * T::EPS * largest;

    for i in 0..n {
        assert!(gram[(i, i)] == diagonal[i], "gram_into and diag_into differ at {i}");
        for j in 0..i {
            assert!(gram[(i, j)] == gram[(j, i)], "gram_into is not symmetric at ({i}, {j})");
        }
    }
    let block = kernel.eval(points, points);
    for j in 0..n {
        for i in 0..j {
            let (upper, lower) = (block[(i, j)].f64(), block[(j, i)].f64());
            let symmetric = (upper - lower).abs() <= tolerance;
            assert!(
                symmetric,
                "not symmetric: k(x_{i}, x_{j}) = {upper:e}, k(x_{j}, x_{i}) = {lower:e}"
            );
        }
    }
    assert_close("eval_into", &block, &gram, tolerance);
    check_slices(kernel, points, &gram, tolerance);
    check_psd(&gram, tolerance * n as f64 * (points.dim() as f64).sqrt());
    check_threads(kernel, points, &gram);
}

fn assert_close<T: Scalar>(what: &str, a: &Mat<T>, b: &Mat<T>, tolerance: f64) {
    for j in 0..b.ncols() {
        for i in 0..b.nrows() {
            let (a, b) = (a[(i, j)].f64(), b[(i, j)].f64());
            assert!(
                (a - b).abs() <= tolerance,
                "{what}: entry ({i}, {j}) is {a:e}, in the Gram matrix {b:e}"
            );
        }
    }
}

fn check_slices<T: Scalar>(
    kernel: &dyn Kernel<T>,
    points: Points<'_, T>,
    gram: &Mat<T>,
    tolerance: f64,
) {
    let n = points.len();
    let mut by_rows = Mat::zeros(n, n);
    let mut by_cols = Mat::zeros(n, n);
    for i in 0..n {
        kernel.eval_into(by_rows.as_mut().subrows_mut(i, 1), points.slice(i..i + 1), points);
        kernel.eval_into(by_cols.as_mut().subcols_mut(i, 1), points, points.slice(i..i + 1));
    }
    assert_close("eval_into of one row", &by_rows, gram, tolerance);
    assert_close("eval_into of one column", &by_cols, gram, tolerance);
    let mut row_major = Mat::zeros(n, n);
    kernel.eval_into(row_major.as_mut().transpose_mut(), points, points);
    assert_close(
        "eval_into a row-major output",
        &row_major.transpose().to_owned(),
        gram,
        tolerance,
    );
}

fn check_psd<T: Scalar>(gram: &Mat<T>, tolerance: f64) {
    let wide = Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| gram[(i, j)].f64());
    let eigenvalues = wide.self_adjoint_eigenvalues(faer::Side::Lower).expect("finite entries");
    let smallest = eigenvalues.into_iter().fold(f64::INFINITY, f64::min);
    assert!(
        smallest >= -tolerance,
        "not positive semi-definite: eigenvalue {smallest:e} below -{tolerance:e}"
    );
}

fn check_threads<T: Scalar>(kernel: &dyn Kernel<T>, points: Points<'_, T>, gram: &Mat<T>) {
    let one = same_at_any_thread_count(|| kernel.gram(points));
    assert!(one == *gram, "gram_into depends on the number of threads");
    let one = same_at_any_thread_count(|| kernel.eval(points, points));
    assert!(one == kernel.eval(points, points), "eval_into depends on the number of threads");
}

/// Checks the gradients of `kernel` against finite differences of its values, of fourth order with
/// step 10⁻³.
///
/// In coordinates in which the kernel is not smooth, no point of `x` may be within 0.002 of a point
/// of `z`. Two sums with weights of both signs are compared. Gradient and differences may differ by
/// 10⁻⁸ times the largest kernel value times the number of points of `z`.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Matern32, Points, testing::check_gradient};
/// let (x, z) = (mat![[0.3, 1.0_f64], [2.0, 0.5]], mat![[0.0, 0.0], [1.0, 2.0], [3.0, 3.0]]);
/// let kernel = Matern32::new(2.0)?;
/// check_gradient(&kernel, Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Panics
/// If a gradient differs; the message names the sum, the point and the coordinate.
pub fn check_gradient(
    kernel: &dyn DifferentiableKernel<f64>,
    x: Points<'_, f64>,
    z: Points<'_, f64>,
) {
    const STEP: f64 = 1e-3;
    let (n, m, d) = (x.len(), z.len(), x.dim());
    let weights = Mat::from_fn(n, 2 * m, |i, j| ((i * 7 + j * 13) % 19) as f64 / 9.0 - 1.0);
    let mut gradient = Mat::from_fn(n, 2 * d, |_, _| f64::NAN);
    kernel.gradient_into(gradient.as_mut(), x, z, weights.as_ref());
    let mut own = vec![0.0; m];
    kernel.diag_into(ColMut::from_slice_mut(&mut own), z);
    let size = own.into_iter().fold(kernel.eval(x, z).norm_max(), f64::max);
    let moved_by = |k: usize, by: f64| {
        let moved = Mat::from_fn(d, n, |c, i| x.coordinate(i, c) + if c == k { by } else { 0.0 });
        kernel.eval(Points::from_cols(moved.as_ref()), z)
    };
    for k in 0..d {
        let near = &moved_by(k, STEP) - &moved_by(k, -STEP);
        let far = &moved_by(k, 2.0 * STEP) - &moved_by(k, -2.0 * STEP);
        for i in 0..n {
            for sum in 0..2 {
                let weighted = |f: &dyn Fn(usize) -> f64| -> f64 {
                    (0..m).map(|j| weights[(i, j + m * sum)] * f(j)).sum()
                };
                let expected = weighted(&|j| (8.0 * near[(i, j)] - far[(i, j)]) / (12.0 * STEP));
                let found = gradient[(i, k + d * sum)];
                assert!(
                    (found - expected).abs() <= 1e-8 * size * m as f64,
                    "gradient of sum {sum} at point {i}, coordinate {k}: {found:e}, \
                     by differences {expected:e}"
                );
            }
        }
    }
}
