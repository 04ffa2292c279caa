//! Many candidates on few rows, the best of them on more.

use super::Search;
use super::candidate::{
    CITY, Candidate, LEARNT, OF_SPARSE, ROUGH, ROUGH_CITY, SMOOTH, best, leaders, least,
    neighbours, usual,
};
use super::trial::{DECADES, FEW};
use crate::columns::Shape;
use crate::cost::{full_rows, full_work};
use crate::error::Result;
use crate::report::{Metric, Trial};

/// The smallest and the largest share of the work for both rungs, and how they share it: many
/// candidates on few rows, the best of them on more rows. The fits at full size use the rest.
const RUNGS: (f64, f64) = (0.3, 0.5);
const SHARES: [f64; 2] = [0.4, 0.6];
/// The expected number of fits on few rows, and on more rows.
const COUNTS: [usize; 2] = [48, 24];
/// The largest number of fits of the kernel of bits on a part of the rows, one for each scale.
const SCALES: usize = 3;
/// The expected number of fits to a part of sparse rows: families, and length scales.
const COUNT_OF_SPARSE: usize = 12;
/// The candidates on few rows may take this many times their share of the work.
const STRETCH: f64 = 1.3;
/// The largest number of steps of a learned metric: from A = I, from the metric of another family,
/// and on more rows.
const STEPS: [usize; 3] = [4, 3, 5];
/// A shape of the columns replaces another if it reduces the error by this factor.
const BENT: f64 = 0.99;
/// A candidate with another distance than the best is promoted if its error is within this factor.
const OTHER: f64 = 1.12;
/// A second finalist is fitted at full size if its error is within this factor of the first.
const CLOSE: f64 = 1.005;
/// The same factor for another distance, whose error may decrease faster with more rows.
const UNLIKE: f64 = 1.02;
/// With more training rows than this there is one finalist.
const MANY: usize = 20_000;
/// The ratio of one length scale to the next.
const RATIO: f64 = 1.6;
/// The walk along length scales continues while each reduces the error by this factor.
const HELPS: f64 = 0.999;
/// The largest number of steps of this walk: for Euclidean distances, and for L1 distances, whose
/// long scales make a function almost a sum of functions of one feature.
const WALKS: [usize; 2] = [4, 7];

pub(super) type Trials = Vec<Trial>;

impl Search<'_> {
    /// The candidates for the final fit, best first; at least one.
    pub(super) fn rungs(&mut self) -> Result<Vec<Candidate>> {
        if self.has_bits() {
            return self.of_bits();
        }
        if self.is_sparse() {
            return self.of_sparse();
        }
        let [work, work_of_more] = SHARES.map(|share| share * self.work_of_rungs());
        let few = self.rows_within(work, COUNTS[0]);
        self.until = STRETCH * work.max(self.trials(COUNTS[0], few));
        let (shape, mut trials) = self.shapes(few)?;
        self.metrics(shape, few, &mut trials)?;
        self.exchange(few, &mut trials)?;
        let more = self.rows_within(work_of_more, COUNTS[1]).max(few);
        let mut finalists = Trials::new();
        let promoted = self.promoted(&trials);
        let more_work = work_of_more.max(self.trials(COUNTS[1], more));
        let end = (work + work_of_more).max(self.work + more_work);
        for (k, leader) in promoted.iter().enumerate() {
            let leader = *leader;
            self.until = self.work + (end - self.work) / (promoted.len() - k) as f64;
            // it was tried as a neighbour of the leader before
            if finalists.iter().any(|other| Candidate::of(other).is_like(&leader)) {
                continue;
            }
            let mut own = self.refined(leader, more)?;
            finalists.append(&mut own);
        }
        let trials = if finalists.is_empty() { trials } else { finalists };
        Ok(close(&trials, if self.train_rows() > MANY { 1 } else { 2 }))
    }

    /// Whether the features are bits, for which there is one kernel, without length scale, metric
    /// or shape of the columns.
    fn has_bits(&self) -> bool {
        self.fit.columns.fingerprint.is_some()
    }

    /// The plain default.
    pub(super) fn plain_default(&self) -> Candidate {
        if self.has_bits() { Candidate::OF_BITS } else { Candidate::PLAIN }
    }

    /// Tries the kernel of bits on each scale of the targets.
    fn of_bits(&mut self) -> Result<Vec<Candidate>> {
        let rows = self.rows_within(self.work_of_rungs(), SCALES);
        let mut trials = Trials::new();
        self.tried(Candidate::OF_BITS, rows, &mut trials)?;
        self.scales(rows, &mut trials)?;
        Ok(vec![Candidate::OF_BITS])
    }

    /// Whether the rows are sparse: they are neither scaled nor mapped.
    pub(super) fn is_sparse(&self) -> bool {
        self.shapes.iter().any(|shaped| shaped.x.points().is_sparse())
    }

    /// Tries the families of sparse rows on each scale of the targets, then length scales of the
    /// best two. The result has the best, and another if its error is close.
    fn of_sparse(&mut self) -> Result<Vec<Candidate>> {
        let work = self.work_of_rungs();
        let rows = self.rows_within(work, COUNT_OF_SPARSE);
        self.until = STRETCH * work.max(self.trials(COUNT_OF_SPARSE, rows));
        let mut trials = Trials::new();
        self.families(Shape::PLAIN, rows, &mut trials)?;
        self.scales(rows, &mut trials)?;
        for leader in leaders(&trials, 2).into_iter().filter(|leader| leader.family.has_scale()) {
            self.walk(leader, rows, &mut trials)?;
        }
        Ok(close(&trials, if self.train_rows() > MANY { 1 } else { 2 }))
    }

    /// Tries the plain default, and two different families on each scale of the targets and under
    /// each shape of the columns. The result is the shape with every choice that reduced the
    /// smallest error enough, and its trials.
    fn shapes(&mut self, rows: usize) -> Result<(Shape, Trials)> {
        let (mut shape, mut trials) = (Shape::PLAIN, Trials::new());
        self.tried(Candidate::PLAIN, rows, &mut trials)?;
        self.families(shape, rows, &mut trials)?;
        self.scales(rows, &mut trials)?;
        for choice in 0..shape.next().len() {
            let next = shape.next()[choice];
            if next == shape || !self.add_shape(next)? {
                continue;
            }
            let mut others = Trials::new();
            self.families(next, rows, &mut others)?;
            if least(&others) < BENT * least(&trials) {
                (shape, trials) = (next, others);
            }
        }
        self.shapes.retain(|shaped| [shape, Shape::PLAIN].contains(&shaped.shape));
        Ok((shape, trials))
    }

    pub(super) fn families(
        &mut self,
        shape: Shape,
        rows: usize,
        trials: &mut Trials,
    ) -> Result<()> {
        if self.has_bits() {
            return self.tried(Candidate::OF_BITS, rows, trials);
        }
        let families = if self.is_sparse() { &OF_SPARSE[..] } else { &[SMOOTH, CITY] };
        for &family in families {
            self.tried(Candidate::usual(shape, family, Metric::None), rows, trials)?;
        }
        Ok(())
    }

    /// Tries the rough family without a metric, and all learned metrics from A = I.
    fn metrics(&mut self, shape: Shape, rows: usize, trials: &mut Trials) -> Result<()> {
        self.tried(Candidate::usual(shape, ROUGH, Metric::None), rows, trials)?;
        for (family, metric) in LEARNT {
            let candidate = Candidate::usual(shape, family, metric);
            let trial = self.learn(candidate, None, rows, STEPS[0], f64::INFINITY)?;
            trials.extend(trial);
        }
        Ok(())
    }

    /// Tries the best metric as a start for other families, which may use it better than the family
    /// that found it.
    fn exchange(&mut self, rows: usize, trials: &mut Trials) -> Result<()> {
        let Some(winner) = best(trials).map(Candidate::of) else { return Ok(()) };
        if winner.metric == Metric::None {
            return Ok(());
        }
        let diagonal = matches!(winner.metric, Metric::Diagonal { .. });
        for family in [SMOOTH, ROUGH, CITY, ROUGH_CITY] {
            if family == winner.family || (family.is_manhattan() && !diagonal) {
                continue;
            }
            let candidate = Candidate::usual(winner.shape, family, winner.metric);
            let is_like = |trial: &Trial| Candidate::of(trial).is_like(&candidate);
            let bar = least(trials.iter().filter(|trial| is_like(trial)));
            if let Some(trial) = self.learn(candidate, Some(&winner), rows, STEPS[1], bar)? {
                trials.retain(|trial| !is_like(trial));
                trials.push(trial);
            }
        }
        Ok(())
    }

    /// The best two candidates, and the best with the other kind of distance if its error is close.
    fn promoted(&self, trials: &Trials) -> Vec<Candidate> {
        let mut promoted = leaders(trials, 2);
        let Some(kind) = promoted.first().map(|first| first.family.is_manhattan()) else {
            return promoted;
        };
        let others = trials.iter().filter(|other| other.family.is_manhattan() != kind);
        let others: Trials = others.cloned().collect();
        if promoted.iter().all(|candidate| candidate.family.is_manhattan() == kind)
            && least(&others) < OTHER * least(trials)
        {
            promoted.extend(leaders(&others, 1));
        }
        promoted
    }

    /// Trials of a candidate on more rows: with its metric learned further, with other length
    /// scales, and with rougher or smoother families.
    fn refined(&mut self, leader: Candidate, rows: usize) -> Result<Trials> {
        let mut trials = Trials::new();
        if leader.metric == Metric::None {
            self.tried(leader, rows, &mut trials)?;
        } else {
            let trial = self.learn(leader, Some(&leader), rows, STEPS[2], f64::INFINITY)?;
            trials.extend(trial);
        }
        self.walk(leader, rows, &mut trials)?;
        for &family in neighbours(leader.family) {
            let Some(at) = best(&trials).map(Candidate::of) else { break };
            let multiple = at.multiple * usual(family) / usual(leader.family);
            let other = Candidate { family, multiple, ..at };
            let maps = self.maps_of(&leader, &other);
            self.replace(&other, maps);
            let before = trials.len();
            self.tried(other, rows, &mut trials)?;
            if trials.len() > before && trials[before].error <= least(&trials) {
                self.walk(other, rows, &mut trials)?;
            }
        }
        Ok(trials)
    }

    /// Tries shorter length scales while they help, and longer ones if shorter ones do not help.
    fn walk(&mut self, from: Candidate, rows: usize, trials: &mut Trials) -> Result<()> {
        for ratio in [1.0 / RATIO, RATIO] {
            let is_like = |trial: &&Trial| Candidate::of(trial).is_like(&from);
            let own: Trials = trials.iter().filter(is_like).cloned().collect();
            let Some(start) = leaders(&own, 1).first().copied() else { break };
            let mut bar = least(&own);
            if bar < least(own.iter().filter(|trial| trial.multiple >= from.multiple)) {
                break;
            }
            for step in 1..=WALKS[usize::from(start.family.is_manhattan())] {
                let multiple = start.multiple * ratio.powi(step as i32);
                let before = trials.len();
                self.tried(Candidate { multiple, ..start }, rows, trials)?;
                match trials.get(before) {
                    Some(trial) if trial.error < HELPS * bar => bar = trial.error,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Tries a candidate, and adds its trial unless the search was stopped or its error is not
    /// finite.
    fn tried(&mut self, candidate: Candidate, rows: usize, trials: &mut Trials) -> Result<()> {
        let trial = self.trial(candidate, rows)?;
        trials.extend(trial.filter(|trial| trial.error.is_finite()));
        Ok(())
    }

    /// The work of both rungs: what fits to all rows leave, within the limits; for two classes,
    /// whose last fit may have landmarks, as much as the limits allow.
    fn work_of_rungs(&self) -> f64 {
        let left = match self.may_be_logistic() && self.problem.y.ncols() == 1 {
            true => self.allowed,
            false => self.allowed - self.work_of_full_size(),
        };
        left.clamp(RUNGS.0 * self.allowed, RUNGS.1 * self.allowed)
    }

    /// The work of this many trials.
    fn trials(&self, count: usize, rows: usize) -> f64 {
        let columns = DECADES.len() * self.y().ncols();
        let trial = self.orders.len() as f64 * full_work(rows, self.d(), columns, FEW, true);
        count as f64 * trial
    }

    /// The number of rows with which `count` trials together take this work.
    fn rows_within(&self, work: f64, count: usize) -> usize {
        let work = work / (count * self.orders.len()).max(1) as f64;
        let columns = DECADES.len() * self.y().ncols();
        full_rows(work, self.train_rows(), [self.d(), columns], self.fit.memory)
    }
}

/// The best candidate and, up to `count`, others whose error is close; one with the other kind of
/// distance comes first.
fn close(trials: &Trials, count: usize) -> Vec<Candidate> {
    let least = least(trials);
    let Some(&first) = leaders(trials, 1).first() else { return vec![Candidate::PLAIN] };
    let within = |factor: f64, kind: bool| -> Trials {
        let kept = |trial: &&Trial| {
            !Candidate::of(trial).is_like(&first)
                && trial.error <= factor * least
                && (trial.family.is_manhattan() != first.family.is_manhattan()) == kind
        };
        trials.iter().filter(kept).cloned().collect()
    };
    let others = [within(UNLIKE, true), within(CLOSE, false)].map(|others| leaders(&others, 1));
    [first].into_iter().chain(others.into_iter().flatten()).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::super::candidate::MIDDLE;
    use super::*;
    use crate::kernel::Family;
    use crate::report::Centers;

    fn with_error(family: Family, metric: Metric, error: f64) -> Trial {
        let candidate = Candidate { family, metric, ..Candidate::PLAIN };
        Trial { error, ..candidate.trial(1000, Centers::All) }
    }

    #[test]
    fn a_second_finalist_has_the_other_distance_if_it_is_near() {
        let (full, diagonal) = (Metric::Full { power: 1.0 }, Metric::Diagonal { power: 1.0 });
        let families = |of_city: f64, count: usize| -> Vec<Family> {
            let trials = vec![
                with_error(MIDDLE, full, 0.580),
                with_error(SMOOTH, full, 0.582),
                with_error(ROUGH_CITY, diagonal, of_city),
            ];
            close(&trials, count).into_iter().map(|candidate| candidate.family).collect()
        };
        assert_eq!(families(0.590, 2), [MIDDLE, ROUGH_CITY]);
        assert_eq!(families(0.600, 2), [MIDDLE, SMOOTH]);
        assert_eq!(families(0.590, 1), [MIDDLE]);
        assert_eq!(close(&Trials::new(), 2), [Candidate::PLAIN]);
        assert_eq!(close(&vec![with_error(MIDDLE, full, 0.58)], 2).len(), 1);
    }

    #[test]
    fn every_family_has_neighbours_that_can_use_its_metric() {
        for family in [SMOOTH, ROUGH, CITY, ROUGH_CITY] {
            let alike = |other: &Family| other.is_manhattan() == family.is_manhattan();
            assert!(!neighbours(family).is_empty() && neighbours(family).iter().all(alike));
        }
    }
}
