//! Checks of a caller's input, made before any work. Each error names the offending entry.

use crate::{Error, Indices, Result, Scalar};
use faer::MatRef;

/// Checks that every entry of `a` is finite.
///
/// # Errors
/// [`Error::NonFinite`] with the first entry that is not, column by column.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::{Error, validate};
/// let y = mat![[1.0], [f64::NAN]];
/// assert!(matches!(
///     validate::finite("y", y.as_ref()),
///     Err(Error::NonFinite { what: "y", row: 1, col: 0, .. })
/// ));
/// ```
pub fn finite<T: Scalar>(what: &'static str, a: MatRef<'_, T>) -> Result<()> {
    finite_from(what, a, |_| 0)
}

/// As [`finite`] for the block K\[rows, cols\]; the error has the row and column in K.
pub fn finite_block<'a, T: Scalar>(
    block: MatRef<'_, T>,
    rows: impl Into<Indices<'a>>,
    cols: impl Into<Indices<'a>>,
) -> Result<()> {
    finite("kernel matrix", block)
        .map_err(|error| error.placed(|row, col| (rows.into().get(row), cols.into().get(col))))
}

/// As [`finite`] for the lower triangle of a square matrix, with the diagonal. The strict upper
/// triangle is not read.
pub fn finite_lower<T: Scalar>(what: &'static str, a: MatRef<'_, T>) -> Result<()> {
    finite_from(what, a, |col| col)
}

/// As [`finite`] for the rows from `first(col)` on of each column.
fn finite_from<T: Scalar>(
    what: &'static str,
    a: MatRef<'_, T>,
    first: impl Fn(usize) -> usize,
) -> Result<()> {
    for col in 0..a.ncols() {
        for row in first(col)..a.nrows() {
            let value = a[(row, col)];
            if !num_traits::Float::is_finite(value) {
                return Err(Error::NonFinite { what, row, col, value: value.f64() });
            }
        }
    }
    Ok(())
}

/// Checks that two sizes agree; otherwise [`Error::Shape`].
pub fn same_size(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::Shape { what, expected, got }) }
}

/// Checks that n ≥ 1; otherwise [`Error::Empty`].
pub fn not_empty(what: &'static str, n: usize) -> Result<()> {
    if n > 0 { Ok(()) } else { Err(Error::Empty { what }) }
}

/// Checks that 1 ≤ `requested` ≤ `available`; otherwise [`Error::Empty`] or [`Error::TooMany`].
pub fn at_most(what: &'static str, requested: usize, available: usize) -> Result<()> {
    not_empty(what, requested)?;
    if requested <= available { Ok(()) } else { Err(Error::TooMany { what, requested, available }) }
}

/// Checks that `value` is positive and finite; otherwise [`Error::InvalidParameter`].
pub fn positive(name: &'static str, value: f64) -> Result<()> {
    require(value > 0.0 && value.is_finite(), name, value, "a positive finite number")
}

/// Checks a requirement on `value`; if it does not hold, [`Error::InvalidParameter`] with the
/// words of `requirement`.
///
/// ```
/// use nystrom_linalg_core::validate;
/// let share = 1.5;
/// let error = validate::require(share <= 1.0, "share", share, "at most 1").unwrap_err();
/// assert_eq!(error.to_string(), "share = 1.5 is not valid: it must be at most 1");
/// ```
pub fn require(
    holds: bool,
    name: &'static str,
    value: f64,
    requirement: &'static str,
) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::InvalidParameter { name, value, requirement }) }
}

/// Checks that every entry is positive and finite; otherwise [`Error::NotPositive`] with the first
/// that is not.
pub fn all_positive<T: Scalar>(what: &'static str, entries: &[T]) -> Result<()> {
    for (index, value) in entries.iter().map(|x| x.f64()).enumerate() {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::NotPositive { what, index, value });
        }
    }
    Ok(())
}

/// Checks that every entry is finite and at least 0; otherwise [`Error::InvalidWeight`] with the
/// first that is not.
pub fn all_nonnegative<T: Scalar>(what: &'static str, entries: &[T]) -> Result<()> {
    for (index, value) in entries.iter().map(|x| x.f64()).enumerate() {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::InvalidWeight { what, index, value });
        }
    }
    Ok(())
}

/// Checks that every weight is finite and at least 0, and that their sum is positive and finite.
/// Returns the sum, taken in `f64` in order.
///
/// # Errors
/// [`Error::InvalidWeight`]; [`Error::Empty`] without weights.
pub fn weights<T: Scalar>(what: &'static str, weights: &[T]) -> Result<f64> {
    not_empty(what, weights.len())?;
    all_nonnegative(what, weights)?;
    let sum = weights.iter().fold(0.0, |sum, w| sum + w.f64());
    if sum == 0.0 {
        return Err(Error::InvalidWeight { what, index: weights.len(), value: sum });
    }
    if sum == f64::INFINITY {
        let larger = |best: usize, i: usize| if weights[i] > weights[best] { i } else { best };
        let index = (0..weights.len()).fold(0, larger);
        return Err(Error::InvalidWeight { what, index, value: weights[index].f64() });
    }
    Ok(sum)
}
