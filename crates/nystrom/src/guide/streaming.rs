//! Chapter 8. One pass, bounded memory.
//!
//! SQUEAK keeps a weighted dictionary of the points it has seen, accurate for all of them at ridge
//! γ, and forgets the rest:
//!
//! ```
//! use nystrom::prelude::*;
//!
//! let rng = &mut Pcg64::seed_from_u64(0);
//! // γ is absolute: what is added to K's diagonal
//! let (kernel, gamma) = (Gaussian::new(0.3)?, 1.0);
//! // points in ℝ², 10 copies a point
//! let mut squeak = Squeak::new(kernel, 2, gamma, SqueakParams::new(10))?;
//! let (mut x, mut y) = (Vec::new(), Vec::new());
//! for _ in 0..20 {
//!     let block = Mat::from_fn(100, 2, |_, _| rng.random::<f64>()); // a block arrives
//!     squeak.push(Points::from_rows(block.as_ref()), rng)?;
//!     for i in 0..100 {
//!         x.push([block[(i, 0)], block[(i, 1)]]);
//!         y.push((6.0 * block[(i, 0)]).sin());
//!     }
//! }
//! squeak.settle(rng)?;
//! let dictionary = squeak.dictionary();
//! assert!(squeak.n_seen() == 2000 && dictionary.len() < 400);
//!
//! // Regression through it, at any moment, over what has been seen:
//! let (x, y) = (Mat::from_fn(2000, 2, |i, j| x[i][j]), Mat::from_fn(2000, 1, |i, _| y[i]));
//! let krr = DictionaryKrr { kernel, gamma: Ridge::Absolute(gamma), ridge: Ridge::Absolute(1.0) };
//! let problem = (Points::from_rows(x.as_ref()), &y);
//! let model = krr.fit(problem, (dictionary.points(), &dictionary.weights()))?;
//! let f = model.predict(Points::from_rows(x.as_ref()))?;
//! let worst = (0..2000).map(|i| f64::abs(f[(i, 0)] - y[(i, 0)])).fold(0.0, f64::max);
//! assert!(worst < 0.5);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! The order of the points matters (shuffle data that come sorted), the cut into blocks does not,
//! to the bit. Shards are streamed on their own and merged:
//! [`Squeak::merge`](crate::leverage::Squeak::merge), [`MergeTree`](crate::leverage::MergeTree), or
//! [`Disqueak`](crate::leverage::Disqueak) for all of it on the threads at hand. A cap on memory is
//! [`SqueakParams::max_dictionary`](crate::leverage::SqueakParams). The whole journey, with a saved
//! state, is `examples/stream_squeak.rs`.
