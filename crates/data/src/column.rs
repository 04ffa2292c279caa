//! Columns of a table, and references to them.

use std::collections::{HashMap, HashSet};

use crate::error::{Place, Problem, Result, place::excerpt, place::some};
use crate::sparse_column::SparseColumn;

/// One column: a name and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name, unique in a table.
    pub name: String,
    /// The values, one per row.
    pub values: Values,
}

/// The values of a column, one per row.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers. NaN means "missing": readers do not accept NaN or ∞ in files as values.
    Numbers(Vec<f64>),
    /// Text values.
    Categories(Categories),
    /// Many numbers in each row, most of them 0; none is missing.
    Sparse(SparseColumn),
}

/// Text values: each distinct value once, and for each row the position of its value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Categories {
    /// The distinct values, sorted. Values that an ARFF file declares keep its order instead, and
    /// are followed by other values in its rows.
    pub levels: Vec<String>,
    /// For each row the position of its value in `levels`; `None` if the value is missing.
    pub codes: Vec<Option<u32>>,
}

impl Categories {
    /// From the text of each row; `None` is a missing value.
    pub(crate) fn of(texts: Vec<Option<String>>) -> Self {
        let mut levels: Vec<String> = texts.iter().flatten().cloned().collect();
        levels.sort();
        levels.dedup();
        let code = |text: &Option<String>| {
            levels.binary_search(text.as_ref()?).ok().map(|code| code as u32)
        };
        Categories { codes: texts.iter().map(code).collect(), levels }
    }

    /// The text in row `row`; `None` if it is missing or if there is no such row.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = (*self.codes.get(row)?)?;
        self.levels.get(code as usize).map(String::as_str)
    }
}

impl Column {
    /// A column of numbers; NaN is a missing value.
    pub fn numbers(name: impl Into<String>, values: Vec<f64>) -> Self {
        Column { name: name.into(), values: Values::Numbers(values) }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values) => values.len(),
            Values::Categories(text) => text.codes.len(),
            Values::Sparse(rows) => rows.len(),
        }
    }

    /// Whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value in row `row`; `None` if there is no such row.
    pub fn cell(&self, row: usize) -> Option<Cell<'_>> {
        if row >= self.len() {
            return None;
        }
        Some(match &self.values {
            Values::Numbers(values) if values[row].is_nan() => Cell::Missing,
            Values::Numbers(values) => Cell::Number(values[row]),
            Values::Categories(text) => text.get(row).map_or(Cell::Missing, Cell::Text),
            Values::Sparse(rows) => {
                let (places, values) = rows.row(row);
                Cell::Sparse(places, values)
            }
        })
    }

    pub(crate) fn is_missing(&self, row: usize) -> bool {
        self.cell(row) == Some(Cell::Missing)
    }

    /// The column with the rows `rows` only, all of which must exist.
    pub(crate) fn take(&self, rows: &[usize]) -> Column {
        let values = match &self.values {
            Values::Numbers(values) => Values::Numbers(rows.iter().map(|&i| values[i]).collect()),
            Values::Categories(text) => Values::Categories(Categories {
                levels: text.levels.clone(),
                codes: rows.iter().map(|&i| text.codes[i]).collect(),
            }),
            Values::Sparse(all) => Values::Sparse(all.take(rows)),
        };
        Column { name: self.name.clone(), values }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.values {
            Values::Numbers(_) => "numbers",
            Values::Categories(_) => "text",
            Values::Sparse(_) => "sparse rows",
        }
    }

    /// Appends the rows of `other`. Returns false, and appends nothing, if the kinds differ.
    pub(crate) fn append(&mut self, other: &Column) -> bool {
        match (&mut self.values, &other.values) {
            (Values::Numbers(mine), Values::Numbers(theirs)) => mine.extend_from_slice(theirs),
            (Values::Categories(mine), Values::Categories(theirs)) => {
                append_categories(mine, theirs)
            }
            (Values::Sparse(mine), Values::Sparse(theirs)) => mine.append(theirs),
            _ => return false,
        }
        true
    }
}

/// New levels are appended to the old ones, so that old codes stay valid.
fn append_categories(mine: &mut Categories, theirs: &Categories) {
    let mut known: HashMap<String, u32> =
        mine.levels.iter().enumerate().map(|(code, level)| (level.clone(), code as u32)).collect();
    let mut recoded = Vec::with_capacity(theirs.levels.len());
    for level in &theirs.levels {
        let code = *known.entry(level.clone()).or_insert_with(|| {
            mine.levels.push(level.clone());
            mine.levels.len() as u32 - 1
        });
        recoded.push(code);
    }
    mine.codes.extend(theirs.codes.iter().map(|code| code.map(|code| recoded[code as usize])));
}

/// One value of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a str),
    /// Many numbers: the places, from 0, and the values of those other than 0.
    Sparse(&'a [u32], &'a [f64]),
    /// No value.
    Missing,
}

/// Sparse numbers as `place:value`, with blanks between them; nothing for a missing value.
impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Number(number) => write!(f, "{number}"),
            Cell::Text(text) => f.write_str(text),
            Cell::Sparse(places, values) => {
                places.iter().zip(*values).enumerate().try_for_each(|(t, (place, value))| {
                    let blank = if t > 0 { " " } else { "" };
                    write!(f, "{blank}{place}:{value}")
                })
            }
            Cell::Missing => Ok(()),
        }
    }
}

/// A reference to a column: `"PM2.5"`, `3` (position from 0) or [`ColumnRef::Last`].
///
/// ```
/// use nystrom_data::{ColumnRef, Csv};
///
/// let table = Csv::new().read("a,b\n1,2\n".as_bytes(), "t.csv")?;
/// assert_eq!(table.numbers("b")?, [2.0]);
/// assert_eq!(table.numbers(1)?, [2.0]);
/// assert_eq!(table.numbers(ColumnRef::Last)?, [2.0]);
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnRef {
    /// By its name, exactly as in the file.
    Name(String),
    /// By its position, from 0.
    Position(usize),
    /// The last column.
    Last,
}

impl ColumnRef {
    /// The position of the column among columns with these names; `None` if there is no such
    /// column.
    pub(crate) fn position<'a>(
        &self,
        names: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<usize> {
        let count = names.len();
        match self {
            ColumnRef::Name(wanted) => names.into_iter().position(|name| name == wanted),
            ColumnRef::Position(position) => (*position < count).then_some(*position),
            ColumnRef::Last => count.checked_sub(1),
        }
    }
}

impl std::fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColumnRef::Name(name) => write!(f, "{:?}", excerpt(name)),
            ColumnRef::Position(position) => write!(f, "{position} (from 0)"),
            ColumnRef::Last => f.write_str("that is last"),
        }
    }
}

impl From<&str> for ColumnRef {
    fn from(name: &str) -> Self {
        ColumnRef::Name(name.to_owned())
    }
}

impl From<String> for ColumnRef {
    fn from(name: String) -> Self {
        ColumnRef::Name(name)
    }
}

impl From<usize> for ColumnRef {
    fn from(position: usize) -> Self {
        ColumnRef::Position(position)
    }
}

/// Returns an error if a name occurs twice. `place` gives the place of the column at a position.
pub(crate) fn distinct_names<'a>(
    names: impl Iterator<Item = &'a str>,
    place: impl Fn(usize) -> Place,
) -> Result<()> {
    let mut seen = HashMap::new();
    for (position, name) in names.enumerate() {
        if let Some(first) = seen.insert(name, position) {
            let problem = Problem::DuplicateColumn { name: excerpt(name), first: first + 1 };
            return Err(problem.at(place(position)));
        }
    }
    Ok(())
}

/// The names, with empty and repeated ones changed to distinct names, and a note on repeated ones.
pub(crate) fn numbered_names(mut names: Vec<String>) -> (Vec<String>, Option<String>) {
    let mut repeated = Vec::new();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    for (j, name) in names.iter_mut().enumerate() {
        if name.is_empty() {
            *name = format!("unnamed {}", j + 1);
            seen.insert(name.clone());
            continue;
        }
        if seen.insert(name.clone()) {
            continue;
        }
        let number = last.entry(name.clone()).or_default();
        *number += 1;
        while taken.contains(&format!("{name}.{number}")) {
            *number += 1;
        }
        repeated.push(format!("{name:?}"));
        *name = format!("{name}.{number}");
        taken.insert(name.clone());
        seen.insert(name.clone());
    }
    repeated.dedup();
    let note = (!repeated.is_empty())
        .then(|| format!("columns of the same name are numbered: {}", some(&repeated)));
    (names, note)
}
