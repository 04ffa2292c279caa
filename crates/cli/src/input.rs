//! Reading a table, and finding its columns by name or number.

use crate::args::{DataArgs, KernelArgs, PointArgs, lists};
use crate::column_names::{columns, one_column};
use crate::failure::{Result, data, usage};
use crate::session::Session;
use nystrom::faer::Mat;
use nystrom::kernels::{Points, SparseRows};
use nystrom_data::{Column, Format, Libsvm, Origin, SparseTable, Table, Values};
use nystrom_pipeline::{ColumnOptions, Columns, Missing, Shape};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file or standard input that a table is read from, once or twice.
pub struct Source {
    path: PathBuf,
    /// The bytes of standard input, kept because it cannot be read again.
    stdin: Option<Vec<u8>>,
    format: Format,
    /// Whether the features of a libsvm file are one column of sparse rows.
    sparse: bool,
}

/// The name of the column of sparse rows.
const SPARSE: &str = "features";
/// The greatest index of sparse rows, which take no memory for the indices below it.
const LARGEST_INDEX: usize = u32::MAX as usize - 1;

/// A table as it was read. Columns are numbered in the order of the file.
pub struct Input {
    pub table: Table,
    /// The positions of the columns that --drop does not name, in increasing order.
    pub kept: Vec<usize>,
    /// Whether the file has names of columns.
    pub named: bool,
    libsvm: bool,
}

impl Source {
    /// The source that `args` name; `libsvm` is its reader if it is a libsvm file.
    pub fn of(args: &DataArgs, libsvm: Libsvm) -> Result<Source> {
        let (path, mut stdin) = (args.data.clone(), None);
        if path == Path::new("-") {
            std::io::stdin().lock().read_to_end(stdin.insert(Vec::new()))?;
        } else if path.is_dir() {
            return Err(data(format!("{}: this is a folder; name a file", path.display())));
        }
        Ok(Source { path, stdin, format: crate::format::format(args, libsvm)?, sparse: false })
    }

    /// The source whose features are one column of sparse rows if `sparse`; the error `other`
    /// unless it is a libsvm file.
    pub fn with_sparse(self, sparse: bool, other: &str) -> Result<Source> {
        let format = match (&self.format, sparse) {
            (_, false) => return Ok(self),
            (Format::Libsvm(reader), true) => reader.clone().max_features(LARGEST_INDEX),
            _ => return Err(usage(other)),
        };
        Ok(Source { format: Format::Libsvm(format), sparse, ..self })
    }

    /// The table, with the columns `texts` read as texts.
    fn table(&self, texts: &[usize]) -> Result<Table> {
        if self.sparse
            && let Some(rows) = self.sparse()?
        {
            return Ok(rows.into_table(SPARSE)?);
        }
        let origin = match &self.stdin {
            Some(bytes) => Origin::Bytes { bytes, name: "standard input" },
            None => Origin::Path(&self.path),
        };
        Ok(self.format.found(origin, texts)?)
    }

    /// The rows of a libsvm file; `None` for another format.
    fn sparse(&self) -> Result<Option<SparseTable>> {
        let Format::Libsvm(reader) = &self.format else { return Ok(None) };
        Ok(Some(match &self.stdin {
            Some(bytes) => reader.read_sparse(&bytes[..], "standard input")?,
            None => reader.read_sparse_file(&self.path)?,
        }))
    }

    pub fn input(&self, args: &DataArgs) -> Result<Input> {
        Input::of(self.table(&[])?, &self.format, args)
    }

    /// The same table with the columns `texts` read as texts, even if their cells look like
    /// numbers.
    pub fn with_texts(&self, input: Input, texts: &[usize]) -> Result<Input> {
        let columns = input.table.columns();
        let is_number = |j: &usize| matches!(columns[*j].values, Values::Numbers(_));
        // labels are texts if one of them is
        if self.sparse || !texts.iter().any(is_number) {
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

    /// An error if no column is kept.
    pub fn check_features(&self) -> Result<()> {
        if self.kept.is_empty() {
            return Err(usage("no column is left; drop fewer"));
        }
        Ok(())
    }

    /// The positions of the columns that --drop names.
    pub fn dropped(&self) -> Vec<usize> {
        let is_kept = |column: &usize| self.kept.binary_search(column).is_ok();
        (0..self.table.columns().len()).filter(|column| !is_kept(column)).collect()
    }

    /// The table without the columns that --drop names.
    pub fn into_kept(self) -> Result<Table> {
        let dropped = self.dropped();
        Ok(self.table.drop_columns(dropped)?)
    }

    /// The position of the target that `text` names, by name or number; if it is not named, the
    /// label of a libsvm file. An error if --drop names it too.
    pub fn target(&self, text: Option<&str>) -> Result<usize> {
        let target = match text {
            Some(text) => self.column(text)?,
            None if self.libsvm => 0,
            None => {
                let text = "which column is the target? Add --target NAME, or --target -1 for the \
                            last column";
                return Err(usage(text));
            }
        };
        if self.kept.binary_search(&target).is_err() {
            let name: String = self.name(target).chars().take(40).collect();
            return Err(usage(format!(
                "column {} ({name:?}) is both --target and among those to --drop; remove it from \
                 one of the two options",
                target + 1
            )));
        }
        Ok(target)
    }

    /// The position of the column that `text` names, by name or number.
    pub fn column(&self, text: &str) -> Result<usize> {
        one_column(&self.table, text)
    }

    /// The positions of the columns in these comma-separated lists.
    pub fn columns(&self, lists: &[String]) -> Result<Vec<usize>> {
        let all = lists.iter().map(|text| columns(&self.table, text));
        Ok(all.collect::<Result<Vec<_>>>()?.concat())
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> &str {
        &self.table.columns()[column].name
    }

    /// The position of the column of --fingerprint, if it is given.
    pub fn fingerprint(&self, kernel: &KernelArgs) -> Result<Option<usize>> {
        kernel.fingerprint.as_deref().map(|text| self.column(text)).transpose()
    }

    /// Keeps only this column, that of --fingerprint.
    pub fn keep_only(&mut self, column: usize) -> Result<()> {
        self.kept.retain(|kept| *kept == column);
        if self.kept.is_empty() {
            return Err(usage(
                "the column of --fingerprint is also named by --drop, --quality or --quota; leave \
                 it out of one of the two options",
            ));
        }
        Ok(())
    }

    /// The names of the columns that are kept.
    pub fn names(&self) -> Vec<&str> {
        self.kept.iter().map(|&column| self.name(column)).collect()
    }
}

/// The features of rows of a table.
pub struct Data {
    /// n × d; without numbers if the rows are sparse.
    pub x: Mat<f64>,
    /// The rows of a libsvm file with --sparse.
    pub sparse: Option<SparseRows<f64>>,
    /// The number of each row among all rows, from 0.
    pub rows: Vec<usize>,
    /// The line of each row in its file, from 1; in formats without lines, its number from 1.
    pub lines: Vec<usize>,
    /// The columns that were left out because they carry no information.
    pub constant: Vec<String>,
}

impl Data {
    /// The rows as points.
    pub fn points(&self) -> Points<'_, f64> {
        self.sparse.as_ref().map_or_else(|| Points::from_rows(self.x.as_ref()), SparseRows::points)
    }

    /// The numbers and the lines of these rows.
    pub fn at(&self, indices: impl Iterator<Item = usize>) -> (Vec<usize>, Vec<usize>) {
        indices.map(|i| (self.rows[i], self.lines[i])).unzip()
    }
}

/// A column that is no feature: its name or number, and whether it is read as text.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    pub name: &'a str,
    pub as_text: bool,
}

/// The features of the table of a command without a target: all kept columns are features, or only
/// the column of --fingerprint.
pub fn points(of: &PointArgs, sparse: bool, session: &Session<'_>) -> Result<Data> {
    Ok(points_beside(of, sparse, &[], session)?.0)
}

/// Like [`points`], without the columns `others`, which are returned in this order, with all their
/// rows.
pub fn points_beside(
    of: &PointArgs,
    sparse: bool,
    others: &[Beside<'_>],
    session: &Session<'_>,
) -> Result<(Data, Vec<Column>)> {
    if sparse {
        return sparse_points(of, others, session);
    }
    let (table, columns) = kept(of, &of.data, others, session)?;
    Ok((features(table, of, session)?, columns))
}

/// The features of two tables with the same columns, those of `other` last, and the number of rows
/// of the first.
pub fn points_of_two(of: &PointArgs, other: &Path, session: &Session<'_>) -> Result<(Data, usize)> {
    let (first, _) = kept(of, &of.data, &[], session)?;
    let data = DataArgs { data: other.to_owned(), ..of.data.clone() };
    let (other, _) = kept(of, &data, &[], session)?;
    let rows = first.rows();
    let data = features(Table::stack([first, other])?, of, session)?;
    let of_first = data.rows.iter().filter(|&&row| row < rows).count();
    Ok((data, of_first))
}

/// The feature columns of the table `data` of a command without a target, and the columns `others`.
fn kept(
    of: &PointArgs,
    data: &DataArgs,
    others: &[Beside<'_>],
    session: &Session<'_>,
) -> Result<(Table, Vec<Column>)> {
    session.stage("reading", None);
    let source = Source::of(data, Libsvm::new())?;
    let input = source.input(data)?;
    let place = |other: &Beside<'_>| input.column(other.name);
    let places: Vec<usize> = others.iter().map(place).collect::<Result<_>>()?;
    let fingerprint = input.fingerprint(&of.kernel)?;
    let texts = places.iter().zip(others).filter(|(_, other)| other.as_text);
    let texts: Vec<usize> = texts.map(|(place, _)| *place).chain(fingerprint).collect();
    let mut input = source.with_texts(input, &texts)?;
    input.kept.retain(|column| !places.contains(column));
    if let Some(only) = fingerprint {
        input.keep_only(only)?;
    }
    input.check_features()?;
    let columns = places.iter().map(|&place| input.table.columns()[place].clone()).collect();
    let table = input.into_kept()?;
    session.notes(table.notes());
    Ok((table, columns))
}

fn features(table: Table, of: &PointArgs, session: &Session<'_>) -> Result<Data> {
    let all = lines(&table);
    let missing = |row: usize| table.row(row).any(|cell| cell == nystrom_data::Cell::Missing);
    let rows: Vec<usize> =
        (0..table.rows()).filter(|&row| !of.data.drop_missing || !missing(row)).collect();
    if rows.is_empty() {
        return Err(data(format!(
            "{}: every row misses a value; leave out --drop-missing, or --drop the columns with \
             missing values",
            table.source()
        )));
    }
    let table = if rows.len() == table.rows() { table } else { table.select_rows(&rows)? };
    let fingerprint = of.kernel.fingerprint.as_ref().and_then(|_| table.names().next());
    let fingerprint = fingerprint.map(str::to_owned);
    let options = ColumnOptions { fingerprint, ..options(of) };
    let columns = Columns::fit(&table, &options, &[], Shape::PLAIN);
    let columns = columns.map_err(|error| match table.rows() {
        1 => data("there is one row only, and nothing to compare it with; take more rows"),
        _ => nothing_to_compare(error),
    })?;
    let constant = left_out(&columns, session);
    let lines = rows.iter().map(|&row| all[row]).collect();
    Ok(Data { x: columns.apply(&table)?.x, sparse: None, rows, lines, constant })
}

/// The error of --sparse for another format.
pub const NOT_LIBSVM: &str = "--sparse is for libsvm files; leave it out, or name --format libsvm";

/// The rows of a libsvm file, sparse, and the columns `others` of its labels.
fn sparse_points(
    of: &PointArgs,
    others: &[Beside<'_>],
    session: &Session<'_>,
) -> Result<(Data, Vec<Column>)> {
    let without = [
        (!of.data.drop.is_empty(), "--drop"),
        (of.data.drop_missing, "--drop-missing"),
        (of.kernel.fingerprint.is_some(), "--fingerprint"),
    ];
    if let Some((_, option)) = without.iter().find(|(is_asked, _)| *is_asked) {
        return Err(usage(format!(
            "--sparse takes all features of the rows, and no labels; leave out {option}, or leave \
             out --sparse"
        )));
    }
    session.stage("reading", None);
    let source = Source::of(&of.data, Libsvm::new())?.with_sparse(true, NOT_LIBSVM)?;
    let Some(SparseTable { labels, features, starts, columns, values, .. }) = source.sparse()?
    else {
        return Err(usage(NOT_LIBSVM));
    };
    session.notes(labels.notes());
    let place = |other: &Beside<'_>| one_column(&labels, other.name);
    let places: Vec<usize> = others.iter().map(place).collect::<Result<_>>()?;
    let beside = places.iter().map(|&place| labels.columns()[place].clone()).collect();
    let sparse = SparseRows::new(features, starts, columns, values)?;
    let (rows, lines) = ((0..labels.rows()).collect(), lines(&labels));
    let data = Data { x: Mat::new(), sparse: Some(sparse), rows, lines, constant: Vec::new() };
    Ok((data, beside))
}

/// The columns that were left out because they carry no information, after a note about each.
pub fn left_out(columns: &Columns, session: &Session<'_>) -> Vec<String> {
    session.notes(columns.dropped());
    columns.dropped().iter().map(|dropped| dropped.column.clone()).collect()
}

/// The error for a table in which no feature distinguishes rows.
pub fn nothing_to_compare(error: nystrom_pipeline::Error) -> anyhow::Error {
    match error {
        nystrom_pipeline::Error::NoFeatures { .. } => data(
            "every feature has the same value in every row, so that all rows are alike; take \
             other features",
        ),
        error => error.into(),
    }
}

/// The column options of a command without a target.
pub fn options(of: &PointArgs) -> ColumnOptions {
    ColumnOptions {
        missing: if of.data.drop_missing { Missing::DropRows } else { Missing::Fill },
        not_missing: lists(&of.data.not_missing),
        counts: of.kernel.family().takes_counts(),
        standardize: !of.run.no_standardize,
        ..ColumnOptions::default()
    }
}

/// The line of each row in its file, from 1; in formats without lines, its number among these rows,
/// from 1.
pub fn lines(table: &Table) -> Vec<usize> {
    (0..table.rows()).map(|row| table.line(row).map_or(row + 1, |line| line as usize)).collect()
}
