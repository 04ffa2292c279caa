//! Reading tables block by block, from one file or many, once or several times.

mod ahead;
mod count;
mod find;
mod found;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod pass;
mod pieces;
mod record;
mod settle;
mod start;

pub use find::find_files;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::Format;
use crate::column::Values;
use crate::doubts::Doubts;
use crate::error::{DataError, Result};
use crate::open::open;
use crate::table::Table;
use pass::Pass;
use pieces::pieces;
use record::{MOST_ROWS, Shard};
use settle::settled;
use start::Start;

/// The size of a block, in bytes of numbers.
const BLOCK_BYTES: usize = 8 << 20;
/// The fewest and the most rows of a block.
const BLOCK_ROWS: (usize, usize) = (1024, 1 << 16);

/// The rows of one or several files with the same columns, read in order in blocks of a few
/// megabytes. Formats are CSV, libsvm, npy and Parquet (by row groups).
///
/// * Files are read in the order given. [`find_files`] sorts the files of a folder or pattern by
///   the bytes of their names.
/// * Names, order and kinds of the columns are those of the first block of the first file, and must
///   be the same in every other block. Errors name file, line and column.
/// * Files are read, not mapped into memory, so that a truncated file is an error and not a signal.
///   The next block is read while the last one is used: two are in memory at a time.
/// * The first pass over all rows records the number of rows and the blocks with their places.
///   Later passes can begin at [any row](Self::start) without reading the rows before it.
///   Compressed CSV, libsvm and npy files are an exception: they must be uncompressed from their
///   first byte.
/// * A file counts as changed if its size, its time of modification or the digest of a block
///   differs from the first pass. Two files with exactly the same rows are an error.
///
/// ```
/// use nystrom_data::{Csv, Files, Format};
/// # let folder = std::env::temp_dir().join(format!("nystrom-files-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// for (name, text) in [("1.csv", "a,b\n1,2\n3,4\n"), ("2.csv", "a,b\n5,6\n")] {
///     std::fs::write(folder.join(name), text).unwrap();
/// }
/// let mut files = Files::open(nystrom_data::find_files(&folder)?, &Format::Csv(Csv::new()))?;
/// let mut a = Vec::new();
/// files.start(0)?;
/// while let Some(block) = files.next_block()? {
///     a.extend(block.numbers("a")?.iter());
/// }
/// assert_eq!((a, files.rows()), (vec![1.0, 3.0, 5.0], Some(3)));
/// files.start(2)?;
/// assert_eq!(files.next_block()?.unwrap().numbers("b")?, [6.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Files {
    paths: Vec<PathBuf>,
    /// The columns of the first file, without rows; all other files must have them.
    head: Table,
    format: Format,
    start: Start,
    /// The records of the files that were read to their end.
    record: Vec<Shard>,
    pass: Option<Pass>,
    /// Whether columns are read as they are found, and matched by name.
    found: bool,
    notes: Vec<String>,
    strays: BTreeMap<String, Doubts>,
}

/// The record of a first pass, by which later passes find any row and notice changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FilesRecord {
    shards: Vec<Shard>,
    block_rows: usize,
    #[cfg_attr(feature = "serde", serde(default))]
    strays: BTreeMap<String, Doubts>,
}

impl FilesRecord {
    /// The record of all files from those of their [parts](Files::part), in order.
    ///
    /// # Errors
    /// [`DataError::SameRows`] for files of two parts that hold the same rows;
    /// [`DataError::Changed`] for a damaged record.
    pub fn join(parts: impl IntoIterator<Item = FilesRecord>) -> Result<FilesRecord> {
        let mut all = FilesRecord { shards: Vec::new(), block_rows: 1, strays: BTreeMap::new() };
        for part in parts {
            part.check()?;
            for shard in part.shards {
                shard.refuse_again(&all.shards)?;
                all.shards.push(shard);
            }
            all.block_rows = part.block_rows;
            for (column, doubts) in part.strays {
                all.strays.entry(column).or_default().merge(doubts);
            }
        }
        Ok(all)
    }

    /// Returns an error for a record that no pass makes.
    fn check(&self) -> Result<()> {
        self.shards.iter().try_for_each(Shard::check)?;
        match self.strays.iter().find(|(_, doubts)| doubts.most() as u64 > MOST_ROWS) {
            None => Ok(()),
            Some((column, _)) => {
                let file = self.shards.first().map_or("", |shard| &shard.name);
                Err(record::changed(
                    file,
                    format!("the record of its column {column:?} is damaged"),
                ))
            }
        }
    }
}

impl Files {
    /// Opens these files and reads the first block of the first. libsvm files are read completely:
    /// the greatest index, and whether there are an index 0, a `qid` and labels of text, are known
    /// only from all rows.
    ///
    /// If the delimiter is to be guessed or text columns are to be inferred, the first block of the
    /// first file decides.
    ///
    /// # Errors
    /// [`DataError::SameRows`] if a file is named twice, [`DataError::NotStreamed`] for other
    /// formats, [`DataError::NoFiles`] for an empty list, [`DataError::StackMismatch`] if some
    /// libsvm files have a `qid` and others none; those of reading the first block.
    pub fn open(paths: Vec<PathBuf>, format: &Format) -> Result<Files> {
        Files::opened(paths, format, false)
    }

    fn opened(paths: Vec<PathBuf>, format: &Format, found: bool) -> Result<Files> {
        let Some(first) = paths.first() else {
            return Err(DataError::NoFiles { pattern: "an empty list".to_owned() });
        };
        refuse_twice(&paths)?;
        let format = settled(format, &paths)?;
        let rows = BLOCK_ROWS.0;
        let mut start = Start { rows, nan_is_missing: true, found, ..Start::default() };
        let (file, name) = open(first)?;
        let mut head = None;
        pieces(&format, file, &name, start, &mut |table, _| {
            head = Some(table);
            Ok(ControlFlow::Break(()))
        })?;
        let head = head.ok_or(DataError::NoRows { table: name })?;
        let format = match format {
            Format::Csv(csv) if csv.is_found() => Format::Csv(csv),
            Format::Csv(csv) => {
                let texts = head.columns().iter().enumerate();
                let texts = texts.filter(|(_, c)| matches!(c.values, Values::Categories(_)));
                Format::Csv(csv.only_text(texts.map(|(j, _)| j)))
            }
            other => other,
        };
        start = Start { rows: block_rows(head.columns().len()), nan_is_missing: found, ..start };
        let head = head.select_rows(&[])?;
        let (notes, strays) = (head.notes().to_vec(), BTreeMap::new());
        let record = Vec::new();
        Ok(Files { paths, head, format, start, record, pass: None, found, notes, strays })
    }

    /// The decisions made when the files were opened, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// For each column of numbers, the cells that are not numbers and count as missing, in files
    /// that were [opened as found](Self::open_found). The first pass finds them, or they come from
    /// its [record](Self::restore).
    pub fn strays(&self) -> &BTreeMap<String, Doubts> {
        &self.strays
    }

    /// Some of these files, for one of several processes to read. Their columns must be those of
    /// the first of all files.
    ///
    /// # Panics
    /// If `files` is out of range.
    pub fn part(&self, files: std::ops::Range<usize>) -> Files {
        Files {
            paths: self.paths[files].to_vec(),
            head: self.head.clone(),
            format: self.format.clone(),
            start: self.start,
            record: Vec::new(),
            pass: None,
            found: self.found,
            notes: Vec::new(),
            strays: BTreeMap::new(),
        }
    }

    /// Reads NaN in npy and Parquet files as a missing value instead of an error.
    pub fn nan_is_missing(mut self) -> Files {
        self.start.nan_is_missing = true;
        self
    }

    /// Sets the most rows of a block, which otherwise holds 8 MiB of numbers, and discards the
    /// record of a pass. The rows themselves do not depend on it; memory does.
    pub fn set_block_rows(&mut self, rows: usize) {
        self.start.rows = rows.max(1);
        // recorded marks are at the ends of blocks
        self.record.clear();
        self.pass = None;
    }

    /// The most rows of a block.
    pub fn block_rows(&self) -> usize {
        self.start.rows
    }

    /// The names of the columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.head.names()
    }

    /// The files, in the order in which they are read.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The size of all files on disk, in bytes.
    ///
    /// # Errors
    /// [`DataError::Io`], [`DataError::NotFound`].
    pub fn bytes(&self) -> Result<u64> {
        Ok(self.bytes_by_file()?.iter().sum())
    }

    /// The size of each file on disk, in bytes.
    ///
    /// # Errors
    /// Those of [`bytes`](Self::bytes).
    pub fn bytes_by_file(&self) -> Result<Vec<u64>> {
        let bytes = |path| {
            let (file, name) = open(path)?;
            Ok(record::Stamp::of(&file, &name)?.bytes)
        };
        self.paths.iter().map(|path| bytes(path)).collect()
    }

    /// The approximate number of bytes that the pass has read: complete files, and in the current
    /// text file complete blocks.
    pub fn bytes_read(&self) -> u64 {
        self.pass.as_ref().map_or(0, |pass| pass.bytes(self))
    }

    /// The files that cannot be read from the middle because they are compressed. A pass that
    /// begins after their first row reads them from the first byte.
    pub fn compressed(&self) -> Vec<&str> {
        let whole = |shard: &&Shard| {
            let is_text = matches!(self.format, Format::Csv(_) | Format::Libsvm(_));
            is_text && shard.marks.len() > 1 && shard.marks[0].spot.is_none()
        };
        self.record.iter().filter(whole).map(|shard| shard.name.as_str()).collect()
    }

    /// The number of rows; `None` until a pass has read all of them.
    pub fn rows(&self) -> Option<u64> {
        self.is_known().then(|| self.record.iter().map(Shard::rows).sum())
    }

    /// The name and number of rows of each file; `None` until a pass has read all rows.
    pub fn rows_by_file(&self) -> Option<Vec<(&str, u64)>> {
        let shards = self.record.iter();
        self.is_known().then(|| shards.map(|shard| (shard.name.as_str(), shard.rows())).collect())
    }

    /// The record of the first pass; `None` until it has read all rows.
    pub fn record(&self) -> Option<FilesRecord> {
        let (shards, strays) = (self.record.clone(), self.strays.clone());
        let record = FilesRecord { shards, block_rows: self.start.rows, strays };
        self.is_known().then_some(record)
    }

    /// Uses the record of an earlier run, and its size of blocks, instead of a first pass.
    ///
    /// # Errors
    /// [`DataError::Changed`] if the record is of other files, or if the files have changed since.
    pub fn restore(&mut self, record: FilesRecord) -> Result<()> {
        record.check()?;
        let names: Vec<String> = self.paths.iter().map(|p| p.display().to_string()).collect();
        for (i, name) in names.iter().enumerate() {
            match record.shards.get(i) {
                Some(shard) if shard.name == *name => {
                    let (file, name) = open(&self.paths[i])?;
                    record::Stamp::of(&file, &name)?.check(shard.stamp, &name)?;
                }
                _ => return Err(record::changed(name, "it was not there".to_owned())),
            }
        }
        if let Some(shard) = record.shards.get(names.len()) {
            return Err(record::changed(&shard.name, "it is not there any more".to_owned()));
        }
        self.start.rows = record.block_rows.max(1);
        self.record = record.shards;
        self.strays = record.strays;
        self.pass = None;
        Ok(())
    }

    /// Begins a pass at this row, from 0. A pass can begin after row 0 only if an earlier pass has
    /// read all rows.
    ///
    /// # Errors
    /// [`DataError::NoSuchRow`] if there is no such row, or if it is not known yet.
    pub fn start(&mut self, row: u64) -> Result<()> {
        let rows = self.rows().unwrap_or(0);
        if row > 0 && row > rows {
            let (row, rows) = (row as usize, rows as usize);
            let table = self.head.source().to_owned();
            return Err(DataError::NoSuchRow { table, row, rows });
        }
        self.pass = None; // ends the thread of the last pass
        if !self.is_known() {
            self.record.clear();
            self.strays.clear();
        }
        self.pass = Some(Pass::new(self, row));
        Ok(())
    }

    /// The next block of the pass, with at least one row; `None` after the last.
    ///
    /// # Errors
    /// Those of the reader, with file, line and column; [`DataError::StackMismatch`] if the columns
    /// are not those of the first block; [`DataError::Changed`], [`DataError::SameRows`].
    pub fn next_block(&mut self) -> Result<Option<Table>> {
        let Some(mut pass) = self.pass.take() else { return Ok(None) };
        let block = pass.next(self)?;
        self.pass = block.is_some().then_some(pass);
        Ok(block)
    }

    fn is_known(&self) -> bool {
        self.record.len() == self.paths.len()
    }
}

fn block_rows(columns: usize) -> usize {
    let rows = BLOCK_BYTES / (8 * columns.max(1));
    (rows / BLOCK_ROWS.0 * BLOCK_ROWS.0).clamp(BLOCK_ROWS.0, BLOCK_ROWS.1)
}

/// Returns an error if a file is named twice, under one name or two.
#[expect(clippy::disallowed_methods, reason = "loaders read files")]
fn refuse_twice(paths: &[PathBuf]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for path in paths {
        let Ok(real) = path.canonicalize() else { continue };
        if let Some(other) = seen.insert(real, path) {
            let [file, other] = [path, other].map(|path| path.display().to_string());
            return Err(DataError::SameRows { file, other });
        }
    }
    Ok(())
}
