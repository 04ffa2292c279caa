//! E = K − L, L a Nyström approximation: sums over rows, and rows drawn by the diagonal of E.

use super::draws::Draws;
use super::kernel_products::{entries, fingerprint};
use super::tiled::{TileTerm, Tiled};
use crate::data::TILE_ROWS;
use crate::features::{Whitener, residual_diagonal};
use crate::{KrrModel, Problem};
use faer::reborrow::*;
use faer::{Accum, Mat};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, Streams, ops};

/// The sums of the second pass of a [`Certificate`](crate::Certificate), after Lα is known: the
/// trace of E = K − L, the norms of α and of Lα − f, and rows drawn in proportion to E_ii.
///
/// [`Certificate::certify_passes`](crate::Certificate::certify_passes) makes and reads them; a
/// program that runs passes needs only [`RowSums`](crate::RowSums). Memory: s·(d + 2t + 4) numbers
/// for s rows drawn, and a tile of 1024 rows.
pub(crate) type ResidualRows<K, T> = Tiled<ResidualSums<K, T>, T>;

/// The term of a tile in [`ResidualRows`].
#[derive(Debug, Clone)]
#[must_use]
pub(crate) struct ResidualSums<K, T> {
    model: KrrModel<K, T>,
    whitener: Whitener<T>,
    /// Coefficients of f.
    theta: Mat<f64>,
    /// Coefficients of Lα = Σ_j θ_j k(·, z_j), m × t.
    approximation: Mat<f64>,
    /// Mean residuals that are taken off α.
    means: Vec<f64>,
    /// Rows that are drawn, or all of them.
    count: Option<usize>,
    streams: Streams,
}

/// A row that was drawn.
pub(crate) struct DrawnResidual<'a> {
    /// Its number.
    pub row: u64,
    /// w_i E_ii.
    pub diagonal: f64,
    pub root_weight: f64,
    /// (Lα)_i, t numbers.
    pub fitted: &'a [f64],
    /// √w_i (Lα − f + b)_i, t numbers.
    pub gap: &'a [f64],
    /// d numbers.
    pub x: &'a [f64],
}

impl<T: Scalar, K: Kernel<T> + Clone> ResidualRows<K, T> {
    /// With `count` rows drawn, or all of them.
    pub(crate) fn new(
        model: &KrrModel<K, T>,
        whitener: Whitener<T>,
        (approximation, means): (Mat<f64>, Vec<f64>),
        (count, streams): (Option<usize>, Streams),
    ) -> Self {
        let (d, t) = (model.centers().dim(), means.len());
        let theta = ops::widened(model.coefficients(), &mut Mat::new()).to_owned();
        let hash = fingerprint(model.kernel(), model.centers(), t).integer(streams.key());
        let hash = hash.integer(count.map_or(0, |count| count as u64));
        let hash = hash.numbers(entries(theta.as_ref()));
        let hash = hash.numbers(entries(approximation.as_ref()));
        let model = model.clone();
        let term = ResidualSums { model, whitener, theta, approximation, means, count, streams };
        Tiled::over_no_rows(term, [d, t], hash.value())
    }
}

/// The rows drawn for t targets.
pub(crate) fn drawn(draws: &Draws, t: usize) -> Vec<DrawnResidual<'_>> {
    let drawn = draws.rows().map(|(row, numbers)| {
        let (diagonal, root_weight) = (numbers[0], numbers[1]);
        let (fitted, rest) = numbers[2..].split_at(t);
        let (gap, x) = rest.split_at(t);
        DrawnResidual { row, diagonal, root_weight, fitted, gap, x }
    });
    drawn.collect()
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for ResidualSums<K, T> {
    const KIND: u8 = 8;
    const MISMATCH: &'static str = "another model, or for other rows to draw";
    /// tr E, of weighted rows; then Σγ² and Σ gap² of each target.
    type Sums = (Vec<f64>, Draws);
    type Scratch = Option<Mat<T>>;

    fn kernel(&self) -> &impl Kernel<T> {
        self.model.kernel()
    }

    fn zeros(&self) -> Self::Sums {
        let (d, t) = (self.model.centers().dim(), self.means.len());
        (vec![0.0; 1 + 2 * t], Draws::new(self.streams, self.count, 2 + 2 * t + d))
    }

    fn add(
        &self,
        (sums, draws): &mut Self::Sums,
        tile: Problem<'_, T>,
        first: u64,
        scratch: &mut Option<Mat<T>>,
    ) -> Result<()> {
        let ResidualSums { model, whitener, theta, approximation: L, means, .. } = self;
        let (n, m, t, mu) = (tile.x.len(), theta.nrows(), means.len(), model.report().ridge);
        let scratch = scratch.get_or_insert_with(|| Mat::zeros(m, TILE_ROWS));
        let mut k = scratch.as_mut().subcols_mut(0, n); //                           k_Z(x_i)
        model.kernel().eval_into(k.rb_mut(), model.centers(), tile.x);
        let (mut wide, b) = (Mat::new(), model.intercept());
        let C = ops::widened(k.rb(), &mut wide);
        let (mut f, mut fitted) = (Mat::from_fn(n, t, |_, j| b[j].f64()), Mat::zeros(n, t));
        ops::matmul(f.as_mut(), Accum::Add, C.transpose(), theta.as_ref(), 1.0);
        ops::matmul(fitted.as_mut(), Accum::Replace, C.transpose(), L.as_ref(), 1.0); // Lα
        whitener.whiten(k.rb_mut()); //                                           φ(x_i)
        let mut diagonal = vec![0.0; n];
        residual_diagonal(model.kernel(), tile.x, k.rb(), &mut diagonal); //      E_ii
        for i in 0..n {
            let (w, root) = (tile.weight(i), tile.weight(i).sqrt());
            let e = w * diagonal[i];
            let gap = |j: usize| root * (fitted[(i, j)] + b[j].f64() - f[(i, j)]);
            sums[0] += e;
            for j in 0..t {
                let gamma = root * (tile.y[(i, j)].f64() - f[(i, j)] - means[j]) / mu;
                sums[1 + 2 * j] += gamma.powi(2);
                sums[2 + 2 * j] += gap(j).powi(2);
            }
            let number = |place: usize| match place {
                0 => e,
                1 => root,
                j if j < 2 + t => fitted[(i, j - 2)],
                j if j < 2 + 2 * t => gap(j - 2 - t),
                k => tile.x.coordinate(i, k - 2 - 2 * t).f64(),
            };
            draws.offer(first + i as u64, e, number);
        }
        Ok(())
    }
}
