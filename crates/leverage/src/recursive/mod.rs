//! Recursive ridge leverage score sampling (Musco & Musco 2017) at a fixed ridge.

mod sized;

pub use sized::{RecursiveNystrom, RecursiveNystromSample, RecursiveRlsOfSize};

use crate::{Projector, RidgeLeverage};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Ridge, Scalar, random::coin, validate};
use nystrom_sketch::{Dictionary, check_failure_probability};
use rand::{Rng, seq::SliceRandom};

/// Ridge leverage scores and a dictionary at a fixed ridge μ, by recursion (Recursive-RLS). The
/// rows of a random half are sampled first, by the same method. Scores measured against that sample
/// are over-estimates whose sum is O(d_eff(μ)). Every row is then kept on its own with probability
/// p_i and weight 1/p_i.
///
/// The halves are nested prefixes of one random order, so the recursion is a loop from the shortest
/// prefix to all rows.
///
/// # Cost
/// With m the largest of the levels' sizes: at most 2n·m + O(m² log n) entries evaluated, O(nm²)
/// flops, O(m² + 1024·m + n) memory.
///
/// # Source
/// Musco & Musco, *Recursive Sampling for the Nyström Method*, NIPS 2017, Algorithm 2
/// (arXiv:1605.07583).
///
/// # Departures
/// Halves of fixed size (⌈size/2⌉) in place of a random choice per row, as in the authors' code.
/// Scores are held below the ceiling K_ii/(K_ii + μ) that true scores cannot pass. Inside the
/// logarithm the sum of the scores counts as at least 1. A level that comes out empty is no error
/// on the way. The next is measured against the empty dictionary, where scores are K_ii/(K_ii + μ),
/// over-estimates as the method needs. Only an empty last level is [`Error::EmptySample`], and only
/// where a dictionary is asked for.
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
    /// From scores to inclusion probabilities.
    pub inclusion: Inclusion,
    /// Most rows that a level may be expected to keep; more is [`Error::SampleTooLarge`], found
    /// before they are drawn.
    pub max_size: usize,
}

/// How Recursive-RLS turns scores measured at one level into the probabilities of that level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Inclusion {
    /// p_i = min(1, q·τ̂_i); the recursion ends at a prefix of at most `base` rows, which are all
    /// kept. For use.
    Practice {
        /// q > 0: a dictionary holds between q·d_eff and 2q·d_eff rows or so, and scores are right
        /// to about ±1/√q.
        oversampling: f64,
        /// Rows of the shortest prefix, at least 1.
        base: usize,
    },
    /// l̃_i = (3/2)τ̂_i, p_i = min(1, 16 l̃_i ln(Σl̃/δ)); δ falls by 3 at every level, and the
    /// recursion ends at 192 ln(1/δ) rows.
    ///
    /// With probability at least 1 − 3δ, (K + μI)/2 ⪯ K^{½}SSᵀK^{½} + μI ⪯ 3(K + μI)/2 and, for the
    /// Nyström approximation K̃ of the rows kept, K̃ ⪯ K ⪯ K̃ + μI. The constants are large: below
    /// some ten thousand rows everything is kept.
    ///
    /// They were not compared with the printed theorem, but derived again. Over-estimates l̃ and 16
    /// make a level fail with probability at most 8d(δ/d)^1.7 < δ, d = Σl̃ ≥ 1, δ < 1/32. (The
    /// matrix Bernstein inequality with intrinsic dimension, J. Tropp 2015, Theorem 7.3.1.) 3/2
    /// makes over-estimates of scores against a sample within 3/2. 192 matters for the cost alone.
    Theorem {
        /// δ in (0, 1/32).
        delta: f64,
    },
}

impl Default for RecursiveRls {
    /// q = 3 and a base of 64 rows: about 5·d_eff rows.
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

/// What a run at a fixed ridge leaves.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecursiveSample<T> {
    /// The rows kept with weights 1/p_i, E\[SSᵀ\] = I; empty if nothing was kept.
    pub dictionary: Dictionary<T>,
    /// τ̂_i for all n rows, measured against the sample of half of the rows: over-estimates (with
    /// high probability) that led to the dictionary. Scores measured against the dictionary itself,
    /// as [`RidgeLeverage::scores`] returns, are closer.
    pub over_estimates: Vec<T>,
    /// From the shortest prefix to all rows.
    pub levels: Vec<RecursiveLevel>,
}

impl RecursiveRls {
    /// p_i = min(1, q·τ̂_i), a base of 64 rows and at most 20,000 rows (a 3.2 GB factor in `f64`).
    pub fn with_oversampling(q: f64) -> Self {
        RecursiveRls {
            inclusion: Inclusion::Practice { oversampling: q, base: 64 },
            max_size: 20_000,
        }
    }

    /// The theorem's probabilities, and no cap.
    pub fn theorem(delta: f64) -> Self {
        RecursiveRls { inclusion: Inclusion::Theorem { delta }, max_size: usize::MAX }
    }

    /// The recursion, with what each level did.
    ///
    /// # Randomness
    /// One random order of the rows, then a uniform per row of every level.
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
            // τ̂_i against the sample of the half
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
    /// The last level. Besides the errors of [`RecursiveRls::sample`], [`Error::EmptySample`] if it
    /// kept nothing.
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

    /// [`Projector`] on the last level, an empty one included.
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

    /// The longest prefix that is kept whole at the given depth of the recursion.
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

/// Row `rows[t]` with probability p_t, weight 1/p_t.
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
