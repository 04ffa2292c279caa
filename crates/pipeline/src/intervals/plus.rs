//! Intervals by models that leave rows out: CV+ and jackknife+.

use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use nystrom::faer::Mat;
use nystrom::prelude::*;

/// Models f₋ₖ that each leave a part of n rows out, and the residuals |y − f₋ₖ(x)| of those rows.
///
/// A new x has the interval from the ⌊α(n + 1)⌋-th smallest of the n values f₋ₖ₍ᵢ₎(x) − Rᵢ to the
/// ⌈(1 − α)(n + 1)⌉-th smallest of f₋ₖ₍ᵢ₎(x) + Rᵢ. It holds y with probability at least 1 − 2α,
/// less √(2/n) for parts of several rows. The choices made for the fit must not have seen the n
/// rows. (Barber, Candès, Ramdas & Tibshirani, *Predictive inference with the jackknife+*, 2021,
/// Theorems 1 and 4). Mostly it is near 1 − α.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plus {
    /// A column for each model and target, those of a model side by side.
    pub models: KrrModel<AnyKernel, f64>,
    /// The residuals of each target (outer) and model.
    pub residuals: Vec<Vec<Vec<f64>>>,
}

impl Plus {
    /// Models with the centres of `one`, each with one column of coefficients for each target.
    pub fn of(
        one: &KrrModel<AnyKernel, f64>,
        theta: Mat<f64>,
        residuals: Vec<Vec<Vec<f64>>>,
    ) -> nystrom::Result<Plus> {
        let (centers, b) = (one.centers().to_owned(), vec![0.0; theta.ncols()]);
        let models = KrrModel::new(one.kernel().clone(), centers, theta, b, one.report().clone())?;
        Ok(Plus { models, residuals })
    }

    /// The number of residuals of a target, n.
    pub fn rows(&self) -> usize {
        self.residuals.first().map_or(0, |models| models.iter().map(Vec::len).sum())
    }

    /// A description of what is wrong, if no fit with d features and t targets makes these models.
    pub fn problem(&self, d: usize, t: usize) -> Option<String> {
        let Plus { models, residuals } = self;
        let parts = models.coefficients().ncols() / t.max(1);
        let whole = |of: &Vec<Vec<f64>>| {
            of.len() == parts && of.iter().flatten().all(|r| r.is_finite() && *r >= 0.0)
        };
        let sound = models.centers().dim() == d
            && (models.coefficients().ncols(), residuals.len()) == (parts * t, t)
            && residuals.iter().all(whole);
        (!sound).then(|| "the models of its intervals do not fit together".into())
    }

    /// The ranks of both ends among n values, from 0.
    pub fn ranks(&self, level: f64) -> Result<[usize; 2]> {
        super::check_level(level)?;
        let n = self.rows();
        let upper = super::rank(n, level);
        if upper > n {
            let needed = super::needed(level);
            return Err(Error::FewCalibrationRows { level, rows: n, needed });
        }
        Ok([n - upper, upper - 1])
    }

    /// Both ends of the intervals at mapped features, in standardised units.
    pub fn ends(&self, x: Points<'_, f64>, level: f64) -> Result<[Mat<f64>; 2]> {
        let ranks = self.ranks(level)?;
        let (f, t) = (self.models.predict(x)?, self.residuals.len());
        let mut ends = [Mat::zeros(x.len(), t), Mat::zeros(x.len(), t)];
        for (j, residuals) in self.residuals.iter().enumerate() {
            for i in 0..x.len() {
                for ((end, rank), sign) in ends.iter_mut().zip(ranks).zip([-1.0, 1.0]) {
                    let of = |(k, part): (usize, &Vec<f64>)| {
                        let value = f[(i, k * t + j)];
                        part.iter().map(move |r| value + sign * r).collect::<Vec<f64>>()
                    };
                    let mut values: Vec<f64> = residuals.iter().enumerate().flat_map(of).collect();
                    end[(i, j)] = *values.select_nth_unstable_by(rank, f64::total_cmp).1;
                }
            }
        }
        Ok(ends)
    }
}
