//! A diverse subset of molecular fingerprints: an exact draw of a k-DPP with the Tanimoto kernel.
//!
//! `cargo run --release -p nystrom --example fingerprints -- [ROWS] [SIZE]`

use nystrom::prelude::*;
use std::error::Error;
use std::time::Instant;

/// The number of bits of a fingerprint.
const BITS: usize = 2048;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let rows = args.next().map_or(Ok(20_000), |text| text.parse())?;
    let size = args.next().map_or(Ok(20), |text| text.parse())?;
    run(rows, size)
}

/// `c` of `n` fingerprints.
pub fn run(n: usize, c: usize) -> std::result::Result<(), Box<dyn Error>> {
    let rng = &mut Pcg64::seed_from_u64(1);
    let bits = Bits::<f64>::from_positions(fingerprints(n, rng), BITS)?; // from_hex reads FPS files
    let k = KernelMatrix::new(Tanimoto, bits.points())?;
    let clock = Instant::now();
    let mut k_dpp = RejectionKDpp::new(&k, c, Rejection::of_size(c), rng)?;
    let subset = k_dpp.sample(rng)?;
    println!(
        "{c} of {n} fingerprints in {:.1} s: {:?}",
        clock.elapsed().as_secs_f64(),
        k_dpp.effort()
    );
    let similarity = |idx: &[usize]| {
        let block = k.block(idx.into(), idx.into());
        let pairs = (0..c).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|pair| block[pair]).fold(0.0, f64::max)
    };
    let first: Vec<usize> = (0..c).collect();
    println!(
        "largest similarity of two: {:.2}, of the first {c} fingerprints {:.2}",
        similarity(subset.indices()),
        similarity(&first)
    );
    Ok(())
}

/// `n` fingerprints with some 50 ones each, in clusters: a quarter of the ones of a cluster's
/// centre are moved at random.
fn fingerprints(n: usize, rng: &mut dyn Rng) -> impl Iterator<Item = [usize; 50]> {
    let centres: Vec<[usize; 50]> =
        (0..1000).map(|_| std::array::from_fn(|_| rng.random_range(0..BITS))).collect();
    (0..n).map(move |i| {
        let mut row = centres[i * 7 % 1000];
        (0..13).for_each(|_| row[rng.random_range(0..50)] = rng.random_range(0..BITS));
        row
    })
}
