//! Sampling of landmarks in proportion to the squared norms of the columns.

use crate::{Draw, LandmarkSelector, Landmarks};
use faer::Mat;
use faer::reborrow::*;
use nystrom_linalg_core::{PsdMatrix, Result, RowTree, Scalar, validate};
use rand::Rng;

/// Rows of K evaluated at a time.
const TILE_ROWS: usize = 256;

/// Landmarks drawn with p_j = ‖K_{:j}‖²/‖K‖²_F, the probabilities of Drineas, Kannan & Mahoney for
/// a general matrix.
///
/// These probabilities favour large columns, whether or not they are needed: in a dense cluster all
/// columns are large. [`RpCholesky`](crate::RpCholesky) is more accurate and cheaper.
///
/// # Cost
/// **All n² entries** of K are evaluated, 256 rows at a time; O(256·n) memory.
///
/// # Source
/// P. Drineas, R. Kannan, M. Mahoney, *Fast Monte Carlo algorithms for matrices II*, SIAM Journal
/// on Computing 36, 2006.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{ColumnNorm, LandmarkSelector};
/// use rand::SeedableRng;
/// let k = mat![[1e-9, 0.0], [0.0, 3.0]];
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
/// assert_eq!(ColumnNorm::default().select(&Dense::new(k.as_ref())?, 1, &mut rng)?.indices(), [1]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ColumnNorm {
    /// With or without replacement (the default).
    pub draw: Draw,
}

impl<T: Scalar> LandmarkSelector<T> for ColumnNorm {
    /// # Errors
    /// In addition to those of the trait, [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with
    /// an entry of K, and [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for K = 0.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        validate::not_empty("matrix", k.dim())?;
        self.draw.check(m, k.dim())?;
        Landmarks::draw(&squared_column_norms(k)?, m, self.draw, rng)
    }
}

/// ‖K_{:j}‖² for every j, summed in `f64` along the rows.
pub(super) fn squared_column_norms<T: Scalar>(k: &dyn PsdMatrix<T>) -> Result<Vec<f64>> {
    let n = k.dim();
    let (mut norms, mut tile) = (vec![0.0; n], Mat::zeros(TILE_ROWS.min(n), n));
    for rows in RowTree::tiles(0..n, TILE_ROWS) {
        let mut block = tile.as_mut().subrows_mut(0, rows.len());
        k.block_into(block.rb_mut(), rows.clone().into(), (0..n).into());
        validate::finite_block(block.rb(), rows, 0..n)?;
        for (norm, column) in norms.iter_mut().zip(block.rb().col_iter()) {
            *norm += column.iter().map(|x| x.f64().powi(2)).sum::<f64>();
        }
    }
    Ok(norms)
}
