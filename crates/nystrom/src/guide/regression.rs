//! Chapter 5. Fit, predict, save.
//!
//! Choosing landmarks is a separate, visible, seeded step; fitting is then deterministic.
//!
//! ```
//! use nystrom::krr::metrics;
//! use nystrom::prelude::*;
//!
//! let rng = &mut Pcg64::seed_from_u64(3);
//! let x = Mat::from_fn(2000, 2, |_, _| rng.random::<f64>());
//! let y = Mat::from_fn(2000, 1, |i, _| {
//!     (6.0 * x[(i, 0)]).sin() * x[(i, 1)] + 0.1 * (rng.random::<f64>() - 0.5)
//! });
//! let (train, test) =
//!     (Points::from_rows(x.subrows(0, 1500)), Points::from_rows(x.subrows(1500, 500)));
//! let (y_train, y_test) = (y.subrows(0, 1500), y.subrows(1500, 500));
//!
//! let kernel = Gaussian::new(0.5)?;
//! let landmarks = RpCholesky::default().select(&KernelMatrix::new(kernel, train)?, 60, rng)?;
//! let krr = NystromKrr { intercept: true, ..NystromKrr::new(kernel, Ridge::PerSample(1e-7)) };
//! let model = krr.fit((train, y_train), &landmarks)?;
//! let predicted = model.predict(test)?; // 500 × 1
//! // the noise alone is 0.029
//! assert!(metrics::rmse(predicted.as_ref(), y_test)? < 0.035);
//! // what was solved, and how
//! assert_eq!(model.report().m, 60);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! Targets are n × t: several columns share the work. With the feature `serde` a model is saved and
//! loaded by any format of serde (`examples/million_rows.rs`): landmarks, coefficients, kernel,
//! format version. A file that does not fit is refused.
//!
//! # Which solver
//! All of these return a [`KrrModel`](crate::krr::KrrModel) and, where they share landmarks, the
//! same f:
//!
//! * [`NystromKrr`](crate::krr::NystromKrr): one pass, O(nm²). The first choice up to m of a few
//!   thousand; sound at λ = 1e-12.
//! * [`Falkon`](crate::krr::Falkon): conjugate gradients, O(nm) an iteration: for m beyond that.
//!   [`Krill`](crate::krr::Krill): where Falkon's preconditioner is poor.
//! * [`AutoKrr`](crate::krr::AutoKrr): counts the work of the three in the memory you give, takes
//!   the cheapest, says why.
//! * [`SketchedKrr`](crate::krr::SketchedKrr): in the span of any sketch: accumulations, Gaussian.
//! * [`ExactKrr`](crate::krr::ExactKrr): the definition, n × n, to about n = 10⁴.
//!   [`FullKrr`](crate::krr::FullKrr): the same f without storing K.
