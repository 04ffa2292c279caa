//! Peak memory of single fits, each in a separate process. It prints one line of JSON per case,
//! with the resident megabytes before the fit and at its peak.
//!
//! `cargo bench -p nystrom-benches --bench memory`. Only on Linux; elsewhere it prints nothing.
#![allow(missing_docs, clippy::print_stdout)]

use nystrom::kernels::Matern32;
use nystrom::krr::IterativeOptions;
use nystrom::leverage::exact_scores;
use nystrom::linalg_core::Scalar;
use nystrom::prelude::*;
use nystrom_benches::problems;
use std::process::Command;

/// The environment variable with the case that a child process runs.
const CASE: &str = "NYSTROM_MEMORY_CASE";

/// A name, and the work, which calls its argument when the data are in memory.
type Case = (&'static str, fn(&dyn Fn()));

const CASES: &[Case] = &[
    ("fit n=50000 m=1000", |ready| fit::<f64>(50_000, 1000, ready)),
    ("fit n=50000 m=2000", |ready| fit::<f64>(50_000, 2000, ready)),
    ("fit n=50000 m=4000", |ready| fit::<f64>(50_000, 4000, ready)),
    ("fit n=200000 m=2000", |ready| fit::<f64>(200_000, 2000, ready)),
    ("fit f32 n=200000 m=2000", |ready| fit::<f32>(200_000, 2000, ready)),
    ("falkon n=200000 m=1000", falkon),
    ("exact krr n=10000", exact_krr),
    ("exact scores n=10000", scores),
];

fn main() {
    let wanted = std::env::var(CASE).ok();
    let Some(wanted) = wanted else { return CASES.iter().for_each(|(name, _)| in_a_child(name)) };
    let (name, work) = CASES.iter().find(|(name, _)| *name == wanted).expect("a case of the list");
    let before = std::cell::Cell::new(None);
    work(&|| before.set(megabytes("VmRSS")));
    if let (Some(before), Some(peak)) = (before.get(), megabytes("VmHWM")) {
        println!(
            r#"{{"tool": "{name}", "base_mb": {before:.1}, "peak_mb": {peak:.1}, "extra_mb": {:.1}}}"#,
            peak - before
        );
    }
}

fn in_a_child(name: &str) {
    let this = std::env::current_exe().expect("a running program has a path");
    let status =
        Command::new(this).env(CASE, name).status().expect("this program starts once more");
    assert!(status.success(), "{name}: {status}");
}

/// The value of a line of `/proc/self/status`, in megabytes.
fn megabytes(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find(|line| line.starts_with(key))?.split_whitespace().nth(1)?;
    Some(kilobytes.parse::<f64>().ok()? / 1024.0)
}

fn fit<T: Scalar>(n: usize, m: usize, ready: &dyn Fn())
where
    Gaussian: Kernel<T>,
{
    let (x, y) = problems::cosines(n, 10, 1);
    let cast = |a: Mat<f64>| problems::cast::<T>(&a); // consumes the matrix, to free it
    let (x, y) = (cast(x), cast(y));
    let x = Points::from_rows(x.as_ref());
    ready();
    let krr = NystromKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(T::lit(1e-6)));
    drop(krr.fit((x, y.as_ref()), x.slice(0..m)).unwrap());
}

fn falkon(ready: &dyn Fn()) {
    let (x, y) = problems::cosines(200_000, 10, 1);
    let x = Points::from_rows(x.as_ref());
    ready();
    let options = IterativeOptions { max_iterations: 10, ..IterativeOptions::default() };
    let falkon =
        Falkon { options, ..Falkon::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6)) };
    drop(falkon.fit((x, y.as_ref()), x.slice(0..1000)).unwrap());
}

fn exact_krr(ready: &dyn Fn()) {
    let (x, y) = problems::cosines(10_000, 10, 1);
    ready();
    let krr = ExactKrr::new(Gaussian::new(3.0).unwrap(), Ridge::PerSample(1e-6));
    drop(krr.fit((Points::from_rows(x.as_ref()), y.as_ref())).unwrap());
}

fn scores(ready: &dyn Fn()) {
    let x = problems::bimodal::<f64>(10_000);
    let k = KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    ready();
    exact_scores(&k, Ridge::PerSample(1e-4)).unwrap();
}
