//! The first pass: what there is to know of all rows, and a sample of them.

use super::StreamFit;
use super::reservoir::Reservoir;
use super::source::TableSource;
use super::sums::{ColumnSums, TargetSums};
use crate::error::{Error, Result};
use crate::problem::{FEWEST, LARGEST, LeftOut, notes_of, taken, usable};
use nystrom::prelude::*;
use nystrom_data::{Table, Values};
use std::collections::HashMap;

/// What one pass over all rows found.
#[derive(Debug)]
pub struct Survey {
    /// The reservoir, of rows that are used.
    pub(super) table: Table,
    pub(super) targets: Vec<String>,
    /// Of the columns that are used.
    pub(super) sums: HashMap<String, ColumnSums>,
    /// Of targets that are numbers.
    pub(super) moments: HashMap<String, (f64, f64)>,
    /// Rows that are used.
    pub(super) used: u64,
    /// Of them.
    pub(super) mean_weight: f64,
    seen: u64,
    left_out: LeftOut,
}

impl Survey {
    /// All rows.
    pub fn rows(&self) -> u64 {
        self.seen
    }

    /// Those that have a target and a weight, and features if rows without are to be left out.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Rows of the reservoir.
    pub fn reservoir(&self) -> usize {
        self.table.rows()
    }

    /// What was decided, in words.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = notes_of(&self.left_out, self.seen as usize).collect();
        let mut many: Vec<&String> =
            self.sums.iter().filter(|(_, s)| s.has_too_many_levels()).map(|(n, _)| n).collect();
        many.sort_unstable();
        notes.extend(many.into_iter().map(|name| {
            format!("{name:?} has more than 65536 levels: their shares are those of the sample")
        }));
        notes
    }
}

/// The sums under way.
struct Pass<'a> {
    stream: &'a StreamFit,
    targets: Vec<String>,
    taken: Vec<String>,
    sums: HashMap<String, ColumnSums>,
    moments: HashMap<String, TargetSums>,
    reservoir: Reservoir,
    used: u64,
    weight: f64,
    seen: u64,
    left_out: LeftOut,
}

impl StreamFit {
    /// One pass over all rows; `told` hears how many were read, after every block.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), of the source, and those of [`Fit::table`] on columns,
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
        told: &mut dyn FnMut(u64),
        rng: &mut dyn Rng,
    ) -> Result<Survey> {
        self.check()?;
        let targets: Vec<String> = targets.into_iter().map(Into::into).collect();
        let mut pass = Pass {
            stream: self,
            taken: taken(&self.fit, &targets)?,
            targets,
            sums: HashMap::new(),
            moments: HashMap::new(),
            reservoir: Reservoir::new(self.reservoir),
            used: 0,
            weight: 0.0,
            seen: 0,
            left_out: LeftOut::new(),
        };
        source.start(0)?;
        while let Some(block) = source.next_block()? {
            pass.add(&block, rng)?;
            told(pass.seen);
        }
        pass.end()
    }
}

impl Pass<'_> {
    fn add(&mut self, block: &Table, rng: &mut dyn Rng) -> Result<()> {
        let fit = &self.stream.fit;
        let text = |name: &String| {
            block.column(name.as_str()).is_ok_and(|c| matches!(c.values, Values::Categories(_)))
        };
        let classes = self.targets.len() == 1 && self.targets.iter().any(text);
        let (rows, left_out) = usable(fit, block, &self.targets, &self.taken, classes)?;
        self.left_out.resize(left_out.len(), (String::new(), 0));
        for (all, (why, count)) in self.left_out.iter_mut().zip(left_out) {
            *all = (why, all.1 + count);
        }
        let weights = super::ready::weights(fit, block, &rows)?;
        let taken: Vec<&str> = self.taken.iter().map(String::as_str).collect();
        let features = fit.columns.candidates(block, &taken)?;
        let columns = features.iter().map(|&j| &block.columns()[j]);
        let of_targets = self.targets.iter().filter_map(|name| block.column(name.as_str()).ok());
        for column in columns.chain(of_targets) {
            let new = || ColumnSums::like(column);
            match self.sums.get_mut(&column.name) {
                Some(sums) => sums.add(&column.values, &rows),
                None => {
                    let mut sums = new();
                    sums.add(&column.values, &rows);
                    self.sums.insert(column.name.clone(), sums);
                }
            }
        }
        for name in self.targets.iter().filter(|name| !text(name)) {
            let values = block.numbers(name.as_str())?;
            let sums = self.moments.entry(name.clone()).or_default();
            let weight = |i: usize| weights.as_ref().map_or(1.0, |w| w[i]);
            rows.iter().enumerate().for_each(|(i, &row)| sums.add(values[row], weight(i)));
        }
        self.weight += match &weights {
            Some(weights) => weights.iter().sum(),
            None => rows.len() as f64,
        };
        self.reservoir.offer(block, &rows, rng);
        (self.seen, self.used) = (self.seen + block.rows() as u64, self.used + rows.len() as u64);
        Ok(())
    }

    fn end(self) -> Result<Survey> {
        if (self.used as usize) < FEWEST {
            return Err(Error::TooFewRows { rows: self.used as usize });
        }
        for target in &self.targets {
            let Some(sums) = self.sums.get(target).and_then(ColumnSums::numbers) else { continue };
            if !(sums.largest() <= LARGEST) {
                let what =
                    format!("reaches {:e}, whose square is beyond all numbers", sums.largest());
                let remedy = "divide it by 1e100, say";
                return Err(Error::Values { column: target.clone(), what, remedy });
            }
            if sums.is_constant() {
                let (target, value) = (target.clone(), sums.some());
                return Err(Error::ConstantTarget { target, value });
            }
        }
        Ok(Survey {
            table: self.reservoir.table("sample of all rows")?,
            targets: self.targets,
            sums: self.sums,
            moments: self.moments.into_iter().map(|(name, sums)| (name, sums.moments())).collect(),
            used: self.used,
            mean_weight: self.weight / self.used as f64,
            seen: self.seen,
            left_out: self.left_out,
        })
    }
}
