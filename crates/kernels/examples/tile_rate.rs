//! Entries per second of a 20,000 × 2000 block into a reused buffer, beside the machine's own GEMM rate: best of many.
//!
//! `cargo run --release -p nystrom-kernels --example tile_rate [repeats]`
#![allow(clippy::print_stdout)]

use faer::{Accum, Mat};
use nystrom_kernels::{Gaussian, Kernel, LaplacianL1, Linear, Matern32, Points};
use nystrom_linalg_core::{Scalar, ops};
use std::time::Instant;

fn best(repeats: usize, mut run: impl FnMut()) -> f64 {
    (0..repeats)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn wave<T: Scalar>(n: usize, d: usize) -> Mat<T> {
    Mat::from_fn(n, d, |i, k| T::lit(((i * 7919 + k * 104_729) % 10_007) as f64 / 10_007.0))
}

fn rates<T: Scalar>(repeats: usize) {
    let (a, mut c) = (wave::<T>(2000, 2000), Mat::<T>::zeros(2000, 2000));
    let seconds =
        best(repeats.div_ceil(4), || ops::matmul(c.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), T::one()));
    println!("{}  gemm 2000: {:.1} Gflop/s", T::NAME, 2.0 * 8e9 / seconds / 1e9);
    let mut out = Mat::<T>::zeros(20_000, 2000);
    for d in [3, 10, 32, 50, 100, 200] {
        let (x, y) = (wave::<T>(20_000, d), wave::<T>(2000, d));
        let (x, y) = (Points::from_rows(x.as_ref()), Points::from_rows(y.as_ref()));
        let kernels: [(&str, &dyn Kernel<T>); 4] = [
            ("gaussian", &Gaussian::new(1.0).unwrap()),
            ("matern32", &Matern32::new(1.0).unwrap()),
            ("laplacian_l1", &LaplacianL1::new(1.0).unwrap()),
            ("linear", &Linear::new()),
        ];
        let mut line = format!("{}  d = {d:3}", T::NAME);
        for (name, kernel) in kernels {
            let seconds = best(repeats, || kernel.eval_into(out.as_mut(), x, y));
            line += &format!("  {name} {:.2} G/s", 0.04 / seconds);
        }
        let seconds = best(repeats.div_ceil(2), || {
            ops::matmul(out.as_mut(), Accum::Replace, x.as_cols().transpose(), y.as_cols(), T::one());
        });
        println!("{line}  gemm {:.2} G/s", 0.04 / seconds);
    }
}

fn main() {
    let repeats = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(10);
    for threads in [1, 2] {
        println!("threads: {threads}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            rates::<f64>(repeats);
            rates::<f32>(repeats);
        });
    }
}
