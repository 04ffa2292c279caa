//! Ridge leverage scores of a CSV file: `cargo run --release --example leverage_scores -- FILE
//! [LAMBDA]`.
//!
//! Every column is taken as a feature and scaled to unit variance. Without a file, a small one is
//! made up. Prints the effective dimension and the ten rows that the others explain least.

use nystrom::kernels::median_heuristic;
use nystrom::prelude::*;
use nystrom_data::{Csv, Standardize, Standardizer};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    run(args.next().as_deref(), args.next().map_or(Ok(1e-3), |text| text.parse())?)
}

/// The scores of a file, or of the table made up.
pub fn run(path: Option<&str>, lambda: f64) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let table = match path {
        Some(path) => Csv::new().read_path(path)?,
        None => Csv::new().read(MADE_UP.as_bytes(), "made-up.csv")?,
    };
    let x = table.matrix()?;
    let x = Standardizer::fit(x.as_ref(), &[], Standardize::default())?.transform(x.as_ref())?;
    let points = Points::from_rows(x.as_ref());
    let rng = &mut Pcg64::seed_from_u64(0);
    let length_scale = median_heuristic(points, 1000, rng)?;
    let k = KernelMatrix::new(Gaussian::new(length_scale)?, points)?;

    let ridge = Ridge::PerSample(lambda);
    let scores = match k.dim() {
        ..=5000 => exact_scores(&k, ridge)?.scores, // n × n
        _ => AlaouiMahoney { columns: 1000 }.scores(&k, ridge, rng)?,
    };
    println!(
        "n = {}, length scale {length_scale:.3}, d_eff = {:.2}",
        k.dim(),
        scores.iter().sum::<f64>()
    );
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    for &i in order.iter().take(10) {
        println!("row {:>6}: {:.4}", i + 1, scores[i]);
    }
    Ok(())
}

const MADE_UP: &str = "height,weight\n1.71,68\n1.69,70\n1.75,74\n1.80,80\n1.66,61\n1.73,71\n1.77,75\n2.05,58\n1.70,66\n1.74,73\n";
