//! Embeddings of all rows, and the test whether two samples have the same distribution.

use super::points::{PointRecipe, PointRows};
use super::processes::Ranks;
use super::source::TableSource;
use super::span_sums::LandmarkSpan;
use crate::error::{Error, Result};
use nystrom::faer::Col;
use nystrom::faer::reborrow::*;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{
    ClusterSums, FeatureMoments, KernelClusters, KernelPca, PrincipalComponents, SpectralEmbedding,
    SpectralMap, SpectralSums, TwoSample, TwoSampleSums, TwoSampleTest,
};

/// A pass of k-means that lowers the cost by a smaller share ends it.
const WORTH_A_PASS: f64 = 1e-4;

impl PointRecipe {
    /// Kernel principal components of all rows, by one pass: on every process, the same bits for
    /// any number of processes, each of which sums whole leaves of the tree of the rows.
    ///
    /// # Cost
    /// n·m kernel values, 2nm² flops; O(m²) numbers of memory.
    ///
    /// # Errors
    /// Those of the source and of [`KernelPca::finish`]; errors for rows that differ from those of
    /// the first pass.
    pub fn pca_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        span: &LandmarkSpan,
        pca: KernelPca,
    ) -> Result<PrincipalComponents<f64>> {
        let zero = FeatureMoments::zeros(span.map().rank());
        let sums = self.sum_over(ranks, source, span, &zero, |sums, tile, k_j| {
            let diagonal = self.diagonal(tile);
            Ok(sums.add(span.map().apply_in_place(k_j).as_ref(), &diagonal)?)
        })?;
        Ok(pca.finish(span.map(), &sums)?)
    }

    /// The spectral embedding of all rows, by two passes. Otherwise as
    /// [`pca_over`](Self::pca_over), with 2n·m kernel values.
    ///
    /// # Errors
    /// Those of the source and of [`SpectralEmbedding::finish`].
    /// [`NotPositive`](nystrom::Error::NotPositive) with the number of a row among all rows and its
    /// degree, [`InvalidParameter`](nystrom::Error::InvalidParameter) for a negative kernel value.
    pub fn spectral_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        span: &LandmarkSpan,
        embedding: SpectralEmbedding,
    ) -> Result<SpectralMap<f64>> {
        let zero = vec![0.0; span.landmarks().len()];
        let total = self.sum_over(ranks, source, span, &zero, |sums, _, k_j| {
            Ok(SpectralSums::add_kernel_sums(sums, k_j.rb())?)
        })?;
        let zero = SpectralSums::new(span.map(), &total)?;
        let sums = self.sum_over(ranks, source, span, &zero, |sums, tile, k_j| {
            let (diagonal, before) = (self.diagonal(tile), sums.rows());
            let added = sums.add(span.map().apply_in_place(k_j), &diagonal);
            added.map_err(|error| of_row(tile, before, error))
        })?;
        Ok(embedding.finish(span.map(), &sums)?)
    }

    /// Kernel k-means over all rows, by Lloyd's iterations from the clusters of a sample (m × k
    /// [weights](KernelClusters::weights) with landmarks of `span`): a pass each, at most
    /// `iterations`. It ends earlier if no centre moves, or after a pass that lowers the cost by
    /// less than a share of 10⁻⁴. The cost is that of the clusters that the result predicts for
    /// the rows. Otherwise as [`pca_over`](Self::pca_over).
    ///
    /// # Cost
    /// n·m kernel values and 4nmk flops a pass, nm² flops once.
    ///
    /// # Errors
    /// Those of the source and of [`ClusterSums::add`].
    /// [`InvalidParameter`](nystrom::Error::InvalidParameter) for 0 iterations.
    pub fn k_means_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        span: &LandmarkSpan,
        (start, iterations): (KernelClusters<f64>, usize),
    ) -> Result<KernelClusters<f64>> {
        let rule = "at least 1";
        validate::require(iterations > 0, "iterations", iterations as f64, rule)?;
        let (mut clusters, mut cost) = (start, f64::INFINITY);
        for pass in 0..iterations {
            let zero = ClusterSums::new(&clusters);
            let sums = self.sum_over(ranks, source, span, &zero, |sums, tile, k_j| {
                sums.add(k_j.rb())?;
                if pass == 0 {
                    let diagonal = self.diagonal(tile);
                    sums.add_traces(span.map().apply_in_place(k_j).as_ref(), &diagonal)?;
                }
                Ok(())
            })?;
            let found = sums.finish(span.map())?;
            let falls = cost - found.inertia();
            let little = cost.is_finite() && falls <= WORTH_A_PASS * cost;
            if found.converged() || little || pass + 1 == iterations {
                return Ok(found.with_centers_of(&clusters));
            }
            cost = found.inertia();
            clusters = found;
        }
        Ok(clusters)
    }

    /// Tests whether the first `first` rows and the others have the same distribution, by one pass.
    /// The result has the same bits for any number of processes.
    ///
    /// # Cost
    /// n·m kernel values; O(ms + s²) numbers of memory for s bins.
    ///
    /// # Errors
    /// Those of the source and of [`TwoSampleSums`].
    ///
    /// # Randomness
    /// That of [`TwoSample::test`]. The generators of all processes must be in the same state.
    pub fn two_sample_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        span: &LandmarkSpan,
        (test, first): (TwoSample, u64),
        rng: &mut dyn Rng,
    ) -> Result<TwoSampleTest> {
        let sizes = [first, self.rows().saturating_sub(first)];
        let zero = TwoSampleSums::new(test, span.landmarks().len(), sizes, rng)?;
        let sums = self.sum_over(ranks, source, span, &zero, |sums, tile, k_j| {
            Ok(sums.add(tile.first, k_j.rb())?)
        })?;
        Ok(sums.finish(span.map(), rng)?)
    }

    /// k(x, x) of the rows of a tile.
    fn diagonal(&self, tile: &PointRows) -> Vec<f64> {
        let mut diagonal = Col::<f64>::zeros(tile.rows.len());
        self.kernel().diag_into(diagonal.as_mut(), tile.points());
        diagonal.iter().copied().collect()
    }
}

/// An error about a row of a tile, with its number among all rows; `before` rows were added before
/// the tile.
pub fn of_row(tile: &PointRows, before: usize, error: nystrom::Error) -> Error {
    let nystrom::Error::NotPositive { what, index, value } = error else { return error.into() };
    let row = index.checked_sub(before).and_then(|t| tile.rows.get(t));
    let index = row.map_or(index, |&row| row as usize);
    nystrom::Error::NotPositive { what, index, value }.into()
}
