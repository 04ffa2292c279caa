//! The first pass: statistics of all rows, and a sample of them.

use super::StreamFit;
use super::processes::{Alone, Ranks};
use super::readings::is_text;
use super::reservoir::Reservoir;
use super::source::TableSource;
use super::used_rows::{Places, UsedRows};
use crate::classes::{ClassCounts, MOST_CLASSES, Task, as_numbers};
use crate::columns::{ColumnSums, TargetSums};
use crate::error::{Error, Result};
use crate::exact_sum::ExactSum;
use crate::fit::Fit;
use crate::numbers::{TARGET, weights_of};
use crate::problem::{FEWEST, LeftOut, notes_of, taken, usable};
use crate::target;
use nystrom::prelude::*;
use nystrom_data::{Table, Values};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The results of the first pass over all rows.
#[derive(Debug)]
pub struct TableSurvey {
    /// The reservoir, a sample of the used rows.
    pub(super) table: Table,
    /// The number among all rows, and the line, of each row of the reservoir.
    sampled: Vec<(u64, u64)>,
    pub(super) targets: Vec<String>,
    /// The mean weight of the used rows.
    pub(super) mean_weight: f64,
    pub(super) all: SurveySums,
}

impl TableSurvey {
    /// The counts of the values of the target in all rows, if there is one target.
    pub(super) fn counts(&self) -> Option<&ClassCounts> {
        (self.targets.len() == 1).then_some(&self.all.classes)
    }

    /// The number of all rows.
    pub fn rows(&self) -> u64 {
        self.all.seen
    }

    /// The number of rows that have a target, a weight and, with
    /// [`Missing::DropRows`](crate::Missing::DropRows), all features.
    pub fn used(&self) -> u64 {
        self.all.used
    }

    pub(super) fn used_rows(&self, leaves: usize) -> UsedRows {
        UsedRows { rows: self.all.used, places: self.all.places.clone(), leaves }
    }

    /// The number of rows in the reservoir.
    pub fn reservoir(&self) -> usize {
        self.table.rows()
    }

    /// For each row of the reservoir its number among all rows, from 0, and its line in its file;
    /// in formats without lines, its number from 1.
    pub fn sampled(&self) -> &[(u64, u64)] {
        &self.sampled
    }

    /// Notes for the user about decisions on the table.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = notes_of(&self.all.left_out, self.all.seen as usize).collect();
        let many = self.all.columns.iter().filter(|(_, sums)| sums.has_too_many_levels());
        let mut many: Vec<&String> = many.map(|(name, _)| name).collect();
        many.sort_unstable();
        notes.extend(many.into_iter().map(|name| {
            format!("{name:?} has more than 65536 levels: their shares are those of the sample")
        }));
        notes
    }
}

/// The first pass of a process.
pub(super) struct SurveyPass<'a> {
    pub fit: &'a Fit,
    pub targets: Vec<String>,
    pub taken: Vec<String>,
    /// The number of the first row of this process among all rows.
    pub first: u64,
}

/// Sums over all rows or over a part of them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SurveySums {
    /// The sums of each feature and target column.
    pub columns: HashMap<String, ColumnSums>,
    /// The moments of each target that is a number.
    pub moments: HashMap<String, TargetSums>,
    /// The counts of the values of a single target, as names of classes.
    classes: ClassCounts,
    strays: Strays,
    places: Places,
    /// The number of used rows.
    pub used: u64,
    weight: ExactSum,
    seen: u64,
    left_out: LeftOut,
}

/// Texts in a single target that are no numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Strays {
    rows: u64,
    /// The first text and its line.
    first: Option<(String, String)>,
}

impl Strays {
    /// Adds these rows of a block.
    fn add(&mut self, target: &str, block: &Table, rows: &[usize]) -> Result<()> {
        let Values::Categories(text) = &block.column(target)?.values else { return Ok(()) };
        let is_text: Vec<bool> = text.levels.iter().map(|l| l.parse::<f64>().is_err()).collect();
        let strays =
            rows.iter().filter(|row| text.codes[**row].is_some_and(|c| is_text[c as usize]));
        for &row in strays {
            self.rows += 1;
            let of = || (text.get(row).unwrap_or_default().to_owned(), place(block, row));
            self.first.get_or_insert_with(of);
        }
        Ok(())
    }

    /// Adds the texts of the rows after these.
    fn merge(&mut self, later: Strays) {
        self.rows += later.rows;
        self.first = self.first.take().or(later.first);
    }

    /// Refuses a target that has too many values for classes, and texts in less than half of
    /// `rows`.
    fn check(&self, target: &str, rows: u64, classes: &ClassCounts) -> Result<()> {
        let few = classes.all().is_some_and(|counts| counts.len() <= MOST_CLASSES);
        match &self.first {
            Some((text, place)) if !few && 2 * self.rows < rows => {
                Err(Error::values(target, format!("holds {text:?} in {place}"), TARGET))
            }
            _ => Ok(()),
        }
    }
}

impl StreamFit {
    /// The first pass over all rows.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), of the source, and those of [`Fit::table`] about columns,
    /// targets and weights.
    ///
    /// [`Fit::table`]: crate::Fit::table
    ///
    /// # Randomness
    /// The reservoir.
    pub fn survey<S: Into<String>>(
        &self,
        source: &mut dyn TableSource,
        targets: impl IntoIterator<Item = S>,
        rng: &mut dyn Rng,
    ) -> Result<TableSurvey> {
        let targets = targets.into_iter().map(Into::into).collect();
        let survey = self.survey_over(&Alone, (source, 0), targets, rng)?;
        survey.ok_or(Error::TooFewRows { rows: 0 })
    }

    /// Like [`survey`](Self::survey), shared by several processes. Each process passes its own
    /// source and the number of the first row of that source among all rows; rows are in the order
    /// of the ranks. Process 0 returns the survey of all rows, with the same bits as one process;
    /// the other processes return `None`.
    ///
    /// # Errors
    /// Those of [`survey`](Self::survey), for the rows that this process reads, and on process 0
    /// for all rows.
    ///
    /// # Randomness
    /// That of [`survey`](Self::survey). The generators of all processes must be in the same state.
    pub fn survey_over(
        &self,
        ranks: &dyn Ranks,
        (source, first): (&mut dyn TableSource, u64),
        targets: Vec<String>,
        rng: &mut dyn Rng,
    ) -> Result<Option<TableSurvey>> {
        self.check()?;
        let taken = taken(&self.fit, &targets)?;
        let reservoir = Reservoir::new(self.reservoir, rng);
        SurveyPass { fit: &self.fit, targets, taken, first }.run((ranks, source), reservoir)
    }
}

impl SurveyPass<'_> {
    /// Reads all rows of this process; the survey of all is on process 0.
    pub fn run(
        self,
        (ranks, source): (&dyn Ranks, &mut dyn TableSource),
        mut reservoir: Reservoir,
    ) -> Result<Option<TableSurvey>> {
        let mut sums = SurveySums::default();
        source.start(0)?;
        while let Some(block) = source.next_block()? {
            self.add(&block, &mut sums, &mut reservoir)?;
        }
        let merge = |(sums, reservoir): &mut (SurveySums, Reservoir), (later, sample)| {
            sums.merge(later);
            reservoir.merge(sample);
        };
        let all = ranks.merge((sums, reservoir), merge)?;
        all.map(|(sums, reservoir)| sums.end(self.targets, reservoir)).transpose()
    }

    /// Adds the rows of a block to the sums and offers them to the reservoir.
    fn add(&self, block: &Table, sums: &mut SurveySums, reservoir: &mut Reservoir) -> Result<()> {
        let fit = self.fit;
        let text = |name: &String| block.column(name.as_str()).is_ok_and(is_text);
        let classes = self.targets.len() == 1 && self.targets.iter().any(text);
        let (rows, left_out) = usable(fit, block, (&self.targets, &self.taken), classes, None)?;
        sums.leave_out(left_out);
        let weights = weights_of(fit, block, &rows, place)?;
        self.add_columns(block, &rows, sums)?;
        for name in &self.targets {
            // a target of texts that is not classes has only numbers
            let column = block.column(name.as_str())?;
            let numbers = as_numbers(column);
            let Values::Numbers(values) = &numbers.as_ref().unwrap_or(column).values else {
                continue;
            };
            let moments = sums.moments.entry(name.clone()).or_default();
            let weight = |i: usize| weights.as_ref().map_or(1.0, |w| w[i]);
            rows.iter().enumerate().for_each(|(i, &row)| moments.add(values[row], weight(i)));
        }
        if let ([name], false) = (&self.targets[..], fit.task == Task::Regression) {
            sums.classes.add(&block.column(name.as_str())?.values, &rows);
            if fit.task == Task::Auto {
                sums.strays.add(name, block, &rows)?;
            }
        }
        match &weights {
            Some(weights) => weights.iter().for_each(|&weight| sums.weight.add(weight)),
            None => sums.weight.add(rows.len() as f64),
        }
        let first = self.first + sums.seen;
        reservoir.offer(block, &rows, first);
        sums.places.add((first, sums.used), (block.rows(), rows.len()));
        (sums.seen, sums.used) = (sums.seen + block.rows() as u64, sums.used + rows.len() as u64);
        Ok(())
    }

    /// Adds these rows of the features and targets of a block.
    fn add_columns(&self, block: &Table, rows: &[usize], sums: &mut SurveySums) -> Result<()> {
        let options = &self.fit.columns;
        let features = options.candidates(block, &self.taken)?;
        let columns = features.iter().map(|&j| &block.columns()[j]);
        let of_targets = self.targets.iter().filter_map(|name| block.column(name.as_str()).ok());
        for column in columns.chain(of_targets) {
            let sums = sums.columns.entry(column.name.clone());
            let sums = sums.or_insert_with(|| ColumnSums::like(column, options));
            sums.add(column, options, rows, &|row| place(block, row))?;
        }
        Ok(())
    }
}

impl SurveySums {
    fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out.resize(self.left_out.len().max(left_out.len()), (String::new(), 0));
        for (all, (why, count)) in self.left_out.iter_mut().zip(left_out) {
            *all = (why, all.1 + count);
        }
    }

    /// Adds the sums over the rows after these.
    fn merge(&mut self, later: SurveySums) {
        self.leave_out(later.left_out);
        for (name, sums) in later.columns {
            match self.columns.get_mut(&name) {
                Some(ours) => ours.merge(sums),
                None => drop(self.columns.insert(name, sums)),
            }
        }
        for (name, sums) in later.moments {
            self.moments.entry(name).or_default().merge(&sums);
        }
        self.classes.merge(later.classes);
        self.strays.merge(later.strays);
        self.places.merge(later.places, self.used);
        self.weight.merge(&later.weight);
        (self.seen, self.used) = (self.seen + later.seen, self.used + later.used);
    }

    fn end(self, targets: Vec<String>, reservoir: Reservoir) -> Result<TableSurvey> {
        if (self.used as usize) < FEWEST {
            return Err(Error::TooFewRows { rows: self.used as usize });
        }
        for (name, sums) in &self.columns {
            sums.bits().map(|bits| bits.features(name)).transpose()?;
        }
        if let [target] = &targets[..] {
            self.strays.check(target, self.used, &self.classes)?;
        }
        for name in &targets {
            let Some(sums) = self.columns.get(name).and_then(ColumnSums::numbers) else {
                continue;
            };
            target::check(name, sums.largest(), sums.is_constant().then(|| sums.least()))?;
        }
        Ok(TableSurvey {
            sampled: reservoir.rows(),
            table: reservoir.table("sample of all rows")?,
            targets,
            mean_weight: self.weight.value() / self.used as f64,
            all: self,
        })
    }
}

/// The row of a block, in words.
pub(super) fn place(table: &Table, row: usize) -> String {
    match table.line(row) {
        Some(line) => format!("line {line} of {}", table.source()),
        None => format!("row {} of a block of {}", row + 1, table.source()),
    }
}
