//! Recursive ridge leverage score sampling (Musco & Musco 2017) with a fixed number of landmarks.

use super::{RecursiveLevel, halvings, in_row_order, keep, random_order, scores_of_prefix};
use crate::RidgeLeverage;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, SymmetricEigen, random, validate};
use nystrom_sketch::{Dictionary, LandmarkSelector, Landmarks};
use rand::Rng;

/// The tail ridge is at least this multiple of the mean diagonal of the reweighted sample.
const LEAST_RIDGE: f64 = 1e-5;

/// The result of [`RecursiveNystrom::sample`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecursiveNystromSample<T> {
    /// s distinct rows, in the order of drawing. [`Nystrom::new`](nystrom_sketch::Nystrom::new)
    /// makes the approximation K ≈ C W⁺ Cᵀ of them.
    pub landmarks: Landmarks,
    /// b_i: the ridge leverage score of every row at `ridge` with respect to the sample of half of
    /// the rows, an over-estimate. The landmarks are drawn in proportion to the b_i. All 1 if s =
    /// n.
    pub scores: Vec<T>,
    /// The absolute ridge λ = (tr A − Σ_{i≤k}σ_i(A))/k, an estimate of (1/k)Σ_{i>k}σ_i(K). A is the
    /// matrix of the reweighted last sample, W^{½}K_SS W^{½}. 0 if s = n.
    pub ridge: T,
    /// The levels before the last, from the shortest prefix on.
    pub levels: Vec<RecursiveLevel>,
}

/// s landmarks by recursive ridge leverage score sampling, at a ridge that the method finds itself:
/// an estimate of (1/k)Σ_{i>k}σ_i(K) with k ≈ s/(4 ln s), used as an absolute ridge.
///
/// The aim of the paper: K ⪯ K̃ + ((1/k)Σ_{i>k}σ_i)·I from s = O(k ln(k/δ)) rows. That many rows
/// suffice because d_eff ≤ 2k at this ridge: each of the first k eigenvalues adds at most 1 to
/// d_eff, and the others together add at most k.
///
/// # Cost
/// With m rows in the largest inner sample: at most 2n·m + O(m² log n) entries, O(nm² + m³ log n)
/// flops, O(m² + 1024·m + n) memory.
///
/// # Source
/// Musco & Musco, NIPS 2017, Algorithm 3 (arXiv:1605.07583); their MATLAB code
/// `recursiveNystrom.m`, commit 5c9bc11.
///
/// # Departures
/// From that code. The least ridge is relative, 1e-5 times the mean diagonal of the reweighted
/// sample; in the authors' code it is the absolute number 1e-5, used only if k reaches the size of
/// the sample. Scores are clamped to at most K_ii/(K_ii + λ), the upper bound of exact scores. ln s
/// counts as at least 1 (with samples of one row, as for s = 1, the authors' code divides by zero).
/// If fewer than s rows have a positive score, the missing landmarks are drawn uniformly from the
/// other rows. Whitening of W is left to the caller (the authors' code adds 1e-5 to the diagonal of
/// W).
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::RecursiveNystrom;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Nystrom;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(400, 400, |i, j| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let sample = RecursiveNystrom::default().sample(&k, 30, &mut rng)?;
/// assert_eq!(sample.landmarks.len(), 30);
/// assert!(Nystrom::new(&k, &sample.landmarks)?.trace_error(&k)? < 1e-3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RecursiveNystrom {
    /// Inner samples of about m = ⌈√((ns + s³)/(4n))⌉ rows in place of s: the recursion then takes
    /// O(nm²) = O(ns + s³) flops in place of O(ns²).
    pub accelerated: bool,
}

impl RecursiveNystrom {
    /// s landmarks, with the scores and the ridge that they were drawn by, and a record of the
    /// levels.
    ///
    /// # Randomness
    /// One random order of the rows, one uniform per row of every level, then s draws without
    /// replacement.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0 or s = 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if s > n, those of
    /// [`Projector`](crate::Projector) and of [`SymmetricEigen::new`].
    pub fn sample<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        s: usize,
        rng: &mut dyn Rng,
    ) -> Result<RecursiveNystromSample<T>> {
        let n = k.dim();
        let ScoresOfSize { scores, ridge, levels } = scores_for_size(k, s, self.accelerated, rng)?;
        let landmarks = if s == n {
            Landmarks::all(n)?
        } else {
            Landmarks::new(n, distinct(&scores, s, rng)?)?
        };
        Ok(RecursiveNystromSample { landmarks, scores, ridge, levels })
    }
}

impl<T: Scalar> LandmarkSelector<T> for RecursiveNystrom {
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        self.sample(k, m, rng).map(|sample| sample.landmarks)
    }
}

/// Ridge leverage scores and dictionaries by Algorithm 3 of Musco & Musco. The recursion finds its
/// own ridge from `size`; the scores are at the caller's ridge.
///
/// If `size` is less than d_eff at the caller's ridge and only proportions of scores matter, wrap
/// it in [`UnitWeights`](crate::UnitWeights).
///
/// # Cost
/// That of [`RecursiveNystrom`] for the dictionary of m rows; for scores also n·m + m² entries and
/// O(nm²) flops.
///
/// # Source
/// Musco & Musco, NIPS 2017, Algorithm 3 (arXiv:1605.07583).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RecursiveRlsOfSize {
    /// s, the number of draws.
    pub size: usize,
    /// As in [`RecursiveNystrom`].
    pub accelerated: bool,
}

impl<T: Scalar> RidgeLeverage<T> for RecursiveRlsOfSize {
    /// `size` independent draws in proportion to the scores of [`RecursiveNystrom`], weighted so
    /// that E\[SSᵀ\] = I on the rows of positive score. (The inclusion probabilities of the draw
    /// without replacement in [`RecursiveNystrom`] have no closed form.)
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        ridge.absolute(k.dim())?;
        let top = scores_for_size(k, self.size, self.accelerated, rng)?;
        if self.size == k.dim() {
            Dictionary::full(k.dim())
        } else {
            Dictionary::with_replacement(&top.scores, self.size, rng)
        }
    }
}

struct ScoresOfSize<T> {
    scores: Vec<T>,
    ridge: T,
    levels: Vec<RecursiveLevel>,
}

/// Runs the recursion up to the scores of all rows.
fn scores_for_size<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    s: usize,
    accelerated: bool,
    rng: &mut dyn Rng,
) -> Result<ScoresOfSize<T>> {
    let n = k.dim();
    validate::not_empty("matrix", n)?;
    validate::at_most("landmarks (s)", s, n)?;
    if s == n {
        return Ok(ScoresOfSize { scores: vec![T::one(); n], ridge: T::zero(), levels: vec![] });
    }
    let s_level = if accelerated { accelerated_size(n, s) } else { s };
    let oversampling = (s_level as f64).ln().max(1.0);
    let rank = (s_level as f64 / (4.0 * oversampling)).ceil() as usize; // k
    let levels_below = (n as f64 / s_level as f64).log2().ceil().max(1.0) as usize;
    let order = random_order(n, rng);
    let sizes = halvings(n, |_, depth| depth >= levels_below);
    let base = *sizes.last().unwrap_or(&n);
    let mut S = Dictionary::new(n, order[..base].to_vec(), vec![T::one(); base])?;
    let mut levels = vec![RecursiveLevel { rows: base, expected: base as f64, kept: base }];
    for &rows in sizes[1..].iter().rev().skip(1) {
        let b = scores_of_prefix(k, &S, tail_ridge(k, &S, rank)?, &order[..rows])?;
        let p: Vec<f64> = b.iter().map(|b| (oversampling * b.f64()).min(1.0)).collect();
        S = keep(n, &order[..rows], &p, rng)?;
        if S.is_empty() {
            // The prefix is in random order: its own prefix is a uniform sample.
            let drawn = s_level.min(rows);
            S = Dictionary::new(
                n,
                order[..drawn].to_vec(),
                vec![T::lit(rows as f64 / drawn as f64); drawn],
            )?;
        }
        levels.push(RecursiveLevel { rows, expected: p.iter().sum(), kept: S.len() });
    }
    let ridge = tail_ridge(k, &S, rank)?;
    let scores = in_row_order(&order, scores_of_prefix(k, &S, ridge, &order)?);
    Ok(ScoresOfSize { scores, ridge, levels })
}

/// ⌈√((ns + s³)/(4n))⌉, in 1..=s: the recursion then costs O(ns + s³) flops.
fn accelerated_size(n: usize, s: usize) -> usize {
    let (nf, sf) = (n as f64, s as f64);
    (((nf * sf + sf.powi(3)) / (4.0 * nf)).sqrt().ceil() as usize).clamp(1, s)
}

/// λ = (tr A − Σ_{i≤k} σ_i(A))/k, but at least 1e-5 times the mean diagonal of A. A = W^{½}K_SS
/// W^{½} is the matrix of the reweighted sample.
fn tail_ridge<T: Scalar>(k: &dyn PsdMatrix<T>, S: &Dictionary<T>, rank: usize) -> Result<T> {
    let mut A = k.block(S.indices().into(), S.indices().into());
    let root: Vec<T> = S.weights().iter().map(|w| num_traits::Float::sqrt(*w)).collect();
    for (j, &w_j) in root.iter().enumerate() {
        for (i, &w_i) in root.iter().enumerate() {
            A[(i, j)] *= w_i * w_j;
        }
    }
    let trace: f64 = (0..S.len()).map(|j| A[(j, j)].f64()).sum();
    let tail = if rank < S.len() {
        trace
            - SymmetricEigen::new(A.as_ref())?.values()[..rank].iter().map(|s| s.f64()).sum::<f64>()
    } else {
        0.0
    };
    let least = LEAST_RIDGE * trace / S.len() as f64;
    let ridge = (tail / rank as f64).max(least);
    // A = 0: every score is the ceiling K_ii/(K_ii + λ)
    Ok(if ridge > 0.0 { T::lit(ridge) } else { T::one() })
}

/// s distinct rows, drawn in proportion to the scores; rows of score 0 only after all others.
fn distinct<T: Scalar>(scores: &[T], s: usize, rng: &mut dyn Rng) -> Result<Vec<usize>> {
    let (positive, zero): (Vec<usize>, Vec<usize>) =
        (0..scores.len()).partition(|&i| scores[i] > T::zero());
    if s <= positive.len() {
        return random::without_replacement(scores, s, rng);
    }
    let filled = random::uniform_subset(zero.len(), s - positive.len(), rng)?;
    Ok(positive.into_iter().chain(filled.into_iter().map(|t| zero[t])).collect())
}
