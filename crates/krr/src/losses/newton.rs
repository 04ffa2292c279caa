//! Newton's method under a ridge that falls, each step a weighted regression.

use crate::data::all_absolute;
use crate::{FitReport, KrrModel, Problem};
use faer::Mat;
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};

/// The largest number of Newton steps for one ridge.
const STEPS: usize = 40;
/// The largest number of halvings of a Newton step.
const HALVINGS: i32 = 30;
/// For ridges above that of the caller, Newton steps end when the objective falls by less than this
/// share.
const UNDERWAY: f64 = 1e-2;
/// The λ of the first ridge, unless that of the caller is larger.
const FIRST: f64 = 0.1;
/// The ratio of each ridge to the one before.
const RATIO: f64 = 0.1;
/// A step by iterations reduces its first residual to this share. If the objective does not fall,
/// the share is multiplied by `LEFT_NEXT`, down to `LEAST_LEFT`.
const LEFT: f64 = 0.1;
const LEFT_NEXT: f64 = 1e-2;
const LEAST_LEFT: f64 = 1e-8;

/// The loss of a row with target y at f + b, in column j.
pub(super) trait RowLoss {
    fn value(&self, j: usize, y: f64, f: f64) -> f64;
    /// The weight h and the target z of the quadratic model ½h(z − f)² of the loss about f.
    fn step(&self, j: usize, y: f64, f: f64) -> (f64, f64);
}

/// f of one column.
pub(super) struct State {
    /// f in coordinates of the regression, such that ‖f‖² is known from them and `f`.
    pub dual: Mat<f64>,
    /// b.
    pub b: f64,
    /// f(x_i) + b.
    pub f: Vec<f64>,
}

/// The space of f, in which weighted regressions are solved.
pub(super) trait Regression<T, K> {
    /// The number of coordinates.
    fn size(&self) -> usize;
    /// The minimiser of Σ_i w_i(y_i − f(x_i) − b)² + μ‖f‖² for the problem's only target. If it is
    /// found by iterations, they reduce the first residual to the share `left`. The report has the
    /// kernel values of all calls so far.
    fn solve(
        &mut self,
        problem: Problem<'_, T>,
        from: &State,
        mu: f64,
        left: f64,
    ) -> Result<(State, FitReport)>;
    /// Whether [`solve`](Self::solve) iterates.
    fn iterates(&self) -> bool;
    /// ‖f‖².
    fn square(&self, at: &State) -> f64;
    /// The model of several columns.
    fn model(&self, dual: Mat<f64>, b: &[f64], report: FitReport) -> Result<KrrModel<K, T>>;
}

/// A ridge nλ of the path.
pub(super) struct Stop {
    mu: f64,
    enough: f64,
    wanted: bool,
}

impl Stop {
    /// nλ.
    pub fn mu(&self) -> f64 {
        self.mu
    }
}

/// Ridges from λ = 0.1 to that of the caller.
pub(super) fn way<T: Scalar>(n: usize, ridge: Ridge<T>, enough: f64) -> Result<Vec<Stop>> {
    validate::not_empty("points (n)", n)?;
    let last = ridge.absolute(n)?.f64();
    let above = (0..).map(|step| FIRST * n as f64 * RATIO.powi(step));
    let above = above.take_while(|above| *above > last / RATIO.sqrt());
    let stops = above.map(|mu| Stop { mu, enough: UNDERWAY, wanted: false });
    Ok(stops.chain([Stop { mu: last, enough, wanted: true }]).collect())
}

/// The ridges of the caller, whose models are all wanted.
pub(super) fn path<T: Scalar>(n: usize, ridges: &[Ridge<T>], enough: f64) -> Result<Vec<Stop>> {
    validate::not_empty("points (n)", n)?;
    let stop = |mu| Stop { mu, enough, wanted: true };
    Ok(all_absolute(ridges, n)?.into_iter().map(stop).collect())
}

/// The last of the models that `each` passes to its argument.
pub(super) fn last<M>(each: impl FnOnce(&mut dyn FnMut(M) -> bool) -> Result<()>) -> Result<M> {
    let mut found = None;
    each(&mut |model| {
        found = Some(model);
        true
    })?;
    found.ok_or(Error::Empty { what: "ridges" })
}

/// Minimises at each ridge of `way` from the minimiser before. Passes the models that are wanted to
/// `goes_on`, until it returns false.
pub(super) fn follow<T: Scalar, K>(
    regression: &mut dyn Regression<T, K>,
    (problem, loss): (Problem<'_, T>, &dyn RowLoss),
    way: &[Stop],
    mut goes_on: impl FnMut(KrrModel<K, T>) -> bool,
) -> Result<()> {
    let (n, m, t) = (problem.x.len(), regression.size(), problem.y.ncols());
    let start = |_| State { dual: Mat::zeros(m, 1), b: 0.0, f: vec![0.0; n] };
    let mut at: Vec<State> = (0..t).map(start).collect(); //         f = 0
    let mut newton = Newton { regression, problem, loss, report: None };
    for Stop { mu, enough, wanted } in way {
        for (j, at) in at.iter_mut().enumerate() {
            newton.minimise(at, j, *mu, *enough)?;
        }
        let Some(report) = newton.report.clone().filter(|_| *wanted) else { continue };
        let dual = Mat::from_fn(m, t, |i, j| at[j].dual[(i, 0)]);
        let b: Vec<f64> = at.iter().map(|at| at.b).collect();
        let report = FitReport { t, ridge: *mu, ..report };
        if !goes_on(newton.regression.model(dual, &b, report)?) {
            break;
        }
    }
    Ok(())
}

struct Newton<'a, 'b, T, K> {
    regression: &'a mut dyn Regression<T, K>,
    problem: Problem<'b, T>,
    loss: &'b dyn RowLoss,
    /// The report of the last step, with the number of all steps.
    report: Option<FitReport>,
}

impl<T: Scalar, K> Newton<'_, '_, T, K> {
    /// Newton steps for column j at this ridge, until they gain less than `enough`.
    fn minimise(&mut self, at: &mut State, j: usize, mu: f64, enough: f64) -> Result<()> {
        let (mut value, mut left) = (self.objective(at, j, mu), LEFT);
        for _ in 0..STEPS {
            let next = self.step(at, j, mu, left)?;
            let shorter =
                (0..HALVINGS).map(|times| (times, at.towards(&next, 0.5_f64.powi(times))));
            let mut valued = shorter.map(|(times, at)| (times, self.objective(&at, j, mu), at));
            let found = valued.find(|(_, less, _)| *less < value);
            // a step that was solved too roughly need not lead down, or not far
            let rough = found.as_ref().is_none_or(|(times, _, _)| *times > 1);
            let gain = found.as_ref().map_or(0.0, |(_, less, _)| value - less);
            if let Some((_, less, state)) = found {
                (value, *at) = (less, state);
            }
            if rough && self.regression.iterates() && left > LEAST_LEFT {
                left *= LEFT_NEXT;
            } else if gain <= enough * value {
                break;
            }
        }
        Ok(())
    }

    /// Σ_i w_i L(y_i, f_i + b) + (nλ/2)‖f‖².
    fn objective(&self, at: &State, j: usize, mu: f64) -> f64 {
        let loss = |(i, f): (usize, &f64)| {
            self.problem.weight(i) * self.loss.value(j, self.problem.y[(i, j)].f64(), *f)
        };
        let square = self.regression.square(at);
        at.f.iter().enumerate().map(loss).sum::<f64>() + 0.5 * mu * square
    }

    /// The minimiser of the objective's quadratic model at f: a regression with weights w_i h_i and
    /// targets z_i.
    fn step(&mut self, at: &State, j: usize, mu: f64, left: f64) -> Result<State> {
        let n = self.problem.x.len();
        let (mut h, mut z) = (vec![T::zero(); n], Mat::zeros(n, 1));
        for (i, &f) in at.f.iter().enumerate() {
            let (curvature, target) = self.loss.step(j, self.problem.y[(i, j)].f64(), f);
            h[i] = T::lit(self.problem.weight(i) * curvature);
            z[(i, 0)] = T::lit(target);
        }
        let rows = Problem { y: z.as_ref(), weights: Some(&h), ..self.problem };
        let (next, report) = self.regression.solve(rows, at, mu, left)?;
        let steps = 1 + self.report.as_ref().map_or(0, |before| before.steps);
        self.report = Some(FitReport { steps, ..report });
        Ok(next)
    }
}

impl State {
    /// self + share·(other − self).
    fn towards(&self, other: &State, share: f64) -> State {
        let between = |a: f64, b: f64| a + share * (b - a);
        let dual = |i, _| between(self.dual[(i, 0)], other.dual[(i, 0)]);
        State {
            dual: Mat::from_fn(self.dual.nrows(), 1, dual),
            b: between(self.b, other.b),
            f: self.f.iter().zip(&other.f).map(|(a, b)| between(*a, *b)).collect(),
        }
    }
}
