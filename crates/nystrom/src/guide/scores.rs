//! Chapter 3. Which rows matter.
//!
//! The ridge leverage score l_i = \[K(K + nλI)⁻¹\]_ii is how much of row i the others cannot
//! explain at ridge nλ. The sum of all is the effective dimension d_eff(λ). That is the number of
//! landmarks that a problem needs, up to logarithms. Exactly, that is n × n:
//!
//! ```
//! use nystrom::prelude::*;
//!
//! // dense at 0, sparse at 1
//! let x: Vec<f64> = (0..500).map(|i| (f64::from(i) / 500.0).powi(3)).collect();
//! let (kernel, points) = (Matern32::new(0.2)?, Points::from_slice(&x));
//! let k = KernelMatrix::new(kernel, points)?;
//! let ridge = Ridge::PerSample(1e-4);
//! let exact = exact_scores(&k, ridge)?;
//! // the sparse end matters most
//! assert!(exact.scores[499] > 10.0 * exact.scores[0]);
//! // so uniform sampling needs six times the rows
//! assert!(exact.d_mof() > 6.0 * exact.d_eff());
//!
//! // Approximately, behind one interface; scores and a weighted dictionary with E[SSᵀ] = I.
//! let rng = &mut Pcg64::seed_from_u64(0);
//! let estimators: [&dyn RidgeLeverage<f64>; 3] =
//!     [&AlaouiMahoney { columns: 100 }, &RecursiveRls::default(), &BlessR::default()];
//! for estimator in estimators {
//!     let sum: f64 = estimator.scores(&k, ridge, rng)?.iter().sum();
//!     assert!((sum / exact.d_eff() - 1.0).abs() < 0.5);
//! }
//!
//! // Are they right? Exact scores of a few random rows, with error bounds;
//! // memory is linear in n, time quadratic:
//! let report = Audit::default().of_estimator(&k, ridge, &RecursiveRls::default(), rng)?;
//! assert!(report.largest_underestimate().1 < 3.0);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! | estimator | entries of K | knows | never |
//! |---|---|---|---|
//! | [`Exact`](crate::leverage::Exact) | n² | K | |
//! | [`AlaouiMahoney`](crate::leverage::AlaouiMahoney) | n·p | K | over-estimates |
//! | [`RecursiveRls`](crate::leverage::RecursiveRls), [`Bless`](crate::leverage::Bless), [`BlessR`](crate::leverage::BlessR) | about n·d_eff | K | |
//! | [`Squeak`](crate::leverage::Squeak), [`Disqueak`](crate::leverage::Disqueak) | about n·d_eff | points, one pass | exceeds its memory |
//! | [`SpectralAnalysis`](crate::leverage::SpectralAnalysis) | none | points in few dimensions, a stationary kernel | sees the ends of the support |
//!
//! For landmarks take [`RecursiveNystrom`](crate::leverage::RecursiveNystrom), which needs a number
//! and no ridge. Where the ridge is known,
//! [`LeverageProportional`](crate::leverage::LeverageProportional) turns any estimator into a
//! landmark selector.
