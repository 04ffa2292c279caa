//! Psd matrices and dense oracles for the tests.

use faer::Mat;
pub use nystrom_linalg_core::testing::*;
use proptest::prelude::*;

pub fn any_psd() -> impl Strategy<Value = (Mat<f64>, u64)> {
    (proptest::sample::select(&Kind::ALL), 2..40_usize, any::<u64>())
        .prop_map(|(kind, n, seed)| (psd(kind, n, seed), seed))
}
