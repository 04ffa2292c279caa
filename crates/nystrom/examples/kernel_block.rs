//! A single crate on its own: a million kernel values.

use nystrom_kernels::{Kernel, Matern32, Points};
use nystrom_linalg_core::{Error, faer::Mat};

fn main() -> Result<(), Error> {
    let x = Mat::from_fn(1000, 3, |i, k| ((i * (k + 1)) % 97) as f64 / 97.0); // 1000 points in rows
    let points = Points::from_rows(x.as_ref());
    let block = Matern32::new(0.5)?.eval(points, points); // 1000 × 1000
    println!("k(x_0, x_1) = {:.6}", block[(0, 1)]);
    Ok(())
}
