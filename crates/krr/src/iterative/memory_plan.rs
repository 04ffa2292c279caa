//! The memory of Falkon and KRILL, computed before a fit begins.

use crate::data::TILE_ROWS;
use nystrom_linalg_core::{Error, Result, RowTree, Scalar};

/// Numbers of a tile: 1 MiB in `f64`, the size of a core's own cache.
const TILE_NUMBERS: usize = 1 << 17;

/// Bytes that a fit holds at its peak, beyond its input and its model, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryPlan {
    /// The factors of K_mm and of the preconditioner (and KRILL's sketch), or the n × k factor of
    /// full-data regression.
    pub factors: u64,
    /// The vectors of conjugate gradients.
    pub vectors: u64,
    /// Tiles and their partial sums: at most one set per leaf of the row tree, for any number of
    /// threads.
    pub tiles: u64,
    /// Rows of K_nm that are stored, or one triangle of K.
    pub kept: u64,
    /// The number of rows stored; for a triangle, n times the share of it that is stored.
    pub kept_rows: usize,
    /// Rows of a tile.
    pub tile_rows: usize,
}

impl MemoryPlan {
    /// Their sum.
    pub fn total(&self) -> u64 {
        self.factors + self.vectors + self.tiles + self.kept
    }

    /// For n rows, m centres and t right-hand sides (targets, and one more for an intercept),
    /// `factors` numbers of `f64` in factorisations.
    ///
    /// # Errors
    /// [`Error::OutOfBudget`] if `budget` does not hold a fit that keeps no rows.
    pub(crate) fn restricted<T: Scalar>(
        n: usize,
        m: usize,
        t: usize,
        factors: u64,
        budget: Option<u64>,
    ) -> Result<MemoryPlan> {
        // divides the leaves of the row tree
        let tile_rows = (TILE_NUMBERS / m).clamp(32, 256).next_power_of_two();
        let (wide, narrow) = (size_of::<f64>() as u64, size_of::<T>() as u64);
        let (rows, centers, targets) = (tile_rows.min(n) as u64, m as u64, t as u64);
        let tile = rows * centers * widened_bytes::<T>()
            + rows * targets * wide
            + 2 * centers * targets * wide;
        let least = MemoryPlan {
            factors: factors * wide,
            vectors: 9 * centers * targets * wide,
            tiles: RowTree::new(n).leaves() as u64 * tile,
            tile_rows,
            ..MemoryPlan::default()
        };
        let least = least.within(budget, "an iterative fit")?;
        let Some(budget) = budget else { return Ok(least) };
        let left = budget - least.total();
        let fit = usize::try_from(left / (centers * narrow)).unwrap_or(usize::MAX);
        // no tile is kept in part
        let kept_rows = if fit >= n { n } else { fit / TILE_ROWS * TILE_ROWS };
        Ok(MemoryPlan { kept: kept_rows as u64 * centers * narrow, kept_rows, ..least })
    }

    /// For rows that are read again in every pass, and so for any number of them.
    ///
    /// # Errors
    /// [`Error::OutOfBudget`] if `budget` does not hold it.
    pub(crate) fn in_passes<T: Scalar>(
        m: usize,
        t: usize,
        factors: u64,
        budget: Option<u64>,
    ) -> Result<MemoryPlan> {
        let (wide, centers, targets) = (size_of::<f64>() as u64, m as u64, t as u64);
        let plan = MemoryPlan {
            factors: factors * wide,
            vectors: 10 * centers * targets * wide,
            tiles: TILE_ROWS as u64 * centers * widened_bytes::<T>(),
            tile_rows: TILE_ROWS,
            ..MemoryPlan::default()
        };
        plan.within(budget, "an iterative fit")
    }

    /// The same plan with all n rows stored.
    ///
    /// # Errors
    /// [`Error::OutOfBudget`] if `budget` does not hold them.
    pub(crate) fn all_kept<T: Scalar>(
        self,
        n: usize,
        m: usize,
        budget: Option<u64>,
    ) -> Result<MemoryPlan> {
        let plan = MemoryPlan { kept: (n * m * size_of::<T>()) as u64, kept_rows: n, ..self };
        plan.within(budget, "an iterative fit with a dense sketch")
    }

    /// # Errors
    /// [`Error::OutOfBudget`] if `budget` does not hold it.
    pub(crate) fn within(self, budget: Option<u64>, what: &'static str) -> Result<MemoryPlan> {
        match budget {
            Some(budget) if self.total() > budget => {
                Err(Error::OutOfBudget { what, needed: self.total(), budget })
            }
            _ => Ok(self),
        }
    }
}

/// Bytes of a number of a tile: one of `f32` is widened before its products.
fn widened_bytes<T>() -> u64 {
    let (wide, narrow) = (size_of::<f64>() as u64, size_of::<T>() as u64);
    if narrow < wide { narrow + wide } else { narrow }
}
