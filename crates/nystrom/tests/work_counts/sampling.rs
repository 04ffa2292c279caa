//! k-DPPs: steps of the chains, draws of the exact sampler.

use crate::measure::{alone, every, f64s, holds, measure, problem};
use nystrom::linalg_core::{BandEigen, random};
use nystrom::prelude::*;

/// Steps of the Gibbs chain on c of n items, from a set that the chain has left behind: flops,
/// entries and exchanges of a step.
fn gibbs(n: usize, c: usize) -> f64 {
    let (x, _) = problem(n);
    let k = KernelMatrix::new(Matern12::new(0.1).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let rng = &mut Pcg64::seed_from_u64(11);
    let mut chain = SwapChain::new(&k, &every(n, c), SwapRule::Gibbs).unwrap();
    chain.run(20 * c, rng).unwrap();
    let (steps, factors) = (3000, chain.refreshes());
    let (accepted, measured) = measure(|| chain.run(steps, rng).unwrap());
    let q = (c / 4).next_multiple_of(8).clamp(16, 64) as f64;
    let [steps, accepted, factors, c] =
        [steps, accepted, chain.refreshes() - factors, c].map(|size| size as f64);
    // a row and a column of the inverse, a Gram matrix of 2q of them, sweeps of it; a factor
    let flops = steps * (2.0 * c * c + 4.0 * q * c) + accepted * 16.0 * q * q;
    let flops = flops + factors * c.powi(3) / 3.0;
    // what is left of a window is judged anew where det K_YY has risen by more than 10⁶
    holds(&format!("Gibbs chain, n = {n}, c = {c}, flops"), measured.flops, flops, 0.95..=1.15);
    holds(
        &format!("Gibbs chain, n = {n}, c = {c}, entries"),
        measured.entries,
        steps * (c + q), // beside Y, and between the proposals of a window
        0.95..=1.05,
    );
    measured.flops / steps
}

#[test]
fn a_step_takes_the_square_of_the_size_whatever_the_number_of_items() {
    alone(|| {
        let (small, large) = (gibbs(2000, 50), gibbs(2000, 200));
        let exponent = (large / small).ln() / 4.0_f64.ln();
        assert!((1.8..=2.2).contains(&exponent), "flops of a step grow as c^{exponent}");
        // among more items det K_YY swings less, and fewer windows are judged anew
        holds("Gibbs chain, flops of a step at 8n", gibbs(16_000, 200), large, 0.7..=1.1);
    });
}

/// A step allocates nothing but what blocks of the kernel take, however many steps.
#[test]
fn steps_hold_nothing() {
    alone(|| {
        let (n, c) = (2000, 100);
        let (x, _) = problem(n);
        let k =
            KernelMatrix::new(Matern12::new(0.1).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let rng = &mut Pcg64::seed_from_u64(12);
        let mut chain = SwapChain::new(&k, &every(n, c), SwapRule::Gibbs).unwrap();
        chain.run(2000, rng).unwrap();
        let peaks = [4000, 16_000].map(|steps| measure(|| chain.run(steps, rng).unwrap()).1.bytes);
        let c = c as f64;
        holds("Gibbs chain, bytes of 4000 steps", peaks[0], f64s(c * c), 0.0..=0.1);
        holds("Gibbs chain, bytes of 16000 steps", peaks[1], peaks[0], 0.9..=1.1);
    });
}

/// Draws by rejection: the kernel values that are reported; t² of them and up to 7t³/3 flops a
/// trial, 31t³/3 more a draw, and 2m² flops for each of few rows scored. As many trials as the
/// documented rate says, or more where the guide is not K.
#[test]
fn rejection() {
    alone(|| {
        let (n, c, draws) = (20_000, 8, 20.0);
        let (x, _) = problem(n);
        let k =
            KernelMatrix::new(Matern12::new(2.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let (rng, how) = (&mut Pcg64::seed_from_u64(16), Rejection::of_size(c));
        let (k_dpp, first) = measure(|| RejectionKDpp::new(&k, c, how, rng).unwrap());
        let mut k_dpp = k_dpp;
        assert_eq!(first.entries, k_dpp.effort().values as f64);
        let rounds = (how.rounds * how.sample * how.dictionary) as f64;
        holds("rejection, entries before a draw", first.entries, rounds, 0.8..=4.0);
        let measured =
            measure(|| (0..draws as usize).for_each(|_| drop(k_dpp.sample(rng).unwrap()))).1;
        let effort = k_dpp.effort();
        assert_eq!(first.entries + measured.entries, effort.values as f64);
        let (trials, t) = (effort.trials as f64, k_dpp.intermediate() as f64);
        let least = draws / k_dpp.log_best_rate().exp();
        holds("rejection, trials", trials, least, 0.5..=5.0);
        let m = how.dictionary as f64;
        let scores = measured.entries - trials * t * t;
        assert!(scores <= trials * 10.0 * t * m, "{scores} entries for scores in {trials} trials");
        let scored = measured.entries / m * 2.0 * m * m;
        let flops = trials * 7.0 / 3.0 * t.powi(3) + draws * 31.0 / 3.0 * t.powi(3) + scored;
        holds("rejection, flops of its draws", measured.flops, flops, 0.2..=1.1);
    });
}

/// A truncated spectrum of rank r: n·r entries, nr² flops for the factor and its singular values,
/// found once on the way.
#[test]
fn truncated_spectrum() {
    alone(|| {
        let (n, c) = (4000, 10);
        let x = random::standard_normal::<f64>(n, 2, &mut Pcg64::seed_from_u64(17));
        let k =
            KernelMatrix::new(Gaussian::new(3.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let (ensemble, measured) = measure(|| LEnsemble::of_size(&k, c).unwrap());
        let [n, r] = [n, ensemble.rank()].map(|size| size as f64);
        holds("truncated spectrum, entries", measured.entries, n * r, 1.0..=1.2);
        let flops = 8.0 * n * r * r + 11.0 * r.powi(3);
        holds("truncated spectrum, flops", measured.flops, flops, 0.8..=2.0);
        holds("truncated spectrum, bytes", measured.bytes, f64s(3.0 * n * r), 0.5..=1.6);
    });
}

/// All eigenvalues and a few eigenvectors: (4/3)n³ + 6n²b flops, then 2n² + 8nb² + 18nb a vector.
#[test]
fn few_eigenvectors() {
    alone(|| {
        let (n, c) = (1500, 50);
        let x = random::standard_normal::<f64>(n, 10, &mut Pcg64::seed_from_u64(18));
        let k =
            KernelMatrix::new(Gaussian::new(4.3).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let all = k.block((0..n).into(), (0..n).into());
        let (eigen, reduction) = measure(|| BandEigen::new(all.as_ref()).unwrap());
        let (rng, indices) = (&mut Pcg64::seed_from_u64(19), (0..c).collect::<Vec<_>>());
        let vectors = measure(|| eigen.vectors(&indices, rng).unwrap()).1;
        let draw = measure(|| LEnsemble::draw_of_size(&k, c, rng).unwrap()).1;
        let [n, c, b] = [n, c, 32].map(|size| size as f64);
        let flops = 4.0 / 3.0 * n.powi(3) + 6.0 * n * n * b;
        holds("band, flops", reduction.flops, flops, 1.0..=1.2);
        holds("band, bytes", reduction.bytes, f64s(1.5 * n * n), 1.0..=1.2);
        let flops = c * (2.0 * n * n + 8.0 * n * b * b + 18.0 * n * b) + 8.0 * n * c * c;
        holds("few vectors, flops", vectors.flops, flops, 0.9..=1.2);
        // pivots in vain: n/8 of them
        holds("one draw, entries", draw.entries, n * n * 1.125, 0.9..=1.1);
        holds("one draw, flops", draw.flops, reduction.flops + vectors.flops, 1.0..=1.1);
        holds("one draw, bytes", draw.bytes, f64s(2.5 * n * n), 1.0..=1.2);
    });
}

/// A draw from a spectrum at hand: 2nc for the first residuals, 4c³ to keep the basis orthonormal
/// twice over, c ln c proposals of at most c² each; no entries, and never more than nc² where n is
/// not much larger than c².
#[test]
fn exact_draw() {
    alone(|| {
        let (n, p, c) = (6000, 120, 60);
        let b = random::standard_normal::<f64>(n, p, &mut Pcg64::seed_from_u64(13));
        let (ensemble, spectrum) = measure(|| LEnsemble::from_factor(b.as_ref()).unwrap());
        let k_dpp = ensemble.k_dpp(c).unwrap();
        let (rng, draws) = (&mut Pcg64::seed_from_u64(14), 10.0);
        let measured = measure(|| (0..draws as usize).for_each(|_| drop(k_dpp.sample(rng)))).1;
        let [n, p, c] = [n, p, c].map(|size| size as f64);
        holds(
            "spectrum of a factor, flops",
            spectrum.flops,
            6.0 * n * p * p + 11.0 * p.powi(3),
            1.0..=1.0,
        );
        assert_eq!(measured.entries, 0.0);
        let flops = 2.0 * n * c + 4.0 * c.powi(3) + c.powi(3) * c.ln();
        holds("exact k-DPP, flops of a draw", measured.flops / draws, flops, 0.5..=1.2);
        holds("exact k-DPP, flops of a draw, nc²", measured.flops / draws, n * c * c, 0.0..=1.0);
        holds("exact k-DPP, bytes", measured.bytes, f64s(2.0 * n + c * c), 0.9..=1.2);
    });
}

/// A step of the down–up walk: a column of K, 2nc flops to reduce it, 6n for each of c/2 rotations;
/// n·c entries and nc² flops once in 8c steps.
#[test]
fn down_up() {
    alone(|| {
        let (n, c, steps) = (1500, 40, 320);
        let (x, _) = problem(n);
        let k =
            KernelMatrix::new(Matern12::new(0.5).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let rng = &mut Pcg64::seed_from_u64(15);
        let mut walk = DownUpWalk::new(&k, &every(n, c)).unwrap();
        let measured = measure(|| walk.run(steps, rng).unwrap()).1;
        let [n, c, steps] = [n, c, steps].map(|size| size as f64);
        holds("down–up walk, entries", measured.entries, steps * n * (1.0 + 1.0 / 8.0), 1.0..=1.0);
        holds(
            "down–up walk, flops",
            measured.flops,
            steps * n * c * (2.0 + 3.0 + 1.0 / 8.0),
            0.9..=1.05,
        );
    });
}
