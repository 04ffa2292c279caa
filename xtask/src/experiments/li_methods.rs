//! The selectors of landmarks that Li, Jegelka & Sra (2016) compare, and three later ones.
//!
//! Improvements are averaged as in the paper.

use nystrom::leverage::ExactSpectrum;
use nystrom::prelude::*;
use nystrom::sketch::Uniform;

use super::li_problem::Set;
use crate::experiment::{Axis, Context, Plot};
use crate::lab::{Measure, Results, point};
use crate::method::{self, Method};
use crate::statistics::{Estimate, geometric_mean, largest};

/// Steps of the chain in the paper's comparisons.
pub const STEPS: usize = 3000;

// the paper's names
pub const UNIF: Method = method::UNIFORM.called("Unif");
pub const LEV: Method = method::RANK_K.called("Lev");
pub const REG_LEV: Method = method::LEVERAGE.called("RegLev");
pub const ADAP_FULL: Method = method::ADAPTIVE.called("AdapFull");
pub const ADAP_PART: Method = method::ADAPTIVE_PARTIAL.called("AdapPart");
pub const APP_LEV: Method = method::APPROXIMATE_RANK_K.called("AppLev");
pub const APP_REG_LEV: Method = method::FAST_LEVERAGE.called("AppRegLev");
pub const KDPP: Method = method::K_DPP.called("kDPP");
// not in the paper
pub const KDPP_EXACT: Method = method::K_DPP_EXACT.called("kDPP, exact draw");
pub const RP_CHOLESKY: Method = method::RP_CHOLESKY;
pub const GREEDY: Method = method::GREEDY;

/// Numbers of landmarks.
pub fn sizes(ctx: &Context) -> &'static [usize] {
    ctx.pick(&[5, 20], &[10, 25, 50, 100], &[20, 50, 100, 150, 200])
}

/// The selector of a method that needs no more than K. `parameter` is the number of columns of
/// approximate scores or of steps of the chain; `ridge` is that of the regression.
///
/// # Errors
/// If the method needs more.
pub fn selector(
    method: Method,
    parameter: usize,
    ridge: Ridge<f64>,
) -> anyhow::Result<Box<dyn LandmarkSelector<f64>>> {
    let (draw, columns, steps) = (Draw::WithoutReplacement, parameter, parameter);
    Ok(match method {
        m if m == UNIF => Box::new(Uniform::default()),
        m if m == ADAP_FULL => Box::new(AdaptiveFull::default()),
        m if m == ADAP_PART => Box::new(AdaptivePartial::default()),
        m if m == RP_CHOLESKY => Box::new(RpCholesky::default()),
        m if m == GREEDY => Box::new(Greedy::default()),
        m if m == APP_LEV => Box::new(FastRankLeverage { columns, rank: None, draw }),
        m if m == APP_REG_LEV => {
            Box::new(LeverageProportional { estimator: AlaouiMahoney { columns }, ridge, draw })
        }
        m if m == KDPP => {
            Box::new(KDppChain { start: KMeansPlusPlus, steps, rule: SwapRule::LazyGibbs })
        }
        other => anyhow::bail!("{} chooses no landmarks here", other.name),
    })
}

/// A stored kernel matrix with its spectrum.
///
/// It is n × n, since the paper's errors are against the best approximation of rank c.
pub struct Matrix<'a> {
    /// K.
    pub dense: Dense<'a, f64>,
    /// Its eigenvalues, and scores of any rank and ridge.
    pub spectrum: ExactSpectrum<f64>,
    /// The same for exact draws.
    ensemble: LEnsemble<f64>,
    /// Of the regression, which RegLev uses.
    ridge: Ridge<f64>,
}

impl<'a> Matrix<'a> {
    /// From K, stored: two eigendecompositions.
    pub fn new(k: &'a Mat<f64>, ridge: Ridge<f64>) -> anyhow::Result<Self> {
        let dense = Dense::new(k.as_ref())?;
        let spectrum = ExactSpectrum::new(&dense)?;
        let ensemble = LEnsemble::new(&dense)?;
        Ok(Matrix { dense, spectrum, ensemble, ridge })
    }

    /// c landmarks. Lev takes rank k = c.
    ///
    /// # Errors
    /// Those of the selectors; a method that is none of the above.
    pub fn select(&self, method: Method, c: usize, rng: &mut dyn Rng) -> anyhow::Result<Landmarks> {
        let drawn = |scores: &[f64], rng| Landmarks::draw(scores, c, Draw::WithoutReplacement, rng);
        Ok(match method {
            m if m == LEV => drawn(&self.spectrum.rank_k_scores(c)?, rng)?,
            m if m == REG_LEV => drawn(&self.spectrum.scores(self.ridge)?.scores, rng)?,
            m if m == KDPP_EXACT => self.ensemble.k_dpp(c)?.sample(rng),
            other => selector(other, STEPS, self.ridge)?.select(&self.dense, c, rng)?,
        })
    }

    /// ‖K − K_c‖, the least error of rank c.
    pub fn best(&self, c: usize) -> ErrorNorms {
        ErrorNorms::of_best_rank(self.spectrum.eigenvalues(), c)
    }
}

/// Improvements 1 − (error of a)/(error of b), averaged over sets as in Figures 2 and 4.
pub struct Improvements<'a> {
    /// The measured errors, at the numbers of landmarks.
    pub results: &'a Results,
    /// The sets.
    pub sets: &'a [Set],
    /// Numbers of landmarks c.
    pub sizes: &'a [usize],
}

impl Improvements<'_> {
    /// At one c, averaged over the sets, whose draws are independent.
    pub fn at(&self, c: usize, error: Measure, a: Method, b: Method) -> Estimate {
        let of = |set| {
            self.results.on(set).compare(("c", c), error, a, b).value.map(|ratio| 1.0 - ratio, 1.0)
        };
        let each: Vec<Estimate> = self.sets.iter().map(of).collect();
        let squares: f64 = each.iter().filter_map(|e| e.error).map(|e| e * e).sum();
        averaged(&each, squares.sqrt())
    }

    /// Averaged over the numbers of landmarks too.
    ///
    /// These share their subsets, so their errors count as one and the same.
    pub fn mean(&self, error: Measure, a: Method, b: Method) -> Estimate {
        let each: Vec<Estimate> = self.sizes.iter().map(|&c| self.at(c, error, a, b)).collect();
        averaged(&each, each.iter().filter_map(|e| e.error).sum())
    }

    /// The largest over the numbers of landmarks.
    pub fn largest(&self, error: Measure, a: Method, b: Method) -> Estimate {
        largest(self.sizes.iter().map(|&c| self.at(c, error, a, b)))
    }

    /// Geometric mean over sets and numbers of landmarks of (error of a)/(error of b).
    pub fn ratio(&self, error: Measure, a: Method, b: Method) -> Estimate {
        let at = |set: &Set, c: usize| self.results.on(set).compare(("c", c), error, a, b).value;
        let all = self.sets.iter().flat_map(|set| self.sizes.iter().map(move |&c| at(set, c)));
        geometric_mean(all)
    }

    /// The figure of one set: an error of every method against c, with a level to compare it to.
    pub fn on_set(
        &self,
        set: &Set,
        (error, id): (Measure, &str),
        what: &str,
        level: Option<(&str, f64)>,
    ) -> Option<Plot> {
        let title = format!("{}: {what}, with standard errors", set.label);
        let (id, c) = (format!("{id}-{}", set.name), Axis::linear("landmarks c"));
        let mut plot = self.results.on(set).plot(&id, &title, c, error)?;
        level.iter().for_each(|(name, y)| plot.horizontal(name, *y));
        Some(plot)
    }

    /// `Ailerons` or `average over 8 sets`.
    pub fn words(&self) -> String {
        match self.sets {
            [set] => set.label.into(),
            sets => format!("average over {} sets", sets.len()),
        }
    }

    /// The figure of the average: improvement over Unif against c; `of` ends its title.
    pub fn plot(&self, (error, id): (Measure, &str), of: &str, methods: &[Method]) -> Plot {
        let title = format!("{}: improvement over uniform sampling{of}", self.words());
        let (x, y) = (Axis::linear("landmarks c"), Axis::linear("1 − (error)/(error of Unif)"));
        let mut plot = Plot::new(&format!("improvement-{id}"), &title, x, y);
        for &method in methods.iter().filter(|method| **method != UNIF) {
            let at = |&c: &usize| point(c as f64, self.at(c, error, method, UNIF));
            plot.line_and_points(method.name, method.key, self.sizes.iter().map(at));
        }
        plot.horizontal("Unif", 0.0);
        plot
    }
}

fn averaged(each: &[Estimate], error_of_sum: f64) -> Estimate {
    let n = each.len() as f64;
    let error = each.iter().any(|e| e.error.is_some()).then_some(error_of_sum / n);
    Estimate { value: each.iter().map(|e| e.value).sum::<f64>() / n, error, time: false }
}

#[cfg(test)]
mod tests {
    use super::super::li_problem::SETS;
    use super::*;
    use crate::lab::Grid;
    use crate::progress::Progress;
    use crate::testing::context;

    /// Errors of 1 and 3 on one set, 2 and 2 on the other, against 4: improvements 0.5 ± 0.25 and
    /// 0.5.
    #[test]
    fn sets_are_independent_and_sizes_are_not() {
        const ERROR: Measure = Measure::new("error", "error");
        let (sets, progress) = ([SETS[0], SETS[1]], Progress::captured());
        let ctx = context(&progress);
        let run = Grid::new(&ctx, "draws", &sets).repetitions(2).run(|draw| {
            let error = if *draw.setting == sets[0] { [1.0, 3.0][draw.repetition] } else { 2.0 };
            for c in [5.0, 10.0] {
                draw.put(c, KDPP, ERROR, error);
                draw.put(c, UNIF, ERROR, 4.0);
            }
            Ok(())
        });
        let improvements = Improvements { results: &run.unwrap(), sets: &sets, sizes: &[5, 10] };
        for estimate in
            [improvements.at(5, ERROR, KDPP, UNIF), improvements.mean(ERROR, KDPP, UNIF)]
        {
            assert!(
                (estimate.value - 0.5).abs() < 1e-15
                    && (estimate.error.unwrap() - 0.125).abs() < 1e-15
            );
        }
    }
}
