//! Rows drawn with replacement while they are read, in any number of places.

use crate::sums::{Reader, Sums};
use nystrom_linalg_core::Streams;
use rand::RngExt;

/// s rows drawn independently in proportion to weights, or all rows, each with a few numbers.
///
/// Every row has arrivals at random times, at the rate s times its weight, and each arrival goes to
/// one of s slots at random. The first arrival in a slot is its row, which is row i with
/// probability w_i/Σw; slots are independent. The times of a row follow from its number, so draws
/// from parts of the rows merge to the draws from all rows. Arrivals too late for every slot are
/// not generated: about s·ln s·ln n arrivals are.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    streams: Streams,
    /// s; without it every row is kept.
    count: Option<usize>,
    /// Numbers of a row.
    width: usize,
    /// Time, row and its numbers of each slot, one after another.
    kept: Vec<f64>,
    /// The time from which on an arrival is too late.
    end: f64,
    empty: usize,
}

/// Numbers of a slot in addition to those of its row.
const HEAD: usize = 2;

impl Draws {
    pub fn new(streams: Streams, count: Option<usize>, width: usize) -> Self {
        let slots = count.unwrap_or(0);
        let mut kept = vec![0.0; slots * (HEAD + width)];
        kept.chunks_exact_mut(HEAD + width).for_each(|slot| slot[0] = f64::INFINITY);
        Draws { streams, count, width, kept, end: f64::INFINITY, empty: slots }
    }

    /// Offers a row.
    pub fn offer(&mut self, row: u64, weight: f64, numbers: impl Fn(usize) -> f64) {
        let (width, slot) = (self.width, HEAD + self.width);
        let Some(count) = self.count else {
            self.kept.extend([0.0, row as f64]);
            self.kept.extend((0..width).map(numbers));
            return;
        };
        let (rng, rate) = (&mut self.streams.stream(row), count as f64 * weight);
        if !(rate > 0.0) {
            return; // of −0 the times would fall
        }
        let mut time = 0.0;
        loop {
            time -= (1.0 - rng.random::<f64>()).ln() / rate; // 1 − u lies in (0, 1]
            if !(time < self.end) {
                return;
            }
            let at = rng.random_range(0..count) * slot;
            let before = self.kept[at];
            if time < before {
                self.kept[at] = time;
                self.kept[at + 1] = row as f64;
                (0..width).for_each(|j| self.kept[at + HEAD + j] = numbers(j));
                self.empty -= usize::from(before == f64::INFINITY);
                if self.empty == 0 && before >= self.end {
                    self.see_end();
                }
            }
        }
    }

    fn see_end(&mut self) {
        let times = self.kept.chunks_exact(HEAD + self.width).map(|slot| slot[0]);
        self.empty = times.clone().filter(|time| *time == f64::INFINITY).count();
        self.end = if self.count.is_none() { f64::INFINITY } else { times.fold(0.0, f64::max) };
    }

    /// Row and numbers of each slot that has a row.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &[f64])> {
        let slots = self.kept.chunks_exact(HEAD + self.width);
        let full = slots.filter(|slot| slot[0] < f64::INFINITY);
        full.map(|slot| (slot[1] as u64, &slot[HEAD..]))
    }
}

impl Sums for Draws {
    fn merge(&mut self, later: Self) {
        if self.count.is_none() {
            self.kept.extend(later.kept);
            return;
        }
        let slot = HEAD + self.width;
        let slots = self.kept.chunks_exact_mut(slot).zip(later.kept.chunks_exact(slot));
        for (ours, theirs) in slots.filter(|(ours, theirs)| theirs[0] < ours[0]) {
            ours.copy_from_slice(theirs);
        }
        self.see_end();
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.kept.write(out);
    }

    /// If every row is kept, all numbers that are left.
    fn read(&self, reader: &mut Reader<'_>) -> Self {
        let slots = self.count.unwrap_or(reader.left() / (HEAD + self.width));
        // the time of an empty slot is ∞
        let number = |_| f64::from_bits(reader.integer());
        let kept = (0..slots * (HEAD + self.width)).map(number).collect();
        let mut draws = Draws { kept, ..Self::new(self.streams, self.count, self.width) };
        draws.see_end();
        draws
    }

    fn is_sound(&self, _: u64) -> bool {
        let slots = self.kept.chunks_exact(HEAD + self.width);
        let mut drawn = slots.filter(|slot| slot[0] != f64::INFINITY);
        drawn.all(|slot| slot[0] >= 0.0 && slot.iter().all(|number| number.is_finite()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::to_bytes;

    const WEIGHTS: [f64; 5] = [1.0, 2.0, 0.0, 3.0, 4.0];

    fn drawn(key: u64, rows: impl Iterator<Item = u64>, count: Option<usize>) -> Draws {
        let mut draws = Draws::new(Streams::from_key(key), count, 1);
        rows.for_each(|row| draws.offer(row, WEIGHTS[row as usize % 5], |_| row as f64 + 0.5));
        draws
    }

    /// What is read where these were written.
    fn saved(draws: &Draws) -> Draws {
        let bytes = to_bytes(0, |out| draws.write(out));
        let mut reader = Reader::new(&bytes, 0).unwrap();
        let again = Draws::new(draws.streams, draws.count, draws.width).read(&mut reader);
        reader.finish().unwrap();
        again
    }

    /// Counts of rows, and of pairs in the first two slots, over 30,000 draws: within 5.6
    /// deviations each, all of them with 1 − 20·2.2e-8.
    #[test]
    fn slots_hold_rows_in_proportion_to_weights_and_independently() {
        let (draws, p) = (30_000, |row: usize| WEIGHTS[row] / 10.0);
        let (mut singles, mut pairs) = ([0.0; 5], [[0.0; 5]; 5]);
        for key in 0..draws {
            let found = drawn(key, 0..5, Some(2));
            let rows: Vec<usize> = found.rows().map(|(row, _)| row as usize).collect();
            singles[rows[1]] += 1.0;
            pairs[rows[0]][rows[1]] += 1.0;
        }
        let near = |count: f64, p: f64| {
            let (mean, draws) = (p * draws as f64, draws as f64);
            (count - mean).abs() <= 5.6 * (draws * p * (1.0 - p)).sqrt()
        };
        for i in 0..5 {
            assert!(near(singles[i], p(i)), "{singles:?}");
            assert!((0..5).all(|j| near(pairs[i][j], p(i) * p(j))), "{pairs:?}");
        }
    }

    #[test]
    fn parts_merge_to_the_whole_in_any_way() {
        for count in [Some(1), Some(40), None] {
            let whole = drawn(7, 0..300, count);
            for cuts in [[0, 300], [1, 2], [100, 101], [90, 200]] {
                let part = |from: u64, to: u64| drawn(7, from..to, count);
                let [a, b] = cuts;
                let mut left = part(0, a);
                left.merge(part(a, b));
                left.merge(saved(&part(b, 300)));
                let mut right = part(a, b);
                right.merge(part(b, 300));
                let mut all = part(0, a);
                all.merge(right);
                assert!(left.kept == whole.kept && all.kept == whole.kept);
            }
            let expected = count.unwrap_or(300);
            assert_eq!(whole.rows().count(), expected);
            assert!(whole.rows().all(|(row, numbers)| numbers == [row as f64 + 0.5]));
        }
        assert_eq!(drawn(7, [2].into_iter(), Some(3)).rows().count(), 0, "of weight 0");
    }

    /// Found by damage: times fell for ever.
    #[test]
    fn a_weight_of_minus_zero_draws_nothing() {
        let mut draws = Draws::new(Streams::from_key(7), Some(3), 0);
        draws.offer(1, -0.0, |_| 0.0);
        assert_eq!(draws.rows().count(), 0);
    }
}
