//! From a CSV file to a model and its error: `cargo run --release -p nystrom --features serde
//! --example csv_to_model -- FILE TARGET`. Every other column is a feature.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(target)) = (args.next(), args.next()) else {
        return Err("give a CSV file and the name of its target column".into());
    };
    run(&file, &target).map(drop)
}

/// Fits 500 landmarks; the leave-one-out error.
pub fn run(file: &str, target: &str) -> Result<f64, Box<dyn Error>> {
    // shown: begin
    use nystrom::{kernels::median_heuristic, krr::lambda_grid, prelude::*, sketch::Uniform};

    let rng = &mut Pcg64::seed_from_u64(1);
    let data = nystrom_data::read_path(file)?.into_dataset(target)?;
    let (data, _) = data.standardize(nystrom_data::Standardize::default())?;
    let x = Points::from_rows(data.x.as_ref()); // n × d, in rows
    let kernel = Matern32::new(median_heuristic(x, 1000, rng)?)?;
    let k = KernelMatrix::new(kernel, x)?; // lazy: nothing n × n
    let landmarks = Uniform::default().select(&k, data.y.len().min(500), rng)?;
    let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(kernel) };
    let path = krr.path((x, data.targets()), &landmarks, &lambda_grid(1.0, 1e-12, 25)?)?;
    let best = path.best_by_loo();
    let model = path.model_at(best.ridge)?; // predicts, and is saved with the feature `serde`
    println!("{} landmarks, leave-one-out RMSE {:.3}", model.centers().len(), best.loo.sqrt());
    // shown: end
    Ok(best.loo.sqrt())
}
