//! Designs on the line with known densities: those of Chen & Yang's Figure 2.

use rand::RngExt;
use rand_pcg::Pcg64;

/// A design on the line: points and their true density.
pub type Design = fn(usize, &mut Pcg64) -> (Vec<f64>, Vec<f64>);

pub fn uniform(n: usize, rng: &mut Pcg64) -> (Vec<f64>, Vec<f64>) {
    ((0..n).map(|_| rng.random()).collect(), vec![1.0; n])
}

/// Beta(15, 2) by rejection from the uniform law; density 240 x¹⁴ (1 − x).
pub fn beta(n: usize, rng: &mut Pcg64) -> (Vec<f64>, Vec<f64>) {
    let density = |x: f64| 240.0 * x.powi(14) * (1.0 - x);
    let draw = |rng: &mut Pcg64| loop {
        let (x, u): (f64, f64) = (rng.random(), rng.random());
        if 6.0 * u < density(x) {
            return x;
        }
    };
    let x: Vec<f64> = (0..n).map(|_| draw(rng)).collect();
    let p = x.iter().map(|&x| density(x)).collect();
    (x, p)
}

/// Unif[0, 1] with probability n/(n + n^0.4), otherwise density 4(5 − 2x) on [2, 2.5].
pub fn bimodal(n: usize, rng: &mut Pcg64) -> (Vec<f64>, Vec<f64>) {
    let sparse = 1.0 / (1.0 + (n as f64).powf(0.6));
    let draw = |rng: &mut Pcg64| {
        let (coin, u): (f64, f64) = (rng.random(), rng.random());
        if coin < sparse {
            (2.5 - 0.5 * (1.0 - u).sqrt(), sparse * 4.0 * (1.0 - u).sqrt())
        } else {
            (u, 1.0 - sparse)
        }
    };
    (0..n).map(|_| draw(rng)).unzip()
}

pub const DESIGNS: [(&str, Design); 3] =
    [("uniform", uniform), ("Beta(15, 2)", beta), ("bimodal", bimodal)];
