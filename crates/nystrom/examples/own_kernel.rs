//! Three ways to a kernel of your own: a closure, a profile of the distance, and a PSD matrix that
//! has no points at all.

use nystrom::faer::{ColMut, MatMut};
use nystrom::kernels::{FromFn, Isotropic, Lane, Profile};
use nystrom::linalg_core::Indices;
use nystrom::prelude::*;

/// κ(s) = 1/(1 + s): fused into the register tile, as fast as the built-in kernels.
struct Cauchy;
impl Profile for Cauchy {
    fn at<V: Lane>(&self, s: V) -> V {
        s.lit(1.0) / (s + 1.0)
    }
}

/// Covariance of Brownian motion at times 1, 2, …, n: entries by index.
struct Brownian(usize);
impl PsdMatrix<f64> for Brownian {
    fn dim(&self) -> usize {
        self.0
    }
    fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
        for (t, i) in idx.iter().enumerate() {
            out[t] = (i + 1) as f64;
        }
    }
    fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                out[(s, t)] = (i.min(j) + 1) as f64;
            }
        }
    }
}

/// The program.
pub fn main() -> Result<()> {
    let x: Vec<f64> = (0..500).map(|i| f64::from(i) / 500.0).collect();
    let points = Points::from_slice(&x);
    let ridge = Ridge::PerSample(1e-3);

    let closure =
        KernelMatrix::new(FromFn::new(|x: &[f64], y: &[f64]| 1.0 + x[0].min(y[0])), points)?;
    println!("closure: d_eff = {:.2}", exact_scores(&closure, ridge)?.d_eff());

    let profile = KernelMatrix::new(Isotropic::with_profile(Cauchy, 0.1)?, points)?;
    println!("profile: d_eff = {:.2}", exact_scores(&profile, ridge)?.d_eff());

    let rng = &mut Pcg64::seed_from_u64(0);
    let scores = AlaouiMahoney { columns: 100 }.scores(&Brownian(20_000), ridge, rng)?;
    println!("matrix:  d_eff ≥ {:.2} at n = 20000", scores.iter().sum::<f64>());
    Ok(())
}
