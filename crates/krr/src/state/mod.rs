//! Fits as states: what a pass over rows adds up to, which can be merged, saved and gone on with.

mod accumulator;
mod bytes;
mod center_products;
mod errors;
mod fingerprint;
mod onto;
mod path;
mod row_sums;
pub(crate) mod totals;
pub(crate) mod waiting;

pub use center_products::CenterProducts;
pub(crate) use center_products::Sums as ProductSums;
pub use errors::PathErrors;
pub use fingerprint::instruction_set;
pub use path::{StatePath, StatePoint};
pub use row_sums::RowSums;

use crate::feature_sums::FeatureSums;
use crate::path::Family;
use crate::path::family::{Basis, Constant};
use crate::qr::Triangle;
use crate::rows::{FeatureRows, KernelRows, Tile};
use crate::whitener::Whitener;
use crate::{FitReport, KrrModel, Problem};
use accumulator::{Accumulator, numbers};
use bytes::{Reader, Writer, wrong};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};
use std::sync::Arc;
use totals::Totals;
use waiting::Waiting;

/// The normal equations of [`NystromKrr`](crate::NystromKrr) over the rows seen so far.
///
/// ΦᵀΦ (packed), Φᵀy and yᵀy of whitened features in `f64`: good while λ is above 10·ε·k(x, x).
pub type NormalEquations<K, T> = FitState<K, T, FeatureSums>;

/// The triangular factor of the same features over the rows seen so far (TSQR), good at every λ.
pub type TallQr<K, T> = FitState<K, T, Triangle>;

/// What kernel ridge regression with given centres keeps of the rows it has seen: O(m² + mt)
/// numbers, from which it can be solved at any ridge.
///
/// Rows come in blocks of any size, from memory, files or another machine. States of different rows
/// [merge](Self::merge), [become bytes](Self::to_bytes) and
/// [come back](Self::from_bytes): a pass over parts of the data, in any number of places, is one
/// fit. States made with another kernel, other centres, another scalar type or on another
/// instruction set do not merge: a fingerprint of all these tells.
///
/// Tiles are cut at multiples of 1024 rows of the state, never where a block was handed over, so
/// the bits depend on the rows and on what was merged with what. States of the leaves of
/// [`RowTree::large`](nystrom_linalg_core::RowTree::large), merged along that tree, are the fit in
/// memory.
///
/// # Cost
/// m² kernel values and m³/3 flops once. Then m kernel values and 2m² flops a row (and
/// (3 + m/768)m² for [`TallQr`]). A state is m²/2 + mt numbers; those made by
/// [`empty`](Self::empty) share the centres and R, another m².
///
/// # Source
/// As [`NystromKrr`](crate::NystromKrr); TSQR is that of Demmel, Grigori, Hoemmen & Langou, SIAM J.
/// Sci. Comput. 34, 2012.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, lambda_grid};
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
/// here.merge(empty.from_bytes(&there.to_bytes())?)?;
/// let path = here.path(&lambda_grid(1e-2, 1e-10, 9)?)?;
/// let model = path.model_at(path.best_by_gcv().ridge)?;
/// let f = model.predict(Points::from_slice(&[1.234]))?;
/// assert!((f[(0, 0)] - 4.936_f64.sin()).abs() < 1e-3);
/// assert_eq!(model.report().n, 3000);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FitState<K, T, A> {
    shared: Arc<Shared<K, T>>,
    totals: Totals,
    sums: A,
    waiting: Waiting<T>,
}

/// What states of one fit have in common.
#[derive(Debug)]
struct Shared<K, T> {
    kernel: K,
    centers: Mat<T>,
    whitener: Whitener<T>,
    intercept: bool,
    offset: Vec<f64>,
    fingerprint: u64,
}

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

    /// As [`new`](Self::new), and a constant b is fitted, not penalised, one per target.
    ///
    /// `offset`, one number for each target, is subtracted from the targets and added to b: about
    /// their mean, or 0. It changes nothing but the digits that a large mean would take.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::InvalidParameter`] for an offset that is not finite.
    pub fn with_intercept(kernel: K, centers: Points<'_, T>, offset: &[f64]) -> Result<Self> {
        Self::make(kernel, centers, offset, true)
    }

    fn make(kernel: K, centers: Points<'_, T>, offset: &[f64], intercept: bool) -> Result<Self> {
        validate::not_empty("centres (m)", centers.len())?;
        kernel.check_points(centers)?;
        validate::not_empty("targets", offset.len())?;
        offset.iter().try_for_each(|&x| finite("offset", x))?;
        let whitener = Whitener::new(&kernel, centers)?; //          W + δI = RRᵀ
        let fingerprint = fingerprint::fingerprint(&kernel, centers, &whitener, intercept, offset);
        let (centers, offset) = (centers.as_cols().to_owned(), offset.to_vec());
        Ok(Self::over_no_rows(Arc::new(Shared {
            kernel,
            centers,
            whitener,
            intercept,
            offset,
            fingerprint,
        })))
    }

    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let (p, t) = (shared.features(), shared.offset.len());
        FitState {
            totals: Totals::zeros(t),
            sums: A::zeros(p, t),
            waiting: Waiting::new(shared.centers.nrows(), t),
            shared,
        }
    }

    /// A state over no rows that this one can be merged with.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    /// Rows seen.
    pub fn rows(&self) -> u64 {
        self.totals.rows + self.waiting.len() as u64
    }

    /// Takes the rows of a block, after those before it.
    ///
    /// # Errors
    /// Those of [`NystromKrr::fit`](crate::NystromKrr::fit) for the block, before any of it is
    /// taken; weights may all be 0.
    pub fn accumulate<'a>(&mut self, block: impl Into<Problem<'a, T>>) -> Result<()> {
        let block = block.into();
        let shared = self.shared.clone();
        block.check_block(&shared.kernel)?;
        shared.centers().check_same_dim(block.x)?;
        validate::same_size(
            "targets of the block against those of the state",
            shared.offset.len(),
            block.y.ncols(),
        )?;
        let mut tile = None;
        for i in 0..block.x.len() {
            self.waiting.push(block, i);
            if self.waiting.is_full() {
                self.take_waiting(&mut tile);
            }
        }
        Ok(())
    }

    /// Adds the rows that wait for a whole tile.
    fn take_waiting(&mut self, tile: &mut Option<Tile<T>>) {
        if self.waiting.len() == 0 {
            return;
        }
        let Shared { kernel, centers, whitener, intercept, offset, .. } = &*self.shared;
        let samples = self.waiting.first(self.waiting.len());
        let centers = Points::from_cols(centers.as_ref());
        let source = KernelRows { kernel, centers };
        let shift = intercept.then(|| offset.clone());
        let rows = FeatureRows::with_shift(&source, whitener, samples, shift);
        let tile = tile.get_or_insert_with(|| rows.tile());
        let taken = samples.x.len();
        rows.fill_from(tile, samples, 0..taken);
        self.sums.add(tile, *intercept);
        self.totals.merge(&rows.totals);
        self.waiting.drop_first(taken);
    }

    /// Adds the rows of another state, as if they came after these.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for a state of another kernel, other centres or offsets, another
    /// scalar type or instruction set; this one is then as it was.
    pub fn merge(&mut self, mut other: Self) -> Result<()> {
        self.check_fingerprint(other.shared.fingerprint)?;
        self.take_waiting(&mut None);
        other.take_waiting(&mut None);
        self.sums.merge(other.sums);
        self.totals.merge(&other.totals);
        Ok(())
    }

    fn check_fingerprint(&self, other: u64) -> Result<()> {
        let ours = self.shared.fingerprint;
        if other == ours {
            return Ok(());
        }
        Err(wrong(format!(
            "its fingerprint is {other:016x}, not {ours:016x}: it was made with another kernel, \
             other centres, offsets or intercept, another scalar type or instruction set; make \
             both from the same"
        )))
    }

    /// The model at this ridge. m³/3 flops.
    ///
    /// # Errors
    /// [`Error::Empty`] without rows of positive weight, those of [`Ridge::absolute`];
    /// [`Error::NotPositiveDefinite`] if λ is lost in rounding errors of normal equations.
    pub fn solve(&mut self, ridge: Ridge<T>) -> Result<KrrModel<K, T>> {
        let n = self.finish()?;
        let mu = ridge.absolute(n)?.f64();
        let solution = self.sums.solve(mu, self.shared.intercept)?;
        let shared = &*self.shared;
        let b = match solution.b {
            Some(b) => b.iter().zip(&shared.offset).map(|(b, offset)| b + offset).collect(),
            None => vec![0.0; shared.offset.len()],
        };
        let report = FitReport {
            ridge: solution.mu,
            condition: solution.condition,
            reason: "from the state of its rows".into(),
            ..self.report()
        };
        let theta = shared.whitener.unwhiten(solution.beta);
        KrrModel::from_parts(shared.kernel.clone(), shared.centers(), theta.as_ref(), &b, report)
    }

    /// Training error, generalised cross-validation and d_eff at all `ridges`, and the model at
    /// any: no further pass over the rows. About 10m³ flops. Leave-one-out errors need that pass:
    /// [`StatePath::errors`].
    ///
    /// # Errors
    /// As [`solve`](Self::solve), [`Error::Empty`] without ridges.
    pub fn path(&mut self, ridges: &[Ridge<T>]) -> Result<StatePath<K, T>> {
        validate::not_empty("ridges of the path", ridges.len())?;
        let n = self.finish()?;
        ridges.iter().try_for_each(|ridge| ridge.absolute(n).map(drop))?;
        let Totals { weight, positive, ref squares, ref targets, .. } = self.totals;
        let family = self.family()?;
        let (t, rows) = (squares.len() as f64, positive as usize);
        let centered = |(square, sum): (&f64, &f64)| {
            if self.shared.intercept { square - sum * sum / weight } else { *square }
        };
        let centered: Vec<f64> = squares.iter().zip(targets).map(centered).collect();
        let point = |&ridge: &Ridge<T>| {
            let mu = family.spectrum.mu(ridge)?;
            let (sum, level) = path::residuals(&family, mu, &centered, squares);
            let (training, d_eff) = (sum / (t * weight), family.d_eff(mu));
            let gcv = training / (family.remainder(mu, rows) / rows as f64).powi(2);
            Ok(StatePoint { ridge, mu, d_eff, training, rounding: level / (t * weight), gcv })
        };
        let points = ridges.iter().map(point).collect::<Result<_>>()?;
        let shift = self.shared.intercept.then(|| self.shared.offset.clone());
        let (family, fingerprint) = (Arc::new(family), self.shared.fingerprint);
        Ok(StatePath { points, family, shift, fingerprint })
    }

    fn family(&self) -> Result<Family<K, T>> {
        let shared = &*self.shared;
        let (mut spectrum, V) = self.sums.decompose(shared.intercept, &self.totals)?;
        if let Some(Constant { targets, .. }) = &mut spectrum.constant {
            targets.iter_mut().zip(&shared.offset).for_each(|(mean, offset)| *mean += offset);
        }
        let (kernel, centers) = (shared.kernel.clone(), shared.centers.clone());
        let basis = Basis::Features { V, whitener: shared.whitener.clone(), expand: None };
        Ok(Family { kernel, centers, spectrum, basis, report: self.report() })
    }

    fn report(&self) -> FitReport {
        let (d, m) = self.shared.centers.shape();
        FitReport {
            n: self.totals.rows as usize,
            m,
            d,
            t: self.shared.offset.len(),
            ridge: 0.0,
            jitter: self.shared.whitener.jitter,
            solver: A::SOLVED_BY,
            reason: "one eigendecomposition of the state of its rows".into(),
            condition: 1.0,
            kernel_entries: (self.totals.rows + m as u64) * m as u64,
        }
    }

    /// n, once every row is in the sums.
    fn finish(&mut self) -> Result<usize> {
        self.take_waiting(&mut None);
        if self.totals.positive == 0 {
            return Err(Error::Empty { what: "rows of positive weight in the state" });
        }
        Ok(self.totals.rows as usize)
    }

    /// The state as bytes: 8 a number, with layout version, fingerprint and checksum. Kernel and
    /// centres are not among them.
    pub fn to_bytes(&mut self) -> Vec<u8> {
        self.take_waiting(&mut None);
        let (p, t) = (self.shared.features(), self.shared.offset.len());
        let mut out = Writer::new(A::KIND, 1 + Totals::len(t) + numbers(p, t));
        out.integer(self.shared.fingerprint);
        self.totals.write(&mut out);
        self.sums.write(&mut out);
        out.finish()
    }

    /// The state that [`to_bytes`](Self::to_bytes) wrote, for the kernel and centres of this one,
    /// whose rows play no part.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for damaged bytes, and those of a state that cannot be
    /// [merged](Self::merge) with this one.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Self> {
        let (p, t) = (self.shared.features(), self.shared.offset.len());
        let mut reader = Reader::new(bytes, A::KIND, 1 + Totals::len(t) + numbers(p, t))?;
        self.check_fingerprint(reader.integer())?;
        let totals = Totals::read(&mut reader, t);
        let sums = A::read(&mut reader, p, t);
        if totals.is_sound() && sums.is_sound() {
            return Ok(FitState { totals, sums, ..self.empty() });
        }
        Err(wrong("its numbers are the sums of no rows".into()))
    }
}

impl<T: Scalar, K: Kernel<T> + Clone, A: Accumulator> RowSums<T> for FitState<K, T, A> {
    fn empty(&self) -> Self {
        FitState::empty(self)
    }
    fn rows(&self) -> u64 {
        FitState::rows(self)
    }
    fn accumulate(&mut self, block: Problem<'_, T>) -> Result<()> {
        FitState::accumulate(self, block)
    }
    fn merge(&mut self, later: Self) -> Result<()> {
        FitState::merge(self, later)
    }
    fn to_bytes(&mut self) -> Result<Vec<u8>> {
        Ok(FitState::to_bytes(self))
    }
    fn read(&self, bytes: &[u8]) -> Result<Self> {
        FitState::from_bytes(self, bytes)
    }
}

fn finite(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::InvalidParameter { name, value, requirement: "finite" })
}

impl<K, T: Scalar> Shared<K, T> {
    fn centers(&self) -> Points<'_, T> {
        Points::from_cols(self.centers.as_ref())
    }

    /// p = m, or m + 1 with an intercept.
    fn features(&self) -> usize {
        self.centers.ncols() + usize::from(self.intercept)
    }
}
