//! Chapter 11. From a CSV file to a saved model, and back.
//!
//! The crate `nystrom-data` reads files; with the features `serde` of both crates what was fitted
//! is saved. The whole way, once:
//!
//! ```
//! use nystrom::kernels::median_heuristic;
//! use nystrom::krr::{lambda_grid, metrics};
//! use nystrom::prelude::*;
//! use nystrom_data::{Csv, Standardize, Standardizer};
//!
//! fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//!     let rng = &mut Pcg64::seed_from_u64(7);
//! #   let folder = std::env::temp_dir().join(format!("nystrom-guide-{}", std::process::id()));
//! #   std::fs::create_dir_all(&folder)?;
//! #   let file = |name: &str| folder.join(name);
//! #   let mut rows = |n: usize| -> (String, Vec<f64>) {
//! #       let mut text = String::from("area,age,price\n");
//! #       let mut prices = Vec::new();
//! #       for i in 0..n {
//! #           let (area, age) = (30.0 + 170.0 * rng.random::<f64>(), 80.0 * rng.random::<f64>());
//! #           prices.push(2.0 * area - age + 20.0 * (age / 10.0).sin());
//! #           let area = if i == 5 { "NA".to_owned() } else { area.to_string() };
//! #           text += &format!("{area},{age},{}\n", prices[i]);
//! #       }
//! #       (text, prices)
//! #   };
//! #   std::fs::write(file("houses.csv"), rows(1000).0)?;
//! #   let (text, truth) = rows(5);
//! #   std::fs::write(file("new.csv"), text)?;
//! #   let rng = &mut Pcg64::seed_from_u64(8);
//!
//!     // Read. What is not a number has to be announced: here `NA` is, and its rows are left out.
//!     let table = Csv::new().missing(["NA"]).read_path(file("houses.csv"))?;
//!     let data = table.drop_missing_rows().into_dataset("price")?;
//!     // Features of mean 0 and variance 1; the scaler will do the same to new rows.
//!     let (data, scaler) = data.standardize(Standardize::default())?;
//!     let (points, y) = (Points::from_rows(data.x.as_ref()), data.targets()); // n × d, n × 1
//!
//!     // Landmarks by leverage scores at a ridge that the method finds.
//!     // Then λ by leave-one-out, all values from one decomposition.
//!     let kernel = Matern32::new(median_heuristic(points, 1000, rng)?)?;
//!     let landmarks = RecursiveNystrom::default().select(&KernelMatrix::new(kernel, points)?,
//!         150, rng)?;
//!     let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(kernel) };
//!     let path = krr.path((points, y), &landmarks, &lambda_grid(1.0, 1e-12, 25)?)?;
//!     let model = path.model_at(path.best_by_loo().ridge)?;
//!
//!     // Save: the scaler belongs to the model.
//!     std::fs::write(file("houses.json"), serde_json::to_vec(&(&scaler, &model))?)?;
//!
//!     // On another day, in another program: load, scale, predict.
//!     // Columns are taken by name, in the order of the fit.
//!     let saved = std::fs::read(file("houses.json"))?;
//!     let (scaler, model): (Standardizer, KrrModel<Matern32, f64>) =
//!         serde_json::from_slice(&saved)?;
//!     let new = Csv::new().read_path(file("new.csv"))?.select_columns(["area", "age"])?.matrix()?;
//!     let new = scaler.transform(new.as_ref())?;
//!     let prices = model.predict(Points::from_rows(new.as_ref()))?;           // 5 × 1
//! #   let truth = Mat::from_fn(5, 1, |i, _| truth[i]);
//! #   std::fs::remove_dir_all(&folder)?;
//!     // of prices between 0 and 400
//!     assert!(metrics::rmse(prices.as_ref(), truth.as_ref())? < 3.0);
//!     Ok(())
//! }
//! ```
//!
//! In `Cargo.toml`: `nystrom` and `nystrom-data`, both with `features = ["serde"]`, and
//! `serde_json` with `features = ["float_roundtrip"]`. Without that a number may come back one unit
//! in the last place off.
//!
//! * *Other formats*: `nystrom_data::read_path` goes by the file's name: ARFF, libsvm, npy, each
//!   plain or gzip, and Parquet (feature `parquet`).
//! * *Text columns*: `Csv::text`, then `Table::encode`. A file to predict needs the same values in
//!   the column, or the columns differ.
//! * *How sure*: keep rows back, or [certify](super::certificate). *Many rows*: chapters
//!   [5](super::regression) and [8](super::streaming).
//! * *Without Rust*: the program `nystrom` does all this:
//!   `nystrom fit houses.csv --target price -o model.json`.
