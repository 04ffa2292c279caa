//! Singular value decompositions whose bits do not depend on the number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{Mat, MatRef, Par};
use nystrom_linalg_core::{Error, Result, work};

/// A = USVᵀ, singular values largest first.
pub(crate) struct Svd {
    pub values: Vec<f64>,
    /// n × min(n, m).
    pub U: Mat<f64>,
    /// m × min(n, m), or without columns if not asked for.
    pub V: Mat<f64>,
}

/// Singular values and left singular vectors, with the right ones if asked for. On one thread: the
/// bits of faer's decomposition depend on the number of threads.
pub(crate) fn thin(A: MatRef<'_, f64>, right: bool) -> Result<Svd> {
    let (n, m) = A.shape();
    let r = n.min(m);
    let (mut s, mut U, mut V) =
        (Diag::zeros(r), Mat::zeros(n, r), Mat::zeros(m, if right { r } else { 0 }));
    let (thin, par, params) = (ComputeSvdVectors::Thin, Par::Seq, Default::default());
    let compute_v = if right { thin } else { ComputeSvdVectors::No };
    let mut memory = MemBuffer::new(svd::svd_scratch::<f64>(n, m, thin, compute_v, par, params));
    let stack = MemStack::new(&mut memory);
    work::svd(n, m, right);
    svd::svd(A, s.as_mut(), Some(U.as_mut()), right.then(|| V.as_mut()), par, stack, params)
        .map_err(|_| Error::EigenFailure { order: r })?;
    Ok(Svd { values: (0..r).map(|i| s[i]).collect(), U, V })
}
