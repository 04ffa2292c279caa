//! ‖K − L‖_F, tile by tile.

use super::check;
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, RowTree, Scalar, validate};
use rayon::prelude::*;

/// Rows of a tile.
const TILE_ROWS: usize = 256;

/// ‖K − L‖_F, summed in `f64`. Tiles on and below the diagonal are evaluated, about n(n + 256)/2
/// entries of K and of L; O(256·n) memory.
///
/// # Errors
/// [`Empty`](nystrom_linalg_core::Error::Empty), [`Shape`](nystrom_linalg_core::Error::Shape),
/// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) naming an entry of K.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::frobenius_error;
/// let (k, l) = (mat![[2.0, 1.0], [1.0, 2.0]], mat![[1.0, 0.0], [0.0, 1.0]]);
/// assert_eq!(frobenius_error(&Dense::new(k.as_ref())?, &Dense::new(l.as_ref())?)?, 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn frobenius_error<T: Scalar>(k: &dyn PsdMatrix<T>, l: &dyn PsdMatrix<T>) -> Result<f64> {
    check(k, l)?;
    let n = k.dim();
    let (mut K, mut L) = (Mat::zeros(TILE_ROWS.min(n), n), Mat::zeros(TILE_ROWS.min(n), n));
    let mut sum = 0.0;
    for rows in RowTree::tiles(0..n, TILE_ROWS) {
        let mut a = K.as_mut().submatrix_mut(0, 0, rows.len(), rows.end);
        let mut b = L.as_mut().submatrix_mut(0, 0, rows.len(), rows.end);
        k.block_into(a.rb_mut(), rows.clone().into(), (0..rows.end).into());
        l.block_into(b.rb_mut(), rows.clone().into(), (0..rows.end).into());
        validate::finite_block(a.rb(), rows.clone(), 0..n)?;
        let squares = squared_differences(a.rb(), b.rb()); //             for each column
        let (left, own) = squares.split_at(rows.start);
        // entries left of the diagonal tile count twice, by symmetry
        sum += 2.0 * left.iter().sum::<f64>() + own.iter().sum::<f64>();
    }
    Ok(sum.sqrt())
}

/// ‖a_j − b_j‖² for every column j.
fn squared_differences<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Vec<f64> {
    let column = |j: usize| {
        a.col(j).iter().zip(b.col(j).iter()).map(|(a, b)| (a.f64() - b.f64()).powi(2)).sum::<f64>()
    };
    (0..a.ncols()).into_par_iter().with_min_len(64).map(column).collect()
}
