//! From a file to matrices.

use crate::args::{DataArgs, Delimiter, FileFormat, RunArgs};
use crate::failure::{Failure, Result};
use crate::session::Session;
use nystrom::faer::{Mat, MatRef};
use nystrom_data::{Arff, Cell, ColumnRef, Csv, Fann, Format, Libsvm, Npy, Standardize, Standardizer, Table};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A table, as it was read.
pub struct Input {
    pub table: Table,
    /// For each row of the table its number in the file, from 0.
    pub rows: Vec<usize>,
    /// Whether the file gives its columns names.
    pub named: bool,
    libsvm: bool,
}

/// Rows of numbers.
pub struct Data {
    pub x: Mat<f64>,
    pub features: Vec<String>,
    /// For each row its number in the file, from 0.
    pub rows: Vec<usize>,
}

/// Rows of numbers, and what is to be predicted from them.
pub struct Supervised {
    pub x: Mat<f64>,
    /// n × 1.
    pub y: Mat<f64>,
    pub features: Vec<String>,
    pub target: String,
    /// The target's place among the columns, from 0.
    pub target_position: usize,
}

impl Input {
    /// All columns, or those that a model needs; `libsvm_features` is how many a libsvm file has that may not show all.
    pub fn read(args: &DataArgs, libsvm_features: Option<usize>) -> Result<Input> {
        let format = format(args, libsvm_features)?;
        let named = !args.no_header && !matches!(format, Format::Npy(_));
        let libsvm = matches!(format, Format::Libsvm(_));
        let table = match args.data == Path::new("-") {
            true => format.read(std::io::stdin().lock(), "standard input")?,
            false => format.read_path(&args.data)?,
        };
        let unwanted: Vec<ColumnRef> = args.drop.iter().map(|column| column_ref(&table, column)).collect();
        let table = table.drop_columns(unwanted)?;
        let rows = (0..table.rows()).collect();
        Ok(Input { table, rows, named, libsvm })
    }

    /// The columns of these names, in this order.
    pub fn select(self, names: &[String]) -> Result<Input> {
        let table = self.table.select_columns(names.iter().map(String::as_str))?;
        Ok(Input { table, ..self })
    }

    /// Without the rows in which something is missing, if that was asked for.
    pub fn drop_missing(self, args: &DataArgs) -> Result<Input> {
        if !args.drop_missing {
            return Ok(self);
        }
        let complete = |&row: &usize| self.table.row(row).all(|cell| cell != Cell::Missing);
        let kept: Vec<usize> = (0..self.table.rows()).filter(complete).collect();
        let table = self.table.select_rows(&kept)?;
        if kept.is_empty() {
            return Err(nystrom_data::DataError::NoRows { table: table.source().to_owned() }.into());
        }
        Ok(Input { table, rows: kept.iter().map(|&row| self.rows[row]).collect(), ..self })
    }

    /// Every column is a feature.
    pub fn points(self) -> Result<Data> {
        let features = self.table.names().map(str::to_owned).collect::<Vec<_>>();
        if features.is_empty() {
            return Err(Failure::Usage("no column is left; drop fewer".into()).into());
        }
        Ok(Data { x: self.table.matrix()?, features, rows: self.rows })
    }

    /// One column is the target, the others are features.
    pub fn supervised(self, target: Option<&str>) -> Result<Supervised> {
        let target = match target {
            Some(target) => column_ref(&self.table, target),
            None if self.libsvm => "label".into(),
            None => {
                let text = "which column is to be predicted? Say --target NAME, or --target -1 for the last";
                return Err(Failure::Usage(text.into()).into());
            }
        };
        let name = self.table.column(target)?.name.clone();
        let target_position = self.table.names().position(|other| other == name).unwrap_or(0);
        let data = self.table.into_dataset(target_position)?;
        let y = Mat::from_fn(data.y.len(), 1, |i, _| data.y[i]);
        Ok(Supervised { x: data.x, y, features: data.feature_names, target: name, target_position })
    }
}

/// The rows of a command without a target, standardised unless that is not wanted.
pub fn points(args: &DataArgs, run: &RunArgs, session: &Session) -> Result<Data> {
    session.progress.stage("reading", None);
    let data = Input::read(args, None)?.drop_missing(args)?.points()?;
    let scaling = Scaling::fit(data.x.as_ref(), &data.features, !run.no_standardize)?;
    Ok(Data { x: Scaling::apply(scaling.as_ref(), data.x)?, ..data })
}

/// A name, else a number from 1, else a number from the end below 0.
pub fn column_ref(table: &Table, text: &str) -> ColumnRef {
    let count = table.names().len();
    match text.parse::<i64>() {
        _ if table.names().any(|name| name == text) => text.into(),
        Ok(k) if k > 0 && k as u64 <= count as u64 => ColumnRef::Position(k as usize - 1),
        Ok(k) if k < 0 && k.unsigned_abs() <= count as u64 => ColumnRef::Position(count - k.unsigned_abs() as usize),
        _ => text.into(),
    }
}

fn format(args: &DataArgs, libsvm_features: Option<usize>) -> Result<Format> {
    let csv = |delimiter| {
        let csv = Csv::new().header(!args.no_header).missing(args.missing.iter().map(String::as_str)).infer_text();
        match args.delimiter {
            Some(Delimiter::At(byte)) => csv.delimiter(byte),
            Some(Delimiter::WhiteSpace) => csv.white_space(),
            None => csv.delimiter(delimiter),
        }
    };
    let libsvm = || match libsvm_features {
        Some(features) => Libsvm::new().features(features),
        None => Libsvm::new(),
    };
    let format = match args.format {
        None if args.data == Path::new("-") => Format::Csv(csv(b',')),
        None => match Format::of(&args.data)? {
            Format::Csv(_) if is_tsv(&args.data) => Format::Csv(csv(b'\t')),
            Format::Csv(_) => Format::Csv(csv(b',')),
            Format::Libsvm(_) => Format::Libsvm(libsvm()),
            other => other,
        },
        Some(FileFormat::Csv) => Format::Csv(csv(b',')),
        Some(FileFormat::Tsv) => Format::Csv(csv(b'\t')),
        Some(FileFormat::Arff) => Format::Arff(Arff::new()),
        Some(FileFormat::Libsvm) => Format::Libsvm(libsvm()),
        Some(FileFormat::Fann) => Format::Fann(Fann::new()),
        Some(FileFormat::Npy) => Format::Npy(Npy::new()),
        #[cfg(feature = "parquet")]
        Some(FileFormat::Parquet) => Format::Parquet(nystrom_data::Parquet::new()),
    };
    let csv_only = args.no_header || args.delimiter.is_some() || !args.missing.is_empty();
    if csv_only && !matches!(format, Format::Csv(_)) {
        let text = "--no-header, --delimiter and --missing are for CSV; leave them out, or say --format csv";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(format)
}

fn is_tsv(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".tsv")
}

/// Means and standard deviations of the features, as the model file keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    pub means: Vec<f64>,
    pub scales: Vec<f64>,
}

impl Scaling {
    /// That of these rows; none if features are to stay as they are.
    pub fn fit(x: MatRef<'_, f64>, features: &[String], wanted: bool) -> Result<Option<Scaling>> {
        if !wanted {
            return Ok(None);
        }
        let Standardizer { means, scales } = Standardizer::fit(x, features, Standardize::default())?;
        Ok(Some(Scaling { means, scales }))
    }

    /// (x − mean)/scale, or x itself.
    pub fn apply(scaling: Option<&Scaling>, x: Mat<f64>) -> Result<Mat<f64>> {
        match scaling {
            Some(Scaling { means, scales }) => {
                let map = Standardizer { means: means.clone(), scales: scales.clone() };
                Ok(map.transform(x.as_ref())?)
            }
            None => Ok(x),
        }
    }
}
