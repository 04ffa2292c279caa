//! Saving matrices (feature `serde`): faer's own types do not implement serde.

use crate::Scalar;
use faer::Mat;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For `#[serde(with = "nystrom_linalg_core::serialize::matrix")]` on a field of type `Mat<T>`:
/// stores the two sizes and the entries in column order. Deserialisation fails if the number of
/// entries does not fit the sizes.
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

    /// Most rows or columns of a matrix without entries: its sizes are not bounded by the length of
    /// the file.
    const MOST: usize = 1 << 26;

    #[derive(Serialize, Deserialize)]
    struct Stored<T> {
        nrows: usize,
        ncols: usize,
        column_major: Vec<T>,
    }

    /// Serialises the matrix.
    pub fn serialize<T: Scalar + Serialize, S: Serializer>(
        a: &Mat<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let column_major =
            (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a[(i, j)])).collect();
        Stored { nrows: a.nrows(), ncols: a.ncols(), column_major }.serialize(serializer)
    }

    /// Deserialises a matrix.
    pub fn deserialize<'de, T: Scalar + DeserializeOwned, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Mat<T>, D::Error> {
        let Stored { nrows, ncols, column_major } = Stored::<T>::deserialize(d)?;
        let got = column_major.len();
        let without_end = got == 0 && nrows.max(ncols) > MOST;
        if nrows.checked_mul(ncols) != Some(got) || without_end {
            return Err(D::Error::custom(format!(
                "a {nrows} x {ncols} matrix with {got} entries: the file is damaged; save it again"
            )));
        }
        Ok(Mat::from_fn(nrows, ncols, |i, j| column_major[j * nrows + i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Saved {
        #[serde(with = "matrix")]
        a: Mat<f64>,
    }

    /// Without entries the length of a file bounds neither size.
    #[test]
    fn matrices_without_entries_have_sizes_within_reason() {
        let read = |nrows: usize, ncols: usize, entries: &[f64]| {
            let a = serde_json::json!({"nrows": nrows, "ncols": ncols, "column_major": entries});
            serde_json::from_value::<Saved>(serde_json::json!({"a": a})).map(|saved| saved.a)
        };
        for (nrows, ncols) in [(0, 3), (3, 0), (0, 0)] {
            assert_eq!(read(nrows, ncols, &[]).unwrap().shape(), (nrows, ncols));
        }
        assert_eq!(read(2, 1, &[1.0, 2.0]).unwrap()[(1, 0)], 2.0);
        let refused: [(usize, usize, &[f64]); 4] =
            [(usize::MAX, 0, &[]), (0, usize::MAX, &[]), (usize::MAX, 2, &[1.0]), (2, 1, &[1.0])];
        for (nrows, ncols, entries) in refused {
            let error = read(nrows, ncols, entries).unwrap_err().to_string();
            assert!(error.contains("the file is damaged"), "{error}");
        }
    }
}
