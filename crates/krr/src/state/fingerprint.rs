//! What two states must have in common to be added: a hash of all that their numbers depend on.

use super::bytes::Hash;
use crate::whitener::Whitener;
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::Scalar;

/// Points at which kernels are told apart.
const PROBES: usize = 8;

/// Of the scalar type, the instruction set, the centres, the factor R of their Gram matrix, kernel
/// values at points between them, the intercept and the offset.
///
/// A kernel is known by its values, so that any kernel will do, and values that come out with other
/// rounding errors count as another kernel's.
pub(super) fn fingerprint<T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    whitener: &Whitener<T>,
    intercept: bool,
    offset: &[f64],
) -> u64 {
    let (d, m) = (centers.dim(), centers.len());
    let mut hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
    hash = [d, m, offset.len(), usize::from(intercept)]
        .iter()
        .fold(hash, |hash, &size| hash.integer(size as u64));
    hash = offset.iter().fold(hash, |hash, &x| hash.number(x));
    for j in 0..m {
        hash = (0..d).fold(hash, |hash, k| hash.number(centers.coordinate(j, k).f64()));
        hash = whitener.column(j).iter().fold(hash, |hash, r| hash.number(r.f64()));
    }
    let probes = probes(centers);
    let probes = Points::from_cols(probes.as_ref());
    if kernel.check_points(probes).is_err() {
        return hash.value(); // such as the indices of a stored matrix
    }
    let k = kernel.eval(centers, probes);
    let values = k.col_iter().flat_map(|col| col.iter());
    values.fold(hash, |hash, k| hash.number(k.f64())).value()
}

/// Points near the first centres: those alone do not tell one length scale from another.
fn probes<T: Scalar>(centers: Points<'_, T>) -> Mat<T> {
    let near = |x: f64, j: usize| x + (1.0 + x.abs()) / (3 << j) as f64;
    Mat::from_fn(centers.dim(), PROBES.min(centers.len()), |k, j| {
        T::lit(near(centers.coordinate(j, k).f64(), j))
    })
}

/// The vector registers in use: their type's name.
fn instruction_set() -> &'static str {
    struct Name;
    impl pulp::WithSimd for Name {
        type Output = &'static str;
        fn with_simd<S: pulp::Simd>(self, _: S) -> &'static str {
            std::any::type_name::<S>().rsplit("::").next().unwrap_or("")
        }
    }
    pulp::Arch::new().dispatch(Name)
}
