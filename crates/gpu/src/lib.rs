//! Products with kernel matrices on a graphics card of any maker.
//!
//! The one operation of large kernel methods is Y = K(X, Z)·V with kernel values that are never
//! stored. A card computes these values in `f32` hundreds of times as fast as two cores of a
//! processor. This crate runs it by Vulkan, Metal or D3D12: without CUDA, on cards of any maker.
//! The values are `f32`, their sums have some 48 bits ([precision](GpuProducts#precision)).
//!
//! The kernels are those of [`DeviceKernel`]: Gaussian, Matérn 1/2, 3/2 and 5/2, power exponential
//! and rational quadratic, with one length scale or one for each coordinate, and those of the L1
//! distance. Formulas are translated from the CPU's definition of the same kernel.
//!
//! ```no_run
//! use faer::Mat;
//! use nystrom_gpu::{Gpu, GpuOptions, GpuProducts, adapters};
//! use nystrom_kernels::{Matern32, Points};
//!
//! for adapter in adapters() {
//!     println!("{adapter}");
//! }
//! let gpu = Gpu::open(&GpuOptions::default())?; // tested before it is used
//! let x = Mat::from_fn(50_000, 3, |i, k| ((i * (k + 3)) as f64).sin());
//! let z = Mat::from_fn(2_000, 3, |i, k| x[(25 * i, k)]);
//! let v = Mat::from_fn(2_000, 28, |i, j| ((i + j) as f64).cos());
//! let (x, z) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
//! let mut K = GpuProducts::new(&gpu, &Matern32::new(0.5)?, x, z, 28)?;
//! let y = K.mul(v.as_ref())?;
//! assert_eq!((y.nrows(), y.ncols()), (50_000, 28));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Gpu`] is a [`Device`](nystrom_krr::Device) of the library: regression on all the data and
//! predictions compute on it ([`Extras::device`](nystrom_krr::Extras::device)), and so do the
//! commands of the program `nystrom-gpu` with `--gpu`. If it is lost, a fit
//! [continues on the CPU](DeviceMatrix#a-lost-device).
//!
//! # How a product is computed
//! Points are sent once, in units of length scales from their mean. A workgroup of 256 threads
//! computes 64 rows, 64 columns at a time, each thread 4 × 4 values in registers. Their products
//! with V are added up in `f32` for 128 columns, and these sums as two-float numbers. A dispatch is
//! limited in operations, since systems end those that take seconds; while one is computed, the
//! next is queued.
//!
//! Nothing is faster on an adapter in software, which is what the tests run on.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod adapter;
#[cfg(feature = "program")]
mod any_kernel;
mod device;
mod error;
mod fit;
mod formula;
mod memory;
mod open;
mod points;
mod products;
mod shader;
mod symbol;

pub use adapter::{Adapter, GpuOptions, adapters};
pub use device::Gpu;
pub use error::{GpuError, Result};
pub use fit::DeviceMatrix;
pub use formula::{DeviceKernel, DeviceProfile, Formula};
pub use products::GpuProducts;
