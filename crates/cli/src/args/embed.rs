//! The options of `nystrom embed`.

use super::landmarks::METHODS;
use super::{LandmarkSpec, LeverageArgs, Output, PointArgs, SparseArgs};
use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EmbedMethod {
    /// Kernel principal components: scores with the largest variance
    Pca,
    /// Spectral embedding: rows that the kernel connects well are near each other
    Spectral,
    /// Kernel k-means: the cluster of each row
    #[value(name = "kmeans")]
    KMeans,
}

const EMBED: &str = "\
Examples:
  nystrom embed houses.csv --drop price -o picture.csv
  nystrom embed houses.csv --drop price --method spectral --components 3 -o picture.csv
  nystrom embed houses.csv --drop price --method kmeans --clusters 5 -o clusters.csv
  nystrom embed 'shards/*.csv' -o picture.csv
  nystrom embed large.csv --landmarks leverage:2000 --bandwidth 0.5 --json -o picture.csv

The result has one line for each row: `row` counts data rows from 0, `line` is the line in an \
editor, then come `component_1`, `component_2`, … or `cluster`, from 0. Time is linear in the \
number of rows; features of the rows are not stored.

A folder, a pattern or a table too large for --memory is read block by block: landmarks are chosen \
from a uniform sample, and sums over all rows take one pass (pca), two (spectral), or one for each \
iteration from the clusters of the sample, at most 20 (kmeans).";

/// Coordinates for a picture, or clusters: kernel PCA, spectral embedding, kernel k-means
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EMBED,
    after_long_help = format!("{METHODS}\n\n{EMBED}"))]
pub struct Embed {
    #[command(flatten)]
    pub of: PointArgs,
    #[command(flatten)]
    pub rows: SparseArgs,
    /// What to compute
    #[arg(long, value_enum, default_value_t = EmbedMethod::Pca)]
    pub method: EmbedMethod,
    /// Number of coordinates of each row [default: 2]
    #[arg(long, value_name = "P")]
    pub components: Option<usize>,
    /// With --method kmeans: number of clusters [default: 8]
    #[arg(long, value_name = "K")]
    pub clusters: Option<usize>,
    /// With --method kmeans: number of random starts, of which the best is taken [default: 4]
    #[arg(long, value_name = "S")]
    pub starts: Option<usize>,
    /// Method that chooses the landmarks, and their number [default: uniform:500, or all rows if
    /// there are fewer]
    #[arg(long, value_name = "METHOD:COUNT", value_parser = super::landmarks::landmarks,
        help_heading = "Landmarks")]
    pub landmarks: Option<LandmarkSpec>,
    #[command(flatten)]
    pub leverage: LeverageArgs,
    /// File for the result, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
}

impl Embed {
    pub fn components(&self) -> usize {
        self.components.unwrap_or(2)
    }
}
