//! The Gaussian kernel: K̃_λ(p) as a polylogarithm, which is a Fermi–Dirac integral.
//!
//! For k(u) = κ exp(−‖u‖²/(2σ²)) and x = κ p (2πσ²)^{d/2}/λ,
//!
//! K̃ = −(2πσ²)^{−d/2} p^{−1} Li_{d/2}(−x) = (κ/λ) · (−Li_{d/2}(−x)/x).

use super::quadrature::ln_integral;
use libm::lgamma as ln_gamma;
use nystrom_linalg_core::Result;

/// The power series is used for x ≤ 1/2: each term is at most half of the one before.
const SERIES_BELOW: f64 = 0.5;

/// ln(−Li_z(−x)/x) for z > 0 and x = e^{ln_x} > 0 of any size, also where x overflows or underflows
/// in `f64`.
///
/// −Li_z(−x) is computed by the series Σ (−1)^{k+1} x^k/k^z for x ≤ 1/2, as ln(1 + x) for z = 1,
/// and otherwise as 1/Γ(z) ∫_0^∞ t^{z−1}/(e^t/x + 1) dt by adaptive quadrature in ln t. Relative
/// error below 1e-12.
pub(crate) fn ln_polylog_ratio(z: f64, ln_x: f64) -> Result<f64> {
    if ln_x <= SERIES_BELOW.ln() {
        return Ok(series(z, ln_x.exp()).ln_1p());
    }
    if z == 1.0 {
        return Ok(ln_1p_exp(ln_x).ln() - ln_x);
    }
    // t = e^u: ∫ e^{zu}/(e^{e^u − ln x} + 1) du
    Ok(ln_integral(|u| z * u - ln_1p_exp(u.exp() - ln_x))? - ln_gamma(z) - ln_x)
}

/// −Li_z(−x)/x − 1 = Σ_{k≥2} (−x)^{k−1}/k^z.
fn series(z: f64, x: f64) -> f64 {
    let mut power = 1.0;
    let mut sum = 0.0;
    for k in 2..64 {
        power *= -x;
        let term = power * (k as f64).powf(-z);
        sum += term;
        if term.abs() < 1e-18 {
            break;
        }
    }
    sum
}

/// ln(1 + e^y), without overflow.
pub(crate) fn ln_1p_exp(y: f64) -> f64 {
    y.max(0.0) + (-y.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −Li_z(−x)/x.
    fn ratio(z: f64, x: f64) -> f64 {
        ln_polylog_ratio(z, x.ln()).unwrap().exp()
    }

    #[test]
    fn order_one_is_a_logarithm_and_order_zero_a_fraction() {
        for x in [1e-300, 1e-9, 0.3, 0.5, 0.7, 3.0, 1e8, 1e300] {
            assert!((ratio(1.0, x) / (x.ln_1p() / x) - 1.0).abs() < 1e-13, "{x}");
            // as z → 0: x/(1 + x)/x, and the derivative in z is bounded
            let near_zero = ratio(1e-7, x);
            assert!((near_zero * (1.0 + x) - 1.0).abs() < 1e-4, "{x}: {near_zero}");
        }
    }

    #[test]
    fn values_of_mpmath() {
        // ln(−Li_z(−x)/x), 30 digits by mpmath's quadrature and polylog
        let table = [
            (0.5, 0.5, -0.713_507_663_977_499_1),
            (1.5, 10.0, -6.818_425_002_716_456),
            (7.5, 20.0, -6.886_460_935_400_445),
            (2.5, -0.69, -0.078_619_783_860_866_4),
            (3.0, 100.0, -87.975_262_437_548_9),
            (0.5, 200.0, -197.230_069_361_091_77),
            (0.05, 3.0, -2.971_696_238_937_905_6),
        ];
        for (z, ln_x, expected) in table {
            let got = ln_polylog_ratio(z, ln_x).unwrap();
            assert!(
                (got - expected).abs() < 2e-13 * f64::abs(expected).max(1.0),
                "{z} {ln_x}: {got} {expected}"
            );
        }
    }

    #[test]
    fn series_and_integral_meet() {
        for z in [0.05, 0.5, 1.5, 2.0, 5.0, 15.0] {
            let (low, high) = (ratio(z, 0.5), ratio(z, 0.5 * (1.0 + 1e-9)));
            assert!((low / high - 1.0).abs() < 1e-8, "{z}: {low} {high}");
            let integral =
                ln_integral(|u| z * u - ln_1p_exp(u.exp() - 0.4_f64.ln())).unwrap() - ln_gamma(z);
            assert!((integral - 0.4_f64.ln() - ratio(z, 0.4).ln()).abs() < 1e-12, "{z}");
        }
    }

    #[test]
    fn sommerfeld_limit() {
        // −Li_z(−x) = (ln x)^z/Γ(z+1) (1 + π²/6 z(z−1)/(ln x)² + O((ln x)^−4))
        for z in [0.5, 1.5, 2.5, 5.0] {
            let ln_x: f64 = 600.0;
            let expansion = z * ln_x.ln() - ln_gamma(z + 1.0)
                + (std::f64::consts::PI.powi(2) / 6.0 * z * (z - 1.0) / ln_x.powi(2)).ln_1p();
            let got = ln_polylog_ratio(z, ln_x).unwrap() + ln_x;
            assert!((got - expansion).abs() < 1e-8, "{z}: {got} {expansion}");
        }
    }
}
