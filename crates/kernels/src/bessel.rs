//! The modified Bessel function K_ν, for the Matérn kernel of any smoothness and for the spectral
//! density of the rational quadratic kernel.

use libm::lgamma as ln_gamma;
use std::f64::consts::LN_2;

/// For orders above 100 the integrand is summed outwards from its peak; for smaller orders from
/// t = 0, which a flat peak may reach.
pub(crate) const LARGE_ORDER: f64 = 100.0;
/// Terms with a smaller exponent relative to the peak are left out: e^{−40} is below rounding
/// error.
const NEGLIGIBLE: f64 = -40.0;

/// ln(e^x K_ν(x)), with an error of about 1e-14 for |ν| ≤ 100 and of a few ulp of the result for
/// larger |ν|: +∞ at x = 0, −∞ at x = ∞, NaN if x < 0.
///
/// The trapezoidal rule for e^x K_ν(x) = ∫_0^∞ exp(−2x sinh²(t/2)) cosh(νt) dt converges
/// exponentially with decreasing step, because the integrand decays doubly exponentially. The
/// largest exponent is factored out to avoid overflow. The sum has mostly fewer than a hundred
/// terms, and at most about ten thousand, for x near the smallest positive number.
pub(crate) fn ln_scaled_k(nu: f64, x: f64) -> f64 {
    let nu = nu.abs();
    if x == 0.0 {
        return f64::INFINITY;
    }
    if !(x > 0.0 && nu < f64::INFINITY) {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return f64::NEG_INFINITY;
    }
    // the exponent is largest at the t with x sinh t = ν
    let ratio = nu / x;
    let peak_at = if ratio < 1e300 { ratio.asinh() } else { LN_2 + nu.ln() - x.ln() };
    let h = x.hypot(nu);
    if nu > LARGE_ORDER {
        return nu * peak_at - nu * (nu / (h + x)) + (0.5 * around_peak(nu, h)).ln();
    }
    let exponent = |t: f64| {
        let s = (0.5 * t).sinh();
        nu * t - 2.0 * x * s * s
    };
    let peak = exponent(peak_at);
    let step = step(h);
    let mut sum = 0.0;
    for k in 0.. {
        let t = k as f64 * step;
        let e = exponent(t) - peak;
        if t > peak_at && e < NEGLIGIBLE {
            break;
        }
        let weight = if k == 0 { 0.5 } else { 1.0 };
        sum += weight * e.exp() * 0.5 * (1.0 + (-2.0 * nu * t).exp());
    }
    peak + (step * sum).ln()
}

/// The step of the trapezoidal rule for a peak of curvature h: a fraction of its width.
fn step(h: f64) -> f64 {
    0.2_f64.min(0.6 / h.sqrt())
}

/// ∫ exp(ν(t − t*) − x(cosh t − cosh t*)) dt over the real line, where t* = asinh(ν/x) and
/// h = √(x² + ν²) ≥ ν > 100; x may be 0.
///
/// In terms of u = t − t* the exponent is −ν(sinh u − u) − h(cosh u − 1), which has no cancellation
/// near the peak.
pub(crate) fn around_peak(nu: f64, h: f64) -> f64 {
    let (step, root) = (step(h), h.sqrt());
    let term = |u: f64| -nu * sinh_less_u(u) - 2.0 * (root * (0.5 * u).sinh()).powi(2);
    let side = |sign: f64| {
        let terms = (1..).map(|k| term(sign * f64::from(k) * step));
        terms.take_while(|&e| e >= NEGLIGIBLE).map(f64::exp).sum::<f64>()
    };
    step * (1.0 + side(1.0) + side(-1.0))
}

/// sinh u − u, without cancellation for small u.
fn sinh_less_u(u: f64) -> f64 {
    if u.abs() > 0.5 {
        return u.sinh() - u;
    }
    let v = u * u;
    u * v / 6.0 * (1.0 + v / 20.0 * (1.0 + v / 42.0 * (1.0 + v / 72.0 * (1.0 + v / 110.0))))
}

/// For larger t every Matérn kernel is 0 in `f64`, because of its factor e^{−t}.
const ZERO_FROM: f64 = 2000.0;

/// The Matérn function 2^{1−ν}/Γ(ν) t^ν K_ν(t) for 0 < ν ≤ 100; 1, its limit, at t = 0.
pub(crate) fn matern(nu: f64, t: f64) -> f64 {
    if t == 0.0 {
        return 1.0;
    }
    if t > ZERO_FROM {
        return 0.0;
    }
    let log = (1.0 - nu) * LN_2 - ln_gamma(nu) + nu * t.ln() - t + ln_scaled_k(nu, t);
    if log > 0.0 { 1.0 } else { log.exp() }
}

/// 2^{1−ν}/Γ(ν) t^{ν−1} K_{ν−1}(t) for 0 < ν ≤ 100, which is −1/t times the derivative of
/// [`matern`] by t. At t = 0 the limit: 1/(2(ν − 1)), or ∞ if ν ≤ 1.
pub(crate) fn matern_rate(nu: f64, t: f64) -> f64 {
    if nu > 1.0 {
        return matern(nu - 1.0, t) / (2.0 * (nu - 1.0));
    }
    if t > ZERO_FROM {
        return 0.0;
    }
    let log = (1.0 - nu) * (LN_2 - t.ln()) - ln_gamma(nu) - t + ln_scaled_k(1.0 - nu, t);
    log.exp()
}
