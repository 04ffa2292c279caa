//! KRILL.

use crate::iterative::restricted::{Ingredients, Restricted};
use crate::iterative::tiles::Tiles;
use crate::iterative::{Extras, IterativeFit, IterativeOptions};
use crate::sign_embedding::{ROWS_PER_CENTER, embed, empty_embedding};
use crate::{Centers, Problem, SolvedBy};
use faer::{Accum, Mat, MatMut};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, Ridge, RowTree, Scalar, Streams, ops};
use rand::Rng;

/// Points whose part of the embedding comes from one random stream.
const STREAM_ROWS: usize = 1024;

/// Kernel ridge regression restricted to M centres, as [`Falkon`](crate::Falkon), for centres of
/// any kind. Its preconditioner asks nothing of them: it is K_nM compressed to 2M rows by a random
/// embedding.
///
/// ```text
/// Hθ = K_nMᵀy,   H = K_nMᵀK_nM + nλK_MM,   preconditioned by   (ΨK_nM)ᵀ(ΨK_nM) + nλK_MM,
/// ```
///
/// Ψ a sparse sign embedding, 2M × n: eight entries ±1/√8 in each column, at random rows. Falkon's
/// preconditioner is as good as the centres are an unbiased sample of the data with known weights.
/// This one is good for any centres and any M (greedy pivots, k-means centres, inducing points from
/// elsewhere). The price is one more pass over K_nM and about 5M³ flops.
///
/// Residual, tolerance, memory, report and errors are those of [`Falkon`](crate::Falkon).
///
/// # Cost
/// As `Falkon` for an iteration; before them nM kernel values, 16nM + 5M³ flops. 32M² bytes for the
/// factors and the sketch.
///
/// # Source
/// M. Díaz, E. Epperly, Z. Frangella, J. Tropp, R. Webber, *Robust, randomized preconditioning for
/// kernel ridge regression*, arXiv:2304.12465, 2023: KRILL, with the sizes of the authors' code (2M
/// rows, 8 non-zeros, which may coincide).
///
/// # Departures
/// The system is solved in the coordinates β = Rᵀθ, RRᵀ = K_MM + δI, like Falkon's; the
/// preconditioner is then SᵀS + nλI with S = ΨK_nM R⁻ᵀ and needs no shift of its own. One M³/3
/// more.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::Krill;
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin());
/// // centres that are no data
/// let anywhere: Vec<f64> = (0..60).map(|i| i as f64 / 30.0).collect();
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let krill = Krill::new(Gaussian::new(0.1)?, Ridge::PerSample(1e-6));
/// let fit = krill.fit((Points::from_slice(&x), &y), Points::from_slice(&anywhere), rng)?;
/// assert!(fit.converged() && fit.report.iterations < 60);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Krill<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]).
    pub ridge: Ridge<T>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// When to stop, and how much memory to take.
    pub options: IterativeOptions,
}

impl<K, T> Krill<K, T> {
    /// Without intercept, to a residual of 1e-6, nothing kept.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        Krill { kernel, ridge, intercept: false, options: IterativeOptions::default() }
    }

    /// Numbers held in R, G, the sketch and the rows that are added to it.
    pub(crate) fn factors(m: u64) -> u64 {
        (2 + ROWS_PER_CENTER as u64) * m * m + 2 * STREAM_ROWS as u64 * m
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Krill<K, T> {
    /// Fits y (n × t) at the n points x of the problem; `centers` is a `&Landmarks`, `&Dictionary`
    /// (whose weights are not used) or [`Points`](nystrom_kernels::Points).
    ///
    /// # Errors
    /// As [`Falkon::fit`](crate::Falkon::fit).
    ///
    /// # Randomness
    /// One key; every 1024 points have a stream, from which eight rows and signs are drawn for
    /// each.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        self.fit_with(problem, centers, Extras::default(), rng)
    }

    /// As [`fit`](Self::fit), with a warm start or a monitor.
    ///
    /// # Errors
    /// As [`Falkon::fit_with`](crate::Falkon::fit_with).
    ///
    /// # Randomness
    /// As [`fit`](Self::fit).
    pub fn fit_with<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        let streams = Streams::from_rng(rng);
        let precondition = |Ingredients { tiles, R, mu, .. }: Ingredients<'_, '_, T>| {
            preconditioner(tiles, R, mu, streams)
        };
        self.restricted().fit(problem.into(), centers.into(), extras, precondition)
    }

    pub(super) fn restricted(&self) -> Restricted<'_, K, T> {
        Restricted {
            kernel: &self.kernel,
            ridge: self.ridge,
            intercept: self.intercept,
            options: &self.options,
            solver: SolvedBy::Krill,
            factors: Self::factors,
        }
    }
}

/// G with GGᵀ = SᵀS + μI, S = Ψ√D K_nM R⁻ᵀ.
pub(crate) fn preconditioner<T: Scalar>(
    tiles: &Tiles<'_, T>,
    R: &Cholesky<f64>,
    mu: f64,
    streams: Streams,
) -> Result<Cholesky<f64>> {
    embedded_preconditioner(sketch(tiles, streams), R, mu)
}

/// The same from (Ψ√D K_nM)ᵀ, M × 2M.
pub(super) fn embedded_preconditioner(
    mut St: Mat<f64>,
    R: &Cholesky<f64>,
    mu: f64,
) -> Result<Cholesky<f64>> {
    R.forward_in_place(St.as_mut()); //                             Sᵀ = R⁻¹(ΨK_nM)ᵀ
    let fill = |mut out: MatMut<'_, f64>| {
        ops::gram_lower(out.rb_mut(), Accum::Replace, St.transpose(), 1.0);
        ops::add_to_diagonal(out, mu);
    };
    Cholesky::from_fill(R.order(), fill, JitterLadder::default())
}

/// (Ψ√D K_nM)ᵀ, M × 2M, in one pass.
pub(crate) fn sketch<T: Scalar>(tiles: &Tiles<'_, T>, streams: Streams) -> Mat<f64> {
    let mut St = empty_embedding(tiles.order());
    let mut buffer = tiles.buffer(STREAM_ROWS);
    tiles.count_pass();
    for (b, rows) in RowTree::tiles(0..tiles.len(), STREAM_ROWS).enumerate() {
        let samples = tiles.samples.slice(rows.clone());
        let Kt = tiles.tile(&mut buffer, rows);
        embed(St.as_mut(), Kt, samples, &mut streams.stream(b as u64));
    }
    St
}

use faer::reborrow::*;
