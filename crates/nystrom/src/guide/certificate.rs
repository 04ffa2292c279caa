//! Chapter 7. How far from exact?
//!
//! m landmarks were enough if more of them would not change f. That can be bounded without
//! computing exact regression, from a few hundred random rows of K, at a stated confidence, for any
//! n:
//!
//! ```
//! use nystrom::krr::Closeness;
//! use nystrom::prelude::*;
//!
//! let rng = &mut Pcg64::seed_from_u64(5);
//! let x = Mat::from_fn(1500, 2, |_, _| rng.random::<f64>());
//! let y = Mat::from_fn(1500, 1, |i, _| (6.0 * x[(i, 0)]).sin() + rng.random::<f64>() - 0.5);
//! let (kernel, points) = (Gaussian::new(0.5)?, Points::from_rows(x.as_ref()));
//! let mut bounds = Vec::new();
//! for m in [10, 80] {
//!     let landmarks =
//!         RpCholesky::default().select(&KernelMatrix::new(kernel, points)?, m, rng)?;
//!     let model =
//!         NystromKrr::new(kernel, Ridge::PerSample(1e-4)).fit((points, &y), &landmarks)?;
//!     let report = Certificate::default().certify(&model, (points, &y), rng)?;
//!     // RMS distance to exact regression, with 99 % confidence
//!     bounds.push(report.targets[0].bound);
//!     if m == 80 {
//!         // a small part of the residuals
//!         assert!(matches!(report.closeness(), Closeness::Close));
//!     }
//! }
//! assert!(bounds[1] < bounds[0]);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! A fit that is not shown to be close comes with advice: more rows to look at, or by what factor K
//! − L should shrink ([`Closeness`](crate::krr::Closeness)). The bound is about the fitted values,
//! for this kernel and λ; it does not say that they were well chosen.
//!
//! The bound may be several times too large, as it knows few rows. Where n² kernel values are
//! affordable, [`TightCertificate`](crate::krr::TightCertificate) bounds the distance from both
//! sides.
