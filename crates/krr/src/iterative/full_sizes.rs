//! What regression on all the data holds, counted before it begins.

use crate::iterative::MemoryPlan;
use nystrom_linalg_core::{Error, KeptTriangle, Result, Scalar, validate};

/// The rank of the preconditioner, unless given: n/10, at most this.
const LARGEST_RANK: usize = 1000;
/// Bytes of the blocks each thread works on.
const BLOCK_BYTES: u64 = 1 << 20;
/// Vectors: five of conjugate gradients, the right-hand side, and what a product holds.
const VECTORS: u64 = 10;

/// The sizes of a fit.
pub(crate) struct Sizes {
    pub n: usize,
    /// Targets, and one more for an intercept.
    pub columns: usize,
    pub rank: usize,
    pub ridges: usize,
}

pub(crate) fn chosen_rank(asked: Option<usize>, n: usize) -> Result<usize> {
    let rank = asked.unwrap_or(n.div_ceil(10).min(LARGEST_RANK));
    validate::at_most("columns of the preconditioner", rank, n)?;
    Ok(rank)
}

impl Sizes {
    /// With a budget, what is left of it keeps blocks of K.
    ///
    /// # Errors
    /// [`Error::OutOfBudget`] if it does not hold a fit that keeps none.
    pub fn plan<T: Scalar>(&self, budget: Option<u64>) -> Result<MemoryPlan> {
        let (wide, narrow) = (size_of::<f64>() as u64, size_of::<T>() as u64);
        let [n, columns, k, ridges] =
            [self.n, self.columns, self.rank, self.ridges].map(|size| size as u64);
        // FᵀF is summed along the row tree; then there is a factor for each ridge
        let squares = (3 + ridges).max(6) * k * k * wide;
        let least = MemoryPlan {
            factors: n * k * narrow + squares,
            vectors: VECTORS * n * columns * ridges * wide,
            tiles: rayon::current_num_threads() as u64 * BLOCK_BYTES,
            kept: 0,
            kept_rows: 0,
            tile_rows: 256,
        };
        let Some(budget) = budget else { return Ok(least) };
        // F is rounded to f32 for a kept triangle: both are held for a moment
        let rounded = MemoryPlan { factors: least.factors + n * k * 4, ..least };
        let Some(left) = budget.checked_sub(rounded.total()) else {
            return if least.total() <= budget {
                Ok(least)
            } else {
                Err(Error::OutOfBudget {
                    what: "full-data regression",
                    needed: least.total(),
                    budget,
                })
            };
        };
        let kept = KeptTriangle::<T>::bytes_within(self.n, left);
        let mut plan = if kept > 0 { rounded } else { least };
        plan.keep(kept, self.n);
        Ok(plan)
    }
}

impl MemoryPlan {
    /// So many bytes of one triangle of K, and the share of rows that this stands for.
    pub(crate) fn keep(&mut self, kept: u64, n: usize) {
        let whole = KeptTriangle::<f64>::bytes(n).max(1);
        self.kept = kept;
        self.kept_rows = (n as u128 * u128::from(kept) / u128::from(whole)) as usize;
    }
}
