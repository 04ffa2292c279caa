//! Fits of Nyström kernel ridge regression. Gaussian kernel, ℓ = 3, λ = 1e-6, d = 10, uniform
//! landmarks, in f64 and in f32.
//!
//! `cargo bench -p nystrom-benches --bench nystrom_fit`. If the environment variable
//! `NYSTROM_MILLION` is set, also n = 10⁶ in f64.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nystrom::linalg_core::Scalar;
use nystrom::prelude::*;
use nystrom_benches::{heavy, problems};

fn fits<T: Scalar>(c: &mut Criterion, n: usize, x: &Mat<T>, y: &Mat<T>)
where
    Gaussian: Kernel<T>,
{
    let mut group = c.benchmark_group(format!("nystrom_fit_{}", T::NAME));
    let points = Points::from_rows(x.as_ref());
    let landmarks: &[usize] = if n == 200_000 { &[1000, 2000] } else { &[1000, 2000, 4000] };
    for &m in landmarks {
        let krr = NystromKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(T::lit(1e-6)));
        let id = BenchmarkId::new(format!("m{m}"), n);
        heavy(&mut group, id, || krr.fit((points, y.as_ref()), points.slice(0..m)).unwrap());
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let million = std::env::var_os("NYSTROM_MILLION").map(|_| 1_000_000);
    for n in [50_000, 200_000].into_iter().chain(million) {
        let (x, y) = problems::cosines(n, 10, 1);
        fits(c, n, &x, &y);
        if n < 1_000_000 {
            fits::<f32>(c, n, &problems::cast(&x), &problems::cast(&y));
        }
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
