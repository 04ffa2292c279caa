//! Eigenvectors of a band matrix for given eigenvalues.

use super::Band;
use super::factor::BandFactor;
use crate::psd_factor::transpose_times;
use crate::{Cholesky, JitterLadder, Result, random};
use faer::Mat;
use faer::reborrow::*;
use rand::Rng;
use rayon::prelude::*;

/// Distance of the shift from the eigenvalue, in units of ε‖B‖. It exceeds the error of the
/// eigenvalue, so that all eigenvectors of an eigenvalue that is multiple up to rounding are
/// amplified alike.
const SHIFT_DISTANCE: f64 = 16.0;
/// Solves before the first and before the second orthonormalisation.
const SOLVES: [usize; 2] = [2, 1];

/// Orthonormal eigenvectors X (n × c): column t belongs to the eigenvalue `values[t]` of B, whose
/// norm is `norm`.
///
/// Inverse iteration from independent normal vectors. The iterates for a multiple eigenvalue stay
/// independent; orthonormalised, they are uniformly distributed among the orthonormal vectors of
/// its eigenspace.
///
/// 8cnb² + 18cnb + 8nc² flops for c ≪ n, 3nb numbers of memory for each thread.
///
/// # Source
/// G. Golub, C. Van Loan, *Matrix computations*, 7.6.1 and 8.2.
pub(super) fn eigenvectors(
    band: &Band,
    values: &[f64],
    norm: f64,
    rng: &mut dyn Rng,
) -> Result<Mat<f64>> {
    let unit = if norm > 0.0 { f64::EPSILON * norm } else { 1.0 };
    let mut X = random::standard_normal::<f64>(band.n, values.len(), rng);
    for solves in SOLVES {
        X.par_col_chunks_mut(1).zip(values).for_each(|(column, value)| {
            let column =
                column.col_mut(0).try_as_col_major_mut().expect("columns of an own matrix");
            let column = column.as_slice_mut();
            let factor = BandFactor::new(band, value + SHIFT_DISTANCE * unit, unit);
            for _ in 0..solves {
                factor.solve(column);
                let norm = crate::ops::dot(column, column).sqrt();
                column.iter_mut().for_each(|x| *x /= norm);
            }
        });
        orthonormalise(&mut X)?;
    }
    Ok(X)
}

/// X ← XR⁻¹ with XᵀX = RᵀR, twice, after which X is orthonormal to rounding error.
///
/// Source: Y. Yamamoto et al., *Roundoff error analysis of the CholeskyQR2 algorithm*, ETNA 44
/// (2015).
fn orthonormalise(X: &mut Mat<f64>) -> Result<()> {
    for _ in 0..2 {
        let gram = transpose_times(X.as_ref(), X.as_ref());
        let R = Cholesky::with_jitter(gram.as_ref(), JitterLadder::default())?;
        R.forward_in_place(X.rb_mut().transpose_mut());
    }
    Ok(())
}
