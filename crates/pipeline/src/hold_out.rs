//! Holding out rows before a fit.

use crate::classes::Labels;
use crate::columns::Missing;
use crate::copied_rows;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::numbers::Numbered;
use crate::problem::{compared, look, taken, usable};
use crate::split::{Fold, Split, stratified};
use nystrom::prelude::*;
use nystrom_data::Table;
use std::collections::HashMap;

impl Fit {
    /// Holds out this share of the rows: they are the `validation` of the result, all other rows
    /// its `training`. Rows of a group stay together, a split by time holds out the last rows, and
    /// equal rows are never separated. A random split holds out every class in proportion; a row
    /// that is the only one of its class is not held out. Rows that a fit leaves out, such as those
    /// without a target, are not held out either.
    ///
    /// # Errors
    /// [`Error::Option`] if one of the two parts would be empty; those of [`table`](Self::table)
    /// about the names and values of columns.
    ///
    /// # Randomness
    /// One random subset of the rows, or of the groups of rows that stay together.
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::{Fit, Split};
    /// let hour: Vec<f64> = (0..10).map(f64::from).collect();
    /// let y = hour.iter().map(|hour| hour.sin()).collect();
    /// let table = Table::new("t", vec![Column::numbers("hour", hour), Column::numbers("y", y)])?;
    /// let fit = Fit { split: Split::Time("hour".into()), ..Fit::default() };
    /// let fold = fit.hold_out(&table, &["y".into()], 0.2, &mut Pcg64::seed_from_u64(0)).unwrap();
    /// assert_eq!(fold.validation, [8, 9]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn hold_out(
        &self,
        table: &Table,
        targets: &[String],
        share: f64,
        rng: &mut dyn Rng,
    ) -> Result<Fold> {
        let (rows, parts) = self.inseparable(table, targets, rng)?;
        let goal = (share * rows.len() as f64).round();
        let mut out: Vec<usize> = Vec::new();
        if parts.len() < 2 && self.split.column().is_some() {
            return Err(self.split.single_value_error());
        }
        if share > 0.0 && share < 1.0 {
            let within = &parts[..parts.len().saturating_sub(1)];
            // a group of most rows is fitted, if others can be held out
            let by_time = matches!(self.split, Split::Time(_));
            let small = |part: &&Vec<usize>| part.len() as f64 <= 2.0 * goal;
            let any = by_time || !within.iter().any(|part| small(&part));
            for part in within.iter().filter(|part| any || small(part)) {
                if out.len() as f64 >= goal {
                    break;
                }
                out.extend(part.iter().map(|&row| rows[row]));
            }
        }
        if out.is_empty() {
            let problem = format!(
                "{share} of {} rows that may be held out leaves no row on one side; take a share \
                 such as 0.2",
                rows.len()
            );
            return Err(Error::Option { option: "hold-out", problem });
        }
        Ok(Fold::of(out, table.rows()))
    }

    /// The rows of a table that a fit uses, by number from 0: those that have their targets, their
    /// weight and, with [`Missing::DropRows`], all features.
    ///
    /// # Errors
    /// Those of [`table`](Self::table) about the names and values of columns.
    pub fn used_rows(&self, table: &Table, targets: &[String]) -> Result<Vec<usize>> {
        let taken = taken(self, targets)?;
        let (numbered, classes) = Numbered::with_task(self, table, targets, None)?;
        let looked = match self.columns.missing {
            Missing::DropRows => Some(look(self, &numbered.table, &taken, &HashMap::new())?),
            _ => None,
        };
        Ok(usable(self, &numbered.table, (targets, &taken), classes, looked.as_ref())?.0)
    }

    /// The weights of the rows of a table, if the fit has weights.
    ///
    /// # Errors
    /// Those of [`table`](Self::table) about the column of weights.
    pub fn weights_of(&self, table: &Table) -> Result<Option<Vec<f64>>> {
        let Some(name) = &self.weights else { return Ok(None) };
        let numbered = Numbered::of(self, table, &[])?;
        Ok(Some(numbered.table.numbers(name.as_str())?.to_vec()))
    }

    /// The rows that a fit uses, and the groups of rows that stay together, in the order in which
    /// they are held out.
    fn inseparable(
        &self,
        table: &Table,
        targets: &[String],
        rng: &mut dyn Rng,
    ) -> Result<(Vec<usize>, Vec<Vec<usize>>)> {
        let taken = taken(self, targets)?;
        let (Numbered { table: numbered, .. }, classes) =
            Numbered::with_task(self, table, targets, None)?;
        let mut looked = look(self, &numbered, &taken, &HashMap::new())?;
        let rows = usable(self, &numbered, (targets, &taken), classes, Some(&looked))?.0;
        let used = numbered.select_rows(&rows)?;
        let equal = match self.split.column() {
            Some(_) => None,
            None => copied_rows::copies(&used, &compared(self, &mut looked, &used, targets)?)?,
        };
        let mut parts = self.split.parts(&used, equal, rng)?;
        if classes && self.split == Split::Random {
            parts = stratified(parts, &Labels::new(&used, &targets[0], None)?.of);
        }
        Ok((rows, parts))
    }
}
