//! Measures products and fits on a card, for `measure.sh`: a line of JSON for each result.

use clap::{Parser, ValueEnum};
use faer::Mat;
use nystrom_gpu::{Gpu, GpuOptions, GpuProducts, adapters};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{Extras, FullKrr, Iteration, IterativeOptions};
use nystrom_linalg_core::Ridge;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

/// A product that takes this long is measured.
const SECONDS: f64 = 0.5;
/// Sizes of the products that are measured.
const SMALLEST: usize = 1 << 11;
const LARGEST: usize = 1 << 20;
/// Rows that are compared with `f64`.
const ROWS: usize = 200;

/// Measures products and fits on a card: a line of JSON for each result
#[derive(Parser)]
#[command(name = "nystrom-gpu measure", no_binary_name = true, args_override_self = true)]
pub struct Options {
    part: Part,
    /// The card: the first whose name contains NAME, instead of the best one
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Multiply-adds a second of the card, of which `speed` prints the share reached
    #[arg(long, value_name = "FMA_PER_SECOND")]
    peak: Option<f64>,
    /// Rows of `time` and `centres`
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    rows: usize,
    /// Centres of `centres`
    #[arg(long, value_name = "M", default_value_t = 512_000)]
    centres: usize,
    /// `time` stops after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 200.0)]
    limit: f64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// Kernel values a second for d = 3, 10, 32, 90 and 1 and 28 right-hand sides
    Speed,
    /// The error against f64 on 200 rows
    Error,
    /// The residual of a fit with all rows as centres after every iteration
    Time,
    /// A product with K_nm and one with its transpose
    Centres,
}

pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let gpu = Gpu::open(&GpuOptions { name: options.name.clone(), ..GpuOptions::default() })?;
    match options.part {
        Part::Speed => {
            let mut cases = [3, 10, 32, 90].into_iter().flat_map(|d| [(d, 1), (d, 28)]);
            cases.try_for_each(|(d, t)| speed(&gpu, d, t, options.peak))
        }
        Part::Error => [3, 10, 32, 90].into_iter().try_for_each(|d| error(&gpu, d)),
        Part::Time => time(&gpu, options),
        Part::Centres => centres(&gpu, options),
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
    let k = kernel.eval(x.gather((&rows[..]).into()).points(), x);
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

/// The fit with n rows as centres (d = 10): the residual and the seconds after every iteration, one
/// run for all tolerances.
fn time(gpu: &Gpu, options: &Options) -> Result<(), Box<dyn Error>> {
    const D: usize = 10;
    let n = options.rows;
    let x = points(n, D);
    let noise = |i: usize| ((i + 1) as f64 * 7.31).sin() * 0.1;
    let y = Mat::from_fn(n, 1, |i, _| (4.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)] + noise(i));
    let ridge = Ridge::PerSample(1e-6);
    let iterations = IterativeOptions { tolerance: 1e-3, max_iterations: 500, memory: None };
    let full = FullKrr { options: iterations, ..FullKrr::new(kernel(D)?, ridge) };
    let (start, adapter) = (Instant::now(), gpu.adapter());
    let mut monitor = |iteration: &Iteration<'_, Gaussian, f64>| {
        let (seconds, number) = (start.elapsed().as_secs_f64(), iteration.number);
        println!(
            "{{\"part\":\"time\",\"adapter\":{adapter:?},\"n\":{n},\"d\":{D},\
             \"iteration\":{number},\"seconds\":{seconds:.3},\"residual\":{:.3e}}}",
            iteration.residual
        );
        let stops = seconds > options.limit;
        Ok(if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let extras = Extras { monitor: Some(&mut monitor), device: Some(gpu), ..Extras::default() };
    let rng = &mut Pcg64::seed_from_u64(0);
    let fit = full.fit_with((Points::from_rows(x.as_ref()), &y), extras, rng)?;
    println!(
        "{{\"part\":\"time\",\"adapter\":{adapter:?},\"n\":{n},\"d\":{D},\"stop\":\"{:?}\",\
         \"seconds\":{:.3},\"true_residual\":{:.3e},\"rank_bytes\":{},\"notice\":{}}}",
        fit.report.stop,
        start.elapsed().as_secs_f64(),
        fit.report.residual,
        fit.report.memory.factors,
        serde_json::json!(fit.report.notice)
    );
    Ok(())
}

/// The products of an iteration with M centres: K_nm u and K_nmᵀw (d = 10).
fn centres(gpu: &Gpu, options: &Options) -> Result<(), Box<dyn Error>> {
    const D: usize = 10;
    let (n, m) = (options.rows, options.centres);
    let (x, z, u, w) = (points(n, D), points(m, D), sides(m, 1), sides(n, 1));
    let (x, z) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
    let mut products = GpuProducts::new(gpu, &kernel(D)?, x, z, 1)?;
    let start = Instant::now();
    products.mul(u.as_ref())?;
    let forward = start.elapsed().as_secs_f64();
    let mut out = Mat::zeros(m, 1);
    products.transposed_mul_into(out.as_mut(), w.as_ref())?;
    let both = start.elapsed().as_secs_f64();
    println!(
        "{{\"part\":\"centres\",\"adapter\":{:?},\"n\":{n},\"m\":{m},\"d\":{D},\"bytes\":{},\
         \"seconds\":{forward:.3},\"seconds_transposed\":{:.3}}}",
        gpu.adapter(),
        GpuProducts::bytes(n, Some(m), D, 1),
        both - forward
    );
    Ok(())
}
