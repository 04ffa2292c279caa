//! Leave-one-out errors of a path, by one more pass over the rows.

use super::RowSums;
use super::kernel_products::entries;
use super::path::StatePath;
use super::tiled::{TileTerm, Tiled};
use crate::Problem;
use crate::path::Family;
use crate::path::family::Spectrum;
use crate::sums::Hash;
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, instruction_set, validate};
use std::sync::Arc;

/// The sums of squared leave-one-out errors of a [`StatePath`] at all its ridges, by another pass
/// over the rows.
///
/// The errors are exact, (y_i − f(x_i))/(1 − h_i) as in
/// [`NystromKrr::path`](crate::NystromKrr::path), from the eigenvectors of the path. Rows come in
/// blocks, from files or on other machines, and sums can be merged: [`RowSums`](crate::RowSums).
///
/// # Cost
/// m kernel values and 2m² + 2mL(1 + t) flops a row, for L ridges and t targets. Memory: m² numbers
/// for V, shared by all sums of one path, and tiles of 1024·(m + L + Lt).
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, RowSums, lambda_grid};
/// let x: Vec<f64> = (0..2000).map(|i| f64::from(i) / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin() + 0.1 * (i as f64 * 9.7).sin());
/// let centers: Vec<f64> = (0..20).map(|j| f64::from(j) / 10.0).collect();
/// let mut state = NormalEquations::new(Gaussian::new(0.2)?, Points::from_slice(&centers), 1)?;
/// state.accumulate((Points::from_slice(&x), &y))?;
/// let path = state.path(&lambda_grid(1.0, 1e-9, 10)?)?;
/// // the rows once more
/// let mut errors = path.errors();
/// errors.accumulate((Points::from_slice(&x), &y))?;
/// let loo = errors.leave_one_out()?;
/// let best = (0..loo.len()).min_by(|&a, &b| loo[a].total_cmp(&loo[b])).unwrap();
/// let model = path.model_at(path.points()[best].ridge)?;
/// assert!(loo[best].sqrt() < 0.075 && model.report().n == 2000);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type PathErrors<K, T> = Tiled<SquaredErrors<K, T>, T>;

/// The term of a tile in [`PathErrors`]: Σ w, and Σ e²/(1 − h)² and Σ e² of every ridge and target.
#[derive(Debug, Clone)]
pub struct SquaredErrors<K, T> {
    family: Arc<Family<K, T>>,
    mus: Vec<f64>,
}

impl<T: Scalar, K: Kernel<T> + Clone> StatePath<K, T> {
    /// The sums of leave-one-out errors of this path, over no rows.
    pub fn errors(&self) -> PathErrors<K, T> {
        let mus: Vec<f64> = self.points.iter().map(|point| point.mu).collect();
        let (family, sizes) =
            (self.family.clone(), [self.family.centers.points().dim(), self.family.targets()]);
        let Spectrum { values, g, .. } = &family.spectrum;
        let hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
        let hash = hash.numbers(&mus).numbers(values).numbers(entries(g.as_ref())).value();
        Tiled::over_no_rows(SquaredErrors { family, mus }, sizes, hash)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> PathErrors<K, T> {
    /// Mean square of the leave-one-out residuals at every ridge of the path, over targets and
    /// (weighted) rows: [`PathPoint::loo`](crate::PathPoint::loo).
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) unless the rows are those of the path.
    pub fn leave_one_out(&self) -> Result<Vec<f64>> {
        self.means(0)
    }

    /// Mean square of the residuals at every ridge of the path, over targets and (weighted) rows.
    /// [`StatePoint::training`](crate::StatePoint::training) is the same as a difference of sums,
    /// and inaccurate below its rounding level.
    ///
    /// # Errors
    /// As [`leave_one_out`](Self::leave_one_out).
    pub fn training(&self) -> Result<Vec<f64>> {
        self.means(1)
    }

    /// The mean of every ridge, over targets and rows.
    fn means(&self, column: usize) -> Result<Vec<f64>> {
        let whole = self.whole()?;
        let ((weight, sums), family) = (&*whole, &self.term.family);
        let what = "rows of the path when seen again";
        validate::same_size(what, family.spectrum.n, RowSums::rows(self) as usize)?;
        let t = family.targets();
        let (sums, total) = (sums.col_as_slice(column), t as f64 * weight);
        Ok(sums.chunks(t).map(|targets| targets.iter().sum::<f64>() / total).collect())
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileTerm<T> for SquaredErrors<K, T> {
    const KIND: u8 = 9;
    const MISMATCH: &'static str = "another path";
    type Sums = (f64, Mat<f64>);
    type Scratch = ();

    fn kernel(&self) -> &impl Kernel<T> {
        &self.family.kernel
    }

    fn zeros(&self) -> Self::Sums {
        (0.0, Mat::zeros(self.mus.len() * self.family.targets(), 2))
    }

    fn add(
        &self,
        (weight, sums): &mut Self::Sums,
        tile: Problem<'_, T>,
        _: u64,
        (): &mut (),
    ) -> Result<()> {
        *weight += (0..tile.x.len()).map(|i| tile.weight(i)).sum::<f64>();
        self.family.add_squares(tile, &self.mus, sums)
    }
}
