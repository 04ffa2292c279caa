//! Weighted rows that represent all rows, and the scores of all rows against them.

use super::points::{PointRecipe, PointRows, TILE};
use super::processes::{Ranks, merged};
use super::sections;
use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::faer::MatRef;
use nystrom::leverage::{MergeTree, PointProjector, TreeShape};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};

/// A dictionary of m rows: their features and their weights s², with E\[SSᵀ\] = I over all n rows.
///
/// O(m·d) memory.
///
/// ```
/// use nystrom::faer::Mat;
/// use nystrom::prelude::*;
/// use nystrom_pipeline::WeightedRows;
/// let sample = Mat::from_fn(4, 2, |i, k| (2 * i + k) as f64);
/// let dictionary = Dictionary::new(4, vec![1, 3], vec![1.5, 2.5])?;
/// let rows = WeightedRows::of_sample(sample.as_ref(), &dictionary, 400)?;
/// assert_eq!((rows.points().coordinate(1, 0), rows.weights()), (6.0, &[150.0, 250.0][..]));
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredRows")]
pub struct WeightedRows {
    dim: usize,
    /// The features of the members, d × m.
    coordinates: Vec<f64>,
    weights: Vec<f64>,
}

/// Largest number of features. Without rows, the number of coordinates does not bound it.
const MOST_FEATURES: usize = 1 << 26;

/// A [`WeightedRows`] as it is sent.
#[derive(Deserialize)]
struct StoredRows {
    dim: usize,
    coordinates: Vec<f64>,
    weights: Vec<f64>,
}

impl TryFrom<StoredRows> for WeightedRows {
    type Error = &'static str;

    fn try_from(stored: StoredRows) -> Result<Self, &'static str> {
        let StoredRows { dim, coordinates, weights } = stored;
        if dim > MOST_FEATURES || weights.len().checked_mul(dim) != Some(coordinates.len()) {
            return Err("the coordinates of a dictionary are not those of its rows");
        }
        Ok(WeightedRows { dim, coordinates, weights })
    }
}

impl WeightedRows {
    /// The dictionary of all n rows from a dictionary of a uniform sample of s rows (s × d):
    /// weights w become w·n/s.
    ///
    /// With M the covariance of the dictionary, nλ·φᵀ(n/s·M + nλI)⁻¹φ = sλ·φᵀ(M + sλI)⁻¹φ, so the
    /// dictionary of the sample is made at the same λ. Its accuracy for all rows also depends on
    /// the sample: uniform sampling is ε-accurate for s of the order n·max l_i·ln(d_eff)/ε².
    ///
    /// # Errors
    /// [`Shape`](nystrom::Error::Shape) if the dictionary is for another number of rows than s.
    ///
    /// # Source
    /// Uniform columns: F. Bach, *Sharp analysis of low-rank kernel matrix approximations*, COLT
    /// 2013.
    pub fn of_sample(
        sample: MatRef<'_, f64>,
        dictionary: &Dictionary<f64>,
        rows: u64,
    ) -> Result<WeightedRows> {
        let (s, dim) = (sample.nrows(), sample.ncols());
        dictionary.check(s)?;
        let times = rows as f64 / s as f64;
        let members = dictionary.indices();
        let coordinates = members.iter().flat_map(|&i| (0..dim).map(move |k| sample[(i, k)]));
        let coordinates = coordinates.collect();
        let weights = dictionary.weights().iter().map(|w| w * times).collect();
        Ok(WeightedRows { dim, coordinates, weights })
    }

    /// The number of members, m.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether the dictionary has no members.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The features of the members, m points.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_cols(MatRef::from_column_major_slice(&self.coordinates, self.dim, self.len()))
    }

    /// The m weights s².
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The peak memory, in bytes, of merging two dictionaries of at most m members in d dimensions.
    pub fn bytes(m: usize, d: usize) -> u64 {
        // K, its factor and its inverse of 2m rows; dictionaries that wait, and a tile of scores
        let (m, d) = (m as u64, d as u64);
        8 * (12 * m * m + 16 * m * d + 2 * TILE * m)
    }
}

impl PointRecipe {
    /// The dictionary of all rows at λ, by one pass: DISQUEAK, with [`Squeak`] on each leaf of
    /// [`RowTree::with_leaves`](nystrom::linalg_core::RowTree::with_leaves).
    ///
    /// With [`SqueakParams::copies_for`] copies, the dictionary is ε-accurate at nλ with the
    /// requested probability. Rows are processed in their order; shuffle sorted files.
    ///
    /// # Cost
    /// With at most m members: 4.5·nm kernel values, 4.5·nm² flops, and 16m³/3 flops for each
    /// merge.
    ///
    /// Each process computes whole leaves and sends dictionaries that it cannot merge to its
    /// neighbours; every process receives the final dictionary.
    ///
    /// # Errors
    /// Those of the source, for the rows that this process reads; errors for rows that differ from
    /// those of the first pass, [`DictionaryFull`](nystrom::Error::DictionaryFull), those of
    /// [`Squeak::push`].
    ///
    /// # Randomness
    /// One key, from which every leaf and merge derives a stream. The generators of all processes
    /// must be in the same state.
    ///
    /// # Source
    /// That of [`Disqueak`].
    pub fn disqueak_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        (lambda, params): (f64, SqueakParams),
        rng: &mut dyn Rng,
    ) -> Result<WeightedRows> {
        let tree = self.tree()?;
        let leaves = tree.leaves();
        validate::not_empty("leaves of the rows", leaves)?;
        let gamma = Ridge::PerSample(lambda).absolute(tree.leaf(leaves - 1).end)?;
        let sizes: Vec<usize> = (0..leaves).map(|leaf| tree.leaf(leaf).len()).collect();
        let (kernel, shape) = (self.kernel().clone(), TreeShape::Balanced);
        let mut merging = MergeTree::new(kernel, self.dim(), gamma, params, shape, &sizes, rng)?;
        let mut under_way = None;
        self.each_of_leaves(ranks, source, |leaf, tile, is_last| {
            let begun = under_way.take().map_or_else(|| merging.begin(leaf), Ok);
            let (mut squeak, mut rng) = begun?;
            squeak.push(tile.points(), &mut rng)?;
            match is_last {
                true => merging.end(leaf, squeak, &mut rng)?,
                false => under_way = Some((squeak, rng)),
            }
            Ok(())
        })?;
        let send = |part: &MergeTree<_, f64>| sections::write(&part.state());
        let take = |all: &mut MergeTree<_, f64>, later| all.take(later).map_err(Error::from);
        let merging = merged(ranks, merging, send, take)?;
        let found = merging.map(|mut all| all.finish()).transpose()?;
        let found = found.map(|all| {
            let dictionary = all.dictionary();
            let (points, dim) = (dictionary.points(), dictionary.dim());
            let of = |j: usize| (0..dim).map(move |k| points.coordinate(j, k));
            let coordinates = (0..points.len()).flat_map(of).collect();
            WeightedRows { dim, coordinates, weights: dictionary.weights() }
        });
        ranks.share(found)
    }

    /// The ridge leverage scores of all rows at λ, by one pass. `take` is called with at most 1024
    /// rows at a time, in their order, and their scores. Each process computes the scores of its
    /// share of the rows, which follow those of the process before.
    ///
    /// The scores are those of [`PointProjector`]. If the dictionary is ε-accurate at nλ, the
    /// computed score τ̃ of a row with exact score τ is between τ/(1 + ε) and τ/(1 − ε).
    ///
    /// # Cost
    /// With m members: nm kernel values and nm² flops.
    ///
    /// # Errors
    /// Those of the source, of [`PointProjector::new`] and of `take`, and errors for rows that
    /// differ from those of the first pass.
    pub fn scores_over<E: From<Error>>(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        (dictionary, lambda): (&WeightedRows, f64),
        mut take: impl FnMut(&PointRows, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mu = lambda * self.rows() as f64;
        let (kernel, weights) = (self.kernel().clone(), dictionary.weights().to_vec());
        let projector = PointProjector::new(kernel, dictionary.points(), weights, mu);
        let projector = projector.map_err(Error::from)?;
        self.each(source, self.own_rows(ranks), |tile| {
            let scores = projector.scores(tile.points()).map_err(Error::from)?;
            take(tile, &scores)
        })
    }
}
