//! What two states must have in common to be added: a hash of all that their numbers depend on.

use super::bytes::Hash;
use super::fit_sums::Shared;
use nystrom_kernels::{Kernel, kernel_probe};
use nystrom_linalg_core::{Scalar, instruction_set};

/// Of the scalar type, the instruction set, the centres, the sketch, the factor R of their Gram
/// matrix, the intercept and the offset. Also of kernel values at points between the centres.
///
/// A kernel is known by its values, so that any kernel will do. Values that come out with other
/// rounding errors count as another kernel's.
pub(super) fn fingerprint<T: Scalar, K: Kernel<T>>(shared: &Shared<K, T>) -> u64 {
    let Shared { kernel, span, whitener, intercept, offset, .. } = shared;
    let centers = shared.centers();
    let (d, m) = (centers.dim(), centers.len());
    let mut hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
    hash = [d, m, offset.len(), usize::from(*intercept)]
        .iter()
        .fold(hash, |hash, &size| hash.integer(size as u64));
    hash = offset.iter().fold(hash, |hash, &x| hash.number(x));
    for j in 0..m {
        hash = (0..d).fold(hash, |hash, k| hash.number(centers.coordinate(j, k).f64()));
        // a sketch has no more columns than centres
        let column = if j < whitener.order() { whitener.column(j) } else { &[] };
        hash = column.iter().fold(hash, |hash, r| hash.number(r.f64()));
    }
    hash = span.iter().fold(hash, |hash, S| hash.matrix(S.as_ref()));
    hash.matrix(kernel_probe(kernel, centers).as_ref()).value()
}
