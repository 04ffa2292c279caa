//! Tables that are read block by block: one file or many, once or often.

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
use record::Shard;
use settle::settled;
use start::Start;

/// Bytes of the numbers of a block.
const BLOCK_BYTES: usize = 8 << 20;
/// The fewest and the most rows of a block.
const BLOCK_ROWS: (usize, usize) = (1024, 1 << 16);

/// The rows of one file or of several with the same columns, one after another, in blocks of a few
/// megabytes. Formats are CSV, libsvm, npy and Parquet (by row groups).
///
/// * Files are read in the order given; [`find_files`] sorts those of a folder or a pattern by the
///   bytes of their names.
/// * Names, order and kinds of the columns are those of the first file's first block; every other
///   block must agree. Errors name file, line and column.
/// * Files are read, not mapped into memory, so that one which is cut off is an error and no
///   signal. The next block is read while the last is used; two are in memory at a time.
/// * The first pass over all rows records rows, blocks and where they are. Later passes begin
///   [anywhere](Self::start) without reading what is before. Compressed CSV, libsvm and npy files
///   are an exception: they have to be uncompressed from their first byte.
/// * A file counts as changed if its size, its time of modification or the digest of a block is
///   another than in the first pass. Files that hold the same rows, all of them, are an error.
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
    /// No rows of the first file, whose columns all others must have.
    head: Table,
    format: Format,
    start: Start,
    /// Of the files that were read to their end.
    record: Vec<Shard>,
    pass: Option<Pass>,
    /// Whether columns are those that are found, by name.
    found: bool,
    notes: Vec<String>,
    strays: BTreeMap<String, Doubts>,
}

/// What a first pass found: it finds any row again, and knows the files by it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FilesRecord {
    shards: Vec<Shard>,
    block_rows: usize,
    #[cfg_attr(feature = "serde", serde(default))]
    strays: BTreeMap<String, Doubts>,
}

impl FilesRecord {
    /// Of all files, from the records of [parts](Files::part) one after another.
    ///
    /// # Errors
    /// [`DataError::SameRows`] for files of two parts that hold the same rows.
    pub fn join(parts: impl IntoIterator<Item = FilesRecord>) -> Result<FilesRecord> {
        let mut all = FilesRecord { shards: Vec::new(), block_rows: 1, strays: BTreeMap::new() };
        for part in parts {
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
}

impl Files {
    /// These files, none of which is read beyond its first block. An exception are libsvm files:
    /// only all of their rows tell the greatest index, and whether there are an index 0, a `qid`
    /// and labels of text.
    ///
    /// The first block of the first file decides a delimiter that is to be guessed, and columns of
    /// text that are to be inferred.
    ///
    /// # Errors
    /// [`DataError::SameRows`] for a file that is named twice, [`DataError::NotStreamed`] for other
    /// formats, [`DataError::NoFiles`], [`DataError::StackMismatch`] if some libsvm files have a
    /// `qid` and others none; those of reading the first block.
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

    /// What was decided about the files when they were opened, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Cells of columns of numbers that are none and count as missing, by column, as the first pass
    /// or its [record](Self::restore) found them in files that were [opened as
    /// found](Self::open_found).
    pub fn strays(&self) -> &BTreeMap<String, Doubts> {
        &self.strays
    }

    /// Some of these files, which is what one of several processes reads; their columns must still
    /// be those of the first of all.
    ///
    /// # Panics
    /// If there are fewer files.
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

    /// Takes NaN in npy and Parquet files for a missing value rather than an error.
    pub fn nan_is_missing(mut self) -> Files {
        self.start.nan_is_missing = true;
        self
    }

    /// Blocks of at most so many rows, in the place of 8 MiB of numbers; a record is forgotten.
    /// What is made of rows does not depend on it; memory does.
    pub fn set_block_rows(&mut self, rows: usize) {
        self.start.rows = rows.max(1);
        // marks are at the ends of blocks
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

    /// The bytes of all files on the disk.
    ///
    /// # Errors
    /// [`DataError::Io`], [`DataError::NotFound`].
    pub fn bytes(&self) -> Result<u64> {
        Ok(self.bytes_by_file()?.iter().sum())
    }

    /// The bytes of each file on the disk.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn bytes_by_file(&self) -> Result<Vec<u64>> {
        let bytes = |path| {
            let (file, name) = open(path)?;
            Ok(record::Stamp::of(&file, &name)?.bytes)
        };
        self.paths.iter().map(|path| bytes(path)).collect()
    }

    /// About how many bytes of the files the pass has behind it: those of whole files, and in texts
    /// those of blocks.
    pub fn bytes_read(&self) -> u64 {
        self.pass.as_ref().map_or(0, |pass| pass.bytes(self))
    }

    /// Files that cannot be entered in the middle, as they are compressed. A pass that begins
    /// behind the first row reads them from the first byte.
    pub fn compressed(&self) -> Vec<&str> {
        let whole = |shard: &&Shard| {
            let is_text = matches!(self.format, Format::Csv(_) | Format::Libsvm(_));
            is_text && shard.marks.len() > 1 && shard.marks[0].spot.is_none()
        };
        self.record.iter().filter(whole).map(|shard| shard.name.as_str()).collect()
    }

    /// How many rows there are, once a pass has seen all.
    pub fn rows(&self) -> Option<u64> {
        self.is_known().then(|| self.record.iter().map(Shard::rows).sum())
    }

    /// The rows of each file, once a pass has seen all.
    pub fn rows_by_file(&self) -> Option<Vec<(&str, u64)>> {
        let shards = self.record.iter();
        self.is_known().then(|| shards.map(|shard| (shard.name.as_str(), shard.rows())).collect())
    }

    /// What the first pass found, once it has seen all rows.
    pub fn record(&self) -> Option<FilesRecord> {
        let (shards, strays) = (self.record.clone(), self.strays.clone());
        let record = FilesRecord { shards, block_rows: self.start.rows, strays };
        self.is_known().then_some(record)
    }

    /// Takes the record of an earlier program in the place of a first pass, and its blocks.
    ///
    /// # Errors
    /// [`DataError::Changed`] if it is of other files, or of these before they changed.
    pub fn restore(&mut self, record: FilesRecord) -> Result<()> {
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

    /// Begins a pass at a row, from 0. Rows behind the first can only be found again once a pass
    /// has seen all.
    ///
    /// # Errors
    /// [`DataError::NoSuchRow`] for a row that is not there, or not known yet.
    pub fn start(&mut self, row: u64) -> Result<()> {
        let rows = self.rows().unwrap_or(0);
        if row > 0 && row > rows {
            let (row, rows) = (row as usize, rows as usize);
            let table = self.head.source().to_owned();
            return Err(DataError::NoSuchRow { table, row, rows });
        }
        self.pass = None; // the thread of the last one ends first
        if !self.is_known() {
            self.record.clear();
            self.strays.clear();
        }
        self.pass = Some(Pass::new(self, row));
        Ok(())
    }

    /// The next block of the pass, at least one row; nothing after the last.
    ///
    /// # Errors
    /// Those of the reader, with file, line and column; [`DataError::StackMismatch`] for other
    /// columns than those of the first block; [`DataError::Changed`], [`DataError::SameRows`].
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

/// The same file under two names is the same rows twice.
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
