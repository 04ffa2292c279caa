//! What the grids of an experiment measured, kept so that its claims can be judged again on other
//! values. A claim that no values break says nothing.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use super::results::Row;
use super::{Claim, Context, Results};
use crate::context::{Tape, experiment_seed};
use crate::experiment::Experiment;

/// Values are drawn this often before a claim counts as one that no values break.
const DRAWS: u64 = 90;

fn tape<'c>(ctx: &'c Context<'_>) -> MutexGuard<'c, Tape> {
    ctx.tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what a grid has measured.
pub(super) fn record(ctx: &Context<'_>, results: &Results) {
    tape(ctx).grids.push(Box::new(results.clone()));
}

/// What the next grid shall have measured; none while the tape records.
pub(super) fn play(ctx: &Context<'_>) -> Option<Results> {
    let mut tape = tape(ctx);
    let (seed, next) = tape.playing?;
    tape.playing = Some((seed, next + 1));
    let mut results = tape.grids.get(next)?.downcast_ref::<Results>()?.clone();
    if seed % 2 == 1 {
        make_alike(&mut results.rows);
    }
    results.rows.iter_mut().for_each(|row| row.value = moved(row, seed));
    Some(results)
}

/// The claims that hold, or stay open, whatever the grids measure: each is judged on values that
/// were not measured. Without a grid there is nothing to break a claim: that is all of them.
///
/// # Errors
/// Those of the experiment.
pub fn unbreakable(
    experiment: &Experiment,
    ctx: &Context<'_>,
    claims: &[Claim],
) -> anyhow::Result<Vec<String>> {
    let mut left: Vec<String> = claims.iter().map(|claim| claim.text.clone()).collect();
    if tape(ctx).grids.is_empty() {
        return Ok(left);
    }
    for seed in 0..DRAWS {
        if left.is_empty() {
            break;
        }
        tape(ctx).playing = Some((seed, 0));
        let judged = (experiment.run)(ctx)?.claims;
        // a negative value in the place of a positive one has no logarithm: that breaks no claim
        let excused = |claim: &Claim| shifts(seed) && claim.value.is_some_and(f64::is_nan);
        let fails = |claim: &Claim| claim.holds == Some(false) && !excused(claim);
        left.retain(|text| !judged.iter().any(|claim| claim.text == *text && fails(claim)));
    }
    Ok(left)
}

/// Gives all repetitions of a cell the value of the first: where they differ more than they can be
/// moved, error bars would cover every move.
fn make_alike(rows: &mut [Row]) {
    let mut firsts = HashMap::new();
    for Row { setting, method, x, measure, value, .. } in rows {
        let cell = (setting.clone(), method.key, x.to_bits(), measure.key);
        *value = *firsts.entry(cell).or_insert(*value);
    }
}

/// Whether the values of this seed are moved up or down, not multiplied.
fn shifts(seed: u64) -> bool {
    seed % 3 == 2
}

/// What stands in for a measured value. By turns of the seed, each cell is a thousandth to a
/// thousand times as large; the same, with one factor for all cells of a method, so that a mean
/// over many cells moves too; each is up to a thousand more or less.
///
/// All repetitions of a cell move together, so that error bars do not cover the move.
fn moved(row: &Row, seed: u64) -> f64 {
    let Row { setting, method, x, measure, value, .. } = row;
    let mut place = format!("{}, {}", method.key, measure.key);
    if seed % 3 != 1 {
        place += &format!(", {setting}, {x}");
    }
    let bits = experiment_seed(seed, &place);
    let power = 10_f64.powf((bits >> 1) as f64 / (u64::MAX >> 1) as f64 * 6.0 - 3.0);
    match (shifts(seed), bits & 1) {
        (false, _) => value * power,
        (true, 0) => value + power,
        (true, _) => value - power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Grid, Measure, Outcome, THEORY, measured};
    use crate::progress::Progress;
    use crate::testing::{SELF_CHECK, context};

    const SHARE: Measure = Measure::new("share", "share of one");

    /// Measures ½ and claims what `claim` says of it.
    fn judged(ctx: &Context, claim: fn(f64) -> Claim) -> anyhow::Result<Outcome> {
        let results = Grid::new(ctx, "draws", &["one"], [(0, 1)]).run(|trial| {
            trial.put(trial.size, THEORY, SHARE, 0.5);
            Ok(())
        })?;
        let share = results.on(&"one").get(0_usize, THEORY, SHARE).value;
        Ok(Outcome { claims: vec![claim(share)], ..results.outcome("one draw") })
    }

    fn unbreakable(run: fn(&Context) -> anyhow::Result<Outcome>) -> Vec<String> {
        let progress = Progress::captured();
        let ctx = context(&progress);
        let claims = run(&ctx).unwrap().claims;
        assert!(claims.iter().all(|claim| claim.holds == Some(true)));
        super::unbreakable(&Experiment { run, ..SELF_CHECK }, &ctx, &claims).unwrap()
    }

    #[test]
    fn a_claim_that_no_value_breaks_is_found() {
        let a_share = |ctx: &Context| judged(ctx, |v| measured("share", v).at_most("", 0.9));
        assert!(unbreakable(a_share).is_empty());
        // bounded before it is judged
        let bounded =
            |ctx: &Context| judged(ctx, |v| measured("share", v.min(1.0)).at_most("", 1.0));
        assert_eq!(unbreakable(bounded), ["share ≤ 1"]);
        let without_a_grid = |_: &Context| {
            let claims = vec![measured("share", 0.5).at_most("", 0.9)];
            Ok(Outcome { claims, ..Outcome::default() })
        };
        assert_eq!(unbreakable(without_a_grid), ["share ≤ 0.9"]);
    }

    #[test]
    fn repetitions_of_a_cell_are_made_alike() {
        let progress = Progress::captured();
        let ctx = context(&progress);
        let results = Grid::new(&ctx, "draws", &["one", "two"], [(0, 2)]).run(|trial| {
            trial.put(trial.size, THEORY, SHARE, (trial.setting.len() + trial.repetition) as f64);
            trial.put(trial.size + 1, THEORY, SHARE, -1.0);
            Ok(())
        });
        let mut rows = results.unwrap().rows;
        make_alike(&mut rows);
        let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
        assert_eq!(values, [3.0, -1.0, 3.0, -1.0, 3.0, -1.0, 3.0, -1.0]);
    }
}
