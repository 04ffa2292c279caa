//! From a file to a table as it is found, and columns by name or number.

use crate::args::{DataArgs, RunArgs, list};
use crate::failure::{Failure, Result, of_pipeline};
use crate::session::Session;
use nystrom::faer::Mat;
use nystrom_data::{Format, Libsvm, Origin, Table, Values};
use nystrom_pipeline::{ColumnOptions, Columns, Missing, Shape};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a table is read from, once or twice.
pub struct Source {
    from: From,
    format: Format,
}

enum From {
    Path(PathBuf),
    /// Standard input, which cannot be read again.
    Bytes(Vec<u8>),
}

/// A table as it was found. Columns are numbered as they stand in the file.
pub struct Input {
    pub table: Table,
    /// The columns that are not to be left out.
    kept: Vec<usize>,
    /// Whether the file gives its columns names.
    pub named: bool,
    libsvm: bool,
}

impl Source {
    /// Of a libsvm file by this reader.
    pub fn of(args: &DataArgs, libsvm: Libsvm) -> Result<Source> {
        let from = if args.data == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes)?;
            From::Bytes(bytes)
        } else if args.data.is_dir() {
            let text = format!("{}: this is a folder; name a file", args.data.display());
            return Err(Failure::Data(text).into());
        } else {
            From::Path(args.data.clone())
        };
        Ok(Source { from, format: crate::format::format(args, libsvm)? })
    }

    /// The table, with these columns as texts.
    fn table(&self, texts: &[usize]) -> Result<Table> {
        let origin = match &self.from {
            From::Path(path) => Origin::Path(path),
            From::Bytes(bytes) => Origin::Bytes { bytes, name: "standard input" },
        };
        Ok(self.format.found(origin, texts)?)
    }

    pub fn input(&self, args: &DataArgs) -> Result<Input> {
        Input::of(self.table(&[])?, &self.format, args)
    }

    /// The same with these columns as texts, whatever they look like.
    pub fn with_texts(&self, input: Input, texts: &[usize]) -> Result<Input> {
        let columns = input.table.columns();
        let is_number = |j: &usize| matches!(columns[*j].values, Values::Numbers(_));
        if !texts.iter().any(is_number) {
            return Ok(input);
        }
        Ok(Input { table: self.table(texts)?, ..input })
    }
}

impl Input {
    pub fn of(table: Table, format: &Format, args: &DataArgs) -> Result<Input> {
        let named = !args.no_header && !matches!(format, Format::Npy(_));
        let libsvm = matches!(format, Format::Libsvm(_));
        let mut kept: Vec<usize> = (0..table.columns().len()).collect();
        for text in &args.drop {
            let unwanted = columns(&table, text)?;
            kept.retain(|column| !unwanted.contains(column));
        }
        Ok(Input { table, kept, named, libsvm })
    }

    /// The positions of the columns that are kept.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The positions of the columns that are left out.
    pub fn dropped(&self) -> Vec<usize> {
        let is_kept = |column: &usize| self.kept.binary_search(column).is_ok();
        (0..self.table.columns().len()).filter(|column| !is_kept(column)).collect()
    }

    /// The table of the columns that are kept.
    pub fn into_kept(self) -> Result<Table> {
        let dropped = self.dropped();
        Ok(self.table.drop_columns(dropped)?)
    }

    /// The kept column that a text names, by name or number; the label of a libsvm file if none is
    /// named.
    pub fn target(&self, text: Option<&str>) -> Result<usize> {
        let target = match text {
            Some(text) => self.column(text)?,
            None if self.libsvm => 0,
            None => {
                let text = "which column is to be predicted? Say --target NAME, or --target -1 \
                            for the last";
                return Err(Failure::Usage(text.into()).into());
            }
        };
        if self.kept.binary_search(&target).is_err() {
            let name: String = self.name(target).chars().take(40).collect();
            let text = format!(
                "column {} ({name:?}) is both --target and among those to --drop; leave it out of \
                 one of these options",
                target + 1
            );
            return Err(Failure::Usage(text).into());
        }
        Ok(target)
    }

    /// The column that a text names.
    pub fn column(&self, text: &str) -> Result<usize> {
        one_column(&self.table, text)
    }

    /// The columns that lists on the command line name.
    pub fn columns(&self, lists: &[String]) -> Result<Vec<usize>> {
        let all = lists.iter().map(|text| columns(&self.table, text));
        Ok(all.collect::<Result<Vec<_>>>()?.concat())
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> &str {
        &self.table.columns()[column].name
    }

    /// The names of the columns that are kept.
    pub fn names(&self) -> Vec<&str> {
        self.kept.iter().map(|&column| self.name(column)).collect()
    }
}

/// Rows of features.
pub struct Data {
    pub x: Mat<f64>,
    /// For each row its number among the rows of the file, from 0.
    pub rows: Vec<usize>,
    /// And its line, from 1; its number from 1 in formats without lines.
    pub lines: Vec<usize>,
    /// Columns left out because they tell nothing.
    pub constant: Vec<String>,
}

/// The rows of a command without a target: all columns are features.
pub fn points(args: &DataArgs, run: &RunArgs, session: &Session) -> Result<Data> {
    session.progress.stage("reading", None);
    let table = Source::of(args, Libsvm::new())?.input(args)?.into_kept()?;
    session.notes(table.notes());
    let options = options(args, run);
    if table.names().len() == 0 {
        return Err(Failure::Usage("no column is left; drop fewer".into()).into());
    }
    let all = lines(&table);
    let missing = |row: usize| table.row(row).any(|cell| cell == nystrom_data::Cell::Missing);
    let rows: Vec<usize> =
        (0..table.rows()).filter(|&row| !args.drop_missing || !missing(row)).collect();
    if rows.is_empty() {
        let text = format!(
            "{}: every row misses a value; leave out --drop-missing, or --drop columns with gaps",
            table.source()
        );
        return Err(Failure::Data(text).into());
    }
    let table = if rows.len() == table.rows() { table } else { table.select_rows(&rows)? };
    let columns =
        Columns::fit(&table, &options, &[], Shape::PLAIN).map_err(|error| match table.rows() {
            1 => Failure::Data(
                "there is one row only, and nothing to compare it with; take more rows".into(),
            )
            .into(),
            _ => nothing_to_compare(error),
        })?;
    session.notes(columns.dropped());
    let constant = columns.dropped().iter().map(|dropped| dropped.column.clone()).collect();
    let applied = columns.apply(&table).map_err(of_pipeline)?;
    let lines = rows.iter().map(|&row| all[row]).collect();
    Ok(Data { x: applied.x, rows, lines, constant })
}

/// The error of rows that their features do not tell apart.
pub fn nothing_to_compare(error: nystrom_pipeline::Error) -> anyhow::Error {
    match error {
        nystrom_pipeline::Error::NoFeatures { .. } => Failure::Data(
            "every feature has the same value in every row, so that all rows are alike; take \
             other features"
                .into(),
        )
        .into(),
        error => of_pipeline(error),
    }
}

/// How columns become features where all of them do.
pub fn options(args: &DataArgs, run: &RunArgs) -> ColumnOptions {
    ColumnOptions {
        missing: if args.drop_missing { Missing::DropRows } else { Missing::Fill },
        not_missing: args.not_missing_texts(),
        standardize: !run.no_standardize,
        ..ColumnOptions::default()
    }
}

/// The line of each row, from 1; its number among these rows from 1 in formats without lines.
pub fn lines(table: &Table) -> Vec<usize> {
    (0..table.rows()).map(|row| table.line(row).map_or(row + 1, |line| line as usize)).collect()
}

/// The columns that a list names: all of it may be one name.
fn columns(table: &Table, text: &str) -> Result<Vec<usize>> {
    match one_column(table, text) {
        Ok(column) => Ok(vec![column]),
        Err(_) => list(text).iter().map(|item| one_column(table, item)).collect(),
    }
}

/// A name, else a number from 1, else a number from the end below 0.
fn one_column(table: &Table, text: &str) -> Result<usize> {
    let count = table.names().len();
    let place = match (table.names().position(|name| name == text), text.parse::<i64>()) {
        (Some(position), _) => return Ok(position),
        (None, Ok(k)) if k > 0 => usize::try_from(k - 1).ok(),
        (None, Ok(k)) if k < 0 => {
            usize::try_from(k.unsigned_abs()).ok().and_then(|k| count.checked_sub(k))
        }
        _ => None,
    };
    match place.filter(|&place| place < count) {
        Some(place) => Ok(place),
        None => Ok(table.column(text).map(|_| 0)?), // the error that lists the names
    }
}
