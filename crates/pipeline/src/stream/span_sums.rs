//! Passes over the kernel values of all rows with landmarks, whose sums are merged along the tree
//! of the rows.

use super::points::{PointRecipe, PointRows, TILE};
use super::processes::{Ranks, merged};
use super::sections;
use super::source::TableSource;
use super::summing::push_node;
use crate::error::{Error, Result};
use nystrom::faer::reborrow::*;
use nystrom::faer::{Mat, MatMut};
use nystrom::kernels::PointSet;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{
    ClusterSums, FeatureMap, FeatureMoments, SpectralSums, TwoSampleSums, Whitening,
};
use std::ops::Range;

/// Landmarks, and the map of kernel values with them to features.
///
/// ```
/// use nystrom::faer::Mat;
/// use nystrom::prelude::*;
/// use nystrom::sketch::KernelPca;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Alone, Family, LandmarkSpan, StreamPoints, TableBlocks};
/// let a: Vec<f64> = (0..3000).map(|i| f64::from(i * 7 % 3000) / 500.0).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a)]).unwrap();
/// let mut blocks = TableBlocks::new(&table, 500);
/// let stream = StreamPoints { reservoir: 300, ..StreamPoints::default() };
/// let survey = stream.survey(&mut blocks, &mut Pcg64::seed_from_u64(0))?;
/// let columns = stream.columns(&survey)?;
/// let sample = stream.reservoir(&survey, &columns)?;
/// let recipe = stream.recipe(&survey, columns, Family::Gaussian.kernel(0.5, 1)?);
/// let span = LandmarkSpan::new(&recipe, Points::from_rows(sample.subrows(0, 20)))?;
/// let pca = recipe.pca_over(&Alone, &mut blocks, &span, KernelPca { components: 2 })?;
/// let mut scores = Mat::zeros(2, 0);
/// recipe.kernel_tiles(&Alone, &mut blocks, &span, |tile, k_j| {
///     assert_eq!(tile.rows.len(), k_j.ncols());
///     scores = pca.transform(k_j.as_ref())?; // of the rows of this tile
///     Ok::<(), nystrom_pipeline::Error>(())
/// })?;
/// assert_eq!(scores.shape(), (2, 3000 - 2 * 1024));
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LandmarkSpan {
    landmarks: PointSet<f64>,
    map: FeatureMap<f64>,
}

impl LandmarkSpan {
    /// The span of m landmarks, points of the recipe. m² kernel values, m³/3 flops.
    ///
    /// # Errors
    /// Those of [`FeatureMap::new`] and of the kernel for the points.
    pub fn new(recipe: &PointRecipe, landmarks: Points<'_, f64>) -> Result<LandmarkSpan> {
        recipe.kernel().check_points(landmarks)?;
        let gram = recipe.kernel().gram(landmarks);
        let map = FeatureMap::new(gram.as_ref(), Whitening::default())?;
        Ok(LandmarkSpan { landmarks: landmarks.to_owned(), map })
    }

    /// The landmarks, m points.
    pub fn landmarks(&self) -> Points<'_, f64> {
        self.landmarks.points()
    }

    /// Memory for the kernel values of a tile.
    fn values(&self) -> Mat<f64> {
        Mat::zeros(self.landmarks().len(), TILE as usize)
    }

    /// The map of m kernel values to r features.
    pub fn map(&self) -> &FeatureMap<f64> {
        &self.map
    }
}

/// Sums over rows that processes can send to one another.
pub(super) trait SpanSums: Sized {
    fn plus(&mut self, later: &Self) -> nystrom::Result<()>;
    fn to_numbers(&self) -> Vec<f64>;
    /// Sums like `self` of these numbers.
    fn with(&self, numbers: &[f64]) -> nystrom::Result<Self>;
}

macro_rules! span_sums {
    ($($sums:ty),*) => {$(
        impl SpanSums for $sums {
            fn plus(&mut self, later: &Self) -> nystrom::Result<()> {
                self.merge(later)
            }
            fn to_numbers(&self) -> Vec<f64> {
                self.to_numbers()
            }
            fn with(&self, numbers: &[f64]) -> nystrom::Result<Self> {
                self.from_numbers(numbers)
            }
        }
    )*};
}

span_sums!(FeatureMoments, SpectralSums<f64>, ClusterSums<f64>, TwoSampleSums);

/// m sums of kernel values.
impl SpanSums for Vec<f64> {
    fn plus(&mut self, later: &Self) -> nystrom::Result<()> {
        self.iter_mut().zip(later).for_each(|(a, b)| *a += b);
        Ok(())
    }
    fn to_numbers(&self) -> Vec<f64> {
        self.clone()
    }
    fn with(&self, numbers: &[f64]) -> nystrom::Result<Self> {
        validate::same_size("sums of kernel values", self.len(), numbers.len())?;
        Ok(numbers.to_vec())
    }
}

impl PointRecipe {
    /// Calls `take` with tiles of t ≤ 1024 rows and their kernel values with the landmarks, m × t:
    /// this process's share of the rows, which follow those of the process before. n·m kernel
    /// values.
    ///
    /// # Errors
    /// Those of the source, of the kernel for the points, and of `take`.
    pub fn kernel_tiles<E: From<Error>>(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        span: &LandmarkSpan,
        mut take: impl FnMut(&PointRows, MatMut<'_, f64>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut values = span.values();
        self.each(source, self.own_rows(ranks), |tile| {
            take(tile, self.kernel_values(span, tile, &mut values)?)
        })
    }

    /// The kernel values of the rows of a tile with the landmarks, m × t, in `values`.
    fn kernel_values<'v>(
        &self,
        span: &LandmarkSpan,
        tile: &PointRows,
        values: &'v mut Mat<f64>,
    ) -> Result<MatMut<'v, f64>> {
        let (kernel, x) = (self.kernel(), tile.points());
        kernel.check_points(x)?;
        let mut k_j = values.as_mut().subcols_mut(0, x.len());
        kernel.eval_into(k_j.rb_mut(), span.landmarks(), x);
        Ok(k_j)
    }

    /// The sums of `add` over all rows, on every process, merged along the tree of the rows.
    pub(super) fn sum_over<S: SpanSums + Clone>(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        span: &LandmarkSpan,
        zero: &S,
        mut add: impl FnMut(&mut S, &PointRows, MatMut<'_, f64>) -> Result<()>,
    ) -> Result<S> {
        let tree = self.tree()?;
        let merge = |all: &mut Vec<(Range<usize>, S)>, node: Range<usize>, sums: S| {
            push_node(tree, all, (node, sums), |a, b| Ok(a.plus(&b)?))
        };
        let (mut done, mut sums, mut values) = (Vec::new(), zero.clone(), span.values());
        self.each_of_leaves(ranks, source, |leaf, tile, is_last| {
            add(&mut sums, tile, self.kernel_values(span, tile, &mut values)?)?;
            match is_last {
                true => {
                    merge(&mut done, leaf..leaf + 1, std::mem::replace(&mut sums, zero.clone()))
                }
                false => Ok(()),
            }
        })?;
        let send = |done: &Vec<(Range<usize>, S)>| {
            let numbers = |(node, sums): &(Range<usize>, S)| (node.clone(), sums.to_numbers());
            sections::write(&done.iter().map(numbers).collect::<Vec<_>>())
        };
        let take = |all: &mut Vec<(Range<usize>, S)>, later: Vec<(Range<usize>, Vec<f64>)>| {
            let mut later = later.into_iter();
            later.try_for_each(|(node, numbers)| merge(all, node, zero.with(&numbers)?))
        };
        let whole = merged(ranks, done, send, take)?.and_then(|mut all| all.pop());
        let numbers = ranks.share(whole.as_ref().map(|(_, sums)| sums.to_numbers()))?;
        whole.map_or_else(|| Ok(zero.with(&numbers)?), |(_, sums)| Ok(sums))
    }
}
