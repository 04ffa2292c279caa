//! k-DPPs: steps of the chains, draws of the exact sampler.

use crate::measure::{alone, every, f64s, holds, measure, problem};
use nystrom::linalg_core::random;
use nystrom::prelude::*;

/// Steps of the Gibbs chain on c of n items, from a set that the chain has left behind: flops,
/// entries and exchanges of a step.
fn gibbs(n: usize, c: usize) -> f64 {
    let (x, _) = problem(n);
    let k = KernelMatrix::new(Matern12::new(0.1).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let rng = &mut Pcg64::seed_from_u64(11);
    let mut chain = SwapChain::new(&k, &every(n, c), SwapRule::Gibbs).unwrap();
    chain.run(500, rng).unwrap();
    let (steps, refreshes) = (3000, chain.refreshes());
    let (accepted, measured) = measure(|| chain.run(steps, rng).unwrap());
    let [steps, accepted, refreshes, c] =
        [steps, accepted, chain.refreshes() - refreshes, c].map(|size| size as f64);
    // a proposal is 2c²/3 multiply-adds on average, an exchange c²/6 plane rotations of two numbers
    // by six flops
    let flops = steps * 4.0 * c * c / 3.0 + accepted * c * c + refreshes * c.powi(3) / 3.0;
    holds(&format!("Gibbs chain, n = {n}, c = {c}, flops"), measured.flops, flops, 0.95..=1.1);
    holds(
        &format!("Gibbs chain, n = {n}, c = {c}, entries"),
        measured.entries,
        steps * c + 15.0 * accepted,
        0.8..=1.0,
    );
    measured.flops / steps
}

#[test]
fn a_step_takes_the_square_of_the_size_whatever_the_number_of_items() {
    alone(|| {
        let (small, large) = (gibbs(2000, 50), gibbs(2000, 200));
        let exponent = (large / small).ln() / 4.0_f64.ln();
        assert!((1.8..=2.2).contains(&exponent), "flops of a step grow as c^{exponent}");
        holds("Gibbs chain, flops of a step at 8n", gibbs(16_000, 200), large, 0.9..=1.1);
    });
}

/// What a step takes it gives back: at the peak a fresh factor and what it is made from, 2c²
/// numbers, however many steps.
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
        holds("Gibbs chain, bytes of 4000 steps", peaks[0], f64s(2.0 * c * c), 0.9..=1.2);
        holds("Gibbs chain, bytes of 16000 steps", peaks[1], peaks[0], 0.9..=1.1);
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
