//! Adaptive quadrature of ∫ e^{g(t)} dt over the real line, with logarithms of integrand and
//! result.

use nystrom_linalg_core::{Error, Result};

/// The parts of the line before and after which the integrand stays below e^{−40} times its largest
/// value are left out.
const NEGLIGIBLE: f64 = -40.0;
/// The search for the support of the integrand starts on |t| ≤ 110, that is e^{±110} in the
/// variable e^t.
const SCAN: f64 = 110.0;
const SCAN_STEP: f64 = 0.5;
/// The search ends at |t| = 700, near the end of the range of e^t in `f64`.
const END: f64 = 700.0;
/// A panel is accepted when the two rules differ by less than this fraction of the integral. The
/// error of the 15-point rule is then about (200 × 1e-12)^{3/2} < 1e-14 times the integral
/// (Piessens et al., QUADPACK, 1983).
const RULES_AGREE: f64 = 1e-12;
/// A tail e^{−rt} with r below this counts as not decaying.
const SLOWEST_DECAY: f64 = 1e-9;
const PANEL: f64 = 2.0;
const MAX_DEPTH: u32 = 48;

/// ln ∫ e^{g(t)} dt. The relative error of the integral is about 1e-13 if g is smooth except for
/// jumps.
///
/// g may be −∞ (integrand 0) anywhere. Gauss–Kronrod (7, 15) panels are halved where the two rules
/// disagree. A tail that is not negligible at |t| = 700 is added as an exponential in t, which it
/// must be there (a power of e^t).
///
/// # Errors
/// [`Error::InvalidParameter`] if the integrand does not decay, is +∞ or is NaN: the spectral
/// density is not integrable.
pub(crate) fn ln_integral(g: impl Fn(f64) -> f64) -> Result<f64> {
    let Support { low, high, peak, tails } = support(&g)?;
    let f = |t: f64| (g(t) - peak).exp();
    let panels = ((high - low) / PANEL).ceil().max(1.0);
    let width = (high - low) / panels;
    let panel = |i: usize| (low + i as f64 * width, low + (i + 1) as f64 * width);
    let first: Vec<(f64, f64)> =
        (0..panels as usize).map(|i| gauss_kronrod(&f, panel(i))).collect();
    let scale: f64 = first.iter().map(|(value, _)| value).sum();
    let refined = first
        .iter()
        .enumerate()
        .map(|(i, &rule)| refine(&f, panel(i), rule, RULES_AGREE * scale, MAX_DEPTH));
    let integral = refined.sum::<f64>() + tails;
    if integral > 0.0 && integral.is_finite() {
        Ok(peak + integral.ln())
    } else {
        Err(not_integrable(integral))
    }
}

/// An interval outside which e^g is negligible, or an exponential tail.
struct Support {
    low: f64,
    high: f64,
    /// The largest g seen.
    peak: f64,
    /// ∫ e^{g − peak} outside \[low, high\].
    tails: f64,
}

fn support(g: &impl Fn(f64) -> f64) -> Result<Support> {
    let steps = (2.0 * SCAN / SCAN_STEP) as usize;
    let at = |i: usize| -SCAN + i as f64 * SCAN_STEP;
    let values: Vec<f64> = (0..=steps).map(|i| g(at(i))).collect();
    let peak = values
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, |a, b| if b.is_nan() { b } else { a.max(b) });
    if !peak.is_finite() || values.iter().any(|v| v.is_nan()) {
        return Err(not_integrable(peak));
    }
    let matters = |value: &f64| *value > peak + NEGLIGIBLE;
    let outwards_from = |from: usize, step: f64| {
        let mut t = at(from);
        while g(t) > peak + NEGLIGIBLE {
            t += step;
            if t.abs() >= END {
                return tail(g, t, step.signum(), peak).map(|tail| (t, tail));
            }
        }
        Ok((t, 0.0))
    };
    let (low, below) = outwards_from(values.iter().position(matters).unwrap_or(0), -SCAN_STEP)?;
    let (high, above) =
        outwards_from(values.iter().rposition(matters).unwrap_or(steps), SCAN_STEP)?;
    Ok(Support { low, high, peak, tails: below + above })
}

/// ∫ e^{g − peak} from `end` outwards, for g linear there.
fn tail(g: &impl Fn(f64) -> f64, end: f64, outwards: f64, peak: f64) -> Result<f64> {
    const RUN: f64 = 16.0;
    let decay = (g(end - outwards * RUN) - g(end)) / RUN;
    if decay > SLOWEST_DECAY {
        Ok((g(end) - peak).exp() / decay)
    } else {
        Err(not_integrable(decay))
    }
}

fn not_integrable(value: f64) -> Error {
    let requirement =
        "not 0 everywhere, and integrable over the frequencies in the points' dimension";
    Error::InvalidParameter { name: "spectral density", value, requirement }
}

fn refine(
    f: &impl Fn(f64) -> f64,
    (a, b): (f64, f64),
    (value, gap): (f64, f64),
    allowed: f64,
    depth: u32,
) -> f64 {
    if gap <= allowed || depth == 0 {
        return value;
    }
    let mid = 0.5 * (a + b);
    let half = |ends| refine(f, ends, gauss_kronrod(f, ends), allowed, depth - 1);
    half((a, mid)) + half((mid, b))
}

/// Positive nodes of the 15-point Kronrod rule, outermost first; those with odd index are the Gauss
/// nodes. Then 0.
const NODES: [f64; 7] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
];
const KRONROD: [f64; 8] = [
    0.022_935_322_010_529_225,
    0.063_092_092_629_978_55,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_9,
    0.209_482_141_084_727_83,
];
const GAUSS: [f64; 4] = [
    0.129_484_966_168_869_7,
    0.279_705_391_489_276_67,
    0.381_830_050_505_118_9,
    0.417_959_183_673_469_4,
];

/// The 15-point value of ∫_a^b f, and its distance from the 7-point value.
fn gauss_kronrod(f: &impl Fn(f64) -> f64, (a, b): (f64, f64)) -> (f64, f64) {
    let (center, half) = (0.5 * (a + b), 0.5 * (b - a));
    let middle = f(center);
    let (mut kronrod, mut gauss) = (KRONROD[7] * middle, GAUSS[3] * middle);
    for (i, node) in NODES.iter().enumerate() {
        let pair = f(center - half * node) + f(center + half * node);
        kronrod += KRONROD[i] * pair;
        if i % 2 == 1 {
            gauss += GAUSS[i / 2] * pair;
        }
    }
    (half * kronrod, half * (kronrod - gauss).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn assert_close(got: f64, expected: f64, tolerance: f64) {
        assert!((got / expected - 1.0).abs() < tolerance, "{got} is not {expected}");
    }

    #[test]
    fn gamma_integrals_over_many_scales() {
        // ∫ e^{zt − c e^t} dt = Γ(z) c^{−z}
        for z in [0.001, 0.05, 0.5, 1.0, 3.0, 12.5, 60.0] {
            for ln_c in [-80.0, 0.0, 30.0] {
                let got = ln_integral(|t| z * t - (t + ln_c).exp()).unwrap();
                let expected = libm::lgamma(z) - z * ln_c;
                assert!(
                    (got - expected).abs() < 1e-12 * expected.abs().max(1.0),
                    "{z} {ln_c}: {got} {expected}"
                );
            }
        }
    }

    #[test]
    fn sharp_edges_jumps_and_two_far_bumps() {
        // ∫_{−∞}^0 e^t dt = 1, a jump at 0.3 that is no panel edge
        let jump = ln_integral(|t| if t < 0.3 { t } else { f64::NEG_INFINITY }).unwrap();
        assert!((jump - 0.3).abs() < 1e-10, "{jump}");
        let bump = |t: f64| -0.5 * t * t;
        let two = ln_integral(|t| bump(t - 40.0).max(bump(t + 40.0))).unwrap();
        assert_close(two.exp(), 2.0 * (2.0 * PI).sqrt(), 1e-12);
    }

    #[test]
    fn what_does_not_decay_is_refused() {
        assert!(ln_integral(|_| 0.0).is_err());
        assert!(ln_integral(|t| t).is_err());
        assert!(ln_integral(|_| f64::NAN).is_err());
        assert!(ln_integral(|_| f64::NEG_INFINITY).is_err());
        assert!(ln_integral(|t| if t > 0.0 { f64::INFINITY } else { t }).is_err());
    }
}
