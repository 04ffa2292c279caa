//! Reading Parquet files by row groups, and row groups in pieces.

use std::fs::File;
use std::ops::ControlFlow;

use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use super::start::{Each, Start};
use crate::bad_cells::Survey;
use crate::error::{Place, Problem, Result};
use crate::parquet::{contradiction, damaged, unless_asserted, usable};
use crate::parquet_columns::Growing;
use crate::parquet_type::Holds;
use crate::parquet_values::read_column;
use crate::table::Table;

pub(super) fn pieces(file: File, name: &str, start: Start, each: &mut Each<'_>) -> Result<()> {
    unless_asserted(name, || groups(file, name, start, each))
}

/// The number of rows of a file, from its metadata.
pub(super) fn rows(file: File, name: &str) -> Result<u64> {
    let file = SerializedFileReader::new(file).map_err(damaged(name))?;
    Ok(u64::try_from(file.metadata().file_metadata().num_rows()).unwrap_or(0))
}

/// The usual largest size of a dictionary and of a data page.
const PAGE: i64 = 1 << 20;

/// The bytes that the readers of all columns of a row group hold, of the largest group.
pub(super) fn page_bytes(file: File, name: &str) -> Result<u64> {
    let file = SerializedFileReader::new(file).map_err(damaged(name))?;
    let groups = file.metadata().row_groups().iter();
    let of_group = groups.map(|group| {
        let columns = group.columns().iter();
        let page = columns.map(|column| column.uncompressed_size().clamp(0, PAGE));
        // dictionary, data page, and half as much before they are decompressed
        page.sum::<i64>() / 2 * 5
    });
    Ok(of_group.max().unwrap_or(0).unsigned_abs())
}

fn groups(file: File, name: &str, start: Start, each: &mut Each<'_>) -> Result<()> {
    let file = SerializedFileReader::new(file).map_err(damaged(name))?;
    let all = file.metadata().file_metadata().schema_descr_ptr();
    let (used, notes) = usable(&file, name)?;
    let columns =
        used.into_iter().map(|(j, holds, list)| (j, holds, list, all.columns()[j].clone()));
    let columns: Vec<_> = columns.collect();
    let mut before = 0;
    for index in 0..file.num_row_groups() {
        let rows = u64::try_from(file.metadata().row_group(index).num_rows()).unwrap_or(0);
        if before + rows > start.row {
            let group = file.get_row_group(index).map_err(damaged(name))?;
            let part = Part { columns: &columns, notes: &notes, name, before, rows, start };
            if part.read(&*group, each)?.is_break() {
                return Ok(());
            }
        }
        before += rows;
    }
    if before == 0 {
        return Err(Problem::NoRows.at(Place::new(name)));
    }
    Ok(())
}

/// A row group, which follows `before` rows of the file.
struct Part<'a> {
    /// The columns that are read, with their positions, contents and lengths of lists.
    columns: &'a [(usize, Holds, Option<usize>, ColumnDescPtr)],
    /// Notes on the other columns.
    notes: &'a [String],
    name: &'a str,
    before: u64,
    rows: u64,
    start: Start,
}

impl Part<'_> {
    fn read(&self, group: &dyn RowGroupReader, each: &mut Each<'_>) -> Result<ControlFlow<()>> {
        let readers = self.columns.iter().map(|(j, ..)| group.get_column_reader(*j));
        let mut readers =
            readers.collect::<std::result::Result<Vec<_>, _>>().map_err(damaged(self.name))?;
        let mut row = 0;
        while row < self.rows {
            let count = (self.rows - row).min(self.start.rows as u64) as usize;
            let skipped = self.before + row < self.start.row;
            let (mut columns, mut doubts) = (Vec::new(), Vec::new());
            for ((j, holds, list, column), reader) in self.columns.iter().zip(&mut readers) {
                let path = column.path().string();
                let place = || Place::new(self.name).field(j + 1).column(&path);
                let mut growing = Growing::new((column, *holds, *list), self.before + row);
                let values = read_column(reader, (column, *holds, *list), count);
                let values = values.map_err(damaged(self.name))?;
                let wrong = |(row, problem): (u64, Problem)| problem.at(place().line(row));
                growing.push(values).map_err(wrong)?;
                if growing.rows() != self.before + row + count as u64 {
                    return Err(contradiction(self.name));
                }
                for (column, doubtful) in growing.finish(column) {
                    columns.push(column);
                    doubts.push(doubtful);
                }
            }
            let lines = (1..=count as u64).map(|i| self.before + row + i).collect();
            row += count as u64;
            if skipped {
                continue;
            }
            let table = Table::with_lines(self.name, columns, lines)?;
            let table = table.noted(self.notes.to_vec(), Vec::new());
            if each(self.start.checked(Survey { table, doubts })?, None)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
