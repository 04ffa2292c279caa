//! Chapter 6. Choosing λ, kernels and length scales.
//!
//! One eigendecomposition gives the exact leave-one-out error, GCV and d_eff at every λ, and the
//! model at any λ without another pass:
//!
//! ```
//! use nystrom::kernels::median_heuristic;
//! use nystrom::krr::lambda_grid;
//! use nystrom::prelude::*;
//! use nystrom::sketch::Uniform;
//!
//! let rng = &mut Pcg64::seed_from_u64(5);
//! let x = Mat::from_fn(1000, 2, |_, _| rng.random::<f64>());
//! let y = Mat::from_fn(1000, 1, |i, _| (6.0 * x[(i, 0)]).sin() + rng.random::<f64>() - 0.5);
//! let points = Points::from_rows(x.as_ref());
//!
//! // a first length scale
//! let kernel = Gaussian::new(median_heuristic(points, 500, rng)?)?;
//! let landmarks = Uniform::default().select(&KernelMatrix::new(kernel, points)?, 80, rng)?;
//! let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(kernel) };
//! let path = krr.path((points, &y), &landmarks, &lambda_grid(1.0, 1e-8, 17)?)?;
//! let best = path.best_by_loo();
//! // else: widen the grid
//! assert!(!path.at_edge(best));
//! // the noise is uniform of width 1
//! assert!((best.loo.sqrt() - 1.0 / 12_f64.sqrt()).abs() < 0.03);
//! let model = path.model_at(best.ridge)?;
//! # assert_eq!(model.predict(points)?.nrows(), 1000);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! Leave-one-out holds the landmarks fixed. For a choice between kernels, or of anything that looks
//! at the targets, cross-validate the whole procedure.
//! [`CrossValidation`](crate::krr::CrossValidation) takes grids of kernels and ridges and any
//! closure that fits and predicts.
//!
//! On a million rows, with a certificate and a saved model at the end: `examples/million_rows.rs`.
//! λ is per sample: a value found on a part of the data keeps its meaning on all of it.
