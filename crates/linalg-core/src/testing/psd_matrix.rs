//! The contract of [`PsdMatrix`] as a test for any implementation.

use super::{same_at_any_thread_count, smallest_eigenvalue, whole};
use crate::{Indices, PsdMatrix, Scalar};
use faer::{ColMut, Mat};

/// Checks that `a` (order n from 1 to a few hundred) keeps the contract of [`PsdMatrix`]. All of
/// the matrix is evaluated.
///
/// With τ = 64·n·ε·max_i a_ii, the checks are:
///
/// * Entries are finite, and no eigenvalue is below −n·τ.
/// * The block of all rows and columns is exactly symmetric, and so is the block of a list with
///   itself.
/// * `diag_into` and other blocks agree with the block of all rows and columns to τ: blocks by
///   ranges, by lists in any order with repetitions, by single rows or columns, and into a
///   row-major output. Empty lists give empty blocks.
/// * The trace is the sum of the diagonal, and `mul_into` the product, to n·τ.
/// * Two calls, and calls with 1, 2 and 8 threads, give the same bits.
///
/// # Cost
/// About 20·n² entries.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Dense, testing::check_psd_matrix};
/// let a = Mat::from_fn(20, 20, |i, j| (i.min(j) + 1) as f64); // Brownian motion
/// check_psd_matrix(&Dense::new(a.as_ref())?);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Panics
/// If a check fails; the message names the check and the entry.
pub fn check_psd_matrix<T: Scalar>(a: &dyn PsdMatrix<T>) {
    let n = a.dim();
    let entries = whole(a);
    let finite =
        entries.col_iter().all(|column| column.iter().all(|entry| entry.f64().is_finite()));
    assert!(finite, "an entry is not finite");
    assert!(same_at_any_thread_count(|| whole(a)) == entries, "two calls gave different bits");
    let largest = (0..n).map(|i| entries[(i, i)].f64()).fold(0.0, f64::max);
    let case = Case { a, entries, tolerance: 64.0 * n as f64 * T::EPS * largest };
    case.check_symmetry();
    case.check_diagonal();
    case.check_blocks();
    case.check_product();
    let wide = Mat::from_fn(n, n, |i, j| case.entries[(i, j)].f64());
    let smallest = smallest_eigenvalue(wide.as_ref());
    let floor = -(n as f64) * case.tolerance;
    assert!(
        smallest >= floor,
        "not positive semi-definite: eigenvalue {smallest:e} below {floor:e}"
    );
}

struct Case<'a, T> {
    a: &'a dyn PsdMatrix<T>,
    /// The block of all rows and columns.
    entries: Mat<T>,
    tolerance: f64,
}

impl<T: Scalar> Case<'_, T> {
    fn check_symmetry(&self) {
        let n = self.a.dim();
        let list = scattered(n);
        let repeated = self.a.block((&list).into(), (&list).into());
        for (what, block) in [("all rows", &self.entries), ("a list of rows", &repeated)] {
            for j in 0..block.ncols() {
                for i in 0..j {
                    let same = block[(i, j)] == block[(j, i)];
                    assert!(same, "the block of {what} with itself is not symmetric at ({i}, {j})");
                }
            }
        }
    }

    fn check_diagonal(&self) {
        let list = scattered(self.a.dim());
        let mut some = vec![T::zero(); list.len()];
        self.a.diag_into(ColMut::from_slice_mut(&mut some), (&list).into());
        let pairs = list.iter().copied().zip(some).chain(self.a.diag().into_iter().enumerate());
        let mut sum = 0.0;
        for (t, (i, entry)) in pairs.enumerate() {
            self.assert_near("diag_into", (i, i), entry);
            sum += if t < list.len() { 0.0 } else { entry.f64() };
        }
        let gap = (self.a.trace() - sum).abs();
        assert!(gap <= self.slack(), "trace() is off the sum of the diagonal by {gap:e}");
    }

    fn check_blocks(&self) {
        let n = self.a.dim();
        let list = scattered(n);
        let cut = n.div_ceil(3);
        self.check_block("a range by a list", (0..cut).into(), (&list).into());
        self.check_block("a list by a range", (&list).into(), (cut..n).into());
        self.check_block("no rows", (0..0).into(), (0..n).into());
        self.check_block("no columns", (0..n).into(), (&[]).into());
        for i in 0..n {
            self.check_block("one row", (i..i + 1).into(), (0..n).into());
            self.check_block("one column", (0..n).into(), (&[i]).into());
        }
        let mut row_major = Mat::zeros(n, n);
        self.a.block_into(row_major.as_mut().transpose_mut(), (0..n).into(), (0..n).into());
        for j in 0..n {
            for i in 0..n {
                self.assert_near("block_into a row-major output", (i, j), row_major[(j, i)]);
            }
        }
    }

    fn check_block(&self, what: &str, rows: Indices<'_>, cols: Indices<'_>) {
        let block = self.a.block(rows.clone(), cols.clone());
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                self.assert_near(what, (i, j), block[(s, t)]);
            }
        }
    }

    /// A·x for entries of x in [−1, 1].
    fn check_product(&self) {
        let n = self.a.dim();
        let x = Mat::from_fn(n, 2, |i, j| T::lit(((i + 1) as f64 * (j + 1) as f64).sin()));
        let product = same_at_any_thread_count(|| {
            let mut out = Mat::zeros(n, 2);
            self.a.mul_into(out.as_mut(), x.as_ref());
            out
        });
        for j in 0..2 {
            for i in 0..n {
                let exact: f64 = (0..n).map(|l| self.entries[(i, l)].f64() * x[(l, j)].f64()).sum();
                let gap = (product[(i, j)].f64() - exact).abs();
                assert!(gap <= self.slack(), "mul_into: entry ({i}, {j}) is off by {gap:e}");
            }
        }
    }

    fn slack(&self) -> f64 {
        self.a.dim() as f64 * self.tolerance
    }

    fn assert_near(&self, what: &str, (i, j): (usize, usize), entry: T) {
        let (entry, whole) = (entry.f64(), self.entries[(i, j)].f64());
        let near = (entry - whole).abs() <= self.tolerance;
        assert!(
            near,
            "{what}: entry ({i}, {j}) is {entry:e}, in the block of everything {whole:e}"
        );
    }
}

/// About half of the row indices in irregular order, the first index twice.
fn scattered(n: usize) -> Vec<usize> {
    (0..n.div_ceil(2)).map(|t| (t * 7 + 3) % n).chain([3 % n]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kind, psd};
    use crate::{Counted, Dense};
    use faer::{MatMut, MatRef};

    #[test]
    fn stored_and_counted_matrices_keep_the_contract() {
        for kind in Kind::ALL {
            for n in [1, 2, 23] {
                let a = psd(kind, n, 1);
                let dense = Dense::new(a.as_ref()).unwrap();
                check_psd_matrix(&dense);
                check_psd_matrix(&Counted::new(dense));
            }
        }
        let narrow = Mat::from_fn(9, 9, |i, j| (i.min(j) + 1) as f32);
        check_psd_matrix(&Dense::new(narrow.as_ref()).unwrap());
    }

    /// A stored matrix whose interface has one error.
    struct Faulty(&'static str);

    impl PsdMatrix<f64> for Faulty {
        fn dim(&self) -> usize {
            12
        }
        fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
            for (t, i) in idx.iter().enumerate() {
                out[t] = if self.0 == "diag_into" { 1.1 } else { self.at(i, i) };
            }
        }
        fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
            let sorted = |idx: &Indices<'_>| {
                let mut idx: Vec<usize> = idx.iter().collect();
                if self.0 == "a range by a list" {
                    idx.sort_unstable(); // wrong for lists that are not sorted
                }
                idx
            };
            for (t, &j) in sorted(&cols).iter().enumerate() {
                for (s, &i) in sorted(&rows).iter().enumerate() {
                    out[(s, t)] = self.at(i, j);
                }
            }
        }
        fn trace(&self) -> f64 {
            if self.0 == "trace" { 11.0 } else { 12.0 * self.at(0, 0) }
        }
        fn mul_into(&self, mut out: MatMut<'_, f64>, _x: MatRef<'_, f64>) {
            out.fill(
                rayon::current_num_threads() as f64 * if self.0 == "threads" { 1.0 } else { 0.0 },
            );
        }
    }

    impl Faulty {
        fn at(&self, i: usize, j: usize) -> f64 {
            match self.0 {
                "not symmetric" if i < j => 0.5000001,
                "finite" if i == 7 && j == 7 => f64::NAN,
                _ if i == j => 1.0,
                _ => 0.5,
            }
        }
    }

    #[test]
    fn every_fault_is_found() {
        let faults = [
            "diag_into",
            "a range by a list",
            "trace",
            "not symmetric",
            "finite",
            "mul_into",
            "threads",
        ];
        for fault in faults {
            let caught = std::panic::catch_unwind(|| check_psd_matrix(&Faulty(fault))).unwrap_err();
            let message = caught.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| caught.downcast_ref::<&str>().copied()).unwrap();
            assert!(message.contains(fault), "{fault}: {message}");
        }
    }

    #[test]
    fn an_indefinite_matrix_is_found() {
        let a = Mat::from_fn(5, 5, |i, j| if i == j { 1.0 } else { -0.5 }); // eigenvalue 1 − 4/2
        let dense = Dense::new(a.as_ref()).unwrap();
        let caught = std::panic::catch_unwind(|| check_psd_matrix(&dense)).unwrap_err();
        assert!(caught.downcast_ref::<String>().unwrap().contains("not positive semi-definite"));
    }
}
