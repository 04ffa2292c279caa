//! Random parts of the rows.

use crate::Problem;
use nystrom_linalg_core::{Result, Scalar, random, validate};
use rand::Rng;

/// Rows in random order, cut into parts whose sizes differ by at most one, the larger parts first.
/// Each part is sorted.
///
/// # Randomness
/// A bounded integer a row.
pub(crate) fn random_parts(
    rows: &[usize],
    parts: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<Vec<usize>>> {
    let n = rows.len();
    let order = random::uniform_subset(n, n, rng)?;
    let (size, larger) = (n / parts, n % parts);
    let start = |p: usize| p * size + p.min(larger);
    let part = |p: usize| {
        let mut rows: Vec<usize> = order[start(p)..start(p + 1)].iter().map(|&i| rows[i]).collect();
        rows.sort_unstable();
        rows
    };
    Ok((0..parts).map(part).collect())
}

/// The rows of a problem in random parts whose sizes differ by at most one, and so do the numbers
/// of their rows of positive weight. A part without such rows could not be fitted.
///
/// # Errors
/// [`Error::TooMany`] for more parts than rows of positive weight.
pub(crate) fn parts_of_problem<T: Scalar>(
    problem: Problem<'_, T>,
    (what, parts): (&'static str, usize),
    rng: &mut dyn Rng,
) -> Result<Vec<Vec<usize>>> {
    let counts = |row: &usize| problem.weight(*row) > 0.0;
    let (weighted, others): (Vec<usize>, Vec<usize>) = (0..problem.x.len()).partition(counts);
    validate::at_most(what, parts, weighted.len())?;
    let mut all = random_parts(&weighted, parts, rng)?;
    if others.is_empty() {
        return Ok(all);
    }
    // the first of these parts are the larger ones, too: they go where the others are smaller
    for (p, rows) in random_parts(&others, parts, rng)?.into_iter().enumerate() {
        let part = &mut all[(weighted.len() + p) % parts];
        part.extend(rows);
        part.sort_unstable();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use nystrom_kernels::Points;

    /// Sizes, and rows of positive weight, differ by at most one between parts.
    #[test]
    fn rows_of_weight_0_are_shared_out_as_the_others_are() {
        for (n, every, folds) in [(50, 10, 5), (47, 9, 4), (31, 2, 7), (20, 1, 6), (7, 2, 4)] {
            let (x, y) = (vec![0.0; n], Mat::zeros(n, 1));
            let w: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % every == 0))).collect();
            let problem = Problem::new(Points::from_slice(&x), y.as_ref()).weighted(&w);
            let rng = &mut rand_pcg::Pcg64::new(n as u128, 7);
            let parts = parts_of_problem(problem, ("parts", folds), rng).unwrap();
            let mut seen: Vec<usize> = parts.concat();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n));
            let spread =
                |counts: Vec<usize>| counts.iter().max().unwrap() - counts.iter().min().unwrap();
            assert!(spread(parts.iter().map(Vec::len).collect()) <= 1, "{parts:?}");
            let weighted = |part: &Vec<usize>| part.iter().filter(|&&i| i % every == 0).count();
            assert!(spread(parts.iter().map(weighted).collect()) <= 1, "{parts:?}");
        }
    }
}
