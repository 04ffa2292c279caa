//! The data of a regression: points, targets, weights, centres, and rows that are read in blocks.

mod centers;
mod parts;
mod problem;
mod source;
mod waiting;

pub use centers::Centers;
pub(crate) use centers::check_points;
pub(crate) use parts::{parts_of_problem, random_parts};
pub use problem::Problem;
pub(crate) use problem::{Part, TILE_ROWS, all_absolute, check_rows};
pub use source::{Block, RowIter, RowSource};
pub(crate) use source::{SourceTiles, Tiles};
pub(crate) use waiting::Waiting;
