//! Normal equations by folds: k-fold cross-validation in one pass.

use super::path::SAFETY;
use super::tiled::{TileTerm, Tiled};
use super::{FitSums, NormalEquations};
use crate::Problem;
use crate::cross_validation::{CvScore, check_count};
use crate::data::Part;
use crate::features::Totals;
use crate::path::Family;
use crate::path::family::Basis;
use crate::sums::{Hash, NormalSums, Sums};
use faer::{Accum, Mat};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, Streams, ops, validate};
use rand::{Rng, RngExt};
use std::sync::Arc;

/// The normal equations of each of k folds: k-fold cross-validation in one pass.
///
/// The fold of a row is random, by a generator that follows from the number of the row, or, [by
/// content](FoldedEquations::by_content), from its coordinates and targets. So folds do not depend
/// on blocks or on the distribution of rows. [`empty_at`](crate::RowSums::empty_at) sets the number
/// of the first row.
///
/// With θ from the sums of the other folds, the squared error on fold f is a difference of sums,
/// ‖y_f − Φ_fθ‖² = y_fᵀy_f − 2θᵀΦ_fᵀy_f + θᵀ(Φ_fᵀΦ_f)θ.
///
/// # Cost
/// That of [`NormalEquations`] for a row. k times its memory; k(10m³ + 2m²Lt) flops for the errors
/// at L ridges.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NormalEquations, RowSums, lambda_grid};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..2000).map(|i| f64::from(i) / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin() + 0.1 * (i as f64 * 9.7).sin());
/// let centers: Vec<f64> = (0..20).map(|j| f64::from(j) / 10.0).collect();
/// let state = NormalEquations::new(Gaussian::new(0.2)?, Points::from_slice(&centers), 1)?;
/// let mut folded = state.folded(5, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// folded.accumulate((Points::from_slice(&x), &y))?;
/// let ridges = lambda_grid(1.0, 1e-9, 10)?;
/// let scores = folded.scores(&ridges)?;
/// let loss = |i: &usize| scores[*i].score.mean;
/// let best = (0..10).min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap();
/// let model = folded.together()?.solve(ridges[best])?; // all rows
/// assert!(loss(&best).sqrt() < 0.075 && model.report().n == 2000);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type FoldedEquations<K, T> = Tiled<FoldSums<K, T>, T>;

/// The term of a tile in [`FoldedEquations`].
#[derive(Debug, Clone)]
#[must_use]
pub struct FoldSums<K, T> {
    /// The equations of each fold.
    equations: Arc<FitSums<K, T, NormalSums>>,
    folds: usize,
    streams: Streams,
    /// Whether the fold of a row follows from its coordinates and targets, not from its number.
    by_content: bool,
}

/// The cross-validation error of one ridge.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FoldedScore {
    /// Mean squares of the errors, over targets and (weighted) rows, on each fold with rows of
    /// positive weight, in order; and the mean of these folds, each counted once, whatever its
    /// weight.
    pub score: CvScore,
    /// The level below which the mean is rounding errors, as of
    /// [`StatePoint::rounding`](crate::StatePoint::rounding).
    pub rounding: f64,
}

impl<T: Scalar, K: Kernel<T> + Clone> NormalEquations<K, T> {
    /// The equations of `folds` folds over no rows, with the features of `self`. The rows of `self`
    /// are not used.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two folds.
    ///
    /// # Randomness
    /// One key.
    pub fn folded(&self, folds: usize, rng: &mut dyn Rng) -> Result<FoldedEquations<K, T>> {
        check_count(folds)?;
        let (equations, streams) = (self.term.clone(), Streams::from_rng(rng));
        let hash = Hash::new().integer(self.fingerprint).integer(streams.key());
        let term = FoldSums { equations, folds, streams, by_content: false };
        Ok(Tiled::over_no_rows(term, self.waiting.sizes(), hash.integer(folds as u64).value()))
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> FoldedEquations<K, T> {
    /// The fold that a row is in, by its number among all rows; not [by
    /// content](Self::by_content).
    #[must_use]
    pub fn fold(&self, row: u64) -> usize {
        self.term.fold(row)
    }

    /// The same over no rows, with copies in one fold: rows with equal coordinates and targets.
    /// Their weights may differ.
    pub fn by_content(self) -> Self {
        let term = FoldSums { by_content: true, ..(*self.term).clone() };
        let hash = Hash::new().integer(self.fingerprint).integer(1);
        Tiled::over_no_rows(term, self.waiting.sizes(), hash.value())
    }

    /// The equations of all rows.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn together(&self) -> Result<NormalEquations<K, T>> {
        let equations = &self.term.equations;
        let sums = all_but(&self.whole()?, usize::MAX, equations.zeros());
        Ok(NormalEquations::of_sums(equations, sums))
    }

    /// The errors on each fold of the fits to the others, at every ridge. A
    /// [`Ridge::PerSample`] refers to the rows of the other folds. Folds without rows of positive
    /// weight, which chance leaves empty if few rows have weight, do not count.
    ///
    /// # Errors
    /// [`Error::Empty`] without ridges, without rows of positive weight, and if all of these are in
    /// one fold; [`Error::TooMany`] for more folds than such rows; those of [`Ridge::absolute`].
    pub fn scores(&self, ridges: &[Ridge<T>]) -> Result<Vec<FoldedScore>> {
        validate::not_empty("ridges of the path", ridges.len())?;
        let (folds, equations) = (self.whole()?, &self.term.equations);
        let positive = folds.iter().map(|fold| fold.0.positive).sum::<u64>() as usize;
        validate::not_empty("rows of positive weight", positive)?;
        validate::at_most("folds", self.term.folds, positive)?;
        let weighted = || folds.iter().enumerate().filter(|(_, fold)| fold.0.positive > 0);
        let count = weighted().count();
        if count < 2 {
            let what = "rows of positive weight outside one fold (draw other folds)";
            return Err(Error::Empty { what });
        }
        let mut errors = vec![Vec::with_capacity(count); ridges.len()];
        let mut levels = vec![0.0; ridges.len()];
        for (f, fold) in weighted() {
            let family = equations.family(&all_but(&folds, f, equations.zeros()))?;
            let found = equations.errors_of(fold, &family, &family.spectrum.mus(ridges)?);
            for (l, (error, level)) in found.into_iter().enumerate() {
                errors[l].push(error);
                levels[l] += level / count as f64;
            }
        }
        let scores = errors.into_iter().zip(levels).enumerate();
        let score =
            |(l, (values, rounding))| FoldedScore { score: CvScore::new(0, l, values), rounding };
        Ok(scores.map(score).collect())
    }
}

impl<K, T> FoldSums<K, T> {
    fn fold(&self, row: u64) -> usize {
        self.streams.stream(row).random_range(0..self.folds)
    }
}

/// The sums of the other folds added to `all`, in their order.
fn all_but<S: Sums>(folds: &[S], fold: usize, mut all: S) -> S {
    let others = folds.iter().enumerate().filter(|(f, _)| *f != fold);
    others.for_each(|(_, sums)| all.merge(sums.clone()));
    all
}

/// A number that rows of equal coordinates and targets share.
fn content<T: Scalar>(tile: Problem<'_, T>, row: usize) -> u64 {
    let coordinates = (0..tile.x.dim()).map(|k| tile.x.coordinate(row, k));
    let targets = (0..tile.y.ncols()).map(|j| tile.y[(row, j)]);
    // −0 is 0
    let hash = |hash: Hash, value: T| hash.numbers(&[value.f64() + 0.0]);
    coordinates.chain(targets).fold(Hash::new(), hash).value()
}

impl<T: Scalar, K: Kernel<T> + Clone> FitSums<K, T, NormalSums> {
    /// The mean squared error at the rows of these sums of each fit of a family, and its rounding
    /// level.
    ///
    /// With u = \[β; b\] of the whitened features and G, M the sums over \[Φ 1\] it is
    /// yᵀy − 2uᵀM + uᵀGu. Products wrong by ε·tr G and ε·‖M‖ make an error of about
    /// ε(‖y‖ + √(tr G)‖u‖)².
    fn errors_of(
        &self,
        (totals, sums): &(Totals, NormalSums),
        family: &Family<K, T>,
        mus: &[f64],
    ) -> Vec<(f64, f64)> {
        let (p, t, offset) = (self.features(), self.offset.len(), &self.offset);
        let Basis::Features { V, .. } = &family.basis else { return Vec::new() };
        let (c, _) = family.spectrum.at_all(mus); //                       r × Lt
        let mut u = Mat::zeros(p, c.ncols());
        let m = V.nrows();
        ops::matmul(u.as_mut().subrows_mut(0, m), Accum::Replace, V.as_ref(), c.as_ref(), 1.0);
        if let Some(mean) = &family.spectrum.constant {
            for column in 0..c.ncols() {
                let at_mean = ops::dot(&mean.features, c.col_as_slice(column));
                u[(m, column)] = mean.targets[column % t] - offset[column % t] - at_mean;
            }
        }
        let G = Mat::from_fn(p, p, |i, j| sums.0.gram.get(i.max(j), i.min(j)));
        let Gu = ops::times(G.as_ref(), u.as_ref());
        let trace: f64 = (0..p).map(|j| G[(j, j)]).sum();
        let squares = &totals.squares;
        let of = |column: usize| {
            let (j, u) = (column % t, u.col(column));
            let (quadratic, linear) =
                (u.transpose() * Gu.col(column), u.transpose() * sums.0.moments.col(j));
            let error = (squares[j] - 2.0 * linear + quadratic).max(0.0);
            let size = squares[j].sqrt() + trace.sqrt() * u.norm_l2();
            (error, SAFETY * f64::EPSILON * size.powi(2))
        };
        let mean = |l: usize| {
            let each = (l * t..(l + 1) * t).map(of);
            let (error, level) = each.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            let all = t as f64 * totals.weight;
            (error / all, level / all)
        };
        (0..mus.len()).map(mean).collect()
    }
}

impl<T: Scalar, K: Kernel<T>> TileTerm<T> for FoldSums<K, T> {
    const KIND: u8 = 6;
    const MISMATCH: &'static str = "other folds, or another kernel, other centres, offsets or \
                                    intercept, another scalar type or instruction set";
    type Sums = Vec<(Totals, NormalSums)>;
    type Scratch = ();

    fn kernel(&self) -> &impl Kernel<T> {
        self.equations.kernel()
    }

    fn zeros(&self) -> Self::Sums {
        vec![self.equations.zeros(); self.folds]
    }

    fn add(
        &self,
        sums: &mut Self::Sums,
        tile: Problem<'_, T>,
        first: u64,
        (): &mut (),
    ) -> Result<()> {
        let mut parts = vec![Vec::new(); self.folds];
        let number = |i: usize| if self.by_content { content(tile, i) } else { first + i as u64 };
        (0..tile.x.len()).for_each(|i| parts[self.fold(number(i))].push(i));
        for (sums, rows) in sums.iter_mut().zip(&parts).filter(|(_, rows)| !rows.is_empty()) {
            self.equations.add(sums, Part::new(tile, rows).problem(), 0, &mut None)?;
        }
        Ok(())
    }
}
