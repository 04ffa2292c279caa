//! The path-coupling coefficient of Theorem 5 of Li, Jegelka & Sra (2016), which bounds the mixing
//! time of the swap chain.

use faer::Mat;
use nystrom_linalg_core::{Cholesky, PsdMatrix, Result, Scalar, ops, random, validate};
use rand::Rng;

/// The path-coupling coefficient α(S, r, t) of neighbouring states R = S + r, T = S + t, |S| = c −
/// 1: largest and mean value over some or all triples.
///
/// Let q(v, u, Y) = ρ/(1 + ρ) with ρ = det K_{Y−v+u}/det K_YY. Then α(S, r, t) = Σ_{v∈S} Σ_u |q(v,
/// u, R) − q(v, u, T)| − Σ_u min{q(r, u, R), q(t, u, T)} − Σ_{v∈S} min{q(v, t, R), q(v, r, T)}.
/// Here u runs over the items outside S + r + t. One lazy step multiplies the expected distance of
/// the two states by at most 1 − (1 − α)/(2c(n − c)). If the maximum of α over *all* triples is
/// below 1, [`mixing_time`] bounds the mixing time.
///
/// # Source
/// Theorem 5 of Li, Jegelka & Sra (2016).
///
/// # Departures
/// Two misprints are corrected. The last minimum pairs the exchange of v for t in R with the
/// exchange of v for r in T. The contraction factor has n − c in place of n − 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PathCoupling {
    /// The largest α of the evaluated triples: the α of Theorem 5 if all triples were evaluated,
    /// otherwise a *lower* bound of it.
    pub largest: f64,
    /// The mean α of the evaluated triples.
    pub mean: f64,
    /// The number of evaluated triples.
    pub triples: usize,
    /// Whether all triples were evaluated.
    pub exhaustive: bool,
}

impl PathCoupling {
    /// Evaluates `samples` uniform triples, as in the experiments of the paper: 2n(c + 1) entries
    /// and O(nc²) flops per triple.
    ///
    /// # Randomness
    /// c + 1 bounded integers for every triple.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if c or `samples` is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if c + 1 > n,
    /// [`NotPositiveDefinite`](nystrom_linalg_core::Error::NotPositiveDefinite) if K_RR or K_TT is
    /// singular, [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn sampled<T: Scalar>(
        k: &dyn PsdMatrix<T>,
        c: usize,
        samples: usize,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        validate::not_empty("subset (c)", c)?;
        validate::not_empty("samples", samples)?;
        validate::at_most("items of a triple (c + 1)", c.saturating_add(1), k.dim())?;
        let alphas = (0..samples).map(|_| {
            let drawn = random::uniform_subset(k.dim(), c + 1, rng)?;
            alpha(k, &drawn[2..], drawn[0], drawn[1])
        });
        Ok(Self::over(&alphas.collect::<Result<Vec<f64>>>()?, false))
    }

    /// Evaluates all C(n, c + 1)·c(c + 1)/2 triples, for small n. Errors as
    /// [`sampled`](Self::sampled).
    pub fn exact<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<Self> {
        let n = k.dim();
        validate::not_empty("subset (c)", c)?;
        validate::at_most("items of a triple (c + 1)", c.saturating_add(1), n)?;
        let mut alphas = Vec::new();
        let mut union: Vec<usize> = (0..=c).collect();
        loop {
            for a in 0..=c {
                for b in a + 1..=c {
                    let S: Vec<usize> =
                        (0..=c).filter(|&i| i != a && i != b).map(|i| union[i]).collect();
                    alphas.push(alpha(k, &S, union[a], union[b])?);
                }
            }
            // the next increasing sequence of c + 1 items
            let Some(i) = (0..=c).rev().find(|&i| union[i] + (c + 1 - i) < n) else { break };
            union[i] += 1;
            for j in i + 1..=c {
                union[j] = union[j - 1] + 1;
            }
        }
        Ok(Self::over(&alphas, true))
    }

    fn over(alphas: &[f64], exhaustive: bool) -> Self {
        let largest = alphas.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = alphas.iter().sum::<f64>() / alphas.len() as f64;
        PathCoupling { largest, mean, triples: alphas.len(), exhaustive }
    }
}

/// The bound 2c(n − c)·ln(c/ε)/(1 − α) ≥ τ(ε) on the lazy steps until the chain is within ε of the
/// k-DPP in total variation. `None` if α ≥ 1, where the theorem does not apply (such a chain may
/// still mix fast). `alpha` must be the maximum of α over all triples, or an upper bound of it.
///
/// # Source
/// Theorem 5 of Li, Jegelka & Sra (2016).
///
/// # Errors
/// [`TooMany`](nystrom_linalg_core::Error::TooMany) if c > n,
/// [`Empty`](nystrom_linalg_core::Error::Empty),
/// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless ε is in (0, 1).
///
/// ```
/// use nystrom_dpp::mixing_time;
/// let steps = mixing_time(100, 10, 0.5, 0.01)?.unwrap(); // 2·10·90·ln(1000)/0.5
/// assert!((steps - 24867.9).abs() < 0.1);
/// assert_eq!(mixing_time(100, 10, 1.0, 0.01)?, None);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn mixing_time(n: usize, c: usize, alpha: f64, epsilon: f64) -> Result<Option<f64>> {
    validate::at_most("items (c)", c, n)?;
    validate::require(
        epsilon > 0.0 && epsilon < 1.0,
        "epsilon",
        epsilon,
        "in (0, 1): it is a distance in total variation",
    )?;
    let steps = 2.0 * c as f64 * (n - c) as f64 * (c as f64 / epsilon).ln() / (1.0 - alpha);
    Ok((alpha < 1.0).then_some(steps))
}

/// α(S, r, t).
fn alpha<T: Scalar>(k: &dyn PsdMatrix<T>, S: &[usize], r: usize, t: usize) -> Result<f64> {
    let with = |extra: usize| [S, &[extra]].concat(); // r and t are the last of R and T
    let (R, T_) = (Exchanges::new(k, with(r))?, Exchanges::new(k, with(t))?);
    let last = S.len();
    let outside = (0..k.dim()).filter(|u| !S.contains(u) && *u != r && *u != t);
    let mut sum = 0.0;
    for u in outside {
        sum -= R.q(last, u).min(T_.q(last, u)); // p_1
        sum += (0..last).map(|v| (R.q(v, u) - T_.q(v, u)).abs()).sum::<f64>(); // p_3
    }
    Ok(sum - (0..last).map(|v| R.q(v, t).min(T_.q(v, r))).sum::<f64>()) // p_2
}

/// The ratios ρ of all exchanges from one set, by ρ = γ_u‖h_v‖² + (h_vᵀz_u)² with h_v = L⁻¹e_v and
/// z_u = L⁻¹k_u.
struct Exchanges {
    hh: Vec<f64>,    // ‖h_v‖², for each v ∈ Y
    gamma: Vec<f64>, // γ_u, the residual of each of the n items
    hz: Mat<f64>,    // h_vᵀz_u, c × n
}

impl Exchanges {
    fn new<T: Scalar>(k: &dyn PsdMatrix<T>, Y: Vec<usize>) -> Result<Self> {
        let (c, n) = (Y.len(), k.dim());
        let block = k.block((&Y).into(), (0..n).into());
        validate::finite("rows of the matrix", block.as_ref())?;
        let diagonal = k.diag();
        let K = Mat::from_fn(c, c, |i, j| block[(i, Y[j])].f64());
        let L = Cholesky::new(K.as_ref())?;
        let mut z = Mat::from_fn(c, n, |i, u| block[(i, u)].f64());
        let mut h = Mat::<f64>::identity(c, c);
        L.forward_in_place(z.as_mut());
        L.forward_in_place(h.as_mut());
        let hz = ops::times(h.transpose(), z.as_ref());
        let gamma =
            (0..n).map(|u| (diagonal[u].f64() - z.col(u).squared_norm_l2()).max(0.0)).collect();
        Ok(Exchanges { hh: (0..c).map(|v| h.col(v).squared_norm_l2()).collect(), gamma, hz })
    }

    fn q(&self, v: usize, u: usize) -> f64 {
        crate::SwapRule::Gibbs.probability(self.gamma[u] * self.hh[v] + self.hz[(v, u)].powi(2))
    }
}
