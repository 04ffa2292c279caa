//! Recursive ridge leverage score sampling (Musco & Musco 2017) at a fixed ridge.

mod sized;

pub use sized::{RecursiveNystrom, RecursiveNystromSample, RecursiveRlsOfSize};

use crate::{Projector, RidgeLeverage};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Ridge, Scalar, random::coin, validate};
use nystrom_sketch::{Dictionary, check_failure_probability};
use rand::{Rng, seq::SliceRandom};

/// Ridge leverage scores and a dictionary at a fixed ridge μ, by recursion (Recursive-RLS). First
/// the same method samples the rows of a random half. The scores of all rows with respect to this
/// sample are over-estimates whose sum is O(d_eff(μ)). Then every row is kept independently with
/// probability p_i, with weight 1/p_i.
///
/// The halves are nested prefixes of one random order, so the recursion is a loop from the shortest
/// prefix to all rows.
///
/// # Cost
/// With m rows in the largest sample of a level: at most 2n·m + O(m² log n) entries evaluated,
/// O(nm²) flops, O(m² + 1024·m + n) memory.
///
/// # Source
/// Musco & Musco, *Recursive Sampling for the Nyström Method*, NIPS 2017, Algorithm 2
/// (arXiv:1605.07583).
///
/// # Departures
/// Halves have the fixed size ⌈size/2⌉, as in the authors' code, in place of an independent choice
/// per row. Scores are clamped to at most K_ii/(K_ii + μ), the upper bound of exact scores. Inside
/// the logarithm the sum of the scores counts as at least 1. An empty level before the last is no
/// error: the scores of the next level are then K_ii/(K_ii + μ), over-estimates as the method
/// needs. An empty last level is [`Error::EmptySample`], but only where a dictionary is requested.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{RecursiveRls, RidgeLeverage, exact_scores};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(1000, 1000, |i, j| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
/// let (k, ridge) = (Dense::new(k.as_ref())?, Ridge::PerSample(1e-3));
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let scores = RecursiveRls::default().scores(&k, ridge, &mut rng)?;
/// let exact = exact_scores(&k, ridge)?;
/// assert!((scores.iter().sum::<f64>() / exact.d_eff() - 1.0).abs() < 0.2);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RecursiveRls {
    /// The rule for the inclusion probabilities, given the scores.
    pub inclusion: Inclusion,
    /// Cap on the expected number of rows kept by a level. Above it the run ends with
    /// [`Error::SampleTooLarge`], before the level is drawn.
    pub max_size: usize,
}

/// The rule by which Recursive-RLS computes the inclusion probabilities p_i of a level from the
/// over-estimates τ̂_i of that level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Inclusion {
    /// The rule for practical use: p_i = min(1, q·τ̂_i). The recursion ends at a prefix of at most
    /// `base` rows, which are all kept.
    Practice {
        /// q > 0. A dictionary holds about q·d_eff to 2q·d_eff rows, and the relative error of the
        /// scores is about 1/√q.
        oversampling: f64,
        /// Most rows of the shortest prefix, at least 1.
        base: usize,
    },
    /// The rule with a guarantee: l̃_i = (3/2)τ̂_i, p_i = min(1, 16 l̃_i ln(Σl̃/δ)). δ is divided
    /// by 3 at every deeper level of the recursion, which ends at 192 ln(1/δ) rows.
    ///
    /// With probability at least 1 − 3δ, (K + μI)/2 ⪯ K^{½}SSᵀK^{½} + μI ⪯ 3(K + μI)/2 and, for the
    /// Nyström approximation K̃ of the rows kept, K̃ ⪯ K ⪯ K̃ + μI. The constants are large: for n
    /// below about ten thousand all rows are kept.
    ///
    /// The constants were not compared with the printed theorem, but derived again. With the factor
    /// 16 and over-estimates l̃, a level fails with probability at most 8d(δ/d)^1.7 < δ, for d =
    /// Σl̃ ≥ 1 and δ < 1/32 (the matrix Bernstein inequality with intrinsic dimension, J. Tropp
    /// 2015, Theorem 7.3.1). The factor 3/2 makes l̃ an over-estimate, since the sample of the half
    /// is accurate within a factor 3/2. The constant 192 affects only the cost.
    Theorem {
        /// δ in (0, 1/32).
        delta: f64,
    },
}

impl Default for RecursiveRls {
    /// q = 3 and a base of 64 rows, at most 20,000 rows: a dictionary has about 5·d_eff rows.
    fn default() -> Self {
        RecursiveRls::with_oversampling(3.0)
    }
}

/// One level of a recursive sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RecursiveLevel {
    /// Rows in the level's prefix.
    pub rows: usize,
    /// Σp_i, the expected number of rows kept.
    pub expected: f64,
    /// Rows kept.
    pub kept: usize,
}

/// The result of [`RecursiveRls::sample`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecursiveSample<T> {
    /// The rows kept, with weights 1/p_i, so that E\[SSᵀ\] = I; empty if no row was kept.
    pub dictionary: Dictionary<T>,
    /// τ̂_i for all n rows, with respect to the sample of half of the rows: over-estimates with
    /// high probability, from which the dictionary was drawn. The scores with respect to the
    /// dictionary itself, which [`RidgeLeverage::scores`] returns, are more accurate.
    pub over_estimates: Vec<T>,
    /// The levels, from the shortest prefix to all rows.
    pub levels: Vec<RecursiveLevel>,
}

impl RecursiveRls {
    /// [`Inclusion::Practice`] with q and a base of 64 rows, at most 20,000 rows (whose factor
    /// takes 3.2 GB in `f64`).
    pub fn with_oversampling(q: f64) -> Self {
        RecursiveRls {
            inclusion: Inclusion::Practice { oversampling: q, base: 64 },
            max_size: 20_000,
        }
    }

    /// [`Inclusion::Theorem`] with δ, without a cap on the rows.
    pub fn theorem(delta: f64) -> Self {
        RecursiveRls { inclusion: Inclusion::Theorem { delta }, max_size: usize::MAX }
    }

    /// Runs the recursion and returns the dictionary, the over-estimates and a record of every
    /// level.
    ///
    /// # Randomness
    /// One random order of the rows, then one uniform per row of every level.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0 or the base is 0, [`Error::InvalidParameter`] unless q is positive
    /// and finite and δ in (0, 1/32). [`Error::SampleTooLarge`], those of [`Ridge::absolute`] and
    /// [`Projector`].
    pub fn sample<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<RecursiveSample<T>> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        self.inclusion.check()?;
        let mu = ridge.absolute(n)?;
        let order = random_order(n, rng);
        let sizes = halvings(n, |rows, depth| rows <= self.inclusion.base(depth));
        let base = *sizes.last().unwrap_or(&n);
        // S = I on the shortest prefix
        let mut S = Dictionary::new(n, order[..base].to_vec(), vec![T::one(); base])?;
        let mut levels = vec![RecursiveLevel { rows: base, expected: base as f64, kept: base }];
        let mut tau = vec![];
        for (depth, &rows) in sizes.iter().enumerate().rev().skip(1) {
            // τ̂_i with respect to the sample of the half
            tau = scores_of_prefix(k, &S, mu, &order[..rows])?;
            let p = self.inclusion.probabilities(&tau, depth);
            let expected = p.iter().sum();
            check_size(expected, mu, self.max_size)?;
            S = keep(n, &order[..rows], &p, rng)?; // row i with probability p_i, weight 1/p_i
            levels.push(RecursiveLevel { rows, expected, kept: S.len() });
        }
        if tau.is_empty() {
            // n is within the base: S = I, the scores are exact
            tau = scores_of_prefix(k, &S, mu, &order)?;
        }
        Ok(RecursiveSample { dictionary: S, over_estimates: in_row_order(&order, tau), levels })
    }
}

impl<T: Scalar> RidgeLeverage<T> for RecursiveRls {
    /// The dictionary of the last level. Besides the errors of [`RecursiveRls::sample`],
    /// [`Error::EmptySample`] if the last level kept no row.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        let RecursiveSample { dictionary, levels, .. } = self.sample(k, ridge, rng)?;
        let expected = levels.last().map_or(0.0, |level| level.expected);
        not_empty(dictionary, ridge.absolute(k.dim())?, expected)
    }

    /// [`Projector`] with the dictionary of the last level, which may be empty.
    fn scores(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>, rng: &mut dyn Rng) -> Result<Vec<T>> {
        let dictionary = self.sample(k, ridge, rng)?.dictionary;
        Projector::new(k, &dictionary, ridge)?.scores(k, (0..k.dim()).into())
    }
}

impl Inclusion {
    fn check(self) -> Result<()> {
        match self {
            Inclusion::Practice { oversampling, base } => {
                validate::positive("oversampling", oversampling)?;
                validate::not_empty("base of the recursion", base)
            }
            Inclusion::Theorem { delta } => {
                check_failure_probability(delta)?;
                let holds = delta < 1.0 / 32.0;
                validate::require(holds, "delta", delta, "below 1/32, where the theorem holds")
            }
        }
    }

    /// The length up to which a prefix is kept whole, at the given depth of the recursion (0: all
    /// rows).
    fn base(self, depth: usize) -> usize {
        match self {
            Inclusion::Practice { base, .. } => base,
            Inclusion::Theorem { delta } => (192.0 * -delta_at(delta, depth).ln()) as usize,
        }
    }

    fn probabilities<T: Scalar>(self, tau: &[T], depth: usize) -> Vec<f64> {
        let factor = match self {
            Inclusion::Practice { oversampling, .. } => oversampling,
            Inclusion::Theorem { delta } => {
                let sum: f64 = tau.iter().map(|t| 1.5 * t.f64()).sum();
                16.0 * 1.5 * (sum.max(1.0) / delta_at(delta, depth)).ln()
            }
        };
        tau.iter().map(|t| (factor * t.f64()).min(1.0)).collect()
    }
}

fn delta_at(delta: f64, depth: usize) -> f64 {
    delta / 3.0_f64.powi(depth as i32)
}

/// All rows in random order; every prefix is a uniform sample without replacement.
fn random_order(n: usize, rng: &mut dyn Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(rng);
    order
}

/// n, ⌈n/2⌉, ⌈n/4⌉, … down to the first length for which `is_base(length, depth)`, or 1.
fn halvings(n: usize, is_base: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut sizes = vec![n];
    while sizes[sizes.len() - 1] > 1 && !is_base(sizes[sizes.len() - 1], sizes.len() - 1) {
        sizes.push(sizes[sizes.len() - 1].div_ceil(2));
    }
    sizes
}

fn scores_of_prefix<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    S: &Dictionary<T>,
    mu: T,
    rows: &[usize],
) -> Result<Vec<T>> {
    Projector::new(k, S, Ridge::Absolute(mu))?.scores(k, rows.into())
}

/// Keeps row `rows[t]` with probability p_t, with weight 1/p_t.
fn keep<T: Scalar>(
    n: usize,
    rows: &[usize],
    p: &[f64],
    rng: &mut dyn Rng,
) -> Result<Dictionary<T>> {
    let kept: Vec<usize> = (0..rows.len()).filter(|&t| coin(p[t], rng)).collect();
    let weights = kept.iter().map(|&t| T::lit(1.0 / p[t])).collect();
    Dictionary::new(n, kept.iter().map(|&t| rows[t]).collect(), weights)
}

fn in_row_order<T: Scalar>(order: &[usize], values: Vec<T>) -> Vec<T> {
    let mut out = vec![T::zero(); values.len()];
    order.iter().zip(values).for_each(|(&i, value)| out[i] = value);
    out
}

pub(crate) fn check_size<T: Scalar>(expected: f64, mu: T, cap: usize) -> Result<()> {
    if expected.is_nan() || expected <= cap as f64 {
        Ok(())
    } else {
        Err(Error::SampleTooLarge { ridge: mu.f64(), size: expected as usize, cap })
    }
}

pub(crate) fn not_empty<T: Scalar>(
    dictionary: Dictionary<T>,
    mu: T,
    expected: f64,
) -> Result<Dictionary<T>> {
    if dictionary.is_empty() {
        Err(Error::EmptySample { ridge: mu.f64(), expected })
    } else {
        Ok(dictionary)
    }
}
