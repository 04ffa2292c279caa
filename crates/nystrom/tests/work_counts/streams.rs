//! SQUEAK: what a point of the stream costs, and that its memory is the dictionary's.

use crate::measure::{Measured, alone, f64s, holds, measure, problem};
use nystrom::prelude::*;

/// What the shrinkings say they do, from the number of members of each: Σ(m + b)² entries, Σ2(m +
/// b)³/3 + 64(m + b)² flops, 2(m + b)² numbers.
#[derive(Default)]
struct Own {
    entries: f64,
    flops: f64,
    largest: f64,
}

/// A stream of `n` points, one by one.
fn stream(n: usize) -> (Own, Measured) {
    let (x, _) = problem(n);
    let rng = &mut Pcg64::seed_from_u64(8);
    let mut squeak =
        Squeak::new(Gaussian::new(1.5).unwrap(), 3, 10.0, SqueakParams::new(8)).unwrap();
    measure(|| {
        let mut own = Own::default();
        for i in 0..n {
            let members = squeak.dictionary().len() + 1;
            squeak.push(Points::from_rows(x.as_ref().subrows(i, 1)), rng).unwrap();
            if squeak.pending() == 0 {
                let members = members as f64; // that many were shrunk
                own.entries += members * members;
                own.flops += 2.0 * members.powi(3) / 3.0 + 64.0 * members.powi(2);
                own.largest = own.largest.max(members);
            }
        }
        own
    })
}

#[test]
fn squeak() {
    alone(|| {
        let [short, long] = [4000, 12_000].map(|n| {
            let (own, measured) = stream(n);
            holds("SQUEAK, entries", measured.entries, own.entries, 1.0..=1.0);
            holds("SQUEAK, flops", measured.flops, own.flops, 1.0..=1.1);
            holds(
                "SQUEAK, bytes",
                measured.bytes,
                f64s(2.0 * own.largest * own.largest),
                0.9..=1.2,
            );
            let m = own.largest / 1.5; // the largest dictionary; a chunk is half of it
            holds("SQUEAK, entries a point, 4.5m", measured.entries / n as f64, 4.5 * m, 0.5..=1.0);
            measured
        });
        // d_eff, and the dictionary with it, grows by a fifth or so; bytes as its square, which
        // would be 9 if it grew as n
        holds("SQUEAK, bytes of a stream three times as long", long.bytes, short.bytes, 0.8..=2.0);
        holds(
            "SQUEAK, entries of a stream three times as long",
            long.entries,
            3.0 * short.entries,
            0.8..=2.0,
        );
    });
}
