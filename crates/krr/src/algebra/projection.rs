//! Projections of the columns of a matrix along one direction.

use faer::{ColRef, MatMut};
use nystrom_linalg_core::ops;

/// uᵀa.
pub(crate) fn share(unit: &[f64], a: ColRef<'_, f64>) -> f64 {
    let a = a.try_as_col_major().expect("columns lie in one piece");
    ops::dot(unit, a.as_slice())
}

/// a ← a − d(uᵀa) for every column a.
pub(crate) fn subtract(mut a: MatMut<'_, f64>, direction: &[f64], unit: &[f64]) {
    for j in 0..a.ncols() {
        let share = share(unit, a.as_ref().col(j));
        for i in 0..a.nrows() {
            a[(i, j)] -= share * direction[i];
        }
    }
}
