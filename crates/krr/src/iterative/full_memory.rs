//! The memory of regression on all the data, computed before it begins: how much of K is kept, and
//! in which type.

use super::MemoryPlan;
use super::direct_or_iterative::value;
use nystrom_linalg_core::{KeptTriangle, Result, Scalar, validate};

/// The cost of the preconditioner in iterations, unless the caller gave its rank. Where eigenvalues
/// fall as those of a Matérn 3/2 kernel in nine dimensions, a third of the cost of thirty
/// iterations is best.
pub(crate) const ITERATIONS: f64 = 10.0;
/// Without a budget the rank of the preconditioner is at most this, and at most n over
/// `SHARE_OF_N`.
const LARGEST_RANK: usize = 2000;
const SHARE_OF_N: usize = 5;
/// What a rank counts.
pub(super) const PRECONDITIONER: &str = "columns of the preconditioner";
/// The part of a budget that F may take.
pub(super) const SHARE_OF_BUDGET: u64 = 4;
/// The cost, in flops of a matrix product, of reading a kept value, and of its two products with a
/// vector.
const READ: f64 = 24.0;
const PRODUCTS: f64 = 4.0;
/// Bytes that are counted for the blocks of all threads: a MiB for each of eight. What is left of a
/// budget decides how much of K is rounded, and so the bits, which no number of threads may change.
const BLOCKS_BYTES: u64 = 8 << 20;
/// Vectors: five of conjugate gradients, the right-hand side, and what a product holds.
const VECTORS: u64 = 14;

/// The sizes of a fit.
pub(crate) struct Sizes {
    pub n: usize,
    /// Targets, and one more for an intercept.
    pub columns: usize,
    pub ridges: usize,
    /// The largest rank of the preconditioner.
    pub rank: usize,
    /// Whether the caller asked for this rank.
    pub asked: bool,
}

impl Sizes {
    /// With the rank of the caller, or that at which the preconditioner costs as much as
    /// `iterations` iterations, by counts.
    ///
    /// 2nk² flops and nk values against n²/2 values, evaluated or read, with their products.
    ///
    /// # Errors
    /// `Empty` or `TooMany` for a rank of 0 or above n.
    pub fn new<T: Scalar>(
        asked: Option<usize>,
        [n, d, columns]: [usize; 3],
        ridges: usize,
        iterations: f64,
        budget: Option<u64>,
    ) -> Result<Self> {
        let v = value(d);
        let kept = budget.is_some_and(|budget| budget >= 2 * KeptTriangle::<T>::bytes(n));
        let pair = if kept { READ } else { v } + PRODUCTS * (columns * ridges) as f64;
        // 2k² + vk = iterations·n/2·pair
        let balanced = (-v + (v * v + 4.0 * iterations * n as f64 * pair).sqrt()) / 4.0;
        let column = (n * (size_of::<T>() + size_of::<f32>())) as u64;
        let within = |budget: u64| (budget / SHARE_OF_BUDGET / column) as usize;
        let most = budget.map_or(LARGEST_RANK, within).min(n.div_ceil(SHARE_OF_N)).max(1);
        let rank = asked.unwrap_or((balanced as usize).clamp(1, most));
        validate::at_most(PRECONDITIONER, rank, n)?;
        Ok(Sizes { n, columns, ridges, rank, asked: asked.is_some() })
    }

    /// With a budget, the bytes left store blocks of K.
    ///
    /// # Errors
    /// `OutOfBudget` if it does not hold a fit that keeps none.
    pub fn plan<T: Scalar>(&self, budget: Option<u64>) -> Result<MemoryPlan> {
        let (wide, narrow) = (size_of::<f64>() as u64, size_of::<T>() as u64);
        let [n, columns, k, ridges] =
            [self.n, self.columns, self.rank, self.ridges].map(|size| size as u64);
        // FᵀF is summed along the row tree; then there is a factor for each ridge
        let squares = (3 + ridges).max(6) * k * k * wide;
        let least = MemoryPlan {
            factors: n * k * narrow + squares,
            vectors: VECTORS * n * columns * ridges * wide,
            tiles: BLOCKS_BYTES,
            tile_rows: 256,
            ..MemoryPlan::default()
        };
        let Some(budget) = budget else { return Ok(least) };
        // F is rounded to f32 for a kept triangle: both are held for a moment
        let rounded = MemoryPlan { factors: least.factors + n * k * 4, ..least };
        let Some(left) = budget.checked_sub(rounded.total()) else {
            return least.within(Some(budget), "full-data regression");
        };
        let kept = KeptTriangle::<T>::bytes_within(self.n, left);
        let whole = KeptTriangle::<T>::bytes(self.n).max(1);
        let rows = (self.n as u128 * u128::from(kept) / u128::from(whole)) as usize;
        let plan = if kept > 0 { rounded } else { least };
        Ok(MemoryPlan { kept, kept_rows: rows, ..plan })
    }
}

impl MemoryPlan {
    /// The bytes of a budget that K may take.
    pub(crate) fn left_for_kernel_values(&self, budget: Option<u64>) -> u64 {
        budget.map_or(0, |budget| budget.saturating_sub(self.total() - self.kept))
    }
}
