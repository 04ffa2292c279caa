//! Choose λ by leave-one-out, ask how far the fit is from exact kernel ridge regression, save it (feature `serde`).

use nystrom::krr::{Certificate, Closeness, lambda_grid};
use nystrom::prelude::*;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let rng = &mut Pcg64::seed_from_u64(5);
    let (n, d) = (20_000, 3);
    let x = Mat::from_fn(n, d, |_, _| rng.random::<f64>() * 2.0 - 1.0);
    let y = Mat::from_fn(n, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)] + rng.random::<f64>() - 0.5);
    let points = Points::from_rows(x.as_ref());
    let kernel = Gaussian::new(0.7)?;
    let krr = NystromKrr { intercept: true, ..NystromKrr::new(kernel, Ridge::PerSample(1.0)) };

    for m in [20, 50, 200] {
        let landmarks = Uniform::default().select(&KernelMatrix::new(kernel, points)?, m, rng)?;
        let path = krr.path(points, y.as_ref(), &landmarks, &lambda_grid(1e-1, 1e-8, 15)?)?;
        let best = path.best_by_loo();
        let model = path.model_at(best.ridge)?; // no further pass over the data
        println!(
            "{m} landmarks: leave-one-out RMSE {:.4} at {:?}, d_eff {:.1}",
            best.loo.sqrt(),
            best.ridge,
            best.d_eff
        );
        if path.at_edge(best) {
            println!("  the best ridge is at the edge of the grid: widen it");
        }

        let report = Certificate::default().certify(&model, points, y.as_ref(), rng)?;
        let target = &report.targets[0];
        println!("  exact regression differs by at most {:.1e} RMS (residuals: {:.1e})", target.bound, target.residual);
        match report.closeness() {
            Closeness::Close => {
                let file = std::env::temp_dir().join("nystrom-tuned.json");
                std::fs::write(&file, serde_json::to_vec(&model)?)?;
                println!("  close to exact: saved to {}", file.display());
            }
            Closeness::MoreRows { rows } => println!("  probably close: draw {rows} rows to be sure"),
            Closeness::Far { factor } => {
                println!("  not shown to be close: make K - L about {factor:.0} times smaller")
            }
        }
    }
    Ok(())
}
