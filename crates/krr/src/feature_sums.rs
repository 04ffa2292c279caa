//! (ΦᵀΦ + nλI)β = Φᵀy, accumulated in one pass over the rows.

use crate::rows::{FeatureRows, Tile};
use crate::whitener::Whitener;
use faer::{Mat, MatMut};
use nystrom_linalg_core::{Cholesky, GramSums, JitterLadder, Result, RowTree, Scalar, ops};

/// The minimiser of ‖√w(y − Φβ − b)‖² + nλ‖β‖² over β (m × t) and, with an intercept, b (t
/// numbers).
pub(crate) struct Solution {
    pub beta: Mat<f64>,
    pub b: Option<Vec<f64>>,
    /// The ridge solved with.
    pub mu: f64,
    /// (max L_ii / min L_ii)².
    pub condition: f64,
}

/// The precision that products of tiles are taken in; their sums are in `f64` either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Products {
    /// That of the scalar type.
    Scalar,
    /// `f64`: in `f32` half as fast as the other, and the tile is copied.
    Double,
}

impl Products {
    /// ε.
    pub fn eps<T: Scalar>(self) -> f64 {
        match self {
            Products::Scalar => T::EPS,
            Products::Double => f64::EPSILON,
        }
    }
}

/// The Gram sums of Z = √w[Φ 1] and Y.
#[derive(Debug, Clone)]
pub struct FeatureSums(pub(crate) GramSums);

/// ΦᵀDΦ (m × m) and ΦᵀDY (m × t), and the weighted means of features and targets that were
/// subtracted, if any.
pub(crate) struct Centered {
    pub A: Mat<f64>,
    pub B: Mat<f64>,
    pub means: Option<(Vec<f64>, Vec<f64>)>,
}

impl FeatureSums {
    /// One pass: n·m kernel values, nm² flops for the Gram matrix and, if tiles are whitened, nm²
    /// for that; 2m² numbers of memory for the partial sums and 1024(m + t) for the tile, twice
    /// that for `f32` and products in `f64`.
    pub(crate) fn accumulate<T: Scalar>(
        stream: &FeatureRows<'_, T>,
        products: Products,
    ) -> Result<Self> {
        let (mut tile, mut wide) = (stream.tile(), [Mat::new(), Mat::new()]);
        let add = |sums: &mut GramSums, rows| {
            for rows in RowTree::tiles(rows, crate::rows::TILE_ROWS) {
                stream.fill(&mut tile, rows)?;
                add_tile(sums, &tile, products, &mut wide);
            }
            Ok(())
        };
        let sums = GramSums::over_rows(stream.len(), stream.features(), stream.targets(), add);
        sums.map(FeatureSums)
    }

    /// tr CᵀC if the tiles were not whitened, tr ΦᵀΦ if they were; m of the p features count, the
    /// constant does not.
    pub(crate) fn trace(&self, m: usize) -> f64 {
        (0..m).map(|j| self.0.gram.get(j, j)).sum()
    }

    /// The sums over centred features and targets if the last feature is a constant, as they are
    /// otherwise: A ← A − aaᵀ/s, B ← B − a·Σwy/s, with the means a/s and Σwy/s.
    pub(crate) fn centered(&self, constant: bool) -> Centered {
        let m = self.0.gram.order() - usize::from(constant);
        let t = self.0.moments.ncols();
        let means = constant.then(|| {
            let s = self.0.gram.get(m, m);
            (
                (0..m).map(|j| self.0.gram.get(m, j) / s).collect::<Vec<f64>>(),
                (0..t).map(|j| self.0.moments[(m, j)] / s).collect(),
            )
        });
        let mean = |i: usize| means.as_ref().map_or(0.0, |means: &(Vec<f64>, Vec<f64>)| means.0[i]);
        let last = |j: usize| if constant { self.0.gram.get(m, j) } else { 0.0 };
        let A = Mat::from_fn(m, m, |i, j| {
            let (i, j) = (i.max(j), i.min(j));
            self.0.gram.get(i, j) - mean(i) * last(j)
        });
        let sum_wy = |j: usize| if constant { self.0.moments[(m, j)] } else { 0.0 };
        let B = Mat::from_fn(m, t, |i, j| self.0.moments[(i, j)] - mean(i) * sum_wy(j));
        Centered { A, B, means }
    }

    /// β = (A + nλI)⁻¹B by Cholesky; with an intercept its row and column are eliminated first (b
    /// is not penalised): A ← A − aaᵀ/s, B ← B − a·Σwy/s, then b = (Σwy − aᵀβ)/s with a = Φᵀw, s =
    /// Σw.
    ///
    /// # Errors
    /// `NotPositiveDefinite` if nλ is lost in the rounding errors of A.
    pub(crate) fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        let Minimum { factor, theta, b } =
            self.minimise(|A| ops::add_to_diagonal(A, mu), intercept)?;
        let diagonal = |i: usize| factor.lower()[(i, i)];
        Ok(Solution { condition: condition(factor.order(), diagonal), beta: theta, b, mu })
    }

    /// The same if the sums are over k_Z(x_i) instead of φ(x_i) = R⁻¹k_Z(x_i): θ = (A + nλRRᵀ)⁻¹B
    /// and β = Rᵀθ.
    ///
    /// The Cholesky factor of A + nλRRᵀ is R times that of R⁻¹AR⁻ᵀ + nλI, which therefore need not
    /// be formed: 2m³/3 flops take the place of 7m³/3, with the same bound on the rounding errors.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub(crate) fn solve_unwhitened<T: Scalar>(
        &self,
        mu: f64,
        intercept: bool,
        whitener: &Whitener<T>,
    ) -> Result<Solution> {
        let Minimum { factor, theta, b } =
            self.minimise(|A| whitener.add_gram(A, mu), intercept)?;
        let diagonal = |i: usize| factor.lower()[(i, i)] / whitener.diagonal(i);
        Ok(Solution {
            condition: condition(factor.order(), diagonal),
            beta: whitener.whitened(theta),
            b,
            mu,
        })
    }

    /// (A + P)⁻¹B and b, P being what `penalise` adds to the lower triangle of A.
    fn minimise(&self, penalise: impl Fn(MatMut<'_, f64>), intercept: bool) -> Result<Minimum> {
        let m = self.0.gram.order() - usize::from(intercept);
        let t = self.0.moments.ncols();
        let (a, s): (Vec<f64>, f64) = if intercept {
            ((0..m).map(|j| self.0.gram.get(m, j)).collect(), self.0.gram.get(m, m))
        } else {
            (vec![0.0; m], 1.0)
        };
        let fill = |mut out: MatMut<'_, f64>| {
            for j in 0..m {
                for i in j..m {
                    out[(i, j)] = self.0.gram.get(i, j) - a[i] * (a[j] / s);
                }
            }
            penalise(out);
        };
        let factor = Cholesky::<f64>::from_fill(
            m,
            fill,
            JitterLadder { steps: 0, ..JitterLadder::default() },
        )?;
        let sum_wy = |j: usize| if intercept { self.0.moments[(m, j)] } else { 0.0 };
        let mut theta = Mat::from_fn(m, t, |i, j| self.0.moments[(i, j)] - a[i] * (sum_wy(j) / s));
        factor.solve_in_place(theta.as_mut());
        let b = intercept.then(|| {
            (0..t)
                .map(|j| (sum_wy(j) - (0..m).map(|i| a[i] * theta[(i, j)]).sum::<f64>()) / s)
                .collect()
        });
        Ok(Minimum { factor, theta, b })
    }
}

/// Adds the rows of a tile; `wide` is room for them in `f64`.
pub(crate) fn add_tile<T: Scalar>(
    sums: &mut GramSums,
    tile: &Tile<T>,
    products: Products,
    [Z, Y]: &mut [Mat<f64>; 2],
) {
    match products {
        Products::Scalar => sums.add(tile.Z(), tile.Y()),
        Products::Double => sums.add(tile.wide_Z(Z), ops::widened(tile.Y(), Y)),
    }
}

/// The minimiser of a penalised quadratic function, and the factor that gave it.
struct Minimum {
    factor: Cholesky<f64>,
    theta: Mat<f64>,
    b: Option<Vec<f64>>,
}

/// (max |d_i| / min |d_i|)² of a triangular factor's diagonal.
pub(crate) fn condition(m: usize, diagonal: impl Fn(usize) -> f64) -> f64 {
    let (low, high) = (0..m)
        .map(|i| diagonal(i).abs())
        .fold((f64::INFINITY, 0.0_f64), |(l, h), d| (l.min(d), h.max(d)));
    (high / low).powi(2)
}
