//! Elementary symmetric polynomials of eigenvalues, for any size and scale of the spectrum.

use nystrom_linalg_core::{Error, Result, random, validate};
use rand::Rng;

/// Most bisections for ln t. Any tilt t gives the same distribution, so that t need not be
/// accurate.
const HALVINGS: usize = 60;
/// Probabilities of the table below this are not used: they may lack terms that underflowed, each
/// below 1e-307.
const SOUND: f64 = 1e-280;

/// e_0, …, e_{c+1} of r positive numbers λ, where e_j = Σ_{|S| = j} Π_{i ∈ S} λ_i, and the
/// distribution on subsets of size c that they normalise: Pr(S) = Π_{i ∈ S} λ_i / e_c.
///
/// For every t > 0, this is the distribution of independent coins (Bernoulli variables) with p_i =
/// tλ_i/(1 + tλ_i), given that there are c heads. The table Q_i\[k\] = Pr(k heads among the first
/// i) gives the polynomials:
///
/// e_j = Q_r\[j\]·t^{−j}·Π_i (1 + tλ_i).
///
/// With the tilt t for which Σ p_i = c, the probabilities near k = c are of order 1/√c, and nothing
/// overflows. All sums are of positive terms, so that every result has a relative error of about
/// r·ε. For j far below c the table may underflow; [`log_e`](Self::log_e) then computes e_j with
/// another t. O(rc) time and memory.
///
/// # Source
/// The recursion of A. Kulesza & B. Taskar, *Determinantal point processes for machine learning*,
/// Foundations and Trends in Machine Learning 5 (2012), Algorithms 7 and 8, applied to
/// probabilities.
///
/// # Departures
/// The published recursion works with the eigenvalues themselves and overflows for a few hundred
/// items or more.
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
    spectrum: Spectrum,
    tilted: Tilted,
    table: Vec<f64>, // Q_i[k] at i·(c + 2) + k, i = 0..=r, k = 0..=c + 1
}

/// The numbers λ, and infinitely many infinitely small ones with the sum τ. Σ_j e_j tʲ = e^{tτ}·
/// Π_i (1 + tλ_i): the small ones are a Poisson number of heads with mean tτ.
#[derive(Debug, Clone)]
struct Spectrum {
    log_lambda: Vec<f64>,
    log_tail: f64, // ln τ, −∞ without small numbers
}

impl Spectrum {
    /// The largest j with e_j > 0.
    fn degree(&self) -> usize {
        if self.log_tail > f64::NEG_INFINITY { usize::MAX } else { self.log_lambda.len() }
    }

    /// ln t with Σ tλ_i/(1 + tλ_i) + tτ ≈ c, or ≈ r − ½ for c = r without a tail, which no t
    /// attains.
    fn tilt(&self, c: usize) -> f64 {
        let (log_lambda, r) = (&self.log_lambda, self.log_lambda.len() as f64);
        let heads = if c < self.degree() { c as f64 } else { r - 0.5 };
        let least = log_lambda.iter().copied().fold(f64::INFINITY, f64::min);
        let most = log_lambda.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // t(rλ_max + τ) ≤ heads gives too few heads; tτ ≥ heads and tλ_min ≥ heads/(r − heads)
        // give too many.
        let (all_largest, all_tail) = ((heads / r).ln() - most, heads.ln() - self.log_tail);
        let mut low = all_largest - softplus(all_largest - all_tail);
        let all_least = (heads / (r - heads)).ln() - least;
        let mut high = if heads < r { all_tail.min(all_least) } else { all_tail };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let expected: f64 = log_lambda.iter().map(|l| Coin::tilted(middle + l).p).sum();
            if expected + (middle + self.log_tail).exp() < heads {
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
}

/// The coins (Bernoulli variables) for one t.
#[derive(Debug, Clone)]
struct Tilted {
    log_t: f64,
    log_scale: f64, // Σ ln(1 + tλ_i) + tτ
    poisson: f64,   // tτ
    coins: Vec<Coin>,
}

impl Tilted {
    /// The coins with the t for which j heads are expected.
    fn expecting(j: usize, spectrum: &Spectrum) -> Self {
        let (log_t, log_lambda) = (spectrum.tilt(j), &spectrum.log_lambda);
        let poisson = (log_t + spectrum.log_tail).exp();
        let log_scale = log_lambda.iter().map(|l| softplus(log_t + l)).sum::<f64>() + poisson;
        let coins = log_lambda.iter().map(|l| Coin::tilted(log_t + l)).collect();
        Tilted { log_t, log_scale, poisson, coins }
    }

    /// Pr(k heads) of the tail alone, k = 0..count.
    fn of_tail(&self, count: usize) -> Vec<f64> {
        let log_more = |log: &mut f64, k: usize| {
            *log += if k > 0 { (self.poisson / k as f64).ln() } else { 0.0 };
            Some(log.exp())
        };
        (0..count).scan(-self.poisson, log_more).collect()
    }

    /// Pr(j heads), in O(j) memory.
    fn last_of_table(&self, j: usize) -> f64 {
        let mut heads = self.of_tail(j + 1);
        for &Coin { p, q } in &self.coins {
            for k in (1..=j).rev() {
                heads[k] = q * heads[k] + p * heads[k - 1];
            }
            heads[0] *= q;
        }
        heads[j]
    }

    /// The table Q, by Q_i\[k\] = (1 − p_i) Q_{i−1}\[k\] + p_i Q_{i−1}\[k − 1\]. Q_0 is the tail's.
    fn table(&self, c: usize) -> Vec<f64> {
        let width = c + 2;
        let mut table = vec![0.0; (self.coins.len() + 1) * width];
        table[..width].copy_from_slice(&self.of_tail(width));
        for (i, &Coin { p, q }) in self.coins.iter().enumerate() {
            let (before, here) = table[i * width..(i + 2) * width].split_at_mut(width);
            here[0] = q * before[0];
            for k in 1..width {
                here[k] = q * before[k] + p * before[k - 1];
            }
        }
        table
    }

    /// ln e_j from Pr(j heads).
    fn log_e(&self, j: usize, probability: f64) -> f64 {
        probability.ln() - j as f64 * self.log_t + self.log_scale
    }
}

/// Heads with probability p = tλ/(1 + tλ), tails with q = 1/(1 + tλ), each to full relative
/// accuracy.
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
    /// The polynomials of `lambda` (r positive numbers) up to degree c + 1.
    ///
    /// # Errors
    /// [`Error::Empty`] if c = 0, [`Error::RankDeficient`] if c > r, [`Error::NotPositive`].
    pub fn new(lambda: &[f64], c: usize) -> Result<Self> {
        ElementarySymmetric::with_tail(lambda, 0.0, c)
    }

    /// As [`new`](Self::new) with infinitely many infinitely small numbers more, with the sum
    /// `tail`: the limit of q numbers tail/q as q → ∞. Not for [`inclusion`](Self::inclusion) and
    /// [`sample`](Self::sample).
    pub(crate) fn with_tail(lambda: &[f64], tail: f64, c: usize) -> Result<Self> {
        validate::not_empty("subset (c)", c)?;
        validate::all_positive("eigenvalues", lambda)?;
        let log_lambda = lambda.iter().map(|x| x.ln()).collect();
        let spectrum = Spectrum { log_lambda, log_tail: tail.ln() };
        if c > spectrum.degree() {
            return Err(Error::RankDeficient { requested: c, rank: lambda.len() });
        }
        let tilted = Tilted::expecting(c, &spectrum);
        Ok(ElementarySymmetric { c, spectrum, table: tilted.table(c), tilted })
    }

    /// c, the size of a subset.
    pub fn size(&self) -> usize {
        self.c
    }

    /// r, the number of eigenvalues, all positive.
    #[expect(clippy::len_without_is_empty, reason = "c > 0 makes r > 0")]
    pub fn len(&self) -> usize {
        self.tilted.coins.len()
    }

    /// ln t, for which Σ tλ_i/(1 + tλ_i), and the tail if there is one, is about c.
    pub(crate) fn log_tilt(&self) -> f64 {
        self.tilted.log_t
    }

    /// ln e_j for j ≤ c + 1; −∞ for j > r, where e_j = 0. O(1) time, or O(rj) where the table has
    /// underflowed (far below c).
    ///
    /// # Panics
    /// If j > c + 1.
    pub fn log_e(&self, j: usize) -> f64 {
        assert!(j <= self.c + 1, "e_{j}: the table ends at c + 1 = {}", self.c + 1);
        match j {
            0 => 0.0,
            _ if j > self.spectrum.degree() => f64::NEG_INFINITY,
            _ if self.Q(self.len(), j) > SOUND => self.tilted.log_e(j, self.Q(self.len(), j)),
            _ => {
                let tilted = Tilted::expecting(j, &self.spectrum);
                tilted.log_e(j, tilted.last_of_table(j))
            }
        }
    }

    /// e_{c+1}/e_c; 0 if c = r.
    pub fn ratio(&self) -> f64 {
        let r = self.len();
        match self.Q(r, self.c + 1) {
            more if more > SOUND => more / self.Q(r, self.c) * (-self.tilted.log_t).exp(),
            _ => (self.log_e(self.c + 1) - self.log_e(self.c)).exp(),
        }
    }

    /// Pr(i ∈ S) for every i, r numbers that sum to c, from the table and the corresponding
    /// backward recursion. O(rc).
    pub fn inclusion(&self) -> Vec<f64> {
        let all = self.Q(self.len(), self.c);
        let others = self.heads_of_others(1).into_iter();
        self.tilted.coins.iter().zip(others).map(|(coin, others)| coin.p * others / all).collect()
    }

    /// e_{c−1}/e_c, and e_{c−2}(λ without λ_i)/e_c for every i. O(rc).
    ///
    /// The derivative of ln e_c in λ_i is the first number minus λ_i times the second. Differences
    /// of two derivatives can thus be computed without cancellation.
    pub(crate) fn slopes(&self) -> (f64, Vec<f64>) {
        let (all, t) = (self.Q(self.len(), self.c), self.tilted.log_t.exp());
        let one_less = t * self.Q(self.len(), self.c - 1) / all;
        let others = self.heads_of_others(2).into_iter();
        let two_less = |(coin, others): (&Coin, f64)| t * t * coin.q * others / all;
        (one_less, self.tilted.coins.iter().zip(others).map(two_less).collect())
    }

    /// Pr(c − `less` heads among all coins except i) for every i, `less` ≥ 1; 0 if c < `less`.
    fn heads_of_others(&self, less: usize) -> Vec<f64> {
        let (coins, c) = (&self.tilted.coins, self.c);
        let r = coins.len();
        let Some(heads) = c.checked_sub(less) else { return vec![0.0; r] };
        let mut after = vec![0.0; heads + 1]; // after[k] = Pr(k heads among i + 1, …, r)
        after[0] = 1.0;
        let mut others = vec![0.0; r];
        for i in (0..r).rev() {
            let Coin { p, q } = coins[i];
            others[i] = (0..=heads).map(|k| self.Q(i, k) * after[heads - k]).sum();
            for k in (0..=heads).rev() {
                after[k] = q * after[k] + if k > 0 { p * after[k - 1] } else { 0.0 };
            }
        }
        others
    }

    /// Draws S: c distinct indices below r, decreasing. O(r).
    ///
    /// # Randomness
    /// One uniform for every i from r − 1 down, until S has c indices or all remaining indices must
    /// be taken.
    pub fn sample(&self, rng: &mut dyn Rng) -> Vec<usize> {
        self.sample_by(|p| random::coin(p, rng))
    }

    /// As [`sample`](Self::sample), with coins of the caller, which return true with the given
    /// probability.
    pub(crate) fn sample_by(&self, mut coin: impl FnMut(f64) -> bool) -> Vec<usize> {
        let mut S = Vec::with_capacity(self.c);
        let coins = &self.tilted.coins;
        let mut i = coins.len();
        while S.len() < self.c {
            let k = self.c - S.len();
            // Pr(i ∈ S | k heads among the first i)
            let p = coins[i - 1].p * self.Q(i - 1, k - 1) / self.Q(i, k);
            if i == k || coin(p) {
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

/// ln(1 + eˣ).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
