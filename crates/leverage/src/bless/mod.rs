//! BLESS (Rudi, Calandriello, Carratino & Rosasco 2018): a path of dictionaries at falling ridges,
//! from a large ridge down to the requested one.

mod rejection;
mod with_replacement;

pub use rejection::BlessR;
pub use with_replacement::Bless;

use crate::recursive::not_empty;
use crate::score::finite_diagonal;
use crate::{Projector, RidgeLeverage};
use nystrom_linalg_core::{
    Error, PsdMatrix, Result, Ridge, Scalar, random::geometric_path, validate,
};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// The largest number of levels of a path; a step q that needs more is an error. The longest path
/// in `f64` has about 2100 levels at q = 2.
const MOST_LEVELS: f64 = 10_000.0;

/// One level of a path: a ridge, and a dictionary that represents K at this ridge.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BlessLevel<T> {
    /// μ_h = nλ_h, absolute.
    pub ridge: T,
    /// J_h, with weights such that E\[SSᵀ\] = I; empty if no row was kept.
    pub dictionary: Dictionary<T>,
    /// An estimate of d_eff(λ_h): the sum of the candidates' scores, weighted by their draw so that
    /// it is an unbiased estimate of Σ l̃_i over all rows.
    pub d_eff: f64,
    /// |U_h|, the number of distinct candidates, whose scores were computed.
    pub candidates: usize,
}

/// The levels, from the largest ridge on, and the outcome of the path.
///
/// Even if the path ends with an error, each of its levels is a valid dictionary at its own ridge.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BlessPath<T> {
    /// The levels; empty only if the first level was too large.
    pub levels: Vec<BlessLevel<T>>,
    /// `Ok` if the last level is at the requested ridge and is not empty; otherwise
    /// [`Error::SampleTooLarge`] or [`Error::EmptySample`].
    pub outcome: Result<()>,
}

impl<T: Scalar> BlessPath<T> {
    /// The last level's dictionary, or the error in `outcome`.
    ///
    /// # Errors
    /// `outcome`.
    pub fn into_dictionary(self) -> Result<Dictionary<T>> {
        self.outcome?;
        let last = self.levels.into_iter().next_back();
        last.map(|level| level.dictionary).ok_or(Error::Empty { what: "path of dictionaries" })
    }

    /// The last level's dictionary, even if it is empty; an error if the path ended at a larger
    /// ridge than the requested one.
    fn into_last(self) -> Result<Dictionary<T>> {
        match self.outcome {
            Err(Error::EmptySample { .. }) => {
                BlessPath { outcome: Ok(()), ..self }.into_dictionary()
            }
            _ => self.into_dictionary(),
        }
    }
}

/// Implements the estimator by the last level of the path.
macro_rules! by_path {
    ($estimator:ty) => {
        impl<T: Scalar> RidgeLeverage<T> for $estimator {
            /// The dictionary of the last level of the path.
            fn dictionary(
                &self,
                k: &dyn PsdMatrix<T>,
                ridge: Ridge<T>,
                rng: &mut dyn Rng,
            ) -> Result<Dictionary<T>> {
                self.path(k, ridge, rng)?.into_dictionary()
            }

            /// [`Projector`] with the dictionary of the last level, which may be empty.
            fn scores(
                &self,
                k: &dyn PsdMatrix<T>,
                ridge: Ridge<T>,
                rng: &mut dyn Rng,
            ) -> Result<Vec<T>> {
                let dictionary = self.path(k, ridge, rng)?.into_last()?;
                Projector::new(k, &dictionary, ridge)?.scores(k, (0..k.dim()).into())
            }
        }
    };
}
by_path!(Bless);
by_path!(BlessR);

/// The matrix, the requested ridge and the diagonal, which all levels use.
struct Setting<'a, T> {
    k: &'a dyn PsdMatrix<T>,
    mu: T,
    k_ii: Vec<T>,
    kappa_squared: f64, // max K_ii
}

impl<'a, T: Scalar> Setting<'a, T> {
    fn new(k: &'a dyn PsdMatrix<T>, ridge: Ridge<T>) -> Result<Self> {
        validate::not_empty("matrix", k.dim())?;
        let mu = ridge.absolute(k.dim())?;
        let k_ii = finite_diagonal(k, (0..k.dim()).into())?;
        let kappa_squared = k_ii.iter().map(|v| v.f64()).fold(0.0, f64::max);
        Ok(Setting { k, mu, k_ii, kappa_squared })
    }

    fn n(&self) -> usize {
        self.k_ii.len()
    }

    /// The ridges μ_1 > … > μ_H = μ: the geometric path from μ_0 = nκ² with H = ⌈ln(μ_0/μ)/ln q⌉,
    /// so that consecutive ridges differ by a factor of at most q.
    fn ridges(&self, q: f64) -> Result<Vec<T>> {
        let (start, end) = (self.n() as f64 * self.kappa_squared, self.mu.f64());
        let steps = ((start / end).ln() / q.ln()).ceil();
        validate::require(
            !(steps > MOST_LEVELS && start.is_finite()),
            "step (q)",
            q,
            "larger: the path would have more than 10,000 levels",
        )?;
        if steps >= 1.0 && T::lit(start) > self.mu {
            geometric_path(T::lit(start), self.mu, steps as usize)
        } else {
            Ok(vec![self.mu])
        }
    }

    /// Computes the levels, from J_0 = ∅. Each level gets the previous dictionary, which may be
    /// empty.
    fn path(
        &self,
        ridges: Vec<T>,
        mut level: impl FnMut(T, &Dictionary<T>) -> Result<BlessLevel<T>>,
    ) -> Result<BlessPath<T>> {
        let nothing = Dictionary::empty(self.n())?;
        let mut levels: Vec<BlessLevel<T>> = Vec::with_capacity(ridges.len());
        for mu in ridges {
            let previous = levels.last().map_or(&nothing, |level| &level.dictionary);
            match level(mu, previous) {
                Ok(next) => levels.push(next),
                Err(error @ Error::SampleTooLarge { .. }) => {
                    return Ok(BlessPath { levels, outcome: Err(error) });
                }
                Err(error) => return Err(error),
            }
        }
        let outcome = match levels.last() {
            Some(last) => not_empty(last.dictionary.clone(), last.ridge, last.d_eff).map(|_| ()),
            None => Ok(()),
        };
        Ok(BlessPath { levels, outcome })
    }
}

fn check_step(q: f64) -> Result<()> {
    validate::require(q > 1.0 && q.is_finite(), "step (q)", q, "a finite number above 1")
}

/// Oversampling is at most 10⁵, which bounds the number of draws; more draws would not change the
/// dictionary noticeably.
fn check_oversampling(name: &'static str, value: f64) -> Result<()> {
    validate::require(value > 0.0 && value <= 1e5, name, value, "positive and at most 1e5")
}

/// The oversampling of Theorem 1: q2 = 12q·((2t + 1)²/t²)·(1 + t)·ln(12Hn/δ). With this q2,
/// l_i(λ_h)/(1 + t) ≤ l̃_i(λ_h) ≤ (1 + min(t, 1))·l_i(λ_h) for all rows and levels with probability
/// at least 1 − δ.
///
/// `t` > 0 is the accuracy, `step` is q > 1, `levels` is H ≥ 1, `delta` is δ. The constants are
/// large: for n in the tens of thousands nearly all rows are kept. [`Bless`] also needs q1 ≥
/// 5q2/(q(1 + t)); then |J_h| ≤ q2·d_eff(λ_h) up to a factor 1 + t. For [`BlessR`], |J_h| ≤
/// 3q2·max(d_eff(λ_h), 10).
///
/// **The constants were taken over without the printed theorem at hand.** Two facts were checked.
/// A dictionary with accuracy ε = t/(1 + 2t) gives scores within these factors. With this q2, one
/// level of [`BlessR`] misses this accuracy with probability below 8·d_eff·(δ/12Hn)⁵ (the matrix
/// Bernstein inequality).
///
/// # Errors
/// [`Error::InvalidParameter`], [`Error::Empty`] if n = 0 or H = 0.
///
/// ```
/// let q2 = nystrom_leverage::bless_oversampling(1000, 10, 2.0, 1.0, 0.1)?;
/// assert_eq!(q2.ceil(), 6048.0); // 432·ln(1.2·10⁶) = 6047.06…
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn bless_oversampling(n: usize, levels: usize, step: f64, t: f64, delta: f64) -> Result<f64> {
    validate::not_empty("matrix", n)?;
    validate::not_empty("path", levels)?;
    check_step(step)?;
    validate::positive("accuracy t", t)?;
    nystrom_sketch::check_failure_probability(delta)?;
    let log = (12.0 * levels as f64 * n as f64 / delta).ln();
    Ok(12.0 * step * ((2.0 * t + 1.0) / t).powi(2) * (1.0 + t) * log)
}
