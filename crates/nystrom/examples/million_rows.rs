//! Kernel ridge regression on a million rows: choose λ by leave-one-out, certify the fit, save it,
//! load it (feature `serde`).
//!
//! `cargo run --release -p nystrom --features serde --example million_rows -- [ROWS] [LANDMARKS]`

use std::error::Error;
use std::time::Instant;

use nystrom::krr::{Certificate, Closeness, lambda_grid, metrics};
use nystrom::prelude::*;
use nystrom::sketch::Uniform;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let rows = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let landmarks = args.next().map_or(Ok(500), |text| text.parse())?;
    run(rows, landmarks)
}

/// `n` rows of which every one has noise, `m` landmarks.
pub fn run(n: usize, m: usize) -> std::result::Result<(), Box<dyn Error>> {
    let clock = Instant::now();
    let rng = &mut Pcg64::seed_from_u64(3);
    let (x, y, _) = sample(n, rng);
    let (x_test, _, f_test) = sample(5_000, rng);
    let (points, test) = (Points::from_rows(x.as_ref()), Points::from_rows(x_test.as_ref()));

    // shown: begin
    let kernel = Matern52::new(1.5)?;
    let landmarks = Uniform::default().select(&KernelMatrix::new(kernel, points)?, m, rng)?;
    let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(kernel) };
    // errors at 17 values of λ; reads the data twice
    let path = krr.path((points, &y), &landmarks, &lambda_grid(1e-2, 1e-10, 17)?)?;
    let best = path.best_by_loo();
    let model = path.model_at(best.ridge)?; // reads no data
    // shown: end
    if path.at_edge(best) {
        println!("the best ridge is at the edge of the grid: widen it");
    }
    println!(
        "{n} rows, {m} landmarks: {:?} by leave-one-out, RMSE {:.4}",
        best.ridge,
        best.loo.sqrt()
    );
    println!("  d_eff {:.0}; {:.0} s so far", best.d_eff, clock.elapsed().as_secs_f64());

    let predicted = model.predict(test)?;
    println!(
        "RMSE against the noise-free target: {:.4}",
        metrics::rmse(predicted.as_ref(), f_test.as_ref())?
    );
    let report = Certificate::default().certify(&model, (points, &y), rng)?;
    println!("exact regression on all rows differs by at most {:.1e} RMS", report.targets[0].bound);
    let closeness = match report.closeness() {
        Closeness::Close => "close to it".to_owned(),
        Closeness::MoreRows { rows } => format!("probably close: draw {rows} rows to be sure"),
        Closeness::Far { factor } => {
            format!("not shown to be close: more landmarks, K - L about {factor:.0} times smaller")
        }
        Closeness::MorePasses => "undecided".to_owned(),
    };
    println!("  {closeness}; {:.0} s so far", clock.elapsed().as_secs_f64());

    let file = std::env::temp_dir().join("nystrom-model.json");
    std::fs::write(&file, serde_json::to_vec(&model)?)?;
    let loaded: KrrModel<Matern52, f64> = serde_json::from_slice(&std::fs::read(&file)?)?;
    assert_eq!(loaded.predict(test)?, predicted); // to the bit
    println!(
        "saved to and loaded from {}: {} kB",
        file.display(),
        std::fs::metadata(&file)?.len() / 1000
    );
    Ok(())
}

/// Points in \[−1, 1\]⁵, noisy targets, and the targets without noise.
fn sample(n: usize, rng: &mut dyn Rng) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let x = Mat::from_fn(n, 5, |_, _| 2.0 * rng.random::<f64>() - 1.0);
    let f = Mat::from_fn(n, 1, |i, _| (2.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)]);
    let y = Mat::from_fn(n, 1, |i, _| f[(i, 0)] + 0.2 * (rng.random::<f64>() - 0.5));
    (x, y, f)
}
