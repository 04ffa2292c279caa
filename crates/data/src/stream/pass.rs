//! One pass over the files.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::Files;
use super::ahead::{Ahead, Give};
use super::pieces::pieces;
use super::record::{Mark, Shard, Stamp, changed, digest};
use super::start::Start;
use crate::Format;
use crate::error::{DataError, Result};
use crate::lines::Spot;
use crate::open::open;
use crate::table::Table;

/// What the reading thread reports.
enum Event {
    /// A file was opened: its name and stamp.
    Opened(String, Stamp),
    /// A piece was read, with its digest and, in an uncompressed text, its end.
    Piece { table: Table, digest: u64, end: Option<Spot> },
    /// The end of a file was reached: its stamp then.
    Closed(Stamp),
}

/// A pass in progress.
#[derive(Debug)]
pub(super) struct Pass {
    events: Ahead<Event>,
    /// Whether this is the first pass, which is recorded.
    records: bool,
    /// The position of the current file.
    shard: usize,
    /// The number of pieces of the current file read so far, with those before the start of the
    /// pass.
    piece: usize,
    /// The record of the current file.
    open: Option<Shard>,
    /// Rows of the first piece that are before the start.
    skip: u64,
}

impl Pass {
    /// Begins a pass at this row.
    pub fn new(files: &Files, row: u64) -> Pass {
        let records = !files.is_known();
        let (shard, piece, skip) = if records { (0, 0, 0) } else { place(&files.record, row) };
        let before = piece.checked_sub(1).and_then(|last| files.record.get(shard)?.marks.get(last));
        let start = Start {
            row: before.map_or(0, |mark| mark.rows),
            spot: before.and_then(|mark| mark.spot),
            ..files.start
        };
        let work = Work {
            paths: files.paths[shard.min(files.paths.len())..].to_vec(),
            format: files.format.clone(),
            start,
        };
        let events = Ahead::new(move |give| work.run(give));
        Pass { events, records, shard, piece, open: None, skip }
    }

    /// The next block.
    pub fn next(&mut self, files: &mut Files) -> Result<Option<Table>> {
        while let Some(event) = self.events.next() {
            match event? {
                Event::Opened(name, stamp) => self.open(files, name, stamp)?,
                Event::Closed(stamp) => self.close(files, stamp)?,
                Event::Piece { table, digest, end } => {
                    let table = if files.found { self.in_order(files, table)? } else { table };
                    files.head.same_columns(&table)?;
                    self.mark(files, &table, digest, end)?;
                    let skip = std::mem::take(&mut self.skip) as usize;
                    if skip == 0 {
                        return Ok(Some(table));
                    }
                    let rest: Vec<usize> = (skip..table.rows()).collect();
                    if !rest.is_empty() {
                        return table.select_rows(&rest).map(Some);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The piece with its columns in the order of the first file. In the first pass, its strays are
    /// added to those of the files.
    fn in_order(&self, files: &mut Files, mut table: Table) -> Result<Table> {
        for (column, doubts) in table.take_strays() {
            if let (true, Some(name)) = (self.records, table.names().nth(column)) {
                files.strays.entry(name.to_owned()).or_default().merge(doubts);
            }
        }
        let [ours, theirs]: [Vec<String>; 2] =
            [&table, &files.head].map(|table| table.names().map(str::to_owned).collect());
        // other columns become an error in `same_columns`
        if ours != theirs && ours.len() == theirs.len() && theirs.iter().all(|n| ours.contains(n)) {
            return table.select_columns(theirs);
        }
        Ok(table)
    }

    /// The approximate number of bytes read.
    pub fn bytes(&self, files: &Files) -> u64 {
        let whole: u64 = files.record.iter().take(self.shard).map(|shard| shard.stamp.bytes).sum();
        let marks = match (self.records, &self.open) {
            (true, Some(open)) => &open.marks[..],
            (true, None) => &[],
            (false, _) => files.record.get(self.shard).map_or(&[][..], |shard| &shard.marks[..]),
        };
        let behind = if self.records { marks.len() } else { self.piece };
        let last = behind.checked_sub(1).and_then(|last| marks[last].spot);
        whole + last.map_or(0, |spot| spot.byte)
    }

    fn open(&mut self, files: &Files, name: String, stamp: Stamp) -> Result<()> {
        if let (false, Some(shard)) = (self.records, files.record.get(self.shard)) {
            stamp.check(shard.stamp, &name)?;
        }
        self.open = Some(Shard { name, stamp, marks: Vec::new() });
        Ok(())
    }

    /// Records a piece in the first pass, or compares it with the record in a later one.
    fn mark(&mut self, files: &Files, table: &Table, digest: u64, end: Option<Spot>) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let rows = table.rows() as u64;
        if self.records {
            let rows = open.rows() + rows;
            open.marks.push(Mark { rows, digest, spot: end });
            return Ok(());
        }
        let marks = files.record.get(self.shard).map_or(&[][..], |shard| &shard.marks[..]);
        let before = self.piece.checked_sub(1).map_or(0, |last| marks[last].rows);
        match marks.get(self.piece) {
            Some(mark) if (mark.rows, mark.digest) == (before + rows, digest) => {
                self.piece += 1;
                Ok(())
            }
            _ => {
                let what = format!("its rows {} to {} differ", before + 1, before + rows);
                Err(changed(&open.name, what))
            }
        }
    }

    fn close(&mut self, files: &mut Files, stamp: Stamp) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        stamp.check(open.stamp, &open.name)?;
        if self.records {
            open.refuse_again(&files.record)?;
            files.record.push(open);
        } else if self.piece != files.record[self.shard].marks.len() {
            return Err(changed(&open.name, "it has fewer rows".to_owned()));
        }
        (self.shard, self.piece) = (self.shard + 1, 0);
        Ok(())
    }
}

/// The file and the piece that hold a row, and the number of rows of that piece before it.
fn place(record: &[Shard], row: u64) -> (usize, usize, u64) {
    let mut before = 0;
    for (shard, of) in record.iter().enumerate() {
        if row < before + of.rows() {
            let row = row - before;
            let piece = of.marks.partition_point(|mark| mark.rows <= row);
            let start = piece.checked_sub(1).map_or(0, |last| of.marks[last].rows);
            return (shard, piece, row - start);
        }
        before += of.rows();
    }
    (record.len(), 0, 0)
}

/// The work of the reading thread.
struct Work {
    paths: Vec<PathBuf>,
    format: Format,
    /// The start in the first of `paths`.
    start: Start,
}

impl Work {
    fn run(self, give: &mut Give<'_, Event>) -> Result<()> {
        let mut start = self.start;
        for path in &self.paths {
            let (file, name) = open(path)?;
            let watch = file.try_clone().map_err(DataError::io(&name))?;
            if give(Event::Opened(name.clone(), Stamp::of(&watch, &name)?)).is_break() {
                return Ok(());
            }
            let format = match (&self.format, start.spot) {
                // the header with the names is before the spot
                (Format::Csv(csv), Some(_)) => Format::Csv(csv.clone().names(self.names(path)?)),
                (format, _) => format.clone(),
            };
            let mut stopped = false;
            pieces(&format, file, &name, start, &mut |table, end| {
                let digest = digest(&table);
                let more = give(Event::Piece { table, digest, end });
                stopped = more.is_break();
                Ok(more)
            })?;
            if stopped || give(Event::Closed(Stamp::of(&watch, &name)?)).is_break() {
                return Ok(());
            }
            start = Start { row: 0, spot: None, ..start };
        }
        Ok(())
    }
    /// The names of the columns of a file, in its order.
    fn names(&self, path: &Path) -> Result<Vec<String>> {
        let (file, name) = open(path)?;
        let start = Start { row: 0, spot: None, rows: 1, ..self.start };
        let mut names = Vec::new();
        pieces(&self.format, file, &name, start, &mut |table, _| {
            names = table.names().map(str::to_owned).collect();
            Ok(ControlFlow::Break(()))
        })?;
        Ok(names)
    }
}
