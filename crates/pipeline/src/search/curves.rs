//! Learning curves: the error of the chosen candidate by rows and by landmarks.

use super::Search;
use super::candidate::Candidate;
use crate::cost::{path_landmarks, path_work};
use crate::error::Result;
use crate::report::{Centers, CurvePoint, Curves, Trial};
use crate::split::Split;
use nystrom::prelude::*;

/// The largest share of the work for the curves.
const SHARE: f64 = 0.03;
/// The fewest landmarks, and the fewest rows, of a curve.
const FEWEST: usize = 25;
/// The most points of the curve in rows.
const POINTS: usize = 6;

impl Search<'_> {
    /// Fits with random landmarks to the training rows of the first fold: to all of them with more
    /// and more landmarks, as far as work and memory allow, and to fewer rows with the largest
    /// number of landmarks. λ is chosen by leave-one-out; with groups or times it is the λ of the
    /// trial.
    pub(super) fn curves(&mut self, chosen: &Candidate, trial: &Trial) -> Result<Curves> {
        let random = self.fit.split == Split::Random;
        let lambda = (!random).then_some(trial.mu / trial.rows as f64);
        let n = self.orders[0].len();
        let (d, work) = (self.d(), SHARE * self.allowed / 2.0);
        let memory = path_landmarks(self.fit.memory);
        let (mut landmarks, mut spent, mut m) = (Vec::new(), 0.0, FEWEST.min(n));
        while !self.stopped && m <= n {
            spent += path_work(n as f64, m as f64, d, self.problem.y.ncols());
            if !landmarks.is_empty() && (spent > work || m as f64 > memory) {
                break;
            }
            landmarks.extend(self.point(chosen, lambda, [n, m])?);
            m *= 2;
        }
        let most = landmarks.last().map_or(0, |point: &CurvePoint| point.landmarks);
        let mut rows = Vec::new();
        let sizes = (0..POINTS).map(|halvings| n >> halvings);
        for size in sizes.take_while(|size| *size == n || *size >= 2 * FEWEST) {
            match landmarks.last() {
                Some(point) if size == n => rows.push(point.clone()),
                _ if most > 0 => rows.extend(self.point(chosen, lambda, [size, most.min(size)])?),
                _ => {}
            }
        }
        rows.reverse();
        Ok(Curves { rows, landmarks })
    }

    /// The error on the validation rows of the first fold; `None` if the fit fails.
    fn point(
        &mut self,
        chosen: &Candidate,
        lambda: Option<f64>,
        [rows, landmarks]: [usize; 2],
    ) -> Result<Option<CurvePoint>> {
        if !self.goes_on(&format!("learning curves: {rows} rows, {landmarks} landmarks")) {
            return Ok(None);
        }
        let centers = Centers::Uniform(landmarks);
        let Ok(path) = self.path(chosen, Some(0), rows, centers) else { return Ok(None) };
        let given = lambda.map(|lambda| Ridge::Absolute(lambda * rows as f64));
        let model = path.model_at(given.unwrap_or(path.best_by_loo().ridge))?;
        let error = self.square(chosen, 0, &self.validation[0], &model)?.sqrt();
        Ok(error.is_finite().then_some(CurvePoint { rows, landmarks, error }))
    }
}
