//! A random embedding of many rows into few: sparse signs.

use crate::Problem;
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{Scalar, work};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// Rows of the embedding per centre.
pub(crate) const ROWS_PER_CENTER: usize = 2;
/// Non-zero entries in a column of the embedding.
const NONZEROS: usize = 8;
/// Centres that one thread adds up.
const STRIPE: usize = 128;

/// ΨK over no rows, for m centres.
pub(crate) fn empty_embedding(m: usize) -> Mat<f64> {
    Mat::zeros(m, ROWS_PER_CENTER * m)
}

/// Adds (Ψ√D K)ᵀ of some rows, for which eight rows of Ψ and signs are drawn each. A column of Kᵀ
/// at a time is added to eight columns, in the order of the rows.
pub(crate) fn embed<T: Scalar>(
    mut St: MatMut<'_, f64>,
    Kt: MatRef<'_, f64>,
    samples: Problem<'_, T>,
    rng: &mut dyn Rng,
) {
    let (s, size) = (St.ncols(), 1.0 / (NONZEROS as f64).sqrt());
    let psi: Vec<[(usize, f64); NONZEROS]> = (0..samples.x.len())
        .map(|i| {
            let weight = size * samples.root_weight(i).f64();
            std::array::from_fn(|_| {
                (rng.random_range(0..s), if rng.random::<bool>() { weight } else { -weight })
            })
        })
        .collect();
    work::product(Kt.nrows(), Kt.ncols(), NONZEROS);
    St.rb_mut().par_row_chunks_mut(STRIPE).zip(Kt.par_row_chunks(STRIPE)).for_each(
        |(mut St, Kt)| {
            for (column, psi) in Kt.col_iter().zip(&psi) {
                for &(r, weight) in psi {
                    faer::zip!(St.rb_mut().col_mut(r), column)
                        .for_each(|faer::unzip!(s, k)| *s += weight * *k);
                }
            }
        },
    );
}
