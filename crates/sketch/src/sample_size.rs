//! How many columns the theorems ask for.

use nystrom_linalg_core::{Result, validate};

/// Theorem 3 of Alaoui & Mahoney (NIPS 2015): p = ⌈8 (d_eff/β + 1/6) ln(n/ρ)⌉ columns.
///
/// Draw p columns with replacement and p_i ≥ β l_i(λε)/Σ_j l_j(λε), β in (0, 1] (β = 1 for exact
/// scores). Then, with probability at least 1 − 2ρ, kernel ridge regression with L_{λε} = KS(SᵀKS +
/// nλεI)⁻¹SᵀK has risk at most (1 + 2ε)² times that of exact kernel ridge regression at λ. The same
/// holds for L = KS(SᵀKS)⁺SᵀK if moreover λ is large enough against λ_max(K)/n.
///
/// `d_eff` is taken at λε: tr K(K + nλεI)⁻¹ ≤ d_eff(λ)/ε. The rule may exceed n: then the theorem
/// promises nothing below n columns.
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
    validate::not_empty("matrix", n)?;
    validate::positive("d_eff (at the ridge lambda * epsilon)", d_eff)?;
    validate::require(
        beta > 0.0 && beta <= 1.0,
        "beta",
        beta,
        "in (0, 1]; 1 for exact leverage scores",
    )?;
    check_failure_probability(rho)?;
    Ok((8.0 * (d_eff / beta + 1.0 / 6.0) * (n as f64 / rho).ln()).ceil() as usize)
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
