//! The sums of a [`FitState`](super::FitState): features and targets, whitened.

use super::kernel_products::{entries, fingerprint};
use super::tiled::TileTerm;
use crate::direct::safe;
use crate::features::{FeatureRows, KernelRows, Tile, Totals, Whitener};
use crate::path::Family;
use crate::path::family::{Basis, Spectrum};
use crate::sums::{Accumulator, Products, Reader, Sums};
use crate::{FitReport, Problem};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar};
use std::marker::PhantomData;

/// The term of a tile in a [`FitState`](super::FitState): its whitened features and targets.
#[derive(Debug, Clone)]
#[must_use]
pub struct FitSums<K, T, A> {
    pub(super) kernel: K,
    /// d × u.
    pub(super) centers: Mat<T>,
    /// S̄, the rows of a sketch at the centres, u × m.
    pub(super) span: Option<Mat<f64>>,
    pub(super) whitener: Whitener<T>,
    pub(super) intercept: bool,
    pub(super) offset: Vec<f64>,
    pub(super) sums: PhantomData<A>,
}

#[expect(private_bounds, reason = "sealed: as FitState")]
impl<T: Scalar, K: Kernel<T> + Clone, A: Accumulator> FitSums<K, T, A> {
    pub(super) fn family(&self, (totals, sums): &(Totals, A)) -> Result<Family<K, T>> {
        let floor = safe(totals.trace, f64::EPSILON);
        let decomposed = sums.decomposed(self.intercept)?;
        let (spectrum, V) = Spectrum::of_features(decomposed, totals, floor, Some(&self.offset));
        let (kernel, centers) = (self.kernel.clone(), self.centers.clone().into());
        let (whitener, expand) = (self.whitener.clone(), self.span.clone());
        let basis = Basis::Features { V, whitener, expand };
        let (report, shift) = (self.report(totals), self.intercept.then(|| self.offset.clone()));
        Ok(Family { kernel, centers, spectrum, basis, report, shift })
    }

    pub(super) fn report(&self, totals: &Totals) -> FitReport {
        let (n, m) = (totals.rows, self.centers.ncols() as u64);
        FitReport {
            jitter: self.whitener.jitter,
            reason: "one eigendecomposition of the state of its rows".into(),
            kernel_entries: (n + m) * m,
            ..FitReport::sized(A::SOLVED_BY, n as usize, self.centers(), self.offset.len())
        }
    }
}

impl<T: Scalar, K: Kernel<T>, A> FitSums<K, T, A> {
    pub(super) fn centers(&self) -> Points<'_, T> {
        Points::from_cols(self.centers.as_ref())
    }

    /// p = m, or m + 1 with an intercept.
    pub(super) fn features(&self) -> usize {
        self.whitener.order() + usize::from(self.intercept)
    }

    /// d and t.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.centers.nrows(), self.offset.len()]
    }

    /// A hash of everything but the rows that the sums depend on.
    pub(super) fn hash(&self) -> u64 {
        let hash = fingerprint(&self.kernel, self.centers(), self.offset.len());
        let hash = hash.integer(u64::from(self.intercept)).numbers(&self.offset);
        let hash = hash.numbers(entries(self.centers.as_ref()));
        let hash = hash.numbers((0..self.whitener.order()).flat_map(|j| self.whitener.column(j)));
        self.span.iter().fold(hash, |hash, S| hash.numbers(entries(S.as_ref()))).value()
    }
}

impl<T: Scalar, K: Kernel<T>, A: Accumulator> TileTerm<T> for FitSums<K, T, A> {
    const KIND: u8 = A::KIND;
    const MISMATCH: &'static str = "another kernel, other centres, offsets or intercept, another \
                                    scalar type or instruction set";
    type Sums = (Totals, A);
    type Scratch = Option<Tile<T>>;

    fn kernel(&self) -> &impl Kernel<T> {
        &self.kernel
    }

    fn zeros(&self) -> (Totals, A) {
        let t = self.offset.len();
        (Totals::zeros(t), A::zeros(self.features(), t))
    }

    fn add(
        &self,
        (totals, sums): &mut (Totals, A),
        tile: Problem<'_, T>,
        _: u64,
        scratch: &mut Option<Tile<T>>,
    ) -> Result<()> {
        let source = KernelRows::new(&self.kernel, self.centers(), self.span.as_ref());
        let shift = self.intercept.then(|| self.offset.clone());
        let rows = FeatureRows::with_shift(&tile, &source, &self.whitener, shift)?;
        let scratch = scratch.get_or_insert_with(|| rows.tile());
        rows.fill(scratch, tile, 0..tile.x.len());
        let wide = &mut [Mat::new(), Mat::new()];
        sums.add(scratch, self.intercept, Products::Double, wide);
        totals.merge(rows.totals);
        Ok(())
    }
}

impl Sums for Totals {
    fn merge(&mut self, later: Self) {
        self.rows += later.rows;
        self.positive += later.positive;
        self.weight += later.weight;
        self.trace += later.trace;
        self.targets.merge(later.targets);
        self.squares.merge(later.squares);
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        [self.rows, self.positive].into_iter().for_each(&mut *out);
        [self.weight, self.trace].iter().for_each(|sum| sum.write(out));
        self.targets.write(out);
        self.squares.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        Totals {
            rows: reader.integer(),
            positive: reader.integer(),
            weight: reader.number(),
            trace: reader.number(),
            targets: self.targets.read(reader),
            squares: self.squares.read(reader),
        }
    }

    fn is_sound(&self, rows: u64) -> bool {
        self.positive <= self.rows
            && self.rows <= rows
            && (self.positive > 0) == (self.weight > 0.0)
            && [self.weight, self.trace].iter().chain(&self.squares).all(|x| *x >= 0.0)
    }
}
