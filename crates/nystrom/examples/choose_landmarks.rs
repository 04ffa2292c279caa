//! Choose landmarks in several ways and compare what each leaves of the kernel matrix: tr(K − L)/tr
//! K.
//!
//! Two clusters, one of them of five points and far away: the case in which uniform sampling is
//! weak.

use nystrom::prelude::*;
use nystrom::sketch::Uniform;

fn main() -> Result<()> {
    let rng = &mut Pcg64::seed_from_u64(1);
    let n = 2000;
    let x = Mat::from_fn(n, 2, |i, _| rng.random::<f64>() + if i % 400 == 0 { 8.0 } else { 0.0 });
    // lazy: nothing n × n
    let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_rows(x.as_ref()))?;
    // leverage scores at a ridge that it finds for each m
    let leverage = RecursiveNystrom::default();
    let selectors: [(&str, &dyn LandmarkSelector<f64>); 2] =
        [("uniform", &Uniform::default()), ("leverage", &leverage)];
    for (name, selector) in selectors {
        for m in [25, 50, 100, 200] {
            let landmarks = selector.select(&k, m, rng)?;
            let approximation = Nystrom::new(&k, &landmarks)?;
            println!(
                "{name:>10}, m = {m:>3}: tr(K − L)/tr K = {:.2e}",
                approximation.trace_error(&k)? / k.trace()
            );
        }
    }
    Ok(())
}
