//! Landmarks from a k-DPP: exactly on a few thousand points, by the swap chain on a hundred
//! thousand.

use nystrom::dpp::{EffectiveSize, KDppChain, LEnsemble, SwapChain, SwapRule};
use nystrom::prelude::*;
use nystrom::sketch::Uniform;

fn main() -> Result<()> {
    let rng = &mut Pcg64::seed_from_u64(1);
    let (n, c) = (100_000, 50);
    let x = Mat::from_fn(n, 2, |i, _| rng.random::<f64>() + if i % 400 == 0 { 8.0 } else { 0.0 });
    let points = Points::from_rows(x.as_ref());
    let kernel = Gaussian::new(0.25)?;

    // Exact: one eigendecomposition of an n × n matrix, then cheap draws.
    let small = KernelMatrix::new(kernel, points.slice(0..500))?;
    let ensemble = LEnsemble::new(&small)?;
    let k_dpp = ensemble.k_dpp(20)?;
    let drawn = k_dpp.sample(rng);
    let error = Nystrom::new(&small, &drawn)?.trace_error(&small)?;
    println!(
        "exact, n = 500: tr(K − L) = {error:.2e}, expected {:.2e}",
        k_dpp.expected_trace_error()
    );

    // A chain: c entries of K a step, whatever n is.
    let k = KernelMatrix::new(kernel, points)?; // lazy: nothing n × n
    let mut chain = SwapChain::start(&k, c, &RpCholesky::default(), SwapRule::Metropolis, rng)?;
    let mut trace = Vec::new();
    for _ in 0..2000 {
        chain.run(10, rng)?;
        trace.push(chain.log_det());
    }
    let effective = EffectiveSize::of(&trace)?;
    println!(
        "chain: {} of {} exchanges accepted, effective size {:.0} of 2000",
        chain.accepted(),
        chain.steps(),
        effective.size
    );

    let by_chain = KDppChain { start: KMeansPlusPlus, steps: 3000, rule: SwapRule::LazyGibbs };
    let selectors: [(&str, &dyn LandmarkSelector<f64>); 2] =
        [("uniform", &Uniform::default()), ("k-DPP", &by_chain)];
    for (name, selector) in selectors {
        let landmarks = selector.select(&k, c, rng)?;
        let error = Nystrom::new(&k, &landmarks)?.trace_error(&k)?;
        println!("{name:>8}: tr(K − L)/tr K = {:.2e}", error / k.trace());
    }
    Ok(())
}
