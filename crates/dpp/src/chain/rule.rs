//! When a proposed exchange is carried out.

/// The probability of an exchange as a function of ρ = det K_{Y−v+u}/det K_YY.
///
/// For each of them π(Y)·P(Y → Y′) is symmetric in Y and Y′, so the stationary distribution is the
/// k-DPP.
///
/// The chain converges to the k-DPP by every rule, with one exception: for n = 2, c = 1 and K_11 =
/// K_22 the chain by Metropolis alternates between its two states. (Elsewhere some proposal is
/// refused, or three states are neighbours of one another, so that the chain has no period.) Take
/// [`LazyGibbs`](Self::LazyGibbs) or [`Gibbs`](Self::Gibbs) there.
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
    /// ρ/(1 + ρ) after staying with probability ½: Algorithm 1 of Li, Jegelka & Sra (2016), as
    /// printed.
    LazyGibbs,
    /// ρ/(1 + ρ) at every step: the same chain twice as fast.
    Gibbs,
    /// min(1, ρ) at every step: of all rules with this proposal the one that exchanges most often
    /// (Peskun 1973), so that of the smallest asymptotic variance.
    #[default]
    Metropolis,
}

impl SwapRule {
    /// The probability that a step exchanges, given the proposal, with the ½ of a lazy rule. 0 for
    /// a ratio that is NaN or negative, 1 (without the ½) for ρ = ∞.
    pub fn probability(self, ratio: f64) -> f64 {
        if self.is_lazy() { 0.5 * self.acceptance(ratio) } else { self.acceptance(ratio) }
    }

    pub(crate) fn is_lazy(self) -> bool {
        self == SwapRule::LazyGibbs
    }

    /// The probability without the ½ of a lazy rule; 1 for ρ = ∞.
    pub(crate) fn acceptance(self, ratio: f64) -> f64 {
        let ratio = ratio.max(0.0); // NaN says nothing of an exchange, so none is made
        match self {
            SwapRule::LazyGibbs | SwapRule::Gibbs if ratio <= 1.0 => ratio / (1.0 + ratio),
            SwapRule::LazyGibbs | SwapRule::Gibbs => (1.0 + ratio.recip()).recip(),
            SwapRule::Metropolis => ratio.min(1.0),
        }
    }
}
