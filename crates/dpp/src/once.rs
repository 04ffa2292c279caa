//! A single draw from the spectrum of K, which computes only the eigenvectors that it needs.

use crate::ensemble::refuse_indefinite;
use crate::{ElementarySymmetric, LEnsemble, projection};
use nystrom_linalg_core::{BandEigen, PsdMatrix, Result, Scalar, Streams, validate};
use nystrom_sketch::Landmarks;
use rand::{Rng, RngExt};

/// If c exceeds n divided by this, computing all eigenvectors is as fast as computing c of them.
const SHARE: usize = 4;

impl<T: Scalar> LEnsemble<T> {
    /// One subset of `c` items from the k-DPP of K, from the same distribution as
    /// [`of_size`](Self::of_size) with [`ExactKDpp::sample`](crate::ExactKDpp::sample), in a
    /// fraction of the time.
    ///
    /// A draw needs all eigenvalues and c eigenvectors, which
    /// [`BandEigen`](nystrom_linalg_core::BandEigen) computes. If `of_size` would truncate K, or if
    /// c > n/4, the draw is made as by `of_size` and `sample`.
    ///
    /// *Equal eigenvalues.* The basis of the eigenspace of a multiple eigenvalue is drawn uniformly
    /// for every subset. The probabilities of the draws are the same for every fixed basis, so they
    /// are exact. With multiple eigenvalues, the same seed gives another subset than `of_size`;
    /// otherwise it gives the same subset, up to rounding.
    ///
    /// # Cost
    /// n² entries, 2.5n² numbers of memory at the peak. Somewhat more than (4/3)n³ flops for the
    /// eigenvalues and c eigenvectors, and those of a draw.
    ///
    /// # Randomness
    /// As [`ExactKDpp::sample`](crate::ExactKDpp::sample). The bases of eigenspaces are drawn with
    /// a separate generator, whose seed is computed from the uniforms of the draw.
    ///
    /// # Errors
    /// Those of [`of_size`](Self::of_size) and [`k_dpp`](Self::k_dpp).
    ///
    /// ```
    /// use nystrom_dpp::LEnsemble;
    /// use nystrom_kernels::{KernelMatrix, Matern, Points};
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
    /// let k = KernelMatrix::new(Matern::new(0.5, 0.1)?, Points::from_slice(&x))?;
    /// let rng = || rand_pcg::Pcg64::seed_from_u64(0);
    /// let once = LEnsemble::draw_of_size(&k, 8, &mut rng())?;
    /// assert_eq!(once, LEnsemble::new(&k)?.k_dpp(8)?.sample(&mut rng()));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn draw_of_size(k: &dyn PsdMatrix<T>, c: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        validate::not_empty("subset (c)", c)?;
        if let Some(low_rank) = Self::low_rank(k, c)? {
            return Ok(low_rank.k_dpp(c)?.sample(rng));
        }
        if SHARE * c > n {
            return Ok(Self::new(k)?.k_dpp(c)?.sample(rng));
        }
        let all = k.block((0..n).into(), (0..n).into());
        Self::draw_by(&BandEigen::new(all.as_ref())?, c, rng)
    }

    /// One subset of `c` items from the k-DPP of a matrix that is already decomposed. Computes c
    /// eigenvectors by [`BandEigen::vectors`](nystrom_linalg_core::BandEigen::vectors); see
    /// [`draw_of_size`](Self::draw_of_size).
    ///
    /// # Randomness
    /// That of [`draw_of_size`](Self::draw_of_size).
    ///
    /// # Errors
    /// [`Error::Empty`](nystrom_linalg_core::Error::Empty) if c = 0,
    /// [`RankDeficient`](nystrom_linalg_core::Error::RankDeficient), with the numerical rank, if c
    /// exceeds it, [`Indefinite`](nystrom_linalg_core::Error::Indefinite) as for
    /// [`new`](Self::new), [`EigenFailure`](nystrom_linalg_core::Error::EigenFailure).
    pub fn draw_by(eigen: &BandEigen<T>, c: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        refuse_indefinite(eigen.values())?;
        let values: Vec<f64> = eigen.values()[..eigen.rank()].iter().map(|v| v.f64()).collect();
        let e = ElementarySymmetric::new(&values, c)?;
        // the seed for the vectors takes no number from `rng`, which stays in step with `sample`
        let mut key = 0;
        let coin = |p| {
            let uniform = rng.random::<f64>();
            key = Streams::from_key(key ^ uniform.to_bits()).stream(0).random::<u64>();
            uniform < p
        };
        let S = e.sample_by(coin); //                                         Pr(S) = Π_S λ_i/e_c
        let starts = &mut Streams::from_key(key).stream(0);
        let V = eigen.vectors(&S, starts)?;
        let all: Vec<usize> = (0..c).collect();
        Landmarks::new(V.nrows(), projection::draw(V.as_ref(), &all, rng)) //    C from VVᵀ
    }
}
