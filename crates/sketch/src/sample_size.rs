//! The numbers of columns that theorems require.

use nystrom_linalg_core::{Result, validate};

/// The number of columns m = ⌈2 (d_eff/β + ε/3) ln(n/ρ)/ε²⌉ in Proposition 1 of Calandriello,
/// Lazaric & Valko (poster, 2016), extended to approximate scores.
///
/// Draw m columns with replacement, with probabilities p_i ≥ β τ_i(γ)/Σ_j τ_j(γ) for a β in (0, 1]
/// (β = 1 for exact scores), and let L_γ = KS(SᵀKS + γI)⁻¹SᵀK. Then, with probability at least
/// 1 − ρ, 0 ⪯ K − L_γ ⪯ γ/(1 − ε)·I, and kernel ridge regression with L_γ and the absolute ridge μ
/// has a risk at most (1 + (γ/μ)/(1 − ε))² times the risk with K. Both also hold for
/// L = KS(SᵀKS)⁺SᵀK, because L_γ ⪯ L ⪯ K.
///
/// `d_eff` is the effective dimension at the absolute ridge γ, tr K(K + γI)⁻¹. The result may
/// exceed n; then the proposition guarantees nothing for fewer than n columns.
///
/// # Source
/// The poster's Proposition 1 is the case β = 1, writes δ for ρ and lacks the term ε/3. The proof
/// needs this term: matrix Bernstein, Theorem 2 of Alaoui & Mahoney (NIPS 2015) at t = ε.
///
/// # Errors
/// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless d_eff > 0, β in (0,
/// 1], ε and ρ in (0, 1); [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0.
///
/// ```
/// let m = nystrom_sketch::approximation_sample_size(1000, 24.0, 1.0, 0.8, 0.1)?;
/// assert_eq!(m, 699); // 2·(24 + 0.8/3)·ln(10⁴)/0.64 = 698.45…
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn approximation_sample_size(
    n: usize,
    d_eff: f64,
    beta: f64,
    epsilon: f64,
    rho: f64,
) -> Result<usize> {
    validate::not_empty("matrix", n)?;
    validate::positive("d_eff (at the ridge of the scores)", d_eff)?;
    validate::require(
        beta > 0.0 && beta <= 1.0,
        "beta",
        beta,
        "in (0, 1]; 1 for exact leverage scores",
    )?;
    validate::require(
        epsilon > 0.0 && epsilon < 1.0,
        "epsilon",
        epsilon,
        "in (0, 1), as K - L is bounded by gamma/(1 - epsilon)",
    )?;
    check_failure_probability(rho)?;
    let per_column = d_eff / beta + epsilon / 3.0;
    Ok((2.0 * per_column * (n as f64 / rho).ln() / (epsilon * epsilon)).ceil() as usize)
}

/// The number of columns p = ⌈8 (d_eff/β + 1/6) ln(n/ρ)⌉ in Theorem 3 of Alaoui & Mahoney (NIPS
/// 2015).
///
/// Draw p columns with replacement, with probabilities p_i ≥ β l_i(λε)/Σ_j l_j(λε) for an ε > 0 and
/// a β in (0, 1] (β = 1 for exact scores). Then, with probability at least 1 − ρ, kernel ridge
/// regression with L = KS(SᵀKS)⁺SᵀK or with L_{λε} = KS(SᵀKS + nλεI)⁻¹SᵀK has risk at most
/// (1 + 2ε)² times the risk of exact kernel ridge regression at λ.
///
/// `d_eff` is the effective dimension at the per-sample ridge λε, tr K(K + nλεI)⁻¹ ≤ d_eff(λ)/ε.
/// The result may exceed n; then the theorem guarantees nothing for fewer than n columns. The
/// result equals [`approximation_sample_size`] at γ = nλε and accuracy ½.
///
/// # Departures
/// The printed theorem has probability 1 − 2ρ, ρ < ½, n ≥ 2 and, for L, the condition
/// λ ≥ 2(1 + 1/l)λ_max(K)/n with l ≤ min_i l_i(λε). None of these is needed. By Theorem 2,
/// K − L_{λε} ⪯ 2nλεI except with probability ρ (for n = 1, one draw gives K itself). Because
/// L_{λε} ⪯ L ⪯ K, the norm of K − L is at most 2nλε too. By the resolvent identity the bias then
/// grows by a factor of at most 1 + 2ε, and the variance does not grow. The second ρ in the printed
/// probability is for a bound on ‖S‖, which is used only by the condition on λ. That condition
/// would require nλ > 4λ_max(K), because l ≤ λ_max/(λ_max + nλε).
///
/// # Errors
/// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless d_eff > 0, β in (0,
/// 1], ρ in (0, 1); [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0.
///
/// ```
/// let p = nystrom_sketch::risk_sample_size(1000, 24.0, 1.0, 0.1)?;
/// assert_eq!(p, 1781); // 8·(24 + 1/6)·ln(10⁴) = 1780.66…
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn risk_sample_size(n: usize, d_eff: f64, beta: f64, rho: f64) -> Result<usize> {
    approximation_sample_size(n, d_eff, beta, 0.5, rho)
}

/// Checks that ρ, the probability with which a theorem's guarantee may fail, is in (0, 1).
///
/// # Errors
/// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if it is not.
pub fn check_failure_probability(rho: f64) -> Result<()> {
    validate::require(
        rho > 0.0 && rho < 1.0,
        "rho",
        rho,
        "in (0, 1), as it is the probability with which the guarantee may fail",
    )
}
