//! Fit kernel ridge regression on a hundred thousand rows, predict, save, load (feature `serde`).

use nystrom::krr::metrics;
use nystrom::prelude::*;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let rng = &mut Pcg64::seed_from_u64(3);
    let (n, d) = (100_000, 5);
    let target = |x: &[f64]| (2.0 * x[0]).sin() + x[1] * x[2];
    let mut sample = |n: usize, noise: f64| {
        let x = Mat::from_fn(n, d, |_, _| rng.random::<f64>() * 2.0 - 1.0);
        let y = Mat::from_fn(n, 1, |i, _| {
            let row: Vec<f64> = x.row(i).iter().copied().collect();
            target(&row) + noise * (rng.random::<f64>() - 0.5)
        });
        (x, y)
    };
    let (x, y) = sample(n, 0.2);
    let (x_test, f_test) = sample(5_000, 0.0);

    let points = Points::from_rows(x.as_ref());
    let kernel = Matern52::new(1.5)?;
    let landmarks = Uniform::default().select(&KernelMatrix::new(kernel, points)?, 800, rng)?;
    let model = NystromKrr::new(kernel, Ridge::PerSample(1e-7)).fit(points, y.as_ref(), &landmarks)?;
    let report = model.report();
    println!("{} rows, {} landmarks, solved by {:?}: {}", report.n, report.m, report.solver, report.reason);

    let predicted = model.predict(Points::from_rows(x_test.as_ref()))?;
    println!("RMSE against the noise-free target: {:.4}", metrics::rmse(predicted.as_ref(), f_test.as_ref())?);

    let file = std::env::temp_dir().join("nystrom-model.json");
    std::fs::write(&file, serde_json::to_vec(&model)?)?;
    let loaded: KrrModel<Matern52, f64> = serde_json::from_slice(&std::fs::read(&file)?)?;
    assert_eq!(loaded.predict(Points::from_rows(x_test.as_ref()))?, predicted); // to the bit
    println!("saved to and loaded from {}: {} kB", file.display(), std::fs::metadata(&file)?.len() / 1000);
    Ok(())
}
