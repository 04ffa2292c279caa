//! A landmark selector of your own: every n/m-th row, behind the same trait as the built-in ones.

use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::Uniform;

/// Rows 0, n/m, 2n/m, …
struct EveryNth;

impl LandmarkSelector<f64> for EveryNth {
    fn select(&self, k: &dyn PsdMatrix<f64>, m: usize, _rng: &mut dyn Rng) -> Result<Landmarks> {
        let n = k.dim();
        validate::at_most("landmarks", m, n)?;
        Landmarks::new(n, (0..m).map(|j| j * n / m).collect())
    }
}

/// The program.
pub fn main() -> Result<()> {
    let x: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 1e4).collect();
    let k = KernelMatrix::new(Matern32::new(0.1)?, Points::from_slice(&x))?;
    let rng = &mut Pcg64::seed_from_u64(0);
    let selectors: [(&str, Box<dyn LandmarkSelector<f64>>); 2] =
        [("uniform", Box::new(Uniform::default())), ("every n-th", Box::new(EveryNth))];
    for (name, selector) in &selectors {
        let l = Nystrom::new(&k, &selector.select(&k, 50, rng)?)?;
        println!("{name:>10}: tr(K − L)/tr K = {:.2e}", l.trace_error(&k)? / k.trace());
    }
    Ok(())
}
