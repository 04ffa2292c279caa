//! The class of every row.

use super::{Classes, Task};
use crate::columns::position;
use crate::error::{Error, Result};
use crate::target::Target;
use nystrom::faer::Mat;
use nystrom_data::{Table, Values};

/// So many whole numbers at most are classes, …
const FEW: usize = 10;
/// … if there are so many rows for each.
const ROWS: usize = 10;
/// The most classes.
const MOST: usize = 100;

/// Whether the targets are classes; what was decided unasked is noted.
pub(crate) fn is_classes(
    task: Task,
    table: &Table,
    targets: &[String],
    notes: &mut Vec<String>,
) -> Result<bool> {
    let [target] = targets else {
        return match task {
            Task::Classification => Err(Error::Option {
                option: "task",
                problem: "classes are of one target; name one".into(),
            }),
            _ => Ok(false),
        };
    };
    let column = &table.columns()[position(table, target)?];
    let (what, other) = match (task, &column.values) {
        (Task::Regression, _) => return Ok(false),
        (Task::Classification, _) => return Ok(true),
        (Task::Auto, Values::Categories(_)) => ("text".to_owned(), "is for numbers"),
        (Task::Auto, Values::Numbers(values)) => match few_integers(values) {
            Some(count) => (format!("{count} different whole numbers"), "takes them for numbers"),
            None => return Ok(false),
        },
    };
    notes.push(format!(
        "the target {target:?} holds {what}, which are taken for classes; --task regression {other}"
    ));
    Ok(true)
}

/// How many, if they are few.
pub(crate) fn few_integers(values: &[f64]) -> Option<usize> {
    let mut seen: Vec<f64> = Vec::new();
    for value in values.iter().copied().filter(|value| !value.is_nan()) {
        if !seen.contains(&value) {
            if seen.len() == FEW || value.fract() != 0.0 {
                return None;
            }
            seen.push(value);
        }
    }
    (seen.len() > 1 && values.len() >= ROWS * seen.len()).then_some(seen.len())
}

/// The class of each row, by its number in `names`.
pub(crate) struct Labels {
    pub target: String,
    pub names: Vec<String>,
    pub numbers: bool,
    pub of: Vec<usize>,
}

impl Labels {
    /// Of a column without missing values.
    pub fn new(table: &Table, target: &str) -> Result<Labels> {
        let column = &table.columns()[position(table, target)?];
        let (names, of): (Vec<String>, Vec<usize>) = match &column.values {
            Values::Numbers(values) => {
                let mut levels = values.clone();
                levels.sort_by(f64::total_cmp);
                levels.dedup_by(|a, b| a == b);
                let class = |value: &f64| levels.partition_point(|level| level < value);
                let of = values.iter().map(class).collect();
                (levels.into_iter().map(Classes::name_of).collect(), of)
            }
            Values::Categories(text) => {
                let of = |row: usize| text.get(row).unwrap_or_default();
                let mut levels: Vec<&str> = (0..table.rows()).map(of).collect();
                levels.sort_unstable();
                levels.dedup();
                let class = |row: usize| levels.partition_point(|level| *level < of(row));
                let of = (0..table.rows()).map(class).collect();
                (levels.into_iter().map(str::to_owned).collect(), of)
            }
        };
        let numbers = matches!(column.values, Values::Numbers(_));
        let labels = Labels { target: target.to_owned(), names, numbers, of };
        labels.check()?;
        Ok(labels)
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String, remedy| Error::values(&self.target, what, remedy);
        let names = &self.names;
        if let [only] = &names[..] {
            let what = format!("has the class {only:?} in every row");
            return Err(wrong(what, "take another target"));
        }
        let folded = |name: &String| name.trim().to_lowercase();
        for (k, one) in names.iter().enumerate() {
            if let Some(other) = names[..k].iter().find(|other| folded(other) == folded(one)) {
                let (target, one, other) = (self.target.clone(), other.clone(), one.clone());
                return Err(Error::AlikeClasses { target, one, other });
            }
        }
        if let Some(k) = self.counts().iter().position(|count| *count == 1) {
            return Err(Error::RareClass { target: self.target.clone(), class: names[k].clone() });
        }
        if names.len() > MOST {
            let what = format!("has {} classes, more than {MOST}", names.len());
            return Err(wrong(what, "take rare ones together, or fit numbers by regression"));
        }
        Ok(())
    }

    /// The rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.of.iter().for_each(|&class| counts[class] += 1);
        counts
    }

    /// ±1 for each function, without its mean, over the standard deviation of all together: the
    /// mean square error is then a share of what varies.
    pub fn indicators(&self, weights: Option<&[f64]>) -> (Mat<f64>, Vec<Target>) {
        let (n, functions) = (self.of.len(), Classes::functions(self.names.len()));
        let first = self.names.len() - functions;
        let sign = |i: usize, j: usize| if self.of[i] == first + j { 1.0 } else { -1.0 };
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]) / n as f64;
        let mean = |j: usize| (0..n).map(|i| weight(i) * sign(i, j)).sum::<f64>();
        let means: Vec<f64> = (0..functions).map(mean).collect();
        // the variance of ±1
        let variance = means.iter().map(|mean| 1.0 - mean * mean).sum::<f64>() / functions as f64;
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let y = Mat::from_fn(n, functions, |i, j| (sign(i, j) - means[j]) / scale);
        let target = |mean| Target { name: self.target.clone(), mean, scale };
        (y, means.into_iter().map(target).collect())
    }
}
