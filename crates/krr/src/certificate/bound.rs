//! The confidence bound: Hoeffding's inequality, inverted.

/// kl(x, p) = x ln(x/p) + (1 − x) ln((1 − x)/(1 − p)) for 0 ≤ x ≤ p ≤ 1.
pub(super) fn kl(x: f64, p: f64) -> f64 {
    let part = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    if p >= 1.0 && x < 1.0 { f64::INFINITY } else { part(x, p) + part(1.0 - x, 1.0 - p) }
}

/// max { q ≤ a : kl(x̄/(aq), q/a) ≤ ln(1/δ)/s }, an upper bound on q with probability 1 − δ. Here x̄
/// is the mean of s independent numbers in \[0, aq\] of mean q². By bisection; kl grows with q from
/// 0 at q = √x̄.
pub(super) fn upper_bound(x_bar: f64, a: f64, s: usize, delta: f64) -> f64 {
    let level = (1.0 / delta).ln() / s as f64;
    let (mut low, mut high) = (x_bar.max(0.0).sqrt(), a);
    if !(low < high) {
        return low; // no room below the trace bound: rounding errors are all there is
    }
    while high - low > 1e-12 * high {
        let q = 0.5 * (low + high);
        if q <= low || q >= high {
            break;
        }
        let below = kl((x_bar / (a * q)).min(q / a), q / a) <= level;
        *(if below { &mut low } else { &mut high }) = q;
    }
    high
}

/// How many rows make [`upper_bound`] at most `q` if x̄ stays what it is; `None` if no number does.
pub(super) fn rows_for(x_bar: f64, a: f64, q: f64, delta: f64) -> Option<usize> {
    let distance = if x_bar < q * q { kl(x_bar / (a * q), (q / a).min(1.0)) } else { 0.0 };
    (distance > 0.0).then(|| ((1.0 / delta).ln() / distance).ceil().max(1.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inversion_has_its_limits() {
        // X̄ = 0: (1 − q/a)^s = δ, q = a(1 − δ^{1/s}).
        for (s, delta) in [(10, 0.1), (1000, 0.01)] {
            let expected = 3.0 * (1.0 - f64::powf(delta, 1.0 / s as f64));
            assert!((upper_bound(0.0, 3.0, s, delta) / expected - 1.0).abs() < 1e-9);
        }
        // Many rows: the mean is right. The trace bound is never exceeded.
        assert!((upper_bound(0.25, 1.0, 100_000_000, 0.01) - 0.5).abs() < 1e-3);
        assert!(upper_bound(0.9, 1.0, 3, 1e-9) <= 1.0);
        assert_eq!(upper_bound(4.0, 1.0, 3, 0.01), 2.0);
        assert_eq!(upper_bound(0.0, 0.0, 3, 0.01), 0.0);
    }

    #[test]
    fn rows_for_is_the_inverse_of_the_bound() {
        for (x_bar, q) in [(0.0, 0.05), (0.01, 0.2), (0.01, 0.11)] {
            let s = rows_for(x_bar, 2.0, q, 0.05).unwrap();
            assert!(upper_bound(x_bar, 2.0, s, 0.05) <= q * (1.0 + 1e-9));
            assert!(s == 1 || upper_bound(x_bar, 2.0, s - 1, 0.05) >= q * (1.0 - 1e-9));
        }
        assert_eq!(rows_for(0.05, 2.0, 0.2, 0.05), None);
    }
}
