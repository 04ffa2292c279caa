//! Opening the files of a table that is read block by block.

use super::watch::PassWatch;
use crate::args::{DataArgs, FitArgs, PointArgs};
use crate::commands::column_uses::ColumnUses;
use crate::failure::{Result, data};
use crate::input::{self, Input};
use crate::session::Session;
use nystrom::kernels::Bits;
use nystrom_data::{Files, Format, Libsvm, Table, Values, find_files};
use nystrom_pipeline::{ColumnOptions, Readings, TableSource, Task};
use std::path::{Path, PathBuf};

/// The files of a table, and the use of their columns.
pub struct StreamInput {
    pub files: Files,
    /// The positions of the columns that --drop names.
    pub unwanted: Vec<usize>,
    /// The fit that the options ask for, without the limits of a search.
    pub fit: nystrom_pipeline::Fit,
    pub targets: Vec<String>,
    pub readings: Readings,
    pub notes: Vec<String>,
    /// The number of bits of a fingerprint in the first block; 0 without --fingerprint.
    bits: usize,
}

/// The first rows of a table in several files, and the reader of the files.
pub struct OpenedFiles {
    pub input: Input,
    paths: Vec<PathBuf>,
    format: Format,
    files: Files,
}

impl OpenedFiles {
    /// Opens the files, and after them those of the table `other`; `libsvm` is their reader if they
    /// are libsvm files.
    pub fn of(args: &DataArgs, other: Option<&Path>, libsvm: Libsvm) -> Result<OpenedFiles> {
        let mut paths = find_files(&args.data)?;
        if let Some(other) = other {
            paths.extend(find_files(other)?);
        }
        // the first file determines the format of a folder or pattern
        let args = DataArgs { data: paths[0].clone(), ..args.clone() };
        let format = crate::format::format(&args, libsvm)?;
        let mut files = Files::open_found(paths.clone(), &format, &[])?;
        files.start(0)?;
        let Some(table) = files.next_block()? else {
            return Err(data("there are no rows"));
        };
        Ok(OpenedFiles { input: Input::of(table, &format, &args)?, paths, format, files })
    }

    /// The files, with the columns `texts` read as texts.
    pub fn open(self, texts: &[usize]) -> Result<Files> {
        match texts.is_empty() {
            true => Ok(self.files),
            false => Ok(Files::open_found(self.paths, &self.format, texts)?),
        }
    }
}

impl StreamInput {
    pub fn of(args: &FitArgs) -> Result<StreamInput> {
        let head = OpenedFiles::of(&args.data, None, Libsvm::new())?;
        let mut wanted = ColumnUses::of(args, &head.input, true)?;
        let columns = head.input.table.columns().iter();
        let is_number = |name: &String| {
            let mut column = columns.clone().filter(|column| column.name == *name);
            column.all(|column| matches!(column.values, Values::Numbers(_)))
        };
        // without a search, a target of numbers is not read as classes, as in memory
        if args.kernel.is_given()
            && wanted.fit.task == Task::Auto
            && wanted.targets.iter().all(is_number)
        {
            wanted = ColumnUses::of(args, &head.input, false)?;
        }
        StreamInput::opened(head, wanted)
    }

    /// The input of a command without a target, of one table or of two: all kept columns are
    /// features, or only the column of --fingerprint.
    pub fn of_points(of: &PointArgs, other: Option<&Path>) -> Result<StreamInput> {
        let mut head = OpenedFiles::of(&of.data, other, Libsvm::new())?;
        let only = head.input.fingerprint(&of.kernel)?;
        only.map(|column| head.input.keep_only(column)).transpose()?;
        head.input.check_features()?;
        let fingerprint = only.map(|column| head.input.name(column).to_owned());
        let columns = ColumnOptions { fingerprint, ..input::options(of) };
        let fit = nystrom_pipeline::Fit { columns, ..nystrom_pipeline::Fit::default() };
        let (targets, texts) = (Vec::new(), only.into_iter().collect());
        StreamInput::opened(head, ColumnUses { fit, targets, texts })
    }

    fn opened(head: OpenedFiles, wanted: ColumnUses) -> Result<StreamInput> {
        let unwanted = head.input.dropped();
        let mut files = head.open(&wanted.texts)?;
        let ColumnUses { fit, targets, .. } = wanted;
        files.start(0)?;
        let head = files.next_block()?;
        let readings = match &head {
            Some(head) if !targets.is_empty() => Readings::of(&fit, head, &targets)?,
            _ => Readings::default(),
        };
        let first = |name: &String| match &head.as_ref()?.column(name.as_str()).ok()?.values {
            Values::Categories(text) => text.levels.first().map(|text| 4 * text.len()),
            Values::Numbers(_) | Values::Sparse(_) => None,
        };
        let bits = fit.columns.fingerprint.as_ref().and_then(first).unwrap_or(0);
        let notes = [files.notes(), readings.notes()].concat();
        Ok(StreamInput { files, unwanted, fit, targets, readings, notes, bits })
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        let columns = self.files.names().len();
        let others = (self.unwanted.len() + self.targets.len()).min(columns.saturating_sub(1));
        if self.bits > 0 { Bits::<f64>::coordinates(self.bits) } else { columns - others }
    }

    /// The numbers of 8 bytes that a row takes in memory: one for each column and, for a
    /// fingerprint, its text and its features.
    pub fn numbers(&self) -> usize {
        let of_bits = self.bits.div_ceil(32) + Bits::<f64>::coordinates(self.bits);
        self.files.names().len() + of_bits
    }

    /// Notes about cells of number columns that were not numbers in the first pass.
    pub fn strays(&self) -> Vec<String> {
        let say = |(name, doubts): (&String, &nystrom_data::Doubts)| {
            let example = doubts.texts.first();
            let example = example.map_or_else(String::new, |doubt| {
                format!(", such as {:?} in line {}", doubt.text, doubt.line)
            });
            let infinite = doubts.texts.iter().all(|doubt| doubt.text.parse::<f64>().is_ok());
            let remedy = match infinite {
                true => String::new(),
                false => format!(" (--categorical {name:?} reads all cells as categories)"),
            };
            let cells = doubts.cells;
            format!("{name:?}: {cells} cells are no numbers{example}, and count as missing{remedy}")
        };
        self.files.strays().iter().map(say).collect()
    }

    /// The source of a pass after the first. The processes share the rows about equally.
    pub fn later_pass<'a>(&'a mut self, pass: &str, session: &'a Session<'a>) -> Watched<'a> {
        let rows = self.files.rows().map(|rows| rows / session.ranks.size() as u64);
        let watch = PassWatch::new(session, pass, (rows, 0));
        let StreamInput { files, unwanted, readings, .. } = self;
        Watched { files, unwanted, readings, watch }
    }
}

/// Files without their unwanted columns, whose reading moves a progress bar.
pub struct Watched<'a> {
    pub files: &'a mut Files,
    pub unwanted: &'a [usize],
    pub readings: &'a Readings,
    pub watch: PassWatch<'a>,
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
        let table = table.drop_columns(self.unwanted.iter().copied())?;
        self.readings.read(table).map(Some)
    }
}
