//! The cost of the fits of a search in operations and bytes, and the largest fit within a limit.
//!
//! One operation takes as long as one flop of a pass over the kernel matrix.

/// Operations for one kernel value of points with d features.
pub(crate) fn value(d: usize) -> f64 {
    20.0 + 2.0 * d as f64
}

/// Operations of the predictions of a model with n centres for this many rows.
pub(crate) fn values_work(n: usize, rows: usize, d: usize) -> f64 {
    n as f64 * rows as f64 * value(d)
}

/// Operations for one flop of a matrix product, which is faster.
const PRODUCT: f64 = 0.2;

/// Operations of the normal equations of n rows with m centres.
pub(crate) fn sums_work(n: f64, m: f64, d: usize) -> f64 {
    PRODUCT * 2.0 * n * m * m + n * m * value(d)
}

/// Operations of `NystromKrr::path` at 28 ridges for t targets, whose documentation counts flops
/// and kernel values.
pub(crate) fn path_work(n: f64, m: f64, d: usize, t: usize) -> f64 {
    let ridges = 28.0 * (1.0 + t as f64);
    PRODUCT * (5.0 * n * m * m + 2.0 * n * m * ridges + 10.0 * m.powi(3)) + 2.0 * n * m * value(d)
}

/// The most landmarks for which the memory holds the matrices of `NystromKrr::path`.
pub(crate) fn path_landmarks(memory: Option<u64>) -> f64 {
    memory.map_or(f64::INFINITY, |bytes| (bytes as f64 / 100.0).sqrt())
}

/// Operations of this many Newton steps of `LogisticKrr` for one column of targets, if `kept` rows
/// of K_nm are stored.
pub(crate) fn newton_work(steps: f64, [n, m, d]: [usize; 3], kept: usize) -> f64 {
    let (n, m, kept) = (n as f64, m as f64, kept as f64);
    let evaluated = kept + 2.0 * steps * (n - kept);
    steps * (PRODUCT * (2.0 * n * m * m + m.powi(3)) + 2.0 * n * m) + evaluated * m * value(d)
}

/// Operations of a Newton step of `FullLogisticKrr` if a triangle of K is stored: passes over it,
/// and a preconditioner.
pub(crate) fn full_newton_work(n: usize) -> f64 {
    const PASSES: f64 = 22.0;
    let rank = (n as f64 / 10.0).min(1000.0);
    PASSES * pass_work(n as f64, 1.0) + PRODUCT * 2.0 * n as f64 * rank * rank
}

/// Operations of a pass over a stored triangle of the kernel matrix of n rows, for this many
/// columns at once: the triangle is read, and multiplied by each column.
fn pass_work(n: f64, columns: f64) -> f64 {
    n * n * (1.5 + 0.5 * columns)
}

/// Operations of the average outer product of the gradients at `rows` rows of a model with n
/// centres, and of its eigenvectors.
pub(crate) fn gradients_work(rows: usize, n: usize, d: usize) -> f64 {
    let (rows, n, width) = (rows as f64, n as f64, d as f64);
    rows * n * (value(d) + PRODUCT * 4.0 * width)
        + PRODUCT * (2.0 * rows * width * width + 9.0 * width.powi(3))
}

/// The expected number of passes over the kernel matrix in a fit to all rows.
const PASSES: f64 = 25.0;
/// The expected number of times that such a fit computes its validation error.
const LOOKS: f64 = 7.0;

/// Operations of a fit to n rows for `columns` targets times ridges, compared on `validation` rows.
/// If `kept`, a triangle of the kernel matrix is stored, otherwise every pass evaluates it.
pub(crate) fn full_work(n: usize, d: usize, columns: usize, validation: usize, kept: bool) -> f64 {
    let (n, columns) = (n as f64, columns as f64);
    let rank = (n / 10.0).min(1000.0);
    // what is kept, is kept for the looks as well
    let (triangles, looks) = if kept { (0.5, 1.0) } else { (0.5 * PASSES, LOOKS) };
    triangles * n * n * value(d)
        + PASSES * pass_work(n, columns)
        + n * rank * (rank + value(d))
        + n * validation as f64 * (looks * value(d) + PRODUCT * 2.0 * LOOKS * columns)
}

/// Bytes of a fit to n rows for `columns` targets times ridges that stores a triangle of the kernel
/// matrix.
pub(crate) fn full_bytes(n: usize, columns: usize) -> u64 {
    let rank = (n as u64 / 10).min(1000);
    let of_n = n as u64;
    2 * of_n * (of_n + 1) + 8 * of_n * rank + 48 * rank * rank + full_least_bytes(n, columns)
}

/// Bytes of such a fit that stores no kernel value, without its preconditioner: vectors and blocks.
pub(crate) fn full_least_bytes(n: usize, columns: usize) -> u64 {
    112 * n as u64 * columns as u64 + (8 << 20)
}

/// The most rows, up to `most`, of a fit for this many columns within this work and memory; but at
/// least 100 rows, or `most` if that is fewer.
pub(crate) fn full_rows(
    work: f64,
    most: usize,
    [d, columns]: [usize; 2],
    memory: Option<u64>,
) -> usize {
    let fits = |n: usize| {
        full_work(n, d, columns, 1500, true) <= work
            && memory.is_none_or(|bytes| full_bytes(n, columns) <= bytes)
    };
    largest_fitting(most.min(100), most, fits)
}

/// The largest number up to `most` for which `fits` is true, by bisection; `low` if there is none
/// above `low`. If `fits` is true for a number, it must be true for all smaller ones.
///
/// # Cost
/// log₂(most − low) calls of `fits`.
///
/// ```
/// use nystrom_pipeline::largest_fitting;
/// assert_eq!(largest_fitting(1, 100, |m| m * m <= 2000), 44);
/// assert_eq!(largest_fitting(1, 100, |_| false), 1);
/// ```
pub fn largest_fitting(mut low: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut high = most + 1;
    while high - low > 1 {
        let middle = low.midpoint(high);
        *(if fits(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_to_work_and_memory() {
        for work in [1e8, 1e9, 1e11] {
            for most in [3, 300, 100_000] {
                let n = full_rows(work, most, [10, 6], None);
                assert!(n <= most && (full_work(n, 10, 6, 1500, true) <= work || n <= 100));
                assert!(n == most || n == 100 || full_work(n + 1, 10, 6, 1500, true) > work);
            }
        }
        let rows = full_rows(1e12, 100_000, [10, 6], Some(20_000_000));
        assert!(rows > 1000 && full_bytes(rows, 6) <= 20_000_000);
    }
}
