//! How many columns the theorems ask for.

use nystrom_linalg_core::{Result, validate};

/// Proposition 1 of Calandriello, Lazaric & Valko (poster, 2016), for approximate scores too:
/// m = ⌈2 (d_eff/β + ε/3) ln(n/ρ)/ε²⌉ columns.
///
/// Draw m columns with replacement and p_i ≥ β τ_i(γ)/Σ_j τ_j(γ), β in (0, 1] (β = 1 for exact
/// scores), and let L_γ = KS(SᵀKS + γI)⁻¹SᵀK. Then, with probability at least 1 − ρ,
/// 0 ⪯ K − L_γ ⪯ γ/(1 − ε)·I, and kernel ridge regression with L_γ at the ridge μ has a risk at
/// most (1 + (γ/μ)/(1 − ε))² times that with K. Both also hold for L = KS(SᵀKS)⁺SᵀK, which lies
/// between L_γ and K.
///
/// `d_eff` is taken at γ, which is absolute: tr K(K + γI)⁻¹. The rule may exceed n: then the
/// proposition promises nothing below n columns.
///
/// # Source
/// The poster's Proposition 1 is β = 1, δ for ρ, and lacks the term ε/3. The proof needs it:
/// matrix Bernstein, Theorem 2 of Alaoui & Mahoney (NIPS 2015) at t = ε.
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
        "in (0, 1): K - L is at most gamma/(1 - epsilon)",
    )?;
    check_failure_probability(rho)?;
    let per_column = d_eff / beta + epsilon / 3.0;
    Ok((2.0 * per_column * (n as f64 / rho).ln() / (epsilon * epsilon)).ceil() as usize)
}

/// Theorem 3 of Alaoui & Mahoney (NIPS 2015): p = ⌈8 (d_eff/β + 1/6) ln(n/ρ)⌉ columns.
///
/// Draw p columns with replacement and p_i ≥ β l_i(λε)/Σ_j l_j(λε), β in (0, 1] (β = 1 for exact
/// scores), ε > 0. Then, with probability at least 1 − ρ, kernel ridge regression with
/// L = KS(SᵀKS)⁺SᵀK or with L_{λε} = KS(SᵀKS + nλεI)⁻¹SᵀK has risk at most (1 + 2ε)² times that of
/// exact kernel ridge regression at λ.
///
/// `d_eff` is taken at λε: tr K(K + nλεI)⁻¹ ≤ d_eff(λ)/ε. The rule may exceed n: then the theorem
/// promises nothing below n columns. It is [`approximation_sample_size`] at γ = nλε and accuracy ½.
///
/// # Departures
/// The printed theorem has probability 1 − 2ρ, ρ < ½, n ≥ 2 and, for L, λ ≥ 2(1 + 1/l)λ_max(K)/n
/// with l ≤ min_i l_i(λε). None of them is needed. Theorem 2 gives K − L_{λε} ⪯ 2nλεI except with
/// probability ρ (at n = 1 one draw gives K itself). L_{λε} ⪯ L ⪯ K, so ‖K − L‖ ≤ 2nλε for both. By
/// the resolvent identity the bias then grows by a factor 1 + 2ε at most, and the variance does not
/// grow. The second ρ pays for a bound on ‖S‖, which only the printed condition on λ uses. That
/// condition would ask for nλ > 4λ_max(K), because l ≤ λ_max/(λ_max + nλε).
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

/// ρ, the probability with which a theorem may fail, lies in (0, 1); otherwise
/// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter).
pub fn check_failure_probability(rho: f64) -> Result<()> {
    validate::require(
        rho > 0.0 && rho < 1.0,
        "rho",
        rho,
        "in (0, 1): the probability with which the guarantee may fail",
    )
}
