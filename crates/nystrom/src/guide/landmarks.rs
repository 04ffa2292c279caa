//! Chapter 2. A few rows that stand for all.
//!
//! Landmarks J give the Nyström approximation L = C W⁺ Cᵀ with C = K\[:, J\], W = K\[J, J\]. It
//! never exceeds K (0 ⪯ L ⪯ K), so the trace of what is left, tr(K − L), says how good J is, and
//! costs one pass to compute.
//!
//! ```
//! use nystrom::prelude::*;
//! use nystrom::sketch::Uniform;
//!
//! let rng = &mut Pcg64::seed_from_u64(1);
//! // five rows far away
//! let x =
//!     Mat::from_fn(1000, 2, |i, _| rng.random::<f64>() + if i % 200 == 0 { 8.0 } else { 0.0 });
//! let k = KernelMatrix::new(Gaussian::new(0.25)?, Points::from_rows(x.as_ref()))?;
//!
//! let mut left = Vec::new();
//! let selectors: [&dyn LandmarkSelector<f64>; 3] =
//!     [&Uniform::default(), &RpCholesky::default(), &Greedy::default()];
//! for selector in selectors {
//!     let landmarks = selector.select(&k, 60, rng)?;
//!     left.push(Nystrom::new(&k, &landmarks)?.trace_error(&k)? / k.trace());
//! }
//! assert!(left[1] < left[0] && left[2] < left[0]); // uniform sampling misses the five
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! A selector is a value; an experiment is a loop over selectors. They fall into three groups:
//!
//! * that look at nothing ([`Uniform`](crate::sketch::Uniform)) or at the diagonal
//!   ([`Diagonal`](crate::sketch::Diagonal)): free, and hard to beat where all rows are alike;
//! * that look at what is left after each choice: [`RpCholesky`](crate::sketch::RpCholesky)
//!   (random, the best general choice), [`Greedy`](crate::sketch::Greedy),
//!   [`AdaptiveFull`](crate::sketch::AdaptiveFull),
//!   [`KMeansPlusPlus`](crate::sketch::KMeansPlusPlus). They stop by themselves where K is
//!   explained;
//! * that draw by scores. [`RecursiveNystrom`](crate::leverage::RecursiveNystrom) takes leverage
//!   scores at a ridge that it finds for the number you ask for.
//!   [`LeverageProportional`](crate::leverage::LeverageProportional) takes those of any estimator
//!   of the [next chapter](super::scores) at a ridge that you name. Or k-DPPs
//!   ([chapter 4](super::kdpp)).
//!
//! # How many
//! Raise m until tr(K − L) is below nλ: then L and K differ by less than the ridge in every
//! direction. What the theorems ask for is [`risk_sample_size`](crate::sketch::risk_sample_size) or
//! [`approximation_sample_size`](crate::sketch::approximation_sample_size), usually far more than
//! is needed.
//!
//! # When n is large
//! [`Nystrom`](crate::sketch::Nystrom) holds its n × m factor.
//! [`NystromStream`](crate::sketch::NystromStream) is the same by row tiles in O(m²) memory, and
//! regression uses that.
