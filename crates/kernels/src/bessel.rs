//! The modified Bessel function K_ν, for the Matérn kernel of any smoothness.

use statrs::function::gamma::ln_gamma;

/// ln(e^x K_ν(x)) for x > 0 and |ν| ≤ a few hundred, to about 1e-14 absolute.
///
/// The trapezoid rule on e^x K_ν(x) = ∫_0^∞ exp(−2x sinh²(t/2)) cosh(νt) dt, whose integrand decays
/// doubly exponentially, converges exponentially in the step. The largest exponent is factored out, so that nothing overflows.
pub(crate) fn ln_scaled_k(nu: f64, x: f64) -> f64 {
    let nu = nu.abs();
    let exponent = |t: f64| {
        let s = (0.5 * t).sinh();
        nu * t - 2.0 * x * s * s
    };
    // The exponent is largest where x sinh t = ν.
    let peak_at = (nu / x).asinh();
    let peak = exponent(peak_at);
    let step = 0.2_f64.min(0.6 / x.hypot(nu).sqrt());
    let mut sum = 0.0;
    for k in 0.. {
        let t = k as f64 * step;
        let e = exponent(t) - peak;
        if t > peak_at && e < -40.0 {
            break;
        }
        let weight = if k == 0 { 0.5 } else { 1.0 };
        sum += weight * e.exp() * 0.5 * (1.0 + (-2.0 * nu * t).exp());
    }
    peak + (step * sum).ln()
}

/// 2^{1−ν}/Γ(ν) t^ν K_ν(t), continuous at t = 0 where it is 1.
pub(crate) fn matern(nu: f64, t: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    let log = (1.0 - nu) * std::f64::consts::LN_2 - ln_gamma(nu) + nu * t.ln() - t + ln_scaled_k(nu, t);
    log.exp().min(1.0)
}
