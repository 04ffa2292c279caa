//! What holds in the mean: E[SSᵀ] = I along the stream and after merges.

use nystrom_kernels::{Gaussian, Points};
use nystrom_leverage::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const N: usize = 48;
const RUNS: usize = 16_000;

fn points() -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(77);
    (0..N).map(|_| rng.random::<f64>()).collect()
}

/// The mean of the weight s_i² over independent runs must be 1 for every point (s_i² = 0 where it
/// was dropped). Per point the mean of 16 000 runs is compared with 1 at z = 6 standard errors: 48
/// points, two sides, normal tail 2·48·1e-9 < 1e-6. The largest weight (asserted below 500) moves a
/// mean by at most 0.03, about one standard error, so the normal law is a fair guide.
fn assert_unbiased(name: &str, run: impl Fn(u64) -> StreamDictionary<f64>) {
    let (mut sums, mut squares, mut kept, mut largest) = (vec![0.0; N], vec![0.0; N], 0, 0.0_f64);
    for seed in 0..RUNS as u64 {
        let dictionary = run(seed);
        kept += dictionary.len();
        for (&i, w) in dictionary.positions().iter().zip(dictionary.weights()) {
            sums[i as usize] += w;
            squares[i as usize] += w * w;
            largest = largest.max(w);
        }
    }
    let runs = RUNS as f64;
    assert!(largest < 500.0, "{name}: a weight of {largest}");
    for i in 0..N {
        let mean = sums[i] / runs;
        let error = ((squares[i] / runs - mean * mean) / runs).sqrt();
        assert!((mean - 1.0).abs() < 6.0 * error, "{name}, point {i}: {mean} ± {error}");
        assert!(error < 0.06, "{name}, point {i}: too noisy to see a bias, {error}");
    }
    let share = kept as f64 / (runs * N as f64);
    assert!(share < 0.8, "{name}: {share} of the points were kept, nothing was tested");
}

fn state(
    params: SqueakParams,
    rows: std::ops::Range<usize>,
    rng: &mut Pcg64,
) -> Squeak<Gaussian, f64> {
    let (x, kernel) = (points(), Gaussian::new(0.3).unwrap());
    let mut squeak = Squeak::new(kernel, 1, 1.0, params).unwrap().starting_at(rows.start as u64);
    squeak.push(Points::from_slice(&x[rows]), rng).unwrap();
    squeak.settle(rng).unwrap();
    squeak
}

fn stream(
    params: SqueakParams,
    rows: std::ops::Range<usize>,
    rng: &mut Pcg64,
) -> StreamDictionary<f64> {
    state(params, rows, rng).dictionary().clone()
}

#[test]
fn weights_are_a_martingale_along_the_stream() {
    let params = SqueakParams { chunk: Some(6), ..SqueakParams::new(3) };
    assert_unbiased("chunks", |seed| stream(params, 0..N, &mut Pcg64::seed_from_u64(seed)));
    let floor = SqueakParams { chunk: Some(3), halving_floor: true, ..SqueakParams::new(4) };
    assert_unbiased("floor", |seed| stream(floor, 0..N, &mut Pcg64::seed_from_u64(seed)));
    let code = SqueakParams { epsilon: 0.2, scores: ScoreRule::ReferenceCode, ..params };
    assert_unbiased("code's scores", |seed| stream(code, 0..N, &mut Pcg64::seed_from_u64(seed)));
}

#[test]
fn merging_keeps_the_weights_unbiased() {
    let params = SqueakParams { chunk: Some(6), ..SqueakParams::new(3) };
    assert_unbiased("merge", |seed| {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (mut a, b) = (state(params, 0..20, &mut rng), state(params, 20..N, &mut rng));
        a.merge(&b, &mut rng).unwrap();
        a.dictionary().clone()
    });
}
