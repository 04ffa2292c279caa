//! Sums without rounding errors, so that they do not depend on the order of their terms.

use serde::{Deserialize, Serialize};

/// Bits in a limb.
const BITS: usize = 32;
/// The exponent of the lowest bit: 2^-1074 is the smallest positive `f64`.
const LOWEST: i32 = -1074;
/// Numbers added before the limbs carry the part above their 32 bits to the next limb.
const CARRY: u32 = 1 << 29;
/// Most limbs that a sum of 2⁶⁴ numbers of any size can have: (1074 + 1024 + 64)/32, and one for
/// the sign.
const MOST_LIMBS: usize = 69;

/// The exact sum Σ vᵢ of `f64` numbers, rounded once, by [`value`](Self::value).
///
/// The sum is an integer multiple of 2^-1074, stored in limbs of 32 bits, as many as the numbers
/// need. Sums over parts of the data, [merged](Self::merge) in any order, have the bits of one sum
/// over all data. A sum over files therefore does not depend on how the data are cut into files, or
/// on which process reads which file.
///
/// # Cost
/// Three integer additions per number; 8 bytes per limb, usually four to eight limbs.
///
/// # Source
/// The long accumulator of U. Kulisch, *Computer Arithmetic and Validity*, 2nd edition, 2013.
///
/// ```
/// use nystrom_pipeline::ExactSum;
/// let (mut all, mut left, mut right) = <(ExactSum, ExactSum, ExactSum)>::default();
/// for v in [1e300, 1.0, -1e300, 0.5] {
///     all.add(v);
/// }
/// left.add(1e300);
/// [0.5, -1e300, 1.0].into_iter().for_each(|v| right.add(v));
/// left.merge(&right);
/// assert_eq!((all.value(), left.value()), (1.5, 1.5));
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "StoredSum")]
pub struct ExactSum {
    /// The position of `limbs[0]`: its unit is 2^(32·first − 1074).
    first: usize,
    /// From low to high, each with a sign.
    limbs: Vec<i64>,
    /// Numbers added since the last carry.
    added: u32,
    /// Whether a number was NaN or infinite.
    beyond: bool,
}

/// The fields as stored in a file, not yet checked.
#[derive(Deserialize)]
struct StoredSum {
    first: usize,
    limbs: Vec<i64>,
    added: u32,
    beyond: bool,
}

impl TryFrom<StoredSum> for ExactSum {
    type Error = &'static str;

    fn try_from(stored: StoredSum) -> Result<Self, &'static str> {
        let StoredSum { first, limbs, added, beyond } = stored;
        // so that no limb overflows before the next carry
        let small = limbs.iter().all(|limb| limb.unsigned_abs() <= 1 << 62);
        let reach = first.checked_add(limbs.len()).is_some_and(|end| end <= MOST_LIMBS);
        if small && reach && added < CARRY {
            return Ok(ExactSum { first, limbs, added, beyond });
        }
        Err("limbs of an exact sum are out of range: the file is damaged; save it again")
    }
}

impl ExactSum {
    /// Adds `value`. A value that is not finite makes the sum NaN.
    pub fn add(&mut self, value: f64) {
        if value == 0.0 {
            return;
        }
        if !value.is_finite() {
            self.beyond = true;
            return;
        }
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        // |value| = mantissa·2^(place − 1074)
        let (mantissa, place) = match (bits >> 52 & 0x7ff) as usize {
            0 => (fraction, 0),
            exponent => (fraction | 1 << 52, exponent - 1),
        };
        let shifted = u128::from(mantissa) << (place % BITS);
        let sign = if value < 0.0 { -1 } else { 1 };
        for (k, limb) in self.limbs_from(place / BITS).iter_mut().enumerate() {
            *limb += sign * i64::from((shifted >> (BITS * k)) as u32);
        }
        self.added += 1;
        if self.added >= CARRY {
            self.carry();
        }
    }

    /// Adds a·b without rounding, unless the product underflows or is not finite.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let (high, low) = product(a, b);
        self.add(high);
        self.add(low);
    }

    /// Adds w·v² for `weight` w and `value` v, exact under the same conditions as
    /// [`add_product`](Self::add_product).
    pub fn add_square(&mut self, weight: f64, value: f64) {
        let (high, low) = product(value, value);
        self.add_product(weight, high);
        self.add_product(weight, low);
    }

    /// Adds all numbers of another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.reach(other.first, other.limbs.len());
        let from = other.first.saturating_sub(self.first);
        for (ours, theirs) in self.limbs[from..].iter_mut().zip(&other.limbs) {
            *ours += theirs;
        }
        self.added = 2;
        self.beyond |= other.beyond;
    }

    /// The sum, rounded once to `f64`; the bits do not depend on the order of the numbers. NaN if a
    /// number was not finite.
    #[must_use]
    pub fn value(&self) -> f64 {
        if self.beyond {
            return f64::NAN;
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs.last().is_some_and(|top| *top < 0);
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let Some(top) = sum.limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        // the leading 97 bits or more; of the bits below, ties need only know whether all are 0
        let limb = |k: usize| top.checked_sub(k).map_or(0, |at| sum.limbs[at] as u128);
        let below = sum.limbs[..top.saturating_sub(3)].iter().any(|limb| *limb != 0);
        let head = (0..4).fold(0, |head, k| head << BITS | limb(k)) | u128::from(below);
        let exponent = (BITS * (sum.first + top)) as i32 - 3 * BITS as i32 + LOWEST;
        let value = scaled(head as f64, exponent);
        if negative { -value } else { value }
    }

    /// Σ w(v − c)² for `self` = Σ wv², `sum` = Σ wv, `weight` = Σ w and `center` = c, computed from
    /// the exact sums, so that no digits are lost to cancellation.
    #[must_use]
    pub fn squares_about(&self, center: f64, sum: &ExactSum, weight: &ExactSum) -> f64 {
        let mut about = self.clone();
        sum.parts().for_each(|part| about.add_product(-2.0 * center, part));
        weight.parts().for_each(|part| about.add_square(part, center));
        let value = about.value();
        if value < 0.0 { 0.0 } else { value }
    }

    /// Floating-point numbers whose exact sum is this sum, one per limb.
    fn parts(&self) -> impl Iterator<Item = f64> {
        let mut sum = self.clone();
        sum.carry();
        let (first, beyond) = (sum.first, sum.beyond.then_some(f64::NAN));
        let exponent = move |k: usize| (BITS * (first + k)) as i32 + LOWEST;
        let limbs = sum.limbs.into_iter().enumerate();
        limbs.map(move |(k, limb)| scaled(limb as f64, exponent(k))).chain(beyond)
    }

    /// The three limbs from position `place` on.
    fn limbs_from(&mut self, place: usize) -> &mut [i64] {
        self.reach(place, 3);
        let from = place - self.first;
        &mut self.limbs[from..from + 3]
    }

    /// Extends the limbs so that they cover `count` positions from `place` on.
    fn reach(&mut self, place: usize, count: usize) {
        if count == 0 {
            return;
        }
        if self.limbs.is_empty() {
            self.first = place;
        }
        if place < self.first {
            self.limbs.splice(0..0, std::iter::repeat_n(0, self.first - place));
            self.first = place;
        }
        let length = place + count - self.first;
        if self.limbs.len() < length {
            self.limbs.resize(length, 0);
        }
    }

    /// Carries, so that all limbs but the last are in 0..2³²; the last limb holds the sign.
    fn carry(&mut self) {
        self.added = 0;
        let mut k = 0;
        while k < self.limbs.len() {
            let is_last = k + 1 == self.limbs.len();
            if is_last && self.limbs[k].unsigned_abs() >> BITS == 0 {
                break;
            }
            let above = self.limbs[k] >> BITS;
            self.limbs[k] -= above << BITS;
            if is_last {
                self.limbs.push(0);
            }
            self.limbs[k + 1] += above;
            k += 1;
        }
    }
}

/// a·b as the rounded product and its rounding error (two-product by fused multiply-add).
fn product(a: f64, b: f64) -> (f64, f64) {
    let high = a * b;
    (high, if high.is_finite() { a.mul_add(b, -high) } else { 0.0 })
}

/// x·2^exponent, by two powers of two that are both in range.
fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&v| sum.add(v));
        sum
    }

    #[test]
    fn single_numbers_come_back() {
        let some = [5e-324, 1e-310, 2.5e-200, 0.1, 1.0, 3e7, 1.7e308, f64::MAX, f64::MIN_POSITIVE];
        for v in some.into_iter().flat_map(|v| [v, -v]) {
            assert_eq!(sum(&[v]).value().to_bits(), v.to_bits(), "{v:e}");
            assert_eq!(sum(&[v, 1.5, -v]).value(), 1.5);
            assert_eq!(sum(&[v, -v]).value(), 0.0);
        }
        assert!(sum(&[1.0, f64::INFINITY]).value().is_nan());
        assert!(sum(&[f64::MAX, f64::MAX]).value().is_infinite());
    }

    /// In the middle between two neighbouring numbers, the smallest term decides the rounding.
    #[test]
    fn a_tie_is_broken_by_the_smallest_number() {
        let half = 2_f64.powi(-53);
        for tiny in [2_f64.powi(-150), 2_f64.powi(-200), 5e-324] {
            assert_eq!(sum(&[1.0, half, tiny]).value(), 1.0 + f64::EPSILON, "{tiny:e}");
            assert_eq!(sum(&[-1.0, -half, -tiny]).value(), -1.0 - f64::EPSILON, "{tiny:e}");
            assert_eq!(sum(&[1.0, half, -tiny]).value(), 1.0, "{tiny:e}");
        }
        assert_eq!(sum(&[1.0, half]).value(), 1.0, "to the even one");
    }

    #[test]
    fn what_no_numbers_add_up_to_is_refused() {
        let load = serde_json::from_str::<ExactSum>;
        let text = serde_json::to_string(&sum(&[1e300, -1e-300, 0.1])).unwrap();
        assert_eq!(load(&text).unwrap().value(), sum(&[1e300, 0.1]).value());
        for file in [
            r#"{"first":1152921504606846976,"limbs":[1],"added":1,"beyond":false}"#,
            r#"{"first":69,"limbs":[1],"added":1,"beyond":false}"#,
            r#"{"first":0,"limbs":[-9223372036854775808],"added":1,"beyond":false}"#,
            r#"{"first":0,"limbs":[1],"added":4294967295,"beyond":false}"#,
        ] {
            assert!(load(file).is_err(), "{file}");
        }
    }

    #[test]
    fn many_numbers_carry() {
        let mut all = ExactSum { added: CARRY - 10, ..ExactSum::default() };
        for _ in 0..1000 {
            all.add(-0.1);
        }
        // rounded sums would give -99.9999999999986
        assert_eq!(all.value(), -100.0);
    }

    #[test]
    fn squares_about_the_mean_lose_no_digits() {
        let values = [1e9 + 1.0, 1e9 + 4.0, 1e9 + 4.0, 1e9 - 2.0];
        let (mut weight, mut squares) = (ExactSum::default(), ExactSum::default());
        for v in values {
            weight.add(0.5);
            squares.add_square(0.5, v);
        }
        let weighted = sum(&values.map(|v| 0.5 * v));
        // deviations from 1e9 + 1.75
        let expected = 0.5 * [0.75_f64, 2.25, 2.25, 3.75].map(|v| v * v).iter().sum::<f64>();
        assert_eq!(squares.squares_about(1e9 + 1.75, &weighted, &weight), expected);
    }

    proptest! {
        #[test]
        fn order_and_cuts_leave_no_trace(
            values in prop::collection::vec((-1e3..1e3_f64, -60..60_i32), 0..40),
            cut in 0..40_usize,
        ) {
            let values: Vec<f64> = values.iter().map(|(v, e)| v * 2_f64.powi(*e)).collect();
            let all = sum(&values).value();
            let (left, right) = values.split_at(cut.min(values.len()));
            let mut merged = sum(right);
            merged.merge(&sum(left));
            prop_assert_eq!(merged.value().to_bits(), all.to_bits());
            let mut negative = ExactSum::default();
            values.iter().rev().for_each(|v| negative.add(-v));
            prop_assert_eq!(-negative.value(), all);
            let size: f64 = values.iter().map(|v| v.abs()).sum();
            let naive: f64 = values.iter().sum();
            prop_assert!((naive - all).abs() <= 40.0 * f64::EPSILON * size);
        }
    }
}
