//! Exact draws within the quotas of a few groups.

use crate::{ElementarySymmetric, LEnsemble};
use faer::Mat;
use nystrom_linalg_core::{Dense, Error, PsdMatrix, Result, Scalar, Scaled, SchurComplement};
use nystrom_sketch::{Landmarks, Quotas};
use rand::Rng;
use std::sync::Arc;

/// Draws of the unconstrained k-DPP for one draw within the quotas, at most.
const TRIALS: usize = 10_000;
/// Eigendecompositions in the search for the weights of the groups, at most.
const STEPS: usize = 12;
/// Expected numbers of items this near to the quotas end the search.
const NEAR: f64 = 0.25;
/// The logarithm of a weight stays within this of 0.
const LARGEST: f64 = 12.0;

/// Exact draws of Pr(C) ∝ det K_CC over the sets C with k_g items of every group g, for a few
/// groups.
///
/// Weights of the groups, K ↦ diag(q)·K·diag(q) with q constant in each group, change det K_CC by
/// the same factor Π_g q_g^{2k_g} for all sets within the quotas: the distribution of these sets is
/// the same for any weights. Weights are chosen for which the k-DPP has k_g items of group g on
/// average, nearly. Its draws are taken until one is within the quotas. The number of items of a
/// group has a variance of at most k/4, so that two groups take a few trials and three some dozens;
/// their number grows exponentially with the number of groups. For many groups there is
/// [`SwapChain::with_quotas`](crate::SwapChain::with_quotas), whose draws are approximate.
///
/// Groups that are taken as a whole are conditioned on, and excluded ones left out.
///
/// # Cost
/// Up to 12 eigendecompositions of n × n matrices, all of K being stored, then O(nk² + k³) for
/// each trial.
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::QuotaKDpp;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Quotas;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(60, 60, |i, j| (-(i as f64 - j as f64).powi(2) / 8.0).exp());
/// let k = Dense::new(k.as_ref())?;
/// // three of the first twenty items, one of the others
/// let quotas = Quotas::new((0..60).map(|i| i / 20).map(|g| g.min(1)).collect(), vec![3, 1])?;
/// let drawn = QuotaKDpp::new(&k, &quotas)?.sample(&mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!(drawn.indices().iter().filter(|&&i| i < 20).count(), 3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug)]
pub struct QuotaKDpp<T> {
    n: usize,
    /// The items of groups that are taken as a whole.
    given: Vec<usize>,
    /// The other items of groups with a quota, and their groups.
    items: Vec<usize>,
    groups: Vec<usize>,
    /// Quotas of the groups of these items; 0 for the others.
    quotas: Vec<usize>,
    /// With the weights of the groups; `None` if nothing is left to draw.
    weighted: Option<(LEnsemble<T>, Arc<ElementarySymmetric>)>,
}

impl<T: Scalar> QuotaKDpp<T> {
    /// Prepares draws.
    ///
    /// # Errors
    /// [`Error::Shape`] for quotas of another number of items, [`Error::Empty`] if all are 0.
    /// [`Error::Dependent`] if the items of groups that are taken as a whole depend on one another.
    /// [`Error::RankDeficient`] if more items are asked for than the rank allows, and those of
    /// [`LEnsemble::new`].
    pub fn new(k: &dyn PsdMatrix<T>, quotas: &Quotas) -> Result<Self> {
        let n = k.dim();
        quotas.check(n, quotas.size())?;
        nystrom_linalg_core::validate::not_empty("items within the quotas", quotas.size())?;
        let sizes = counts(quotas.groups(), quotas.quotas().len());
        let of = |i: usize| quotas.quotas()[quotas.group(i)];
        let is_whole = |&i: &usize| of(i) == sizes[quotas.group(i)];
        let given: Vec<usize> = (0..n).filter(is_whole).collect();
        let items: Vec<usize> = (0..n).filter(|i| of(*i) > 0 && !is_whole(i)).collect();
        let groups: Vec<usize> = items.iter().map(|&i| quotas.group(i)).collect();
        let left: Vec<usize> = (0..sizes.len())
            .map(|g| if quotas.quotas()[g] == sizes[g] { 0 } else { quotas.quotas()[g] })
            .collect();
        let weighted = if items.is_empty() {
            None
        } else {
            let L = rest_of(k, &given, &items)?;
            Some(with_weights(&L, &groups, &left)?)
        };
        Ok(QuotaKDpp { n, given, items, groups, quotas: left, weighted })
    }

    /// A draw.
    ///
    /// # Randomness
    /// That of [`ExactKDpp::sample`](crate::ExactKDpp::sample) for each trial.
    ///
    /// # Errors
    /// [`Error::NotAccepted`] if none of 10,000 trials is within the quotas.
    pub fn sample(&self, rng: &mut dyn Rng) -> Result<Landmarks> {
        let mut drawn = self.given.clone();
        if let Some((ensemble, e)) = &self.weighted {
            let k_dpp = ensemble.k_dpp_by(e.clone())?;
            let is_within = |C: &[usize]| {
                let groups: Vec<usize> = C.iter().map(|&i| self.groups[i]).collect();
                counts(&groups, self.quotas.len()) == self.quotas
            };
            let accepted = (0..TRIALS)
                .map(|_| k_dpp.sample(rng).into_indices())
                .find(|C| is_within(C))
                .ok_or(Error::NotAccepted { trials: TRIALS })?;
            drawn.extend(accepted.into_iter().map(|i| self.items[i]));
            drawn.sort_unstable();
        }
        Landmarks::new(self.n, drawn)
    }
}

/// The number of items in each group.
fn counts(groups: &[usize], number: usize) -> Vec<usize> {
    let mut counts = vec![0; number];
    groups.iter().for_each(|&g| counts[g] += 1);
    counts
}

/// The block of these items in the matrix that the items `given` leave.
fn rest_of<T: Scalar>(k: &dyn PsdMatrix<T>, given: &[usize], items: &[usize]) -> Result<Mat<T>> {
    if given.is_empty() {
        return Ok(k.block(items.into(), items.into()));
    }
    let rest = SchurComplement::new(k, given)?;
    let places: Vec<usize> = items.iter().map(|i| rest.rest().partition_point(|j| j < i)).collect();
    Ok(rest.block((&places).into(), (&places).into()))
}

/// The ensemble of diag(q) L diag(q), with weights of the groups for which the expected numbers of
/// their items are nearly the quotas: a step moves ln q by half the distance of the log odds.
fn with_weights<T: Scalar>(
    L: &Mat<T>,
    groups: &[usize],
    quotas: &[usize],
) -> Result<(LEnsemble<T>, Arc<ElementarySymmetric>)> {
    let sizes = counts(groups, quotas.len());
    let c = quotas.iter().sum();
    let mut ln_q = vec![0.0_f64; quotas.len()];
    let mut step = 0;
    loop {
        let q = groups.iter().map(|&g| T::lit(ln_q[g].exp())).collect();
        let ensemble = LEnsemble::new(&Scaled::new(Dense::new(L.as_ref())?, q)?)?;
        let k_dpp = ensemble.k_dpp(c)?;
        let mut expected = vec![0.0; quotas.len()];
        groups.iter().zip(k_dpp.inclusion()).for_each(|(&g, p)| expected[g] += p);
        let apart = |g: usize| (expected[g] - quotas[g] as f64).abs();
        step += 1;
        if step == STEPS || (0..quotas.len()).all(|g| apart(g) <= NEAR) {
            let e = k_dpp.polynomials().clone();
            return Ok((ensemble, e));
        }
        for g in (0..quotas.len()).filter(|&g| quotas[g] > 0) {
            let size = sizes[g] as f64;
            let log_odds = |x: f64| {
                let x = x.clamp(1e-3, size - 1e-3);
                (x / (size - x)).ln()
            };
            let moved = ln_q[g] + 0.5 * (log_odds(quotas[g] as f64) - log_odds(expected[g]));
            ln_q[g] = moved.clamp(-LARGEST, LARGEST);
        }
    }
}
