//! The scale of an axis, linear or logarithmic: its range, its ticks and their labels.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::number::number;

/// The approximate maximum number of ticks on an axis.
const TICKS: usize = 6;

/// A linear or logarithmic scale over an interval of positive length.
#[derive(Debug, Clone)]
pub struct Scale {
    log: bool,
    lo: f64,
    hi: f64,
    ticks: Vec<f64>,
}

impl Scale {
    /// A scale that covers all values it can show, with a margin. It can show finite values, and of
    /// these a logarithmic scale only the positive ones. Without such a value the scale goes from 0
    /// to 1, or from 0.1 to 10 if it is logarithmic.
    pub fn over(values: impl IntoIterator<Item = f64>, log: bool) -> Self {
        let shown = values.into_iter().filter(|&value| shows(value, log));
        let (lo, hi) =
            shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        let (lo, hi) = if log { log_room(lo, hi) } else { linear_room(lo, hi) };
        let ticks = if log { log_ticks(lo, hi) } else { linear_ticks(lo, hi) };
        Scale { log, lo, hi, ticks }
    }

    /// The number of characters of the longest tick label.
    pub(crate) fn widest_label(&self) -> usize {
        self.ticks.iter().map(|tick| self.format_ext(tick).chars().count()).max().unwrap_or(0)
    }

    /// Whether the scale can show this value: it is finite, and positive on a logarithmic scale.
    pub fn shows(&self, value: f64) -> bool {
        shows(value, self.log)
    }

    /// The position of a value on the axis: 0 at the low end, 1 at the high end.
    pub fn fraction(&self, value: f64) -> f64 {
        let at = |v: f64| if self.log { v.log10() } else { v };
        (at(value) - at(self.lo)) / (at(self.hi) - at(self.lo))
    }
}

fn shows(value: f64, log: bool) -> bool {
    value.is_finite() && (!log || value > 0.0)
}

fn linear_room(lo: f64, hi: f64) -> (f64, f64) {
    if lo > hi {
        return (0.0, 1.0); // nothing to show
    }
    let room = if hi > lo { (hi - lo) * 0.04 } else { lo.abs().max(1.0) * 0.5 };
    (lo - room, hi + room)
}

fn log_room(lo: f64, hi: f64) -> (f64, f64) {
    if lo > hi {
        return (0.1, 10.0);
    }
    let room = if hi > lo { (hi / lo).powf(0.04) } else { 3.0 };
    ((lo / room).max(f64::MIN_POSITIVE), (hi * room).min(f64::MAX))
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(lo: f64, hi: f64) -> Vec<f64> {
    let rough = (hi - lo) / TICKS as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&step| step >= rough)
        .unwrap_or(rough);
    let (first, last) = ((lo / step).ceil(), (hi / step).floor());
    // a step below 1 is the inverse of an integer; dividing by the integer gives 0.3 exactly
    let value = |i: f64| if step < 1.0 { i / (1.0 / step).round() } else { i * step };
    (0..=(last - first) as usize).map(|i| value(first + i as f64)).collect()
}

/// Ticks at powers of ten. If the scale contains only one or two of them, their multiples by 2 and
/// 5, or by 3, are added. If it contains many, only every second power or fewer are ticks.
fn log_ticks(lo: f64, hi: f64) -> Vec<f64> {
    let (first, last) = (lo.log10().floor() as i32, hi.log10().ceil() as i32);
    let inside = |value: &f64| (lo..=hi).contains(value);
    let decades: Vec<f64> = (first..=last).map(|e| 10_f64.powi(e)).filter(inside).collect();
    match decades.len() {
        0 => linear_ticks(lo, hi),
        1 | 2 => {
            let between = |steps: &[f64]| -> Vec<f64> {
                let all =
                    (first..=last).flat_map(|e| steps.iter().map(move |m| m * 10_f64.powi(e)));
                all.filter(inside).collect()
            };
            let fine = between(&[1.0, 2.0, 5.0]);
            if fine.len() < TICKS { fine } else { between(&[1.0, 3.0]) }
        }
        n => decades.into_iter().step_by(n.div_ceil(TICKS + 1)).collect(),
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        low + (self.fraction(*value).clamp(-1.0, 2.0) * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.lo..self.hi
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let plain = !self.log || (self.lo >= 1e-3 && self.hi <= 1e5);
        if plain { number(*value) } else { power_of_ten(*value) }
    }
}

/// A number as a power of ten: 10⁻³, 2×10⁵.
fn power_of_ten(value: f64) -> String {
    let text = format!("{value:.0e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent.chars().map(superscript).collect();
    if mantissa == "1" { format!("10{raised}") } else { format!("{mantissa}×10{raised}") }
}

fn superscript(digit: char) -> char {
    let raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map_or('⁻', |d| raised[d as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        scale.ticks.iter().map(|tick| scale.format_ext(tick)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&Scale::over([0.0, 1.0], false)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(
            labels(&Scale::over([-30.0, 500.0], false)),
            ["0", "100", "200", "300", "400", "500"]
        );
        assert_eq!(labels(&Scale::over([1e-4, 1e-1], true)), ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert_eq!(labels(&Scale::over([3.0, 40.0], true)), ["5", "10", "20"]);
        assert_eq!(labels(&Scale::over([10.0, 400.0], true)), ["10", "20", "50", "100", "200"]);
        assert_eq!(
            labels(&Scale::over([450.0, 31_000.0], true)),
            ["1000", "3000", "10000", "30000"]
        );
        assert_eq!(
            labels(&Scale::over([1e-20, 1e4], true)),
            ["10⁻²⁰", "10⁻¹⁶", "10⁻¹²", "10⁻⁸", "10⁻⁴", "10⁰", "10⁴"]
        );
        assert_eq!(
            labels(&Scale::over([0.2, 0.3], true)),
            ["0.2", "0.22", "0.24", "0.26", "0.28", "0.3"]
        );
    }

    #[test]
    fn nothing_one_value_and_unshowable_values_leave_a_scale_of_positive_length() {
        for log in [false, true] {
            for values in [
                vec![],
                vec![1.0],
                vec![0.0],
                vec![-5.0],
                vec![f64::NAN],
                vec![f64::INFINITY, 2.0],
                vec![1e300],
            ] {
                let scale = Scale::over(values.clone(), log);
                assert!(
                    scale.lo < scale.hi && scale.lo.is_finite() && scale.hi.is_finite(),
                    "{values:?} {scale:?}"
                );
                assert!(!scale.ticks.is_empty() || log, "{values:?} {scale:?}");
                assert!(scale.ticks.len() < 20, "{values:?} {scale:?}");
            }
        }
    }

    #[test]
    fn the_ends_map_to_the_ends() {
        let scale = Scale::over([1.0, 100.0], true);
        assert_eq!((scale.map(&scale.lo, (0, 1000)), scale.map(&scale.hi, (0, 1000))), (0, 1000));
        assert_eq!(scale.map(&10.0, (0, 1000)), 500);
    }
}
