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
const STEPS: usize = 16;
/// Expected numbers of items this near to the quotas end the search.
const NEAR: f64 = 0.25;
/// Expected numbers this near will do in the end.
const FAR: f64 = 1.0;
/// The response of the log odds of items to the logarithm of their weight, if they do not repel
/// each other.
const FREE: f64 = 2.0;
/// The logarithm of a weight moves by at most this in a step,
const LONGEST: f64 = 3.0;
/// and stays within this of their mean.
const LARGEST: f64 = 7.0;

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
/// Up to 16 eigendecompositions of n × n matrices, all of K being stored, and one for each group;
/// then O(nk² + k³) for each trial.
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
    /// [`Error::Quota`] if a group has fewer independent items than its quota, or if no weights
    /// bring its expected number of items near to the quota. [`Error::RankDeficient`] if more items
    /// are asked for than the rank allows, and those of [`LEnsemble::new`].
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
            check_ranks(&L, &groups, &left)?;
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
/// their items are nearly the quotas.
///
/// A step moves ln q by the distance of the log odds, over the response of the log odds to the last
/// step, at first that of items that do not repel each other.
fn with_weights<T: Scalar>(
    L: &Mat<T>,
    groups: &[usize],
    quotas: &[usize],
) -> Result<(LEnsemble<T>, Arc<ElementarySymmetric>)> {
    let (sizes, c) = (counts(groups, quotas.len()), quotas.iter().sum());
    let drawn: Vec<usize> = (0..quotas.len()).filter(|&g| quotas[g] > 0).collect();
    let mut ln_q = vec![0.0_f64; quotas.len()];
    let mut last: Option<(Vec<f64>, Vec<f64>)> = None; // ln q and log odds
    let mut best: Option<(Furthest, LEnsemble<T>, Arc<ElementarySymmetric>)> = None;
    for _ in 0..STEPS {
        let q = groups.iter().map(|&g| T::lit(ln_q[g].exp())).collect();
        let ensemble = LEnsemble::new(&Scaled::new(Dense::new(L.as_ref())?, q)?)?;
        let k_dpp = match (ensemble.k_dpp(c), &last) {
            // so uneven that a group vanishes in rounding errors: half the step
            (Err(Error::RankDeficient { .. }), Some((before, _))) => {
                ln_q.iter_mut().zip(before).for_each(|(q, before)| *q = (*q + before) / 2.0);
                continue;
            }
            (k_dpp, _) => k_dpp?,
        };
        let mut expected = vec![0.0; quotas.len()];
        groups.iter().zip(k_dpp.inclusion()).for_each(|(&g, p)| expected[g] += p);
        let (polynomials, furthest) = (k_dpp.polynomials().clone(), furthest(&expected, quotas));
        if best.as_ref().is_none_or(|best| furthest.1 < best.0.1) {
            best = Some((furthest, ensemble, polynomials));
        }
        if furthest.1 <= NEAR {
            break;
        }
        let mut odds = vec![0.0; quotas.len()];
        drawn.iter().for_each(|&g| odds[g] = log_odds(expected[g], sizes[g]));
        let before = last.replace((ln_q.clone(), odds.clone()));
        for &g in &drawn {
            let response = before.as_ref().map_or(FREE, |(q, of_q)| {
                let (moved, by) = (odds[g] - of_q[g], ln_q[g] - q[g]);
                if by.abs() > 1e-9 { (moved / by).clamp(0.01 * FREE, FREE) } else { FREE }
            });
            let way = (log_odds(quotas[g] as f64, sizes[g]) - odds[g]) / response;
            ln_q[g] += way.clamp(-LONGEST, LONGEST);
        }
        // a common factor changes nothing
        let mean = drawn.iter().map(|&g| ln_q[g]).sum::<f64>() / drawn.len() as f64;
        drawn.iter().for_each(|&g| ln_q[g] = (ln_q[g] - mean).clamp(-LARGEST, LARGEST));
    }
    let ((group, apart, expected), ensemble, e) = best.expect("the first step has one, or fails");
    if apart > FAR {
        let (quota, found) = (quotas[group], expected.round() as usize);
        let problem = "of its items are drawn whatever the weight of the group; change the quotas, \
                       or take draws by a swap chain, which are approximate";
        return Err(Error::Quota { group, quota, found, problem });
    }
    Ok((ensemble, e))
}

/// ln(x/(size − x)), finite also at both ends.
fn log_odds(x: f64, size: usize) -> f64 {
    let size = size as f64;
    let x = x.clamp(1e-9, size - 1e-9);
    (x / (size - x)).ln()
}

/// A group, how far the expected number of its items is from its quota, and that number.
type Furthest = (usize, f64, f64);

/// The group whose expected number of items is furthest from its quota.
fn furthest(expected: &[f64], quotas: &[usize]) -> Furthest {
    let of = |g: usize| (g, (expected[g] - quotas[g] as f64).abs(), expected[g]);
    (0..quotas.len()).map(of).fold((0, 0.0, 0.0), |a, b| if b.1 > a.1 { b } else { a })
}
/// Checks that each group has as many independent items as its quota.
fn check_ranks<T: Scalar>(L: &Mat<T>, groups: &[usize], quotas: &[usize]) -> Result<()> {
    for (group, &quota) in quotas.iter().enumerate().filter(|(_, quota)| **quota > 1) {
        let items: Vec<usize> = (0..groups.len()).filter(|&i| groups[i] == group).collect();
        let block = Mat::from_fn(items.len(), items.len(), |i, j| L[(items[i], items[j])]);
        let found = LEnsemble::new(&Dense::new(block.as_ref())?)?.rank();
        if found < quota {
            let problem = "of its items are independent; lower the quota";
            return Err(Error::Quota { group, quota, found, problem });
        }
    }
    Ok(())
}
