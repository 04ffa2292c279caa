//! Elementary symmetric polynomials of eigenvalues, at any size and scale of the spectrum.

use nystrom_linalg_core::{Error, Result, random, validate};
use rand::Rng;

/// Halvings of the bracket of ln t: any tilt gives the same law, so a rough one will do.
const HALVINGS: usize = 60;

/// e_0, …, e_{c+1} of r positive numbers λ, where e_j = Σ_{|S| = j} Π_{i ∈ S} λ_i, and the law on subsets of size c that they normalise:
/// Pr(S) = Π_{i ∈ S} λ_i / e_c.
///
/// That law is one of independent coins p_i = tλ_i/(1 + tλ_i), conditioned on c heads, for every t > 0. With t such that Σ p_i = c
/// the table Q_i\[k\] = Pr(k heads among the first i) holds probabilities, of order 1/√c where they matter, and nothing overflows:
///
/// e_j = Q_r\[j\]·t^{−j}·Π_i (1 + tλ_i).
///
/// All sums are of positive terms, so every result has a relative accuracy of about r·ε. O(rc) time and memory.
///
/// # Source
/// The recursion of A. Kulesza & B. Taskar, *Determinantal point processes for machine learning*, Foundations and Trends in Machine Learning
/// 5 (2012), Algorithms 7 and 8, on tilted numbers.
///
/// # Departures
/// Theirs multiplies the eigenvalues as they are, and overflows from a few hundred items on.
///
/// ```
/// use nystrom_dpp::ElementarySymmetric;
/// let e = ElementarySymmetric::new(&[1.0, 2.0, 3.0], 2)?;
/// assert!((e.log_e(2) - 11.0_f64.ln()).abs() < 1e-14);  // 1·2 + 1·3 + 2·3
/// assert!((e.ratio() - 6.0 / 11.0).abs() < 1e-14);      // e_3/e_2
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ElementarySymmetric {
    c: usize,
    log_t: f64,
    log_scale: f64, // Σ ln(1 + tλ_i)
    coins: Vec<Coin>,
    table: Vec<f64>, // Q_i[k] at i·(c + 2) + k, i = 0..=r, k = 0..=c + 1
}

/// Heads with probability p = tλ/(1 + tλ), tails with q = 1/(1 + tλ), each to full relative accuracy.
#[derive(Debug, Clone, Copy)]
struct Coin {
    p: f64,
    q: f64,
}

impl Coin {
    fn tilted(log_t_lambda: f64) -> Self {
        Coin { p: (1.0 + (-log_t_lambda).exp()).recip(), q: (1.0 + log_t_lambda.exp()).recip() }
    }
}

impl ElementarySymmetric {
    /// The polynomials of `lambda` (r positive numbers) up to c + 1.
    ///
    /// # Errors
    /// [`Error::Empty`] if c = 0, [`Error::RankDeficient`] if c > r, [`Error::NotPositive`].
    pub fn new(lambda: &[f64], c: usize) -> Result<Self> {
        validate::not_empty("subset (c)", c)?;
        if let Some(index) = lambda.iter().position(|&x| !(x > 0.0 && x.is_finite())) {
            return Err(Error::NotPositive { what: "eigenvalues", index, value: lambda[index] });
        }
        if c > lambda.len() {
            return Err(Error::RankDeficient { requested: c, rank: lambda.len() });
        }
        let log_lambda: Vec<f64> = lambda.iter().map(|x| x.ln()).collect();
        let log_t = tilt(&log_lambda, c);
        let coins: Vec<Coin> = log_lambda.iter().map(|l| Coin::tilted(log_t + l)).collect();
        let log_scale = log_lambda.iter().map(|l| softplus(log_t + l)).sum();
        Ok(ElementarySymmetric { c, log_t, log_scale, table: poisson_binomial(&coins, c), coins })
    }

    /// c.
    pub fn size(&self) -> usize {
        self.c
    }

    /// ln e_j for j ≤ c + 1; −∞ where e_j = 0, that is for j > r.
    ///
    /// # Panics
    /// If j > c + 1.
    pub fn log_e(&self, j: usize) -> f64 {
        assert!(j <= self.c + 1, "e_{j}: the table ends at c + 1 = {}", self.c + 1);
        self.Q(self.coins.len(), j).ln() - j as f64 * self.log_t + self.log_scale
    }

    /// e_{c+1}/e_c; 0 if c = r.
    pub fn ratio(&self) -> f64 {
        let r = self.coins.len();
        self.Q(r, self.c + 1) / self.Q(r, self.c) * (-self.log_t).exp()
    }

    /// Pr(i ∈ S) for every i, by the forward table and its mirror image. They add up to c. O(rc).
    pub fn inclusion(&self) -> Vec<f64> {
        let (r, c) = (self.coins.len(), self.c);
        let mut after = vec![0.0; c]; // after[k] = Pr(k heads among i + 1, …, r)
        after[0] = 1.0;
        let mut inclusion = vec![0.0; r];
        for i in (0..r).rev() {
            let Coin { p, q } = self.coins[i];
            let others: f64 = (0..c).map(|k| self.Q(i, k) * after[c - 1 - k]).sum();
            inclusion[i] = p * others / self.Q(r, c);
            for k in (0..c).rev() {
                after[k] = q * after[k] + if k > 0 { p * after[k - 1] } else { 0.0 };
            }
        }
        inclusion
    }

    /// S: c distinct numbers below r, decreasing. O(r).
    ///
    /// # Randomness
    /// One uniform for every i from r − 1 down to the smallest of S, or to where all that are left must be taken.
    pub fn sample(&self, rng: &mut dyn Rng) -> Vec<usize> {
        let mut S = Vec::with_capacity(self.c);
        let mut i = self.coins.len();
        while S.len() < self.c {
            let k = self.c - S.len();
            let p = self.coins[i - 1].p * self.Q(i - 1, k - 1) / self.Q(i, k); // Pr(i ∈ S | k heads among the first i)
            if i == k || random::coin(p, rng) {
                S.push(i - 1);
            }
            i -= 1;
        }
        S
    }

    fn Q(&self, i: usize, k: usize) -> f64 {
        self.table[i * (self.c + 2) + k]
    }
}

/// ln t with Σ tλ_i/(1 + tλ_i) = c, nearly; for c = r, where there is none, half a head less.
fn tilt(log_lambda: &[f64], c: usize) -> f64 {
    let r = log_lambda.len() as f64;
    let heads = (c as f64).min(r - 0.5);
    let least = log_lambda.iter().copied().fold(f64::INFINITY, f64::min);
    let most = log_lambda.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // tλ_max ≤ heads/r gives too few heads, tλ_min ≥ heads/(r − heads) too many.
    let (mut low, mut high) = ((heads / r).ln() - most, (heads / (r - heads)).ln() - least);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let expected: f64 = log_lambda.iter().map(|l| Coin::tilted(middle + l).p).sum();
        if expected < heads {
            low = middle;
        } else {
            high = middle;
        }
        if high - low < 1e-6 {
            break;
        }
    }
    0.5 * (low + high)
}

/// Q_i\[k\] = (1 − p_i) Q_{i−1}\[k\] + p_i Q_{i−1}\[k − 1\].
fn poisson_binomial(coins: &[Coin], c: usize) -> Vec<f64> {
    let width = c + 2;
    let mut table = vec![0.0; (coins.len() + 1) * width];
    table[0] = 1.0;
    for (i, &Coin { p, q }) in coins.iter().enumerate() {
        let (before, here) = table[i * width..(i + 2) * width].split_at_mut(width);
        here[0] = q * before[0];
        for k in 1..width {
            here[k] = q * before[k] + p * before[k - 1];
        }
    }
    table
}

/// ln(1 + eˣ).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
