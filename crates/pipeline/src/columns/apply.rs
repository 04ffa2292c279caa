//! Computing the features of a table with columns that were fitted to another.

use super::bits::refuse_numbers;
use super::means::{Known, LevelMeans};
use super::options::{NOT_COUNTS, column_of};
use super::reading::{Series, categories, keep_example};
use super::sparse::{self, refuse_sparse};
use super::treat::{LevelFeatures, MeanFeatures, NumberFeatures};
use super::{Aspect, Columns, Kind, Part, Treated, Treatment};
use crate::error::{Error, Result, place};
use crate::features::Features;
use nystrom::faer::reborrow::*;
use nystrom::faer::{Mat, MatMut, MatRef};
use nystrom_data::{Categories, Table};
use std::collections::HashMap;
use std::fmt;

/// The features of a table, with notes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Applied {
    /// The features, n × d.
    pub x: Mat<f64>,
    /// Notes for the user about cells that the fitted table did not have.
    pub notes: Vec<Note>,
}

/// A note about cells of a table that the fitted table did not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Texts that are not among the levels of the column: in these rows its features have their
    /// mean over the fitted rows.
    UnknownLevels {
        /// The column.
        column: String,
        /// Some of the texts.
        examples: Vec<String>,
        /// In how many rows.
        rows: usize,
    },
    /// Missing values in a column that had none: they became the median.
    Filled {
        /// The column.
        column: String,
        /// In how many rows.
        rows: usize,
    },
    /// Texts in a column of numbers or dates: they count as missing.
    Unread {
        /// The column.
        column: String,
        /// Some of the texts.
        examples: Vec<String>,
        /// In how many rows.
        rows: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::UnknownLevels { column, examples, rows } => write!(
                f,
                "{column:?} has levels that the model does not know in {rows} rows, such as {}",
                examples.join(", ")
            ),
            Note::Filled { column, rows } => write!(
                f,
                "{column:?} misses its value in {rows} rows, and missed none in the training \
                 table: a number counts as the median, a text as no level"
            ),
            Note::Unread { column, examples, rows } => write!(
                f,
                "{column:?} has values in {rows} rows that cannot be read in the fitted format, \
                 such as {}: they count as missing",
                examples.join(", ")
            ),
        }
    }
}

impl Columns {
    /// Computes the features of `table`, whose columns are matched by name. O(n·d).
    ///
    /// # Errors
    /// [`Error::NoColumn`]; [`Error::Values`] for infinities, for missing values with
    /// [`Missing::Refuse`](crate::Missing::Refuse), for negative
    /// [counts](crate::ColumnOptions::counts), and for [sparse rows](Self::sparse), whose features
    /// are no matrix.
    pub fn apply(&self, table: &Table) -> Result<Applied> {
        self.apply_to(table, None)
    }

    /// The texts that were values in the fit, although they usually mark a missing value.
    pub fn not_missing(&self) -> &[String] {
        &self.marks.kept
    }

    /// The rows of a table without missing features, by number from 0.
    ///
    /// # Errors
    /// [`Error::NoColumn`].
    pub fn complete_rows(&self, table: &Table) -> Result<Vec<usize>> {
        let mut misses = vec![false; table.rows()];
        for column in &self.columns {
            let values = &column_of(table, &column.name)?.values;
            column.reading.read(values, &self.marks).mark_gaps(&mut misses);
        }
        Ok((0..table.rows()).filter(|&row| !misses[row]).collect())
    }

    /// The features of a table, dense or sparse, and notes about unexpected cells. `own` is that of
    /// [`apply_to`](Self::apply_to).
    pub(crate) fn features_of(
        &self,
        table: &Table,
        own: Option<Known<'_>>,
    ) -> Result<(Features, Vec<Note>)> {
        let Some((name, of)) = self.sparse_rows() else {
            let Applied { x, notes } = self.apply_to(table, own)?;
            return Ok((x.into(), notes));
        };
        let column = column_of(table, name)?;
        if self.counts {
            sparse::refuse_negative(column, table)?;
        }
        Ok((Features::Sparse(of.rows_of(column)?), Vec::new()))
    }

    /// The features of a table. `own` are the targets of its rows if they were fitted: means by
    /// level leave out the row's own target.
    pub(crate) fn apply_to(&self, table: &Table, own: Option<Known<'_>>) -> Result<Applied> {
        for column in &self.columns {
            refuse_sparse(&column.name, &column_of(table, &column.name)?.values)?;
        }
        let mut x = Mat::zeros(table.rows(), self.dim());
        let (mut notes, mut start) = (Vec::new(), 0);
        for column in &self.columns {
            let values = &column_of(table, &column.name)?.values;
            if self.fingerprint().is_some() {
                refuse_numbers(&column.name, values)?;
            }
            let mut series = column.reading.read(values, &self.marks);
            series.since = self.elapsed(column, &series, table)?;
            let mut out = x.as_mut().subcols_mut(start, column.width());
            notes.extend(column.apply(&series, (table, own), out.rb_mut())?);
            if self.counts {
                refuse_negative(&column.name, table, out.rb())?;
            }
            start += column.width();
        }
        Ok(Applied { x, notes })
    }
}

/// An error for the first row with a negative feature of a column.
fn refuse_negative(name: &str, table: &Table, x: MatRef<'_, f64>) -> Result<()> {
    for row in 0..x.nrows() {
        if let Some(value) = (0..x.ncols()).map(|k| x[(row, k)]).find(|value| *value < 0.0) {
            let what = format!("has the value {value} in {}", place(table, row));
            return Err(Error::values(name, what, NOT_COUNTS));
        }
    }
    Ok(())
}

impl Treated {
    /// Writes the features of one column to `out` and returns notes about unexpected cells.
    pub(crate) fn apply(
        &self,
        series: &Series<'_>,
        (table, own): (&Table, Option<Known<'_>>),
        mut out: MatMut<'_, f64>,
    ) -> Result<Vec<Note>> {
        let (mut notes, mut start) = (Vec::new(), 0);
        let column = || self.name.clone();
        if series.unread.0 > 0 {
            let (rows, examples) = series.unread.clone();
            let is_date = matches!(self.reading.kind, Kind::Time(_) | Kind::Digits);
            if is_date && series.numbers.iter().flat_map(|all| all.iter()).all(|v| v.is_nan()) {
                let what = format!("holds {}, which is no date in the fitted format", examples[0]);
                return Err(Error::values(&self.name, what, DATES));
            }
            notes.push(Note::Unread { column: column(), examples, rows });
        }
        if let (Some(Part { treatment: Treatment::Bits(bits), .. }), Some(text)) =
            (self.parts.first(), &series.texts)
        {
            bits.fill((&self.name, table), text, out)?;
            return Ok(notes);
        }
        for part in &self.parts {
            let out = out.as_mut().subcols_mut(start, part.treatment.width());
            let wrong = |row: usize, what: &str, remedy| {
                Error::values(&self.name, format!("{what} in {}", place(table, row)), remedy)
            };
            match part.fill(series, own, out, &wrong)? {
                // told by the features of 0 and 1
                Unexpected { .. } if matches!(part.treatment, Treatment::Means(_)) => {}
                Unexpected { unknown: rows, examples, .. } if rows > 0 => {
                    notes.push(Note::UnknownLevels { column: column(), examples, rows });
                }
                Unexpected { filled: rows, .. } if rows > 0 && series.unread.0 == 0 => {
                    notes.push(Note::Filled { column: column(), rows });
                }
                _ => {}
            }
            start += part.treatment.width();
        }
        Ok(notes)
    }
}

/// Cells of a column that the fitted column did not have.
#[derive(Default)]
struct Unexpected {
    /// The number of rows with an unknown level, and some of these levels.
    unknown: usize,
    examples: Vec<String>,
    /// The number of rows whose missing value was filled in.
    filled: usize,
}

type Wrong<'a> = dyn Fn(usize, &str, &'static str) -> Error + 'a;
const DATES: &str = "write dates as in the table that was fitted, or as 2019-12-31";
const FILL_IN: &str = "fill it in, or leave out the row";

impl Part {
    fn fill(
        &self,
        series: &Series<'_>,
        own: Option<Known<'_>>,
        out: MatMut<'_, f64>,
        wrong: &Wrong<'_>,
    ) -> Result<Unexpected> {
        let numbers = || series.numbers.as_deref().unwrap_or_default();
        if let (Aspect::Since(other), Treatment::Number(of)) = (&self.aspect, &self.treatment) {
            let days = series.since.iter().find(|(name, _)| name == other);
            let days = days.map_or(&[][..], |(_, days)| days);
            return of.fill(&self.aspect, days, out, wrong);
        }
        match (&self.treatment, &series.texts) {
            (Treatment::Number(of), Some(text)) if self.aspect == Aspect::IsText => {
                let is_text = |code: &Option<u32>| f64::from(u8::from(code.is_some()));
                let is_text: Vec<f64> = text.codes.iter().map(is_text).collect();
                of.fill(&self.aspect, &is_text, out, wrong)
            }
            (Treatment::Text(of), _) if self.aspect == Aspect::Value => {
                of.fill(&categories(numbers()), out, wrong)?;
                Ok(Unexpected::default())
            }
            (Treatment::Number(of), None) => of.fill(&self.aspect, numbers(), out, wrong),
            (Treatment::Number(of), Some(_)) => {
                Ok(Unexpected { filled: 0, ..of.fill(&self.aspect, numbers(), out, wrong)? })
            }
            (Treatment::Text(of), Some(text)) => of.fill(text, out, wrong),
            (Treatment::Means(of), Some(text)) => of.fill((text, own), out, wrong),
            // bits are filled above, sparse rows are no matrix, a column of numbers has no texts
            (Treatment::Bits(_) | Treatment::Sparse(_), _) | (_, None) => Ok(Unexpected::default()),
        }
    }
}

impl NumberFeatures {
    fn fill(
        &self,
        aspect: &Aspect,
        values: &[f64],
        mut out: MatMut<'_, f64>,
        wrong: &Wrong<'_>,
    ) -> Result<Unexpected> {
        let mut filled = 0;
        for (i, &value) in values.iter().enumerate() {
            if value.is_infinite() {
                let what = format!("has the value {value}");
                return Err(wrong(i, &what, "correct it, or make it a missing value"));
            }
            let seen = if value.is_nan() { value } else { aspect.of_day(value) };
            let Some(known) = Some(seen).filter(|v| !v.is_nan()).or(self.fill) else {
                return Err(wrong(i, "misses its value", FILL_IN));
            };
            out[(i, 0)] = (self.curve.at(known) - self.mean) / self.scale;
            if let Some((mean, scale)) = self.missing {
                out[(i, 1)] = (f64::from(u8::from(value.is_nan())) - mean) / scale;
            }
            filled += usize::from(value.is_nan());
        }
        let told = self.missing.is_some() || *aspect != Aspect::Number;
        Ok(Unexpected { filled: if told { 0 } else { filled }, ..Unexpected::default() })
    }
}

impl LevelFeatures {
    fn fill(
        &self,
        text: &Categories,
        mut out: MatMut<'_, f64>,
        wrong: &Wrong<'_>,
    ) -> Result<Unexpected> {
        let LevelFeatures { levels, rare, means, scale, complete, gaps } = self;
        let rare_at = rare.iter().flatten().map(|level| (level.as_str(), levels.len()));
        let known = levels.iter().enumerate().map(|(j, level)| (level.as_str(), j));
        let places = places(text, known.chain(rare_at));
        let mut met = Unexpected::default();
        for (i, code) in text.codes.iter().enumerate() {
            if code.is_none() && *complete {
                return Err(wrong(i, "misses its value", FILL_IN));
            }
            let rare_number = rare.as_ref().filter(|rare| rare.is_empty()).map(|_| levels.len());
            let at = code.and_then(|code| places[code as usize].or(rare_number));
            if at.is_none() && (code.is_some() || !gaps) {
                // the mean of all rows, which is 0
                met.filled += usize::from(code.is_none());
                met.unknown(text, *code);
                continue;
            }
            for (j, mean) in means.iter().enumerate() {
                out[(i, j)] = (f64::from(u8::from(at == Some(j))) - mean) / scale;
            }
        }
        Ok(met)
    }
}

impl Unexpected {
    fn unknown(&mut self, text: &Categories, code: Option<u32>) {
        let Some(code) = code else { return };
        self.unknown += 1;
        keep_example(&mut self.examples, &text.levels[code as usize]);
    }
}

impl MeanFeatures {
    fn fill(
        &self,
        (text, own): (&Categories, Option<Known<'_>>),
        mut out: MatMut<'_, f64>,
        wrong: &Wrong<'_>,
    ) -> Result<Unexpected> {
        let MeanFeatures { of, means, scales, complete } = self;
        let text = of.renamed(text);
        let values = of.means(&text, own);
        let (t, mut met) = (of.width(), Unexpected::default());
        let known: Vec<bool> = text.levels.iter().map(|level| of.knows(level)).collect();
        for (i, code) in text.codes.iter().enumerate() {
            if code.is_none() && *complete {
                return Err(wrong(i, "misses its value", FILL_IN));
            }
            if code.is_some_and(|code| !known[code as usize]) {
                met.unknown(&text, *code);
            }
            (0..t).for_each(|j| out[(i, j)] = (values[i * t + j] - means[j]) / scales[j]);
        }
        Ok(met)
    }
}

impl LevelMeans {
    /// The same texts, where a text that spells the number of a level has the name of that level.
    pub(super) fn renamed(&self, text: &Categories) -> Categories {
        let names: Vec<&str> = self.levels().map(String::as_str).collect();
        let places = places(text, names.iter().enumerate().map(|(j, name)| (*name, j)));
        let name = |(level, place): (&String, &Option<usize>)| match place {
            Some(place) => names[*place].to_owned(),
            None => level.clone(),
        };
        let levels = text.levels.iter().zip(&places).map(name).collect();
        Categories { levels, codes: text.codes.clone() }
    }
}

/// The place of each level of a text among the known levels: that of the same text, else that of
/// an equal number.
fn places<'a>(
    text: &Categories,
    known: impl Iterator<Item = (&'a str, usize)> + Clone,
) -> Vec<Option<usize>> {
    let value = |level: &str| level.parse::<f64>().ok().filter(|v| !v.is_nan());
    let by_text: HashMap<&str, usize> = known.clone().collect();
    let mut by_value: HashMap<u64, usize> = HashMap::new();
    for (level, place) in known {
        if let Some(value) = value(level) {
            by_value.entry((value + 0.0).to_bits()).or_insert(place);
        }
    }
    let find = |level: &String| {
        let same = || by_value.get(&(value(level)? + 0.0).to_bits());
        by_text.get(level.as_str()).or_else(same).copied()
    };
    text.levels.iter().map(find).collect()
}
