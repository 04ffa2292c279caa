//! Splitting rows into training and validation, without leakage between the two.

use crate::classes::key;
use crate::columns::{ColumnOptions, column_of, ordered, refuse_sparse};
use crate::error::{Error, Result};
use nystrom::linalg_core::random;
use nystrom::prelude::*;
use nystrom_data::{Table, Values};

/// How rows are set aside for validation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Split {
    /// At random.
    #[default]
    Random,
    /// Rows with the same value in this column stay together; the column is not a feature.
    Group(String),
    /// The last rows by this column of numbers or dates; the column is not a feature.
    Time(String),
}

/// Training rows and validation rows, by number from 0, each in increasing order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The rows to fit.
    pub train: Vec<usize>,
    /// The rows on which fits are compared.
    pub validation: Vec<usize>,
}

impl Fold {
    /// A random share of n rows for validation, rounded to whole rows, and the others for training;
    /// `None` if either part would be empty.
    ///
    /// # Errors
    /// None in practice: the draw of the subset fails only for arguments that this function never
    /// passes.
    ///
    /// # Randomness
    /// One random subset.
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_pipeline::Fold;
    /// let rng = &mut Pcg64::seed_from_u64(0);
    /// let fold = Fold::at_random(10, 0.2, rng)?.unwrap();
    /// assert_eq!((fold.train.len(), fold.validation.len()), (8, 2));
    /// assert!(Fold::at_random(10, 0.01, rng)?.is_none());
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn at_random(n: usize, share: f64, rng: &mut dyn Rng) -> Result<Option<Fold>> {
        let out = (share * n as f64).round();
        if !(share > 0.0 && share < 1.0 && out >= 1.0 && (out as usize) < n) {
            return Ok(None);
        }
        Ok(Some(Fold::of(random::uniform_subset(n, out as usize, rng)?, n)))
    }

    /// The same fold, with all rows of a class in the training part if none was. `of` are the
    /// classes of the rows.
    pub(crate) fn with_every_class(self, of: &[usize]) -> Fold {
        let Fold { mut train, validation } = self;
        let mut fitted = vec![false; of.iter().max().map_or(0, |last| last + 1)];
        train.iter().for_each(|&row| fitted[of[row]] = true);
        let (validation, lonely): (Vec<usize>, Vec<usize>) =
            validation.into_iter().partition(|&row| fitted[of[row]]);
        train.extend(lonely);
        train.sort_unstable();
        Fold { train, validation }
    }

    /// The fold of n rows with these validation rows.
    pub(crate) fn of(mut validation: Vec<usize>, n: usize) -> Fold {
        validation.sort_unstable();
        let mut inside = vec![false; n];
        validation.iter().for_each(|&row| inside[row] = true);
        let train = (0..n).filter(|&row| !inside[row]).collect();
        Fold { train, validation }
    }
}

/// Fewer rows than this are cut into five folds.
const FIVE: usize = 2000;
/// Fewer rows than this, but not fewer than [`FIVE`], are cut into three folds; more have one.
const THREE: usize = 6000;
/// The most rows of a single validation part.
const MOST: usize = 4000;
/// The largest number of random partitions into folds.
const PARTITIONS: f64 = 4.0;
/// A search over one partition takes about this many operations for each target and each pair of
/// rows, and this share of its work is for the partitions.
const SEARCHING: f64 = 5e4;
const OF_PARTITIONS: f64 = 0.35;

impl Split {
    /// The name of the column that determines the split; `None` for a random split.
    pub fn column(&self) -> Option<&str> {
        match self {
            Split::Random => None,
            Split::Group(name) | Split::Time(name) => Some(name),
        }
    }

    /// The folds of a table. A random split has five folds up to 2000 rows, three up to 6000, and
    /// beyond that one fold whose validation rows are a tenth of all rows (at most 4000). A split
    /// by group has five folds, or as many as there are groups if that is fewer. A split by time
    /// has one fold, whose validation rows are the last sixth of the rows.
    ///
    /// # Errors
    /// [`Error::NoColumn`]; [`Error::Values`] if values of the column are missing, or if all rows
    /// are one group.
    ///
    /// # Randomness
    /// One permutation of the rows, or of the groups.
    pub fn folds(&self, table: &Table, rng: &mut dyn Rng) -> Result<Vec<Fold>> {
        self.folds_by(table, None, rng)
    }

    /// Like [`folds`](Self::folds). Random folds have every class in proportion; `classes` are the
    /// classes of the rows. The rows of a class without two different rows are always fitted.
    pub(crate) fn folds_by(
        &self,
        table: &Table,
        classes: Option<&[usize]>,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Fold>> {
        let n = table.rows();
        let (count, share) = match n {
            _ if matches!(self, Split::Time(_)) => (1, 1.0 / 6.0),
            _ if n < FIVE || matches!(self, Split::Group(_)) => (5.min(n), 0.2),
            _ if n < THREE => (3, 1.0 / 3.0),
            _ => (1, (MOST as f64 / n as f64).min(0.1)),
        };
        let mut parts = self.parts(table, None, rng)?;
        if let (Split::Random, Some(of)) = (self, classes) {
            parts = stratified(parts, of);
        }
        if parts.len() < 2 {
            return Err(self.single_value_error());
        }
        Ok(dealt(&parts, n, count.min(parts.len()), share))
    }

    /// The number of partitions into folds for a search with this limit of work: several random
    /// ones for few rows, whose errors depend on the partition.
    pub(crate) fn partitions(&self, n: usize, targets: usize, work: f64) -> usize {
        let one = SEARCHING * (n * n * targets) as f64;
        match self {
            Split::Random => (OF_PARTITIONS * work / one).clamp(1.0, PARTITIONS) as usize,
            Split::Group(_) | Split::Time(_) => 1,
        }
    }

    /// The error for rows that are all in one group.
    pub(crate) fn single_value_error(&self) -> Error {
        let what = "has the same value in every row that may be fitted";
        let remedy = "split by another column, or hold no rows out";
        Error::values(self.column().unwrap_or_default(), what, remedy)
    }

    /// The groups of rows that stay together, in the order in which they are dealt out. For a
    /// random split these are the groups `equal`, or single rows.
    pub(crate) fn parts(
        &self,
        table: &Table,
        equal: Option<Vec<Vec<usize>>>,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Vec<usize>>> {
        let n = table.rows();
        let parts = match self {
            Split::Random => equal.unwrap_or_else(|| (0..n).map(|row| vec![row]).collect()),
            Split::Group(name) => groups(table, name)?,
            Split::Time(name) => {
                let times = ordered(table, name, &ColumnOptions::default())?.0;
                let mut rows: Vec<usize> = (0..n).collect();
                rows.sort_by(|&a, &b| times[b].total_cmp(&times[a]));
                let same = rows.chunk_by(|&a, &b| times[a] == times[b]);
                return Ok(same.map(<[usize]>::to_vec).collect());
            }
        };
        Ok(permutation(parts.len(), rng)?.into_iter().map(|part| parts[part].clone()).collect())
    }
}

/// Deals groups of rows out until each fold has its share of the rows.
fn dealt(parts: &[Vec<usize>], n: usize, count: usize, share: f64) -> Vec<Fold> {
    let mut parts = parts.iter();
    let fold = |k: usize| {
        let goal = if count == 1 { share * n as f64 } else { n as f64 / count as f64 };
        let mut validation: Vec<usize> = Vec::new();
        while (validation.len() as f64) < goal.max(1.0) {
            // the folds after this one need a part each; of a single one training needs one
            let others = if count == 1 { 1 } else { count - 1 - k };
            if !validation.is_empty() && parts.len() <= others {
                break;
            }
            match parts.next() {
                Some(part) => validation.extend(part),
                None => break,
            }
        }
        Fold::of(validation, n)
    };
    (0..count).map(fold).filter(|f: &Fold| !f.validation.is_empty()).collect()
}

/// The numbers below n in random order.
pub(crate) fn permutation(n: usize, rng: &mut dyn Rng) -> Result<Vec<usize>> {
    Ok(random::uniform_subset(n, n, rng)?)
}

/// The rows of each value of a column, in increasing order of the values. Texts that differ only in
/// case or blanks are one group, which is safe if they are not.
fn groups(table: &Table, name: &str) -> Result<Vec<Vec<usize>>> {
    let column = column_of(table, name)?;
    refuse_sparse(name, &column.values)?;
    let missing = |row: usize| Error::misses_split(table, name, row);
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    match &column.values {
        Values::Numbers(values) => {
            if let Some(row) = values.iter().position(|v| v.is_nan()) {
                return Err(missing(row));
            }
            rows.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            Ok(rows.chunk_by(|&a, &b| values[a] == values[b]).map(<[usize]>::to_vec).collect())
        }
        Values::Categories(text) => {
            if let Some(row) = text.codes.iter().position(Option::is_none) {
                return Err(missing(row));
            }
            let keys: Vec<String> = text.levels.iter().map(|level| key(level, false)).collect();
            let key = |row: usize| text.codes[row].map(|code| &keys[code as usize]);
            rows.sort_by_key(|&row| key(row));
            let same = |a: &usize, b: &usize| key(*a) == key(*b);
            Ok(rows.chunk_by(same).map(<[usize]>::to_vec).collect())
        }
        Values::Sparse(_) => Ok(Vec::new()), // refused above
    }
}

/// Groups of rows, each of one class, in an order in which every run of groups has each class in
/// proportion. The groups of a class keep their order. The only group of a class is left out: its
/// rows can only be fitted.
///
/// The j-th row of n_k of class k has the place (j + u_k)/n_k in the order. The phases u_k differ,
/// so that the first rows of rare classes do not come together.
pub(crate) fn stratified(parts: Vec<Vec<usize>>, of: &[usize]) -> Vec<Vec<usize>> {
    let classes = of.iter().max().map_or(0, |last| last + 1);
    let class = |part: &[usize]| part.first().map_or(0, |&row| of[row]);
    let (mut rows, mut count) = (vec![0; classes], vec![0; classes]);
    for part in &parts {
        rows[class(part)] += part.len();
        count[class(part)] += 1;
    }
    if count.iter().all(|count| *count < 2) {
        return parts;
    }
    let mut before = vec![0; classes];
    let mut placed: Vec<(f64, usize, Vec<usize>)> = Vec::new();
    for part in parts {
        let k = class(&part);
        let phase = (0.5 + GOLDEN * k as f64).fract();
        let place = (before[k] as f64 + phase) / rows[k] as f64;
        before[k] += part.len();
        if count[k] > 1 {
            placed.push((place, k, part));
        }
    }
    placed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    placed.into_iter().map(|(.., part)| part).collect()
}

/// Multiples of the golden ratio are far from each other.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_its_share_of_each_class() {
        // 70 % of class 0, 25 % of class 1, 5 % of class 2, two rows of class 3, one of class 4
        let of: Vec<usize> = (0..1003)
            .map(|i| match i {
                500 | 700 => 3,
                900 => 4,
                _ if i % 20 == 0 => 2,
                _ => usize::from(i % 4 == 1),
            })
            .collect();
        let parts: Vec<Vec<usize>> = (0..1003).map(|row| vec![row]).collect();
        let dealt: Vec<usize> = stratified(parts, &of).concat();
        assert_eq!(dealt.len(), 1002, "the only row of a class is not dealt");
        assert!(!dealt.contains(&900));
        let count = |rows: &[usize], k: usize| rows.iter().filter(|&&row| of[row] == k).count();
        for run in dealt.chunks(200).take(5) {
            for k in 0..3 {
                let share = 200.0 * count(&dealt, k) as f64 / 1002.0;
                assert!((count(run, k) as f64 - share).abs() <= 2.0, "class {k}: {share}");
            }
            assert!(count(run, 3) <= 1);
        }
    }

    #[test]
    fn copies_stay_together_and_lonely_rows_are_fitted() {
        let of = [0, 0, 0, 1, 1, 1, 2];
        let parts = vec![vec![0], vec![3, 4], vec![1, 2], vec![5], vec![6]];
        let dealt = stratified(parts, &of);
        assert!(dealt.contains(&vec![3, 4]) && dealt.contains(&vec![1, 2]) && dealt.len() == 4);
        // nothing to compare otherwise
        assert_eq!(stratified(vec![vec![0], vec![1]], &[0, 1]).len(), 2);
    }
}
