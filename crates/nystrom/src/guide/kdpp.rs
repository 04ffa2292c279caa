//! Chapter 4. Subsets that avoid repeating themselves.
//!
//! A k-DPP draws C with probability det K_CC / e_c(K): sets of rows that resemble one another have
//! small determinants, so what comes out is diverse. Its mean approximation error is known before
//! anything is drawn.
//!
//! ```
//! use nystrom::prelude::*;
//!
//! let rng = &mut Pcg64::seed_from_u64(0);
//! let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
//! let k = KernelMatrix::new(Gaussian::new(0.1)?, Points::from_slice(&x))?;
//!
//! // Exactly: one eigendecomposition (n × n), then cheap draws.
//! let ensemble = LEnsemble::new(&k)?;
//! let k_dpp = ensemble.k_dpp(10)?;
//! let exact = k_dpp.sample(rng);
//! assert!(Nystrom::new(&k, &exact)?.trace_error(&k)? < 5.0 * k_dpp.expected_trace_error());
//!
//! // Exactly again, without an n × n matrix: for any number of rows.
//! let mut k_dpp = RejectionKDpp::new(&k, 10, Rejection::of_size(10), rng)?;
//! assert_eq!(k_dpp.sample(rng)?.len(), 10);
//!
//! // By the swap chain of Li, Jegelka & Sra: c entries of K and O(c²) flops a step, whatever n is.
//! let mut chain = SwapChain::start(&k, 10, &RpCholesky::default(), SwapRule::Metropolis, rng)?;
//! chain.run(2000, rng)?;
//! assert!(chain.accepted() > 0);
//!
//! // As a landmark selector like any other:
//! let selector = KDppChain { start: KMeansPlusPlus, steps: 1000, rule: SwapRule::Metropolis };
//! assert_eq!(selector.select(&k, 10, rng)?.len(), 10);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! How long to run a chain: [`EffectiveSize`](crate::dpp::EffectiveSize) of its log-determinants
//! says how many independent draws it is worth. [`coupled_meetings`](crate::dpp::coupled_meetings)
//! estimates its distance from the k-DPP. Beside exact draws
//! [`stationary_meetings`](crate::dpp::stationary_meetings) bounds that distance. For landmarks the
//! first few hundred steps do most of it.
