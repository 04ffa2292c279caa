//! Rows with weights that stand for all rows.

use super::bytes;
use super::leaves::cuts;
use super::points::{PointRecipe, TILE};
use super::ranks::{Alone, Ranks, merged};
use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::faer::MatRef;
use nystrom::leverage::{MergeTree, TreeShape};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};

/// A dictionary: rows as the kernel sees them, and weights s² with E\[SSᵀ\] = I over all n rows.
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
pub struct WeightedRows {
    dim: usize,
    /// d × m.
    coordinates: Vec<f64>,
    weights: Vec<f64>,
}

impl WeightedRows {
    /// Of a uniform sample of the rows (s × d), by a dictionary of it. If that has the weights w,
    /// those of all n rows are w·n/s.
    ///
    /// As nλ·φᵀ(n/s·M + nλI)⁻¹φ = sλ·φᵀ(M + sλI)⁻¹φ for the covariance M of the dictionary, it is
    /// made for the sample at the same λ. How well it stands for all rows is also a matter of the
    /// sample: uniform sampling is ε-accurate for s of the order n·max l_i·ln(d_eff)/ε².
    ///
    /// # Errors
    /// [`Shape`](nystrom::Error::Shape) for a dictionary of another number of rows.
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

    /// m.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The members, m points.
    pub fn points(&self) -> Points<'_, f64> {
        Points::from_cols(MatRef::from_column_major_slice(&self.coordinates, self.dim, self.len()))
    }

    /// s², m of them.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Bytes that a dictionary of at most m members takes in d dimensions, while two are merged.
    pub fn bytes(m: usize, d: usize) -> u64 {
        // K, its factor and its inverse of 2m rows; dictionaries that wait, and a tile of scores
        let (m, d) = (m as u64, d as u64);
        8 * (12 * m * m + 16 * m * d + 2 * TILE * m)
    }

    /// What process 0 has, on all.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn shared(ranks: &dyn Ranks, found: Option<WeightedRows>) -> Result<WeightedRows> {
        let bytes = found.as_ref().map(bytes::write).transpose()?;
        let bytes = ranks.broadcast(bytes.unwrap_or_default());
        found.map_or_else(|| bytes::read(&bytes), Ok)
    }
}

impl PointRecipe {
    /// The dictionary of all rows at λ, by one pass: DISQUEAK with [`Squeak`] on each leaf of
    /// [`RowTree::with_leaves`](nystrom::linalg_core::RowTree::with_leaves).
    ///
    /// With [`SqueakParams::copies_for`] copies it is ε-accurate at nλ with the probability asked
    /// for. Rows are taken in their order: shuffle files that come sorted.
    ///
    /// # Cost
    /// With at most m members 4.5·nm kernel values and 4.5·nm² flops, and 16m³/3 flops a merge.
    ///
    /// # Errors
    /// Those of the source and of rows that are not as the first pass found them,
    /// [`DictionaryFull`](nystrom::Error::DictionaryFull), those of [`Squeak::push`].
    ///
    /// # Randomness
    /// One key; leaves and merges have streams below it.
    ///
    /// # Source
    /// As [`Disqueak`].
    pub fn disqueak(
        &self,
        source: &mut dyn TableSource,
        lambda: f64,
        params: SqueakParams,
        rng: &mut dyn Rng,
    ) -> Result<WeightedRows> {
        self.disqueak_over(&Alone, source, (lambda, params), rng)
    }

    /// The same by several processes, on all of which the dictionary then is. Each has whole
    /// leaves; what it cannot merge is sent to its neighbours.
    ///
    /// # Errors
    /// As [`disqueak`](Self::disqueak), of the rows that this process reads.
    ///
    /// # Randomness
    /// As [`disqueak`](Self::disqueak); the generators of all processes must be in the same state.
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
        let (kernel, shape) = (self.kernel.clone(), TreeShape::Balanced);
        let mut merging = MergeTree::new(kernel, self.dim(), gamma, params, shape, &sizes, rng)?;
        let cuts = cuts(leaves, ranks.size(), &[]);
        let mine = cuts[ranks.rank()]..cuts[ranks.rank() + 1];
        if !mine.is_empty() {
            let rows = tree.leaf(mine.start).start as u64..tree.leaf(mine.end - 1).end as u64;
            let (mut leaf, mut under_way) = (mine.start, None);
            self.each(source, rows, |tile| -> Result<()> {
                // leaves begin and end where tiles do
                let (rows, end) = (tree.leaf(leaf), tile.first as usize + tile.rows.len());
                if tile.first == rows.start as u64 {
                    under_way = Some(merging.begin(leaf)?);
                }
                if let Some((squeak, rng)) = &mut under_way {
                    squeak.push(tile.points(), rng)?;
                }
                if let Some((squeak, mut rng)) = under_way.take_if(|_| end == rows.end) {
                    merging.end(leaf, squeak, &mut rng)?;
                    leaf += 1;
                }
                Ok(())
            })?;
        }
        let send = |part: &MergeTree<_, f64>| bytes::write(&part.state());
        let take = |all: &mut MergeTree<_, f64>, later: Vec<u8>| {
            all.take(bytes::read(&later)?).map_err(Error::from)
        };
        let merging = merged(ranks, merging, send, take)?;
        let found = merging.map(|mut all| all.finish()).transpose()?;
        let found = found.map(|all| {
            let dictionary = all.dictionary();
            let (points, dim) = (dictionary.points(), dictionary.dim());
            let of = |j: usize| (0..dim).map(move |k| points.coordinate(j, k));
            let coordinates = (0..points.len()).flat_map(of).collect();
            WeightedRows { dim, coordinates, weights: dictionary.weights() }
        });
        WeightedRows::shared(ranks, found)
    }
}
