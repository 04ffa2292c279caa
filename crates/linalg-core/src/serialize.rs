//! Saving matrices (feature `serde`): faer's own types do not implement serde.

use crate::Scalar;
use faer::Mat;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For `#[serde(with = "nystrom_linalg_core::serialize::matrix")]` on a field of type `Mat<T>`: the
/// two sizes and the entries in column order. A length that does not fit the sizes is refused on
/// load.
///
/// ```
/// # use faer::{Mat, mat};
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Saved {
///     #[serde(with = "nystrom_linalg_core::serialize::matrix")]
///     a: Mat<f64>,
/// }
/// ```
pub mod matrix {
    use super::*;

    /// Rows or columns of a matrix without entries: no file is as long as it says.
    const MOST: usize = 1 << 26;

    #[derive(Serialize, Deserialize)]
    struct Stored<T> {
        nrows: usize,
        ncols: usize,
        column_major: Vec<T>,
    }

    /// Writes the matrix.
    pub fn serialize<T: Scalar + Serialize, S: Serializer>(
        a: &Mat<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let column_major =
            (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a[(i, j)])).collect();
        Stored { nrows: a.nrows(), ncols: a.ncols(), column_major }.serialize(serializer)
    }

    /// Reads it back.
    pub fn deserialize<'de, T: Scalar + DeserializeOwned, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Mat<T>, D::Error> {
        let Stored { nrows, ncols, column_major } = Stored::<T>::deserialize(d)?;
        let got = column_major.len();
        let without_end = got == 0 && nrows.max(ncols) > MOST;
        if nrows.checked_mul(ncols) != Some(got) || without_end {
            return Err(D::Error::custom(format!(
                "a {nrows} x {ncols} matrix with {got} entries: the file is damaged"
            )));
        }
        Ok(Mat::from_fn(nrows, ncols, |i, j| column_major[j * nrows + i]))
    }
}
