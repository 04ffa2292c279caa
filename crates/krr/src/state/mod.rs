//! Fits as states: sums over rows that can be merged, saved and continued.

mod center_products;
mod draws;
mod errors;
mod fit_sums;
mod folded;
mod kernel_products;
mod newton_sums;
mod onto;
mod path;
mod residual_rows;
mod row_sums;
mod row_values;
mod tiled;

pub use center_products::{CenterProduct, CenterProducts};
pub use errors::{PathErrors, SquaredErrors};
pub use fit_sums::FitSums;
pub use folded::{FoldSums, FoldedEquations, FoldedScore};
pub(crate) use kernel_products::values;
pub use newton_sums::{NewtonEquations, NewtonSums, step_of_newton};
pub use path::{StatePath, StatePoint};
pub(crate) use residual_rows::{DrawnResidual, ResidualRows, drawn};
pub use row_sums::{PassInput, RowSums};
pub(crate) use row_values::RowValues;
pub use tiled::Tiled;

use crate::data::all_absolute;
use crate::features::{Totals, Whitener, span, spread};
use crate::sums::{Accumulator, NormalSums, QrSums};
use crate::{FitReport, KrrModel};
use faer::Mat;
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};
use nystrom_sketch::{Sketch, SketchProduct};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

/// The normal equations of [`NystromKrr`](crate::NystromKrr) over the rows of a state.
///
/// ΦᵀΦ (packed), Φᵀy and yᵀy of whitened features in `f64`: good while λ is above 10·ε·k(x, x).
pub type NormalEquations<K, T> = FitState<K, T, NormalSums>;

/// The triangular factor (TSQR) of the same features over the rows of a state, accurate at every λ.
pub type TallQr<K, T> = FitState<K, T, QrSums>;

/// The sums over rows from which kernel ridge regression with given centres is solved at any ridge:
/// O(m² + mt) numbers.
///
/// Rows come in blocks of any size, from memory, files or another machine. States of different rows
/// can be merged, and written to bytes and read again ([`RowSums`]). So one fit can use rows in any
/// number of places. States with another kernel, other centres, another scalar type or another
/// instruction set cannot be merged; a fingerprint detects them.
///
/// A state cuts its rows into tiles of 1024, wherever blocks begin. So the bits depend on the rows
/// and on the order of merges, not on blocks. States of the leaves of
/// [`RowTree::large`](nystrom_linalg_core::RowTree::large), merged along that tree, have the bits
/// of the sums in memory.
///
/// # Cost
/// m² kernel values and m³/3 flops once. Then m kernel values and 2m² flops for each row, and
/// (3 + m/768)m² more for [`TallQr`]. A state is m²/2 + mt numbers. States made by
/// [`empty`](RowSums::empty) share the centres and R, another m² numbers.
///
/// # Source
/// As [`NystromKrr`](crate::NystromKrr); TSQR is that of Demmel, Grigori, Hoemmen & Langou, SIAM J.
/// Sci. Comput. 34, 2012.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, RowSums, lambda_grid};
/// use nystrom_linalg_core::Ridge;
/// let x: Vec<f64> = (0..3000).map(|i| i as f64 / 1000.0).collect();
/// let y = Mat::from_fn(3000, 1, |i, _| (4.0 * x[i]).sin());
/// let centers: Vec<f64> = (0..30).map(|j| j as f64 / 10.0).collect();
/// let empty = NormalEquations::new(Gaussian::new(0.2)?, Points::from_slice(&centers), 1)?;
/// // two places, each with its rows
/// let points = Points::from_slice(&x);
/// let (mut here, mut there) = (empty.empty(), empty.empty());
/// here.accumulate((points.slice(0..1700), y.subrows(0, 1700)))?;
/// there.accumulate((points.slice(1700..3000), y.subrows(1700, 1300)))?;
/// // one fit
/// here.merge(empty.read(&there.to_bytes())?)?;
/// let path = here.path(&lambda_grid(1e-2, 1e-10, 9)?)?;
/// let model = path.model_at(path.best_by_gcv().ridge)?;
/// let f = model.predict(Points::from_slice(&[1.234]))?;
/// assert!((f[(0, 0)] - 4.936_f64.sin()).abs() < 1e-3);
/// assert_eq!(model.report().n, 3000);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type FitState<K, T, A> = Tiled<FitSums<K, T, A>, T>;

#[expect(private_bounds, reason = "sealed: NormalEquations and TallQr")]
impl<T: Scalar, K: Kernel<T> + Clone, A: Accumulator> FitState<K, T, A> {
    /// The state over no rows, for these centres and t targets.
    ///
    /// # Errors
    /// [`Error::Empty`] without centres or targets, [`Error::NonFinite`];
    /// [`Error::NotPositiveDefinite`] for centres whose Gram matrix is none.
    pub fn new(kernel: K, centers: Points<'_, T>, targets: usize) -> Result<Self> {
        Self::make(kernel, centers, &vec![0.0; targets], false)
    }

    /// As `new`, with a constant b for each target, which is not penalised.
    ///
    /// `offset` has a number for each target, about its mean, or 0. It is subtracted from the
    /// targets and added to b, so that a large mean takes no digits from the sums.
    ///
    /// # Errors
    /// As `new`; [`Error::InvalidParameter`] for an offset that is not finite.
    pub fn with_intercept(kernel: K, centers: Points<'_, T>, offset: &[f64]) -> Result<Self> {
        Self::make(kernel, centers, offset, true)
    }

    fn make(kernel: K, centers: Points<'_, T>, offset: &[f64], intercept: bool) -> Result<Self> {
        validate::not_empty("centres (m)", centers.len())?;
        centers.check_dense()?;
        kernel.check_points(centers)?;
        check_offset(offset)?;
        let whitener = Whitener::new(kernel.gram(centers).as_ref(), false)?; // W + δI = RRᵀ
        let centers = centers.as_cols().to_owned();
        Ok(Self::of((kernel, centers, None), whitener, offset, intercept))
    }

    /// The state over no rows, for features with this whitener.
    fn of(
        (kernel, centers, span): (K, Mat<T>, Option<Mat<f64>>),
        whitener: Whitener<T>,
        offset: &[f64],
        intercept: bool,
    ) -> Self {
        let (offset, sums) = (offset.to_vec(), PhantomData);
        let term = FitSums { kernel, centers, span, whitener, intercept, offset, sums };
        let (sizes, fingerprint) = (term.sizes(), term.hash());
        Tiled::over_no_rows(term, sizes, fingerprint)
    }

    /// With these sums over whole tiles.
    fn of_sums(term: &Arc<FitSums<K, T, A>>, sums: (Totals, A)) -> Self {
        let mut state = Tiled::over_no_rows(term.clone(), term.sizes(), term.hash());
        (state.rows, state.sums) = (sums.0.rows, sums);
        state
    }

    /// As `new`, or as [`with_intercept`](Self::with_intercept) if there is an `offset`, with f
    /// restricted to the span of a sketch S as in [`SketchedKrr`](crate::SketchedKrr). Row i of S
    /// belongs to point i of `points`, for example of a uniform sample of the rows to come. The
    /// points are not rows of the state.
    ///
    /// # Cost
    /// For m columns, u of whose rows are not 0: u² kernel values and m³/3 flops once, then u
    /// kernel values and 2s + 2m² flops for each row. s is the number of entries that are not 0 if
    /// it is at most um/8, as for an accumulation; otherwise s = um. A state is m²/2 + mt numbers,
    /// and um + m² numbers are shared.
    ///
    /// # Errors
    /// As `new`; [`Error::Shape`] unless S has a row for each point.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{NormalEquations, RowSums};
    /// use nystrom_linalg_core::Ridge;
    /// use nystrom_sketch::Accumulation;
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..3000).map(|i| i as f64 / 1000.0).collect();
    /// let y = Mat::from_fn(3000, 1, |i, _| (4.0 * x[i]).sin());
    /// let sample: Vec<f64> = x.iter().copied().step_by(10).collect();
    /// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
    /// let sketch = Accumulation::uniform(4).sample(300, 20, rng)?;
    /// let (kernel, sample) = (Gaussian::new(0.4)?, Points::from_slice(&sample));
    /// let mut state = NormalEquations::sketched(kernel, sample, &sketch, 1, None)?;
    /// state.accumulate((Points::from_slice(&x), &y))?;
    /// let model = state.solve(Ridge::PerSample(1e-8))?;
    /// let f = model.predict(Points::from_slice(&[1.234]))?;
    /// assert!((f[(0, 0)] - 4.936_f64.sin()).abs() < 1e-2);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn sketched(
        kernel: K,
        points: Points<'_, T>,
        sketch: &dyn Sketch<T>,
        targets: usize,
        offset: Option<&[f64]>,
    ) -> Result<Self> {
        points.check_dense()?;
        kernel.check_points(points)?;
        let zeros = vec![0.0; targets];
        validate::same_size("offsets against targets", targets, offset.unwrap_or(&zeros).len())?;
        check_offset(offset.unwrap_or(&zeros))?;
        let matrix = KernelMatrix::new(&kernel, points)?;
        let product = SketchProduct::new(&matrix, sketch)?;
        // SᵀKS + δI = RRᵀ
        let gram = product.gram(product.on_support()?.as_ref());
        let whitener = Whitener::new(gram.as_ref(), false)?;
        let support = sketch.support();
        let columns = points.as_cols();
        let centers = Mat::from_fn(points.dim(), support.len(), |k, j| columns[(k, support[j])]);
        let features = (kernel, centers, Some(span(sketch)));
        Ok(Self::of(features, whitener, offset.unwrap_or(&zeros), offset.is_some()))
    }

    /// The model at this ridge. m³/3 flops.
    ///
    /// # Errors
    /// [`Error::Empty`] without rows of positive weight, those of [`Ridge::absolute`];
    /// [`Error::NotPositiveDefinite`] if λ is lost in rounding errors of normal equations.
    pub fn solve(&self, ridge: Ridge<T>) -> Result<KrrModel<K, T>> {
        let (known, term) = (self.known()?, &*self.term);
        let (totals, sums) = &*known;
        let mu = ridge.absolute(totals.rows as usize)?.f64();
        let solution = sums.solve(mu, term.intercept)?;
        let b: Option<Vec<f64>> =
            solution.b.map(|b| b.iter().zip(&term.offset).map(|(b, offset)| b + offset).collect());
        let report = FitReport {
            ridge: solution.mu,
            condition: solution.condition,
            reason: "from the state of its rows".into(),
            ..term.report(totals)
        };
        // θ = R⁻ᵀβ, or S̄R⁻ᵀβ
        let theta = spread(term.span.as_ref(), term.whitener.unwhiten(solution.beta));
        let (kernel, b) = (term.kernel.clone(), b.as_deref());
        KrrModel::from_parts(kernel, term.centers(), theta.as_ref(), b, report)
    }

    /// Training error, generalised cross-validation and d_eff at all `ridges`, and the model at
    /// any, without another pass over the rows. About 10m³ flops. [`StatePath::errors`] takes
    /// another pass for leave-one-out errors.
    ///
    /// # Errors
    /// As [`solve`](Self::solve), [`Error::Empty`] without ridges.
    pub fn path(&self, ridges: &[Ridge<T>]) -> Result<StatePath<K, T>> {
        let (known, term) = (self.known()?, &*self.term);
        let Totals { rows, weight, ref squares, ref targets, .. } = known.0;
        all_absolute(ridges, rows as usize)?;
        let family = term.family(&known)?;
        let t = squares.len() as f64;
        let centered = |(square, sum): (&f64, &f64)| {
            if term.intercept { square - sum * sum / weight } else { *square }
        };
        let centered: Vec<f64> = squares.iter().zip(targets).map(centered).collect();
        let point = |&ridge: &Ridge<T>| {
            let mu = family.spectrum.mu(ridge)?;
            let (sum, level) = path::residuals(&family, mu, &centered, squares);
            let (training, d_eff) = (sum / (t * weight), family.d_eff(mu));
            let gcv = family.gcv(training, mu);
            Ok(StatePoint { ridge, mu, d_eff, training, rounding: level / (t * weight), gcv })
        };
        let points = ridges.iter().map(point).collect::<Result<_>>()?;
        Ok(StatePath { points, family: Arc::new(family) })
    }

    /// The sums, once every row is in them.
    fn known(&self) -> Result<Cow<'_, (Totals, A)>> {
        let sums = self.whole()?;
        if sums.0.positive == 0 {
            return Err(Error::Empty { what: "rows of positive weight in the state" });
        }
        Ok(sums)
    }
}

fn check_offset(offset: &[f64]) -> Result<()> {
    validate::not_empty("targets", offset.len())?;
    offset.iter().try_for_each(|&x| validate::require(x.is_finite(), "offset", x, "finite"))
}
