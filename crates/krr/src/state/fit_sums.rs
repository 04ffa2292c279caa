//! The sums of a [`FitState`](super::FitState): features and targets, whitened.

use super::accumulator::{Accumulator, numbers};
use super::bytes::{MOST_ROWS, Reader, Writer, wrong};
use super::tiled::TileSums;
use crate::path::Family;
use crate::path::family::{Basis, Constant};
use crate::rows::{FeatureRows, Tile};
use crate::span_rows::SpanRows;
use crate::totals::Totals;
use crate::whitener::Whitener;
use crate::{FitReport, Problem};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, ops};
use std::sync::Arc;

/// What [`FitState`](super::FitState) adds up.
#[derive(Debug, Clone)]
#[must_use]
pub struct FitSums<K, T, A> {
    pub(super) shared: Arc<Shared<K, T>>,
    pub(super) totals: Totals,
    pub(super) sums: A,
}

/// What states of one fit have in common.
#[derive(Debug)]
pub(super) struct Shared<K, T> {
    pub kernel: K,
    pub centers: Mat<T>,
    /// Of a sketch, its rows at the centres, u × m.
    pub span: Option<Mat<f64>>,
    pub whitener: Whitener<T>,
    pub intercept: bool,
    pub offset: Vec<f64>,
}

#[expect(private_bounds, reason = "sealed: as FitState")]
impl<T: Scalar, K: Kernel<T> + Clone, A: Accumulator> FitSums<K, T, A> {
    pub(super) fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let (p, t) = (shared.features(), shared.offset.len());
        FitSums { totals: Totals::zeros(t), sums: A::zeros(p, t), shared }
    }

    pub(super) fn family(&self) -> Result<Family<K, T>> {
        let shared = &*self.shared;
        let (mut spectrum, V) = self.sums.decompose(shared.intercept, &self.totals)?;
        if let Some(Constant { targets, .. }) = &mut spectrum.constant {
            targets.iter_mut().zip(&shared.offset).for_each(|(mean, offset)| *mean += offset);
        }
        let (kernel, centers) = (shared.kernel.clone(), shared.centers.clone());
        let (whitener, expand) = (shared.whitener.clone(), shared.span.clone());
        let basis = Basis::Features { V, whitener, expand };
        Ok(Family { kernel, centers, spectrum, basis, report: self.report() })
    }

    pub(super) fn report(&self) -> FitReport {
        let (centers, t) = (self.shared.centers(), self.shared.offset.len());
        let (n, m) = (self.totals.rows, centers.len() as u64);
        FitReport {
            jitter: self.shared.whitener.jitter,
            reason: "one eigendecomposition of the state of its rows".into(),
            kernel_entries: (n + m) * m,
            ..FitReport::sized(A::SOLVED_BY, n as usize, centers, t)
        }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone, A: Accumulator> TileSums<T> for FitSums<K, T, A> {
    const KIND: u8 = A::KIND;
    const OTHERWISE: &'static str = "another kernel, other centres, offsets or intercept, another \
                                     scalar type or instruction set";
    type Room = Option<Tile<T>>;

    fn empty_at(&self, _: u64) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.shared.kernel
    }

    fn rows(&self) -> u64 {
        self.totals.rows
    }

    fn add(&mut self, tile: Problem<'_, T>, room: &mut Self::Room) -> Result<()> {
        let Shared { kernel, span, whitener, intercept, offset, .. } = &*self.shared;
        let source = SpanRows::new(kernel, self.shared.centers(), span.as_ref());
        let shift = intercept.then(|| offset.clone());
        let rows = FeatureRows::with_shift(&source, whitener, tile, shift);
        let room = room.get_or_insert_with(|| rows.tile());
        rows.fill_from(room, tile, 0..tile.x.len());
        self.sums.add(room, *intercept);
        self.totals.merge(&rows.totals);
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.sums.merge(later.sums);
        self.totals.merge(&later.totals);
    }

    fn numbers(&self) -> usize {
        let t = self.shared.offset.len();
        Totals::len(t) + numbers(self.shared.features(), t)
    }

    fn write(&self, out: &mut Writer) {
        self.totals.write(out);
        self.sums.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (p, t) = (self.shared.features(), self.shared.offset.len());
        let (totals, sums) = (Totals::read(reader, t), A::read(reader, p, t));
        if totals.is_sound() && sums.is_sound() {
            return Ok(FitSums { totals, sums, shared: self.shared.clone() });
        }
        Err(wrong("its numbers are the sums of no rows".into()))
    }
}

impl<K, T: Scalar> Shared<K, T> {
    pub fn centers(&self) -> Points<'_, T> {
        Points::from_cols(self.centers.as_ref())
    }

    /// θ of the centres: R⁻ᵀβ, or S̄R⁻ᵀβ.
    pub fn to_centers(&self, beta: Mat<f64>) -> Mat<f64> {
        let theta = self.whitener.unwhiten(beta);
        let Some(S) = &self.span else { return theta };
        ops::times(S.as_ref(), theta.as_ref())
    }

    /// p = m, or m + 1 with an intercept.
    pub fn features(&self) -> usize {
        self.whitener.order() + usize::from(self.intercept)
    }
}

impl Totals {
    /// Whether they can be those of any rows.
    fn is_sound(&self) -> bool {
        let possible = |x: f64| x.is_finite() && x >= 0.0;
        self.positive <= self.rows
            && self.rows <= MOST_ROWS
            && (self.positive > 0) == (self.weight > 0.0)
            && [self.weight, self.trace]
                .into_iter()
                .chain(self.squares.iter().copied())
                .all(possible)
            && self.targets.iter().all(|x| x.is_finite())
    }

    /// How many numbers they are for t targets.
    fn len(t: usize) -> usize {
        4 + 2 * t
    }

    fn write(&self, out: &mut Writer) {
        [self.rows, self.positive].into_iter().for_each(|x| out.integer(x));
        out.numbers(&[self.weight, self.trace]);
        out.numbers(&self.targets);
        out.numbers(&self.squares);
    }

    fn read(reader: &mut Reader<'_>, t: usize) -> Self {
        Totals {
            rows: reader.integer(),
            positive: reader.integer(),
            weight: reader.number(),
            trace: reader.number(),
            targets: reader.numbers(t),
            squares: reader.numbers(t),
        }
    }
}
