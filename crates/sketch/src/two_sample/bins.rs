//! Random bins of the rows of two samples, and the sums of kernel values over them.

use super::{TwoSample, TwoSampleTest, centred_gram};
use crate::FeatureMap;
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Result, Scalar, Streams, validate};
use rand::Rng;
use rand::seq::SliceRandom;

/// A [`TwoSample`] test of rows that come in tiles: the sums of kernel values over random bins. 8ms
/// bytes for s bins, and 4n/b for the places of bins of b rows in the larger sample, n rows.
///
/// The bins depend on the numbers of rows and the generator alone, so that the rows of one test can
/// be added in any order, in several processes ([`merge`](Self::merge)).
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Kernel, Points};
/// use nystrom_sketch::{FeatureMap, TwoSample, TwoSampleSums, Whitening};
/// use rand::SeedableRng;
/// // 400 rows of one sample, then 600 of another, wider one
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let width = |i: usize| if i < 400 { 2.0 } else { 3.0 };
/// let x: Vec<f64> = (0..1000).map(|i| width(i) * (i % 19) as f64 / 19.0).collect();
/// let kernel = Gaussian::new(0.5)?;
/// let z = Points::from_slice(&x[380..420]); // landmarks of both; take random rows of all
/// let map = FeatureMap::new(kernel.gram(z).as_ref(), Whitening::default())?;
/// let mut sums = TwoSampleSums::new(TwoSample::default(), z.len(), [400, 600], rng)?;
/// for (t, tile) in x.chunks(256).enumerate() {
///     sums.add(256 * t as u64, kernel.eval(z, Points::from_slice(tile)).as_ref())?;
/// }
/// let found = sums.finish(&map, rng)?;
/// assert!(found.p_value <= 0.01);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct TwoSampleSums {
    test: TwoSample,
    sizes: [u64; 2],
    /// b, the number of rows of a bin.
    b: u64,
    bins: [usize; 2],
    streams: Streams,
    /// The bins of the group of rows that was asked for last.
    group: Option<(Group, Vec<u32>)>,
    /// Σ k_J(x_i) over the rows of each bin, m × s.
    sums: Mat<f64>,
}

/// ⌊n/b⌋ consecutive rows of a sample, of which each bin has one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Group {
    sample: usize,
    number: u64,
}

impl TwoSampleSums {
    /// The sums over no rows, of samples of n₁ and n₂ rows.
    ///
    /// # Errors
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for 0 permutations, fewer
    /// than 4 bins, or a sample of fewer than 2 rows.
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if a sample has more than 2³² times the
    /// rows of a bin.
    ///
    /// # Randomness
    /// One key.
    pub fn new(
        test: TwoSample,
        landmarks: usize,
        sizes: [u64; 2],
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        test.check(sizes)?;
        let (b, bins) = test.bins_of(sizes);
        let groups = sizes[0].max(sizes[1]) / b;
        validate::at_most(
            "rows for each of the rows of a bin",
            groups as usize,
            u32::MAX as usize,
        )?;
        let (streams, sums) = (Streams::from_rng(rng), Mat::zeros(landmarks, bins[0] + bins[1]));
        Ok(TwoSampleSums { test, sizes, b, bins, streams, group: None, sums })
    }

    /// Adds the rows from `first` on, of the n₁ + n₂ rows of both samples, with their kernel values
    /// with the landmarks, `k_j` (m × t).
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) for rows after the last,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn add<T: Scalar>(&mut self, first: u64, k_j: MatRef<'_, T>) -> Result<()> {
        let (all, end) = (self.sizes[0] + self.sizes[1], first + k_j.ncols() as u64);
        validate::at_most("rows of both samples", end as usize, all as usize)?;
        validate::finite("kernel values", k_j)?;
        self.add_rows(first..end, k_j)
    }

    /// As [`add`](Self::add) for rows with any numbers and finite values.
    pub(super) fn add_rows<T: Scalar>(
        &mut self,
        rows: impl Iterator<Item = u64>,
        k_j: MatRef<'_, T>,
    ) -> Result<()> {
        validate::same_size("kernel values of a row", self.sums.nrows(), k_j.nrows())?;
        for (row, column) in rows.zip(k_j.col_iter()) {
            let Some(bin) = self.bin_of(row) else { continue };
            let sum = self.sums.col_mut(bin).iter_mut();
            sum.zip(column.iter()).for_each(|(sum, value)| *sum += value.f64());
        }
        Ok(())
    }

    /// The numbers of the rows that have a bin.
    pub(super) fn rows_in_bins(&mut self) -> Vec<usize> {
        let all = (self.sizes[0] + self.sizes[1]) as usize;
        (0..all).filter(|&row| self.bin_of(row as u64).is_some()).collect()
    }

    /// The bin of a row: the bins of the first sample come first.
    fn bin_of(&mut self, row: u64) -> Option<usize> {
        let sample = usize::from(row >= self.sizes[0]);
        let (row, count) = (row - [0, self.sizes[0]][sample], self.bins[sample]);
        let size = self.sizes[sample] / self.b;
        let group = Group { sample, number: row / size };
        if group.number >= self.b {
            return None;
        }
        if self.group.as_ref().is_none_or(|(last, _)| *last != group) {
            let mut places: Vec<u32> = (0..size as u32).collect();
            let rng = &mut self.streams.child(sample as u64).stream(group.number);
            places.shuffle(rng);
            self.group = Some((group, places));
        }
        let place =
            self.group.as_ref().map(|(_, places)| places[(row % size) as usize] as usize)?;
        (place < count).then_some([0, self.bins[0]][sample] + place)
    }

    /// Adds the sums over other rows of the same test.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for other numbers of landmarks or bins.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        validate::same_size("landmarks", self.sums.nrows(), other.sums.nrows())?;
        validate::same_size("bins", self.sums.ncols(), other.sums.ncols())?;
        self.sums += &other.sums;
        Ok(())
    }

    /// The sums as numbers, for another process.
    pub fn to_numbers(&self) -> Vec<f64> {
        self.sums.col_iter().flat_map(|column| column.iter().copied()).collect()
    }

    /// The sums of the same test whose numbers another process sent.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for another number of numbers,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn from_numbers(&self, numbers: &[f64]) -> Result<Self> {
        let (m, s) = self.sums.shape();
        validate::same_size("numbers of the sums", m * s, numbers.len())?;
        let sums = MatRef::from_column_major_slice(numbers, m, s);
        validate::finite("sums", sums)?;
        Ok(TwoSampleSums { sums: sums.to_owned(), group: None, ..*self })
    }

    /// The test, after all rows were added; `map` is that of the landmarks.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for a map of another number of landmarks,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) for sums that overflow.
    ///
    /// # Randomness
    /// A permutation of the bins for each permutation.
    pub fn finish<T: Scalar>(
        &self,
        map: &FeatureMap<T>,
        rng: &mut dyn Rng,
    ) -> Result<TwoSampleTest> {
        let (m, s) = self.sums.shape();
        validate::same_size("landmarks of the map", m, map.landmarks())?;
        let mut sums = Mat::from_fn(m, s, |i, j| T::lit(self.sums[(i, j)]));
        validate::finite("sums of bins", sums.as_ref())?;
        let (gram, rounding) = centred_gram(map.apply_in_place(sums.as_mut()).rb());
        validate::finite("inner products of bins", gram.as_ref())?;
        let (observed, p_value) = self.test.permute(gram.as_ref(), rounding, self.bins, rng);
        let left_out = |i: usize| (self.sizes[i] - self.b * self.bins[i] as u64) as usize;
        Ok(TwoSampleTest {
            mmd: observed.max(0.0).sqrt() / self.b as f64,
            p_value,
            bins: self.bins,
            rows_of_bin: self.b as usize,
            left_out: [0, 1].map(left_out),
        })
    }
}
