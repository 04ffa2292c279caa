//! From a file to matrices.

use crate::args::{DataArgs, RunArgs, list};
use crate::diagnosis::{self, Use};
use crate::failure::{Failure, Result};
use crate::session::Session;
use nystrom::faer::{Mat, MatRef};
use nystrom_data::{DataError, Format, Standardize, Standardizer, Survey, Table};
use nystrom_pipeline::Columns;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The fewest rows from which anything can be learnt.
const FEWEST: usize = 3;

/// A table, as it was read. Columns are numbered as they stand in the file.
pub struct Input {
    survey: Survey,
    /// The columns that are not to be left out.
    kept: Vec<usize>,
    /// Whether the file gives its columns names.
    pub named: bool,
    libsvm: bool,
}

/// Rows of numbers.
pub struct Data {
    pub x: Mat<f64>,
    /// For each row its number among the rows of the file, from 0.
    pub rows: Vec<usize>,
    /// And its line, from 1; its number from 1 in formats without lines.
    pub lines: Vec<usize>,
    /// Features left out because they have the same value in every row.
    pub constant: Vec<String>,
}

/// Rows of numbers, and what is to be predicted from them.
pub struct Supervised {
    pub x: Mat<f64>,
    /// n × 1.
    pub y: Mat<f64>,
    pub features: Vec<String>,
    pub target: String,
    /// The names of features and target in the order of the file.
    pub columns: Vec<String>,
}

/// Where a table is read from, once or twice.
pub enum Source {
    Path(PathBuf),
    /// Standard input, which cannot be read again.
    Bytes(Vec<u8>),
}

impl Source {
    pub fn of(args: &DataArgs) -> Result<Source> {
        if args.data == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes)?;
            return Ok(Source::Bytes(bytes));
        }
        if args.data.is_dir() {
            let text = format!("{}: this is a folder; name a file", args.data.display());
            return Err(Failure::Data(text).into());
        }
        Ok(Source::Path(args.data.clone()))
    }

    pub fn survey(&self, format: &Format) -> Result<Survey> {
        Ok(match self {
            Source::Path(path) => format.survey_path(path)?,
            Source::Bytes(bytes) => format.survey(&bytes[..], "standard input")?,
        })
    }
}

impl Input {
    /// A libsvm file is taken to have at least so many features, though it may not show all.
    pub fn read(args: &DataArgs, libsvm_features: usize) -> Result<Input> {
        Input::of(&Source::of(args)?, args, libsvm_features)
    }

    /// As [`read`](Self::read), from a source that can be read again.
    pub fn of(source: &Source, args: &DataArgs, libsvm_features: usize) -> Result<Input> {
        let format = crate::format::format(args, libsvm_features)?;
        Input::of_survey(source.survey(&format)?, &format, args)
    }

    pub fn of_survey(survey: Survey, format: &Format, args: &DataArgs) -> Result<Input> {
        let named = !args.no_header && !matches!(format, Format::Npy(_));
        let libsvm = matches!(format, Format::Libsvm(_));
        let mut kept: Vec<usize> = (0..survey.table.columns().len()).collect();
        for text in &args.drop {
            for unwanted in columns(&survey.table, text)? {
                kept.retain(|&column| column != unwanted);
            }
        }
        Ok(Input { survey, kept, named, libsvm })
    }

    /// The positions of the columns that are kept.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The kept column that a text names, by name or number; the label of a libsvm file if none is
    /// named.
    pub fn target(&self, text: Option<&str>) -> Result<usize> {
        let target = match text {
            Some(text) => one_column(&self.survey.table, text)?,
            None if self.libsvm => 0,
            None => {
                let text = "which column is to be predicted? Say --target NAME, or --target -1 \
                            for the last";
                return Err(Failure::Usage(text.into()).into());
            }
        };
        if !self.kept.contains(&target) {
            let text = format!(
                "{} is --target and among those to --drop; leave it out of one",
                diagnosis::called(&self.survey, target)
            );
            return Err(Failure::Usage(text).into());
        }
        Ok(target)
    }

    /// The columns that a list on the command line names.
    pub fn columns(&self, text: &str) -> Result<Vec<usize>> {
        columns(&self.survey.table, text)
    }

    /// What was read.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    pub fn into_survey(self) -> Survey {
        self.survey
    }

    /// Where the table came from.
    pub fn source(&self) -> &str {
        self.survey.table.source()
    }

    /// The names of the columns that are kept.
    pub fn names(&self) -> Vec<&str> {
        self.kept.iter().map(|&column| self.name(column)).collect()
    }

    /// The column of this name, if it is kept.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.kept.iter().copied().find(|&column| self.name(column) == name)
    }

    /// The kept column at this place among them.
    pub fn at(&self, place: usize) -> Option<usize> {
        self.kept.get(place).copied()
    }

    /// The numbers of a column, NaN where there is none; none at all if it holds text.
    pub fn numbers(&self, column: usize) -> Option<&[f64]> {
        self.survey.table.numbers(column).ok()
    }

    /// The rows of these columns that may be used, from 0: all, or those without a gap if that was
    /// asked for. An error if a column does not hold numbers.
    pub fn rows(&self, used: Use<'_>, args: &DataArgs) -> Result<Vec<usize>> {
        diagnosis::check(&self.survey, used, args)?;
        let columns: Vec<usize> = used.columns().collect();
        let rows: Vec<usize> = diagnosis::complete_rows(&self.survey, &columns).collect();
        if rows.is_empty() {
            return Err(diagnosis::emptiest(&self.survey, used).into());
        }
        Ok(rows)
    }

    /// These columns in these rows.
    pub fn matrix(&self, columns: &[usize], rows: &[usize]) -> Mat<f64> {
        let columns: Vec<&[f64]> =
            columns.iter().filter_map(|&column| self.numbers(column)).collect();
        Mat::from_fn(rows.len(), columns.len(), |i, j| columns[j][rows[i]])
    }

    /// The lines of these rows, from 1; their numbers from 1 in formats without lines.
    pub fn lines(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter()
            .map(|&row| self.survey.table.line(row).map_or(row + 1, |line| line as usize))
            .collect()
    }

    /// Every column is a feature.
    fn points(self, args: &DataArgs, run: &RunArgs, session: &Session) -> Result<Data> {
        if self.kept.is_empty() {
            return Err(Failure::Usage("no column is left; drop fewer".into()).into());
        }
        let rows = self.rows(Use { features: &self.kept, needed: &[], instead: "" }, args)?;
        self.note(&self.kept, session);
        let names = self.names().into_iter().map(str::to_owned).collect();
        let Features { x, constant, .. } =
            Features::new(self.matrix(&self.kept, &rows), names, run, session)?;
        Ok(Data { x, lines: self.lines(&rows), rows, constant })
    }

    /// One column is the target, the others are features.
    pub fn supervised(
        self,
        target: Option<&str>,
        args: &DataArgs,
        session: &Session,
    ) -> Result<Supervised> {
        let target = self.target(target)?;
        let (name, table) = (self.name(target).to_owned(), &self.survey.table);
        let features: Vec<usize> =
            self.kept.iter().copied().filter(|&column| column != target).collect();
        if features.is_empty() {
            return Err(DataError::NoFeatures { table: table.source().to_owned() }.into());
        }
        let used =
            Use { features: &features, needed: &[target], instead: "choose another --target" };
        let rows = self.rows(used, args)?;
        self.note(&features, session);
        let (x, y) = (self.matrix(&features, &rows), self.matrix(&[target], &rows));
        check_target(y.as_ref(), &name)?;
        let columns = self.names().into_iter().map(str::to_owned).collect();
        let features = features.iter().map(|&column| self.name(column).to_owned()).collect();
        Ok(Supervised { x, y, features, target: name, columns })
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> &str {
        &self.survey.table.columns()[column].name
    }

    fn note(&self, features: &[usize], session: &Session) {
        if let Some(note) = diagnosis::numbering(&self.survey, features) {
            session.say(&note);
        }
    }
}

/// Features as the kernel sees them, and how they came about.
pub struct Features {
    pub x: Mat<f64>,
    pub names: Vec<String>,
    /// Names of those left out because they have one value only.
    pub constant: Vec<String>,
    /// None if features stay as they are.
    pub scaling: Option<Standardizer>,
    varying: Vec<usize>,
}

impl Features {
    /// Standardised unless that is not wanted. Features with one value say nothing and cannot be
    /// standardised: they are left out, with a note.
    pub fn new(
        x: Mat<f64>,
        names: Vec<String>,
        run: &RunArgs,
        session: &Session,
    ) -> Result<Features> {
        if run.no_standardize {
            return Ok(Features {
                varying: (0..x.ncols()).collect(),
                x,
                names,
                constant: Vec::new(),
                scaling: None,
            });
        }
        let varying = varying(x.as_ref(), &names, session)?;
        let of = |wanted: bool| -> Vec<String> {
            names
                .iter()
                .enumerate()
                .filter(|(j, _)| varying.contains(j) == wanted)
                .map(|(_, name)| name.clone())
                .collect()
        };
        let (names, constant) = (of(true), of(false));
        let x = columns_of(&x, &varying);
        let scaling = Standardizer::fit(x.as_ref(), &names, Standardize::default())?;
        Ok(Features {
            x: scaling.transform(x.as_ref())?,
            names,
            constant,
            scaling: Some(scaling),
            varying,
        })
    }

    /// The same as a model holds it.
    pub fn columns(&self) -> Columns {
        let d = self.names.len();
        match &self.scaling {
            Some(scaling) => Columns::numbers(self.names.clone(), &scaling.means, &scaling.scales),
            None => Columns::numbers(self.names.clone(), &vec![0.0; d], &vec![1.0; d]),
        }
    }

    /// Other rows treated in the same way.
    pub fn apply(&self, x: &Mat<f64>) -> Result<Mat<f64>> {
        let x = columns_of(x, &self.varying);
        Ok(match &self.scaling {
            Some(scaling) => scaling.transform(x.as_ref())?,
            None => x,
        })
    }
}

/// The rows of a command without a target.
pub fn points(args: &DataArgs, run: &RunArgs, session: &Session) -> Result<Data> {
    session.progress.stage("reading", None);
    Input::read(args, 0)?.points(args, run, session)
}

/// The columns that have more than one value; it says which are left out.
fn varying(x: MatRef<'_, f64>, names: &[String], session: &Session) -> Result<Vec<usize>> {
    let varies = |&j: &usize| (1..x.nrows()).any(|i| x[(i, j)] != x[(0, j)]);
    let (varying, constant): (Vec<usize>, Vec<usize>) = (0..x.ncols()).partition(varies);
    if varying.is_empty() {
        let text = match x.nrows() {
            1 => "there is one row only, and nothing to compare it with; take more rows",
            _ => {
                "every feature has the same value in every row, so that all rows are alike; take \
                 other features"
            }
        };
        return Err(Failure::Data(text.into()).into());
    }
    if !constant.is_empty() {
        let named: Vec<String> =
            constant.iter().map(|&j| format!("{:?} ({})", names[j], x[(0, j)])).collect();
        let (what, verb) = if named.len() == 1 { ("feature", "has") } else { ("features", "have") };
        session.say(&format!(
            "note: the {what} {} {verb} one value only and {verb} been left out",
            named.join(", ")
        ));
    }
    Ok(varying)
}

/// These columns of a matrix.
fn columns_of(x: &Mat<f64>, columns: &[usize]) -> Mat<f64> {
    Mat::from_fn(x.nrows(), columns.len(), |i, j| x[(i, columns[j])])
}

/// A target from which something can be learnt.
pub fn check_target(y: MatRef<'_, f64>, name: &str) -> Result<()> {
    let (n, first) = (y.nrows(), y[(0, 0)]);
    let largest = (0..n).map(|i| y[(i, 0)].abs()).fold(0.0, f64::max);
    let wrong = if n < FEWEST {
        let rows = crate::text::count(n, "row");
        format!("there is nothing to learn from {rows}; at least {FEWEST} are needed")
    } else if (1..n).all(|i| y[(i, 0)] == first) {
        format!(
            "the target {name:?} is {first} in every row, so that there is nothing to learn; take \
             another --target"
        )
    } else if largest > 1e150 {
        format!(
            "the target {name:?} reaches {largest:e}, whose square is beyond all numbers; divide \
             it by 1e100, say"
        )
    } else {
        return Ok(());
    };
    Err(Failure::Data(wrong).into())
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
