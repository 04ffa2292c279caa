//! What K differs by from its Nyström approximation, as sums over rows, and rows drawn by it.

use super::bytes::{Reader, Writer, finite, wrong};
use super::draws::Draws;
use super::matrix_sums::fingerprint;
use super::tiled::{TileSums, Tiled};
use crate::problem::TILE_ROWS;
use crate::whitener::{Whitener, residual_diagonal};
use crate::{KrrModel, Problem};
use faer::reborrow::*;
use faer::{Accum, Mat};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, Streams, ops};
use std::sync::Arc;

/// What [`Certificate`](crate::Certificate) takes from the rows once it knows Lα. That is the trace
/// of E = K − L, lengths of α and of what Lα differs by from the fit, and rows drawn by E_ii.
///
/// [`Certificate::certify_passes`](crate::Certificate::certify_passes) makes and reads them; who
/// runs passes needs [`RowSums`](crate::RowSums) alone. Memory: s·(d + 2t + 4) numbers for s rows
/// drawn, and a tile of 1024 rows.
pub type ResidualRows<K, T> = Tiled<ResidualSums<K, T>, T>;

/// What [`ResidualRows`] adds up.
#[derive(Debug, Clone)]
#[must_use]
pub struct ResidualSums<K, T> {
    shared: Arc<Shared<K, T>>,
    /// Rows before these.
    first: u64,
    rows: u64,
    /// tr E; then Σγ² and Σ gap² of each target.
    sums: Vec<f64>,
    draws: Draws,
}

/// What the rows are compared with.
#[derive(Debug)]
struct Shared<K, T> {
    model: KrrModel<K, T>,
    whitener: Whitener<T>,
    /// Coefficients of f.
    theta: Mat<f64>,
    approximation: Approximation,
}

/// Lα, as Σ_j θ_j k(·, z_j).
#[derive(Debug)]
pub(crate) struct Approximation {
    /// θ, m × t.
    pub theta: Mat<f64>,
    /// Mean residuals that are taken off α.
    pub means: Vec<f64>,
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
        approximation: Approximation,
        (count, streams): (Option<usize>, Streams),
    ) -> Self {
        let (d, t) = (model.centers().dim(), approximation.means.len());
        let theta = ops::widened(model.coefficients(), &mut Mat::new()).to_owned();
        let hash = fingerprint(model.kernel(), model.centers(), t).integer(streams.key());
        let hash = hash.integer(count.map_or(0, |count| count as u64));
        let hash = hash.matrix(theta.as_ref()).matrix(approximation.theta.as_ref());
        let shared = Shared { model: model.clone(), whitener, theta, approximation };
        let draws = Draws::new(streams, count, 2 + 2 * t + d);
        let (shared, sums) = (Arc::new(shared), vec![0.0; 1 + 2 * t]);
        let sums = ResidualSums { shared, first: 0, rows: 0, sums, draws };
        Tiled::over_no_rows(sums, [d, t], hash.value())
    }
}

impl<K, T> ResidualSums<K, T> {
    /// tr E, of weighted rows.
    pub(crate) fn trace(&self) -> f64 {
        self.sums[0]
    }

    /// ‖γ‖ and ‖√w(Lα − f)‖ of a target.
    pub(crate) fn lengths(&self, j: usize) -> [f64; 2] {
        [1 + 2 * j, 2 + 2 * j].map(|place| self.sums[place].sqrt())
    }

    pub(crate) fn drawn(&self) -> Vec<DrawnResidual<'_>> {
        let t = self.shared.approximation.means.len();
        let mut drawn = Vec::new();
        for (row, numbers) in self.draws.rows() {
            let (diagonal, root_weight) = (numbers[0], numbers[1]);
            let (fitted, rest) = numbers[2..].split_at(t);
            let (gap, x) = rest.split_at(t);
            drawn.push(DrawnResidual { row, diagonal, root_weight, fitted, gap, x });
        }
        drawn
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for ResidualSums<K, T> {
    const KIND: u8 = 8;
    const OTHERWISE: &'static str = "another model, or for other rows to draw";
    type Room = Option<Mat<T>>;

    fn empty_at(&self, first: u64) -> Self {
        let (shared, sums) = (self.shared.clone(), vec![0.0; self.sums.len()]);
        ResidualSums { shared, first, rows: 0, sums, draws: self.draws.emptied() }
    }

    fn kernel(&self) -> &impl Kernel<T> {
        self.shared.model.kernel()
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn add(&mut self, tile: Problem<'_, T>, room: &mut Option<Mat<T>>) -> Result<()> {
        let Shared { model, whitener, theta, approximation: L, .. } = &*self.shared;
        let (n, m, t, mu) = (tile.x.len(), theta.nrows(), L.means.len(), model.report().ridge);
        let room = room.get_or_insert_with(|| Mat::zeros(m, TILE_ROWS));
        let mut k = room.as_mut().subcols_mut(0, n); //                           k_Z(x_i)
        model.kernel().eval_into(k.rb_mut(), model.centers(), tile.x);
        let (mut wide, b) = (Mat::new(), model.intercept());
        let C = ops::widened(k.rb(), &mut wide);
        let (mut f, mut fitted) = (Mat::from_fn(n, t, |_, j| b[j].f64()), Mat::zeros(n, t));
        ops::matmul(f.as_mut(), Accum::Add, C.transpose(), theta.as_ref(), 1.0);
        ops::matmul(fitted.as_mut(), Accum::Replace, C.transpose(), L.theta.as_ref(), 1.0); // Lα
        whitener.whiten(k.rb_mut()); //                                           φ(x_i)
        let mut diagonal = vec![0.0; n];
        residual_diagonal(model.kernel(), tile.x, k.rb(), &mut diagonal); //      E_ii
        for i in 0..n {
            let (w, root) = (tile.weight(i), tile.weight(i).sqrt());
            let e = w * diagonal[i];
            let gap = |j: usize| root * (fitted[(i, j)] + b[j].f64() - f[(i, j)]);
            self.sums[0] += e;
            for j in 0..t {
                let gamma = root * (tile.y[(i, j)].f64() - f[(i, j)] - L.means[j]) / mu;
                self.sums[1 + 2 * j] += gamma.powi(2);
                self.sums[2 + 2 * j] += gap(j).powi(2);
            }
            let number = |place: usize| match place {
                0 => e,
                1 => root,
                j if j < 2 + t => fitted[(i, j - 2)],
                j if j < 2 + 2 * t => gap(j - 2 - t),
                k => tile.x.coordinate(i, k - 2 - 2 * t).f64(),
            };
            self.draws.offer(self.first + self.rows + i as u64, e, number);
        }
        self.rows += n as u64;
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.rows += later.rows;
        self.sums.iter_mut().zip(&later.sums).for_each(|(a, b)| *a += b);
        self.draws.merge(&later.draws);
    }

    fn numbers(&self) -> usize {
        2 + self.sums.len() + self.draws.kept().len()
    }

    fn numbers_of(&self, in_file: usize) -> usize {
        let head = 2 + self.sums.len();
        head + self.draws.numbers_of(in_file.saturating_sub(head))
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.first);
        out.integer(self.rows);
        out.numbers(&self.sums);
        out.numbers(self.draws.kept());
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (first, rows) = (reader.rows()?, reader.rows()?);
        let sums = reader.numbers(self.sums.len());
        finite(&sums)?;
        let (shared, draws) = (self.shared.clone(), self.draws.with(reader.rest()));
        if !draws.is_sound() {
            return Err(wrong("its rows drawn are none".into()));
        }
        Ok(ResidualSums { shared, first, rows, sums, draws })
    }
}
