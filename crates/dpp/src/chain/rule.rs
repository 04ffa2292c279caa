//! The probability of accepting a proposed exchange; the coin is tossed in `mod.rs` and
//! `single.rs`.

/// The probability of an exchange as a function of ρ = det K_{Y−v+u}/det K_YY.
///
/// For each rule π(Y)·P(Y → Y′) is symmetric in Y and Y′, where π is the k-DPP, so the stationary
/// distribution is the k-DPP.
///
/// The chain converges to the k-DPP with every rule, with one exception: for n = 2, c = 1 and
/// K_11 = K_22 the chain with [`Metropolis`](Self::Metropolis) alternates between its two states.
/// Use [`LazyGibbs`](Self::LazyGibbs) or [`Gibbs`](Self::Gibbs) in that case. (In all other cases
/// some proposal is refused, or three states are neighbours of one another, so that the chain is
/// aperiodic.)
///
/// ```
/// use nystrom_dpp::SwapRule;
/// let probabilities = [SwapRule::LazyGibbs, SwapRule::Gibbs, SwapRule::Metropolis]
///     .map(|rule| rule.probability(3.0));
/// assert_eq!(probabilities, [0.375, 0.75, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SwapRule {
    /// Stays with probability ½, otherwise accepts with probability ρ/(1 + ρ): Algorithm 1 of Li,
    /// Jegelka & Sra (2016), as printed.
    LazyGibbs,
    /// ρ/(1 + ρ) at every step: [`LazyGibbs`](Self::LazyGibbs) without its lazy steps, twice as
    /// fast.
    Gibbs,
    /// min(1, ρ) at every step. Of all reversible rules with this proposal it exchanges most often,
    /// and so has the smallest asymptotic variance (Peskun 1973).
    #[default]
    Metropolis,
}

impl SwapRule {
    /// The probability that a step exchanges, given the proposal, including the factor ½ of a lazy
    /// rule. Without that factor it is 1 for ρ = ∞. It is 0 for a ratio that is NaN or negative.
    pub fn probability(self, ratio: f64) -> f64 {
        if self.is_lazy() { 0.5 * self.acceptance(ratio) } else { self.acceptance(ratio) }
    }

    pub(crate) fn is_lazy(self) -> bool {
        self == SwapRule::LazyGibbs
    }

    /// The acceptance probability, without the factor ½ of a lazy rule; 1 for ρ = ∞.
    pub(crate) fn acceptance(self, ratio: f64) -> f64 {
        let ratio = ratio.max(0.0); // NaN becomes 0: no exchange
        match self {
            SwapRule::LazyGibbs | SwapRule::Gibbs if ratio <= 1.0 => ratio / (1.0 + ratio),
            SwapRule::LazyGibbs | SwapRule::Gibbs => (1.0 + ratio.recip()).recip(),
            SwapRule::Metropolis => ratio.min(1.0),
        }
    }
}
