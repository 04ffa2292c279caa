//! From the command line to files that are read block by block.

use super::super::auto;
use super::watch::{Watch, named};
use crate::args::{DataArgs, Fit};
use crate::diagnosis;
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::mixed::{self, Decided, Wanted};
use crate::session::Session;
use nystrom_data::{Files, Format, Survey, Table, find_files};
use nystrom_pipeline::{Ranks, TableSource};
use std::path::PathBuf;

/// Rows of a text that decide what its columns hold.
const HEAD: usize = 10_000;
/// Texts that are missing values in columns of numbers, also where they come late.
const LATE: [&str; 3] = ["", "NA", "nan"];

/// Files and what their columns are used for.
pub struct StreamInput {
    pub files: Files,
    /// Columns that are to be left out, by position and name.
    pub unwanted: Vec<(usize, String)>,
    pub targets: Vec<String>,
    pub notes: Vec<String>,
}

/// The first rows of files, and how to read them.
pub struct Head {
    pub paths: Vec<PathBuf>,
    pub input: Input,
    /// With the first file in the place of a folder or pattern.
    pub args: DataArgs,
}

impl Head {
    /// Of a libsvm file with at least so many features.
    pub fn of(args: &DataArgs, libsvm_features: usize) -> Result<Head> {
        let paths = find_files(&args.data)?;
        let args = DataArgs { data: paths[0].clone(), ..args.clone() };
        let format = crate::format::format(&args, libsvm_features)?;
        let survey = match &format {
            Format::Csv(csv) => csv.survey_head(&paths[0], HEAD)?,
            other => first_block(paths.clone(), other)?,
        };
        Ok(Head { input: Input::of_survey(survey, &format, &args)?, paths, args })
    }

    /// The files with these columns; the others are read as text, which everything is.
    pub fn open(self, wanted: &Wanted, libsvm_features: usize) -> Result<(Files, Vec<String>)> {
        let survey = self.input.survey();
        let Decided { texts, markers, args } = mixed::decide(survey, &self.args, wanted);
        let late = LATE.iter().filter(|_| wanted.fills).map(|text| format!("\"{text}\""));
        let args = match crate::format::format(&self.args, libsvm_features)? {
            Format::Csv(_) => {
                DataArgs { missing: args.missing.into_iter().chain(late).collect(), ..args }
            }
            _ => self.args.clone(),
        };
        let count = survey.table.columns().len();
        let texts = (0..count).filter(|j| texts.contains(j) || !wanted.columns.contains(j));
        let format = match crate::format::format(&args, libsvm_features)? {
            Format::Csv(csv) => Format::Csv(csv.text(texts)),
            other => other,
        };
        let files = Files::open(self.paths, &format)?;
        let files = if wanted.fills { files.nan_is_missing() } else { files };
        Ok((files, mixed::note(&markers.into_iter().filter(|m| !m.is_empty()).collect::<Vec<_>>())))
    }
}

/// The first rows of formats that name their columns and kinds.
fn first_block(paths: Vec<PathBuf>, format: &Format) -> Result<Survey> {
    let mut files = Files::open(paths, format)?.nan_is_missing();
    files.start(0)?;
    let Some(table) = files.next_block()? else {
        return Err(Failure::Data("there are no rows".into()).into());
    };
    Ok(Survey::certain(table))
}

impl StreamInput {
    pub fn of(args: &Fit) -> Result<StreamInput> {
        let head = Head::of(&args.data, 0)?;
        let (wanted, targets) = auto::wanted(args, &head.input)?;
        StreamInput::opened(head, &wanted, targets)
    }

    /// Rows of numbers without a target.
    pub fn of_points(args: &DataArgs) -> Result<StreamInput> {
        let head = Head::of(args, 0)?;
        let columns = head.input.kept().to_vec();
        if columns.is_empty() {
            return Err(Failure::Usage("no column is left; drop fewer".into()).into());
        }
        let wanted = Wanted {
            numbers: columns.clone(),
            columns,
            texts: Vec::new(),
            instead: "",
            fills: false,
        };
        let numbering = diagnosis::numbering(head.input.survey(), &wanted.columns);
        let mut input = StreamInput::opened(head, &wanted, Vec::new())?;
        if args.drop_missing {
            input.files = input.files.nan_is_missing();
        }
        let note = numbering.map(|note| note.trim_start_matches("note: ").to_owned());
        input.notes.extend(note);
        Ok(input)
    }

    fn opened(head: Head, wanted: &Wanted, targets: Vec<String>) -> Result<StreamInput> {
        let names: Vec<String> = head.input.survey().table.names().map(str::to_owned).collect();
        let unwanted = names.into_iter().enumerate();
        let unwanted = unwanted.filter(|(j, _)| !wanted.columns.contains(j)).collect();
        let (files, notes) = head.open(wanted, 0)?;
        Ok(StreamInput { files, unwanted, targets, notes })
    }

    /// For a pass over so many rows in all, which the processes share about equally.
    pub fn watched<'a>(
        &'a mut self,
        pass: &str,
        rows: Option<u64>,
        (session, ranks): (&'a Session, &dyn Ranks),
    ) -> Watched<'a> {
        let rows = rows.map(|rows| rows / ranks.size() as u64);
        let watch = Watch::new(session, &named(pass, ranks), (rows, 0));
        Watched { files: &mut self.files, unwanted: &self.unwanted, watch }
    }
}

/// Files of which only some columns are seen, and whose progress is shown.
pub struct Watched<'a> {
    pub files: &'a mut Files,
    pub unwanted: &'a [(usize, String)],
    pub watch: Watch<'a>,
}

impl TableSource for Watched<'_> {
    fn start(&mut self, row: u64) -> nystrom_data::Result<()> {
        self.files.start(row)?;
        self.watch.begin(row);
        Ok(())
    }

    fn next_block(&mut self) -> nystrom_data::Result<Option<Table>> {
        let Some(table) = self.files.next_block()? else { return Ok(None) };
        self.watch.rows(table.rows(), self.files.bytes_read());
        table.drop_columns(self.unwanted.iter().map(|(j, _)| *j)).map(Some)
    }
}
