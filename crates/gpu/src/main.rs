//! Lists devices and measures products on one of them, for `measure.sh`.

use faer::Mat;
use nystrom_gpu::{Gpu, GpuOptions, GpuProducts, adapters};
use nystrom_kernels::{Gaussian, Kernel, Points};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: nystrom-gpu devices
       nystrom-gpu speed [--name NAME] [--peak FMA_PER_SECOND]
       nystrom-gpu error [--name NAME]";

/// A product that takes this long is measured.
const SECONDS: f64 = 0.5;
/// Sizes of the products that are measured.
const SMALLEST: usize = 1 << 11;
const LARGEST: usize = 1 << 20;
/// Rows that are compared with `f64`.
const ROWS: usize = 200;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    let options = GpuOptions { name: value("--name"), ..GpuOptions::default() };
    match words.first().map(String::as_str) {
        Some("devices") => {
            for adapter in adapters() {
                println!("{adapter}");
            }
            Ok(())
        }
        Some("speed") => {
            let peak = value("--peak").map(|peak| peak.parse()).transpose()?;
            let gpu = Gpu::open(&options)?;
            for d in [3, 10, 32, 90] {
                for t in [1, 28] {
                    speed(&gpu, d, t, peak)?;
                }
            }
            Ok(())
        }
        Some("error") => {
            let gpu = Gpu::open(&options)?;
            [3, 10, 32, 90].into_iter().try_for_each(|d| error(&gpu, d))
        }
        _ => Err(USAGE.into()),
    }
}

/// Points of a Kronecker sequence in the unit cube.
fn points(n: usize, d: usize) -> Mat<f64> {
    Mat::from_fn(n, d, |i, k| ((i + 1) as f64 * (k as f64 + 2.5).sqrt()).fract())
}

fn sides(n: usize, t: usize) -> Mat<f64> {
    Mat::from_fn(n, t, |i, j| ((i + 1) as f64 * (j as f64 + 1.0)).sin())
}

/// The Gaussian kernel with the length scale √d / 4, about the distance of near points.
fn kernel(d: usize) -> Result<Gaussian, Box<dyn Error>> {
    Ok(Gaussian::new((d as f64).sqrt() / 4.0)?)
}

/// Kernel values a second of the product K(X, X)V of the first n for which it takes half a second.
fn speed(gpu: &Gpu, d: usize, t: usize, peak: Option<f64>) -> Result<(), Box<dyn Error>> {
    let mut n = SMALLEST;
    let seconds = loop {
        let x = points(n, d);
        let (x, v) = (Points::from_rows(x.as_ref()), sides(n, t));
        let mut products = GpuProducts::symmetric(gpu, &kernel(d)?, x, t)?;
        products.mul(v.as_ref())?; // compiles
        let start = Instant::now();
        products.mul(v.as_ref())?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= SECONDS || n == LARGEST {
            break seconds;
        }
        n *= 2;
    };
    let rate = (n as f64).powi(2) / seconds;
    // a subtraction and a multiply-add for each coordinate, a multiply-add for each product
    let operations = 2 * d + t;
    let share = peak.map_or("null".into(), |peak| (rate * operations as f64 / peak).to_string());
    println!(
        "{{\"part\":\"speed\",\"adapter\":{:?},\"d\":{d},\"t\":{t},\"n\":{n},\
         \"seconds\":{seconds:.4},\"values_per_second\":{rate:.4e},\
         \"operations_per_value\":{operations},\"share_of_peak_fma\":{share}}}",
        gpu.adapter()
    );
    Ok(())
}

/// The error of K(X, X)v on some rows, as a share of Σ|k v| of the row, and its norm as a share of
/// ‖K‖‖v‖, where ‖K‖ is at least the mean sum of a row.
fn error(gpu: &Gpu, d: usize) -> Result<(), Box<dyn Error>> {
    let discrete = adapters().iter().any(|a| a.name == gpu.adapter() && a.kind == "discrete");
    let n = if discrete { 1 << 17 } else { 3000 };
    let (x, v) = (points(n, d), sides(n, 1));
    let (x, kernel) = (Points::from_rows(x.as_ref()), kernel(d)?);
    let y = GpuProducts::symmetric(gpu, &kernel, x, 1)?.mul(v.as_ref())?;
    let rows: Vec<usize> = (0..ROWS).map(|i| i * n / ROWS).collect();
    let k = kernel.eval(Points::from_cols(x.gather((&rows[..]).into()).as_ref()), x);
    let (mut worst, mut square, mut sum) = (0.0_f64, 0.0, 0.0);
    for (r, &i) in rows.iter().enumerate() {
        let terms = || (0..n).map(|j| k[(r, j)] * v[(j, 0)]);
        let (exact, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
        let error = (y[(i, 0)] - exact).abs();
        worst = worst.max(error / size);
        square += error.powi(2) / ROWS as f64;
        sum += k.row(r).sum() / ROWS as f64;
    }
    println!(
        "{{\"part\":\"error\",\"adapter\":{:?},\"d\":{d},\"n\":{n},\"rows\":{ROWS},\
         \"largest_share_of_absolute_sum\":{worst:.3e},\"share_of_norms\":{:.3e}}}",
        gpu.adapter(),
        (square * n as f64).sqrt() / (sum * v.norm_l2())
    );
    Ok(())
}
