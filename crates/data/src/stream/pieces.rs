//! Reading a file of any format in pieces.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use super::start::{Each, Start};
use crate::builder::ColumnBuilder;
use crate::error::{DataError, Result};
use crate::lines::Spot;
use crate::table::Table;
use crate::{Csv, Format};

/// Reads `file` from `start` on. A piece ends after every [`Start::rows`] rows of the file or row
/// group, at the end of a row group, or at the end of the file. So pieces do not depend on where
/// reading begins.
pub(super) fn pieces(
    format: &Format,
    mut file: File,
    name: &str,
    start: Start,
    each: &mut Each<'_>,
) -> Result<()> {
    match format {
        Format::Csv(_) | Format::Libsvm(_) => {
            if let Some(spot) = start.spot {
                file.seek(SeekFrom::Start(spot.byte)).map_err(DataError::io(name))?;
            }
            let mut behind = dropping(if start.spot.is_some() { 0 } else { start.row }, each);
            match format {
                Format::Csv(csv) => text(csv, &mut file, name, start, &mut behind),
                Format::Libsvm(libsvm) => {
                    libsvm.blocks(&mut file, name, (start.spot, start.rows), &mut behind)
                }
                _ => Ok(()),
            }
        }
        Format::Npy(_) => super::npy::pieces(file, name, start, each),
        #[cfg(feature = "parquet")]
        Format::Parquet(_) => super::parquet::pieces(file, name, start, each),
        _ => {
            let why = "only CSV, libsvm, npy and Parquet files can; convert it".to_owned();
            Err(DataError::NotStreamed { file: name.to_owned(), why })
        }
    }
}

fn text(
    csv: &Csv,
    file: &mut dyn Read,
    name: &str,
    start: Start,
    each: &mut Each<'_>,
) -> Result<()> {
    let push = |column: &mut ColumnBuilder, field: Option<&str>, _: u64| column.push(field);
    csv.grow_blocks(file, name, (start.spot, start.rows), push, &mut |mut grown| {
        let doubts = grown.columns.iter_mut().map(|column| std::mem::take(&mut column.doubts));
        let strays = doubts.enumerate().filter(|(_, doubts)| doubts.cells > 0).collect();
        let columns = grown.columns.into_iter().map(ColumnBuilder::finish).collect();
        each(Table::with_lines(name, columns, grown.lines)?.noted(grown.notes, strays), grown.end)
    })
}

/// Skips the first `rows` rows, which are whole pieces.
fn dropping<'a>(
    mut rows: u64,
    each: &'a mut Each<'_>,
) -> impl FnMut(Table, Option<Spot>) -> Result<ControlFlow<()>> + 'a {
    move |table, end| {
        if rows > 0 {
            rows = rows.saturating_sub(table.rows() as u64);
            return Ok(ControlFlow::Continue(()));
        }
        each(table, end)
    }
}
