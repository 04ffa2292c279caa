//! The option that names a graphics card.

use crate::card::Card;
use clap::Args;
use std::sync::Arc;

// Of commands that can compute on a card.
#[derive(Args)]
pub struct GpuArgs {
    /// Compute on a graphics card: the best one, or the first whose name contains NAME. Only in the
    /// program `nystrom-gpu`, which lists the cards with `nystrom-gpu devices`. Values are f32,
    /// with sums of almost f64; what needs f64 is computed on the CPU
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true,
        default_missing_value = "", help_heading = "Run")]
    pub gpu: Option<String>,
    /// The card, once it is open.
    #[arg(skip)]
    pub card: Option<Arc<dyn Card>>,
}
