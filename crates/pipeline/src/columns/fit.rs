//! Fits columns to the rows of a table: the features that each column becomes.

use super::bits::{BitFeatures, refuse_numbers};
use super::means::{Known, LevelMeans};
use super::options::{ColumnOptions, Missing, NOT_COUNTS, column_of};
use super::reading::{Series, categories};
use super::sparse::SparseFeatures;
use super::sums::{ColumnSums, NumberSums};
use super::survey::LookedColumn;
use super::treat::{MeanFeatures, NumberFeatures, moments, number, one_hot, refuse_gaps};
use super::{
    Aspect, Columns, Curve, Dropped, Kind, Looked, Part, Shape, Treated, Treatment, Why, elapsed,
};
use crate::counts::counted;
use crate::error::{Error, Result, place};
use nystrom_data::{Categories, Table, Values};
use std::borrow::Cow;

/// The fewest rows of a number that is a category as well.
const LEAST_ROWS: usize = 10;
/// Periods of dates in days, each with the number of days that a column must cover.
const PERIODS: [(f64, f64); 3] = [(365.2425, 365.0), (7.0, 7.0), (1.0, 0.0)];

/// The rows that columns are fitted to.
#[derive(Clone, Copy)]
pub(crate) struct Training<'a> {
    pub table: &'a Table,
    /// The rows of the table that are fitted; `None`: all rows.
    pub rows: Option<&'a [usize]>,
    /// The targets of all rows of the table.
    pub known: Option<Known<'a>>,
    /// If the table is a sample: the sums of a column over all rows.
    pub exact: &'a dyn Fn(&str) -> Option<&'a ColumnSums>,
}

impl Columns {
    /// Decides how each column of `table` becomes features. The columns `taken` are left out: they
    /// are target, weight, group or time columns. O(n log n) operations for each column.
    ///
    /// # Errors
    /// [`Error::NoColumn`] and [`Error::UsedTwice`] for wrong names, [`Error::Option`] for a wrong
    /// factor, [`Error::Values`] for infinities and, with [`Missing::Refuse`], for missing values,
    /// [`Error::NoFeatures`] if no feature is left.
    pub fn fit(
        table: &Table,
        options: &ColumnOptions,
        taken: &[&str],
        shape: Shape,
    ) -> Result<Columns> {
        let looked = Looked::at(table, options, taken, &|_| None)?;
        let training = Training { table, rows: None, known: None, exact: &|_| None };
        Columns::fit_to(&looked, options, shape, training)
    }

    /// Like [`fit`](Self::fit), for some rows of a table whose readings all rows determined. If
    /// `exact` has the sums of a column over all rows, they determine its features, except for
    /// medians, curves, and the moments of numbers on a curve or in a dress: these are computed
    /// from the rows of `training`.
    pub(crate) fn fit_to<'a>(
        looked: &'a Looked,
        options: &'a ColumnOptions,
        shape: Shape,
        training: Training<'a>,
    ) -> Result<Columns> {
        // counts are not transformed
        let shape =
            if options.counts { Shape { index: shape.index, ..Shape::PLAIN } } else { shape };
        let (mut columns, mut dropped) = (Vec::new(), Vec::new());
        // if nothing else is left, row numbers are all there is
        let only = looked.columns.iter().all(|column| column.names_rows.is_some());
        for candidate in &looked.columns {
            let index = (shape.index && !candidate.never) || only;
            let name = candidate.name.clone();
            match &candidate.names_rows {
                Some(Why::Index) if index => {}
                Some(why) => {
                    dropped.push(Dropped { column: name, why: why.clone() });
                    continue;
                }
                None => {}
            }
            match treated(candidate, looked, options, shape, training)? {
                Ok(treated) => columns.push(treated),
                Err(why) => dropped.push(Dropped { column: name, why }),
            }
        }
        if columns.is_empty() {
            let why: Vec<String> = dropped.iter().map(Dropped::to_string).collect();
            let why = match why.is_empty() {
                true => "every column is already a target, weight, group or time column".into(),
                false => why.join(", "),
            };
            return Err(Error::NoFeatures { why });
        }
        let rows = (training.table, training.rows);
        elapsed::add(&mut columns, looked, options, shape, rows)?;
        let (counts, marks, targets) = (options.counts, looked.marks.clone(), Vec::new());
        Ok(Columns { columns, dropped, counts, marks, targets })
    }
}

/// A column under way, with the rows to which it is fitted.
struct ColumnFit<'a> {
    name: &'a str,
    options: &'a ColumnOptions,
    shape: Shape,
    training: Training<'a>,
    series: Series<'a>,
}

/// The features of a column, or the reason why it has none.
fn treated<'a>(
    candidate: &'a LookedColumn,
    looked: &Looked,
    options: &'a ColumnOptions,
    shape: Shape,
    training: Training<'a>,
) -> Result<Result<Treated, Why>> {
    let name = candidate.name.as_str();
    let there = training.table.columns().get(candidate.place);
    let column = match there.filter(|column| column.name == name) {
        Some(column) => column,
        None => column_of(training.table, name)?,
    };
    refuse_infinite(name, training.table, &column.values)?;
    let is_fingerprint = options.fingerprint.as_deref() == Some(name);
    if is_fingerprint {
        refuse_numbers(name, &column.values)?;
    }
    let reading = candidate.reading.clone();
    let series = reading.read(&column.values, &looked.marks);
    let fitted = ColumnFit { name, options, shape, training, series };
    let parts = match reading.kind {
        Kind::Sparse => fitted.sparse(&column.values),
        Kind::Level if is_fingerprint => fitted.bits()?,
        Kind::Level => fitted.level(fitted.exact())?,
        Kind::Number(_) => {
            let plain = matches!(column.values, Values::Numbers(_));
            let exact = fitted.exact().filter(|_| plain).and_then(ColumnSums::numbers);
            fitted.number(exact)?.map(|part| [part].into_iter().chain(fitted.values()).collect())
        }
        Kind::Time(_) | Kind::Digits if options.counts => {
            return Err(Error::values(name, "holds dates", NOT_COUNTS));
        }
        Kind::Time(_) | Kind::Digits => fitted.time()?,
    };
    let parts = match (parts, reading.rest) {
        (Ok(parts), true) => Ok([parts, fitted.rest()?.into_iter().collect()].concat()),
        // no number among these rows, or the same in all
        (Err(why), true) => fitted.rest()?.map(|part| vec![part]).ok_or(why),
        (parts, false) => parts,
    };
    let name = name.to_owned();
    Ok(parts.map(|parts| Treated { name, reading, parts }))
}

fn refuse_infinite(name: &str, table: &Table, values: &Values) -> Result<()> {
    let Values::Numbers(values) = values else { return Ok(()) };
    match values.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(row) => {
            let what = format!("has the value {} in {}", values[row], place(table, row));
            Err(Error::values(name, what, "correct it, or make it a missing value"))
        }
    }
}

impl ColumnFit<'_> {
    fn exact(&self) -> Option<&ColumnSums> {
        (self.training.exact)(self.name)
    }

    /// The numbers of the fitted rows, NaN if missing.
    fn numbers(&self) -> Cow<'_, [f64]> {
        let all = self.series.numbers.as_deref().unwrap_or_default();
        match self.training.rows {
            None => Cow::Borrowed(all),
            Some(rows) => rows.iter().map(|&row| all[row]).collect(),
        }
    }

    /// A feature of the column's numbers.
    fn number(&self, exact: Option<&NumberSums>) -> Result<Result<Part, Why>> {
        let values = self.numbers();
        let rest = self.series.texts.is_some();
        let treatment = number(self.name, &values, self.options, (self.shape, rest), exact)?;
        Ok(treatment.map(|treatment| Part { aspect: Aspect::Number, treatment }))
    }

    /// With the shape for it, frequent numbers as categories, if more than two numbers are frequent
    /// and most rows have one of them.
    fn values(&self) -> Option<Part> {
        let fixed = self.options.numeric.iter().any(|other| other == self.name);
        if !self.shape.levels || fixed {
            return None;
        }
        let text = categories(&self.numbers());
        let (counts, rows) = count(&text, None);
        let known: usize = counts.iter().map(|(count, _)| count).sum();
        let free = ColumnOptions { missing: Missing::Fill, ..self.options.clone() };
        let frequent = LEAST_ROWS.max(rows / 1000 + 1);
        let factor = self.options.factor(self.name);
        let (mut features, rare) = one_hot(counts, (rows, rows - known), frequent, &free, factor);
        // a number that no fitted row has is as rare as they are
        features.rare = features.rare.map(|_| Vec::new());
        (features.levels.len() > 2 && 2 * (known - rare) >= rows)
            .then_some(Part { aspect: Aspect::Value, treatment: Treatment::Text(features) })
    }

    /// The features of instants: the day, and the position in each period that the column covers.
    fn time(&self) -> Result<Result<Vec<Part>, Why>> {
        let values = self.numbers();
        let mut parts = match self.number(None)? {
            Ok(part) => vec![part],
            Err(why) => return Ok(Err(why)),
        };
        let known = || values.iter().copied().filter(|day| !day.is_nan());
        let (least, most) = known()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), day| {
                (least.min(day), most.max(day))
            });
        if let (false, Some(Part { treatment: Treatment::Number(days), .. })) =
            (self.options.standardizes(), parts.first_mut())
        {
            days.mean = least; // days since the first
        }
        if self.shape.days_only {
            return Ok(Ok(parts));
        }
        let clock = known().any(|day| day.fract() != 0.0);
        let periods = PERIODS
            .into_iter()
            .filter(|(period, covered)| most - least >= *covered && (*period != 1.0 || clock));
        for aspect in periods.flat_map(|(days, _)| [Aspect::Sine(days), Aspect::Cosine(days)]) {
            let of = |day: &f64| aspect.of_day(*day);
            let known: Vec<f64> = known().map(|day| of(&day)).collect();
            let Some((mean, scale)) = moments(known.iter().copied(), known.len(), true) else {
                continue;
            };
            let (mean, scale) = self.options.standard((mean, scale));
            let fill = (self.options.missing == Missing::Fill).then_some(mean);
            let scale = scale / self.options.factor(self.name);
            parts.push(plain(aspect, fill, (mean, scale)));
        }
        Ok(Ok(parts))
    }

    /// The bits of the column's fingerprints.
    fn bits(&self) -> Result<Result<Vec<Part>, Why>> {
        let Some(text) = &self.series.texts else { return Ok(Err(Why::Empty)) };
        let Training { table, rows, .. } = self.training;
        let exact = self.exact().and_then(ColumnSums::bits).filter(|_| rows.is_none());
        let bits = match exact {
            Some(sums) => sums.features(self.name)?,
            None => BitFeatures::of((self.name, table), text, rows)?,
        };
        let part = |bits| vec![Part { aspect: Aspect::Text, treatment: Treatment::Bits(bits) }];
        Ok(bits.map(part))
    }

    /// The numbers of the column's sparse rows.
    fn sparse(&self, values: &Values) -> Result<Vec<Part>, Why> {
        let Values::Sparse(all) = values else { return Err(Why::Empty) };
        let treatment = Treatment::Sparse(SparseFeatures::of(all, self.training.rows)?);
        Ok(vec![Part { aspect: Aspect::Number, treatment }])
    }

    /// The categories of the column.
    fn level(&self, exact: Option<&ColumnSums>) -> Result<Result<Vec<Part>, Why>> {
        let Some(text) = &self.series.texts else { return Ok(Err(Why::Empty)) };
        let exact = exact.and_then(ColumnSums::levels).filter(|_| self.training.rows.is_none());
        let marks = super::Marks::of(self.options);
        let (counts, rows) = match exact {
            Some((counts, rows)) => {
                let known = counts.into_iter().filter(|(_, level)| !marks.is_missing(level, false));
                (known.map(|(count, level)| (count, level.to_owned())).collect(), rows)
            }
            None => count(text, self.training.rows),
        };
        let known: usize = counts.iter().map(|(count, _)| count).sum();
        let gaps = rows - known;
        let Some((_, first)) = counts.first() else { return Ok(Err(Why::Empty)) };
        refuse_gaps(self.name, gaps, rows, self.options)?;
        if counts.len() == 1 && gaps == 0 {
            return Ok(Err(Why::Constant(first.clone())));
        }
        let many = counts.len() > self.options.most_levels;
        let known = self.training.known.filter(|_| self.shape.level_means && many);
        let levels = self.one_hot(counts, (rows, gaps), self.options);
        let means = known.map(|known| self.means(text, known));
        let part = |treatment| Part { aspect: Aspect::Text, treatment };
        Ok(Ok([levels].into_iter().chain(means).map(part).collect()))
    }

    /// Features of 0 and 1 for the levels of more than a thousandth of the rows.
    fn one_hot(
        &self,
        counts: Vec<(usize, String)>,
        (rows, gaps): (usize, usize),
        options: &ColumnOptions,
    ) -> Treatment {
        // a second level says no more than the first
        let frequent = if counts.len() > 2 { rows / 1000 + 1 } else { 0 };
        let factor = self.options.factor(self.name);
        Treatment::Text(one_hot(counts, (rows, gaps), frequent, options, factor).0)
    }

    /// The mean of the target in each level.
    fn means(&self, text: &Categories, known: Known<'_>) -> Treatment {
        let all: Vec<usize>;
        let rows = match self.training.rows {
            Some(rows) => rows,
            None => {
                all = (0..text.codes.len()).collect();
                &all
            }
        };
        let of = LevelMeans::of(text, known, rows);
        let (t, values) = (of.width(), of.means(text, Some(known)));
        let of_target = |j: usize| {
            let column = rows.iter().map(|&row| values[row * t + j]);
            moments(column, rows.len(), self.options.standardizes()).unwrap_or((0.0, 1.0))
        };
        let moments: Vec<(f64, f64)> = (0..t).map(of_target).collect();
        let factor = self.options.factor(self.name);
        let (means, scales) = moments.into_iter().map(|(m, s)| (m, s / factor)).unzip();
        let complete = self.options.missing == Missing::Refuse;
        Treatment::Means(MeanFeatures { of, means, scales, complete })
    }

    /// The feature of the texts in a column of numbers: categories, or, if all texts differ,
    /// whether there is a text.
    fn rest(&self) -> Result<Option<Part>> {
        let Some(text) = &self.series.texts else { return Ok(None) };
        let (counts, rows) = count(text, self.training.rows);
        let known: usize = counts.iter().map(|(count, _)| count).sum();
        if known == 0 || known == rows && counts.len() == 1 {
            return Ok(None);
        }
        if counts.len() < known {
            let free = ColumnOptions { missing: Missing::Fill, ..self.options.clone() };
            let treatment = self.one_hot(counts, (rows, rows - known), &free);
            return Ok(Some(Part { aspect: Aspect::Text, treatment }));
        }
        let factor = self.options.factor(self.name);
        let share = known as f64 / rows as f64;
        let (mean, scale) = self.options.standard((share, (share * (1.0 - share)).sqrt()));
        let (scale, fill) = (if scale > 0.0 { scale } else { 1.0 } / factor, Some(0.0));
        Ok(Some(plain(Aspect::IsText, fill, (mean, scale))))
    }
}

/// The number of these rows of each level, by level, and of all these rows.
fn count(text: &Categories, rows: Option<&[usize]>) -> (Vec<(usize, String)>, usize) {
    let counts = counted(text, rows).into_iter();
    let mut counts: Vec<_> = counts.map(|(count, level)| (count, level.to_owned())).collect();
    counts.sort_by(|a, b| a.1.cmp(&b.1));
    (counts, rows.map_or(text.codes.len(), <[usize]>::len))
}

/// One feature, without a curve.
fn plain(aspect: Aspect, fill: Option<f64>, (mean, scale): (f64, f64)) -> Part {
    let features = NumberFeatures { curve: Curve::Plain, fill, mean, scale, missing: None };
    Part { aspect, treatment: Treatment::Number(features) }
}

impl Aspect {
    /// The value of this aspect on a day.
    pub(super) fn of_day(&self, day: f64) -> f64 {
        let turn = |days: f64| std::f64::consts::TAU * (day / days).rem_euclid(1.0);
        match self {
            Aspect::Sine(days) => turn(*days).sin(),
            Aspect::Cosine(days) => turn(*days).cos(),
            _ => day,
        }
    }
}
