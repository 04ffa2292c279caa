//! Reading npy files block by block, from any row.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::start::{Each, Start};
use crate::Uncompressed;
use crate::bad_cells::Survey;
use crate::error::{DataError, Place, Problem, Result};
use crate::npy::{Header, MAGIC, MAX_HEADER, header};
use crate::table::Table;

/// An array whose rows are read in blocks.
struct Array {
    source: Uncompressed<File>,
    name: String,
    header: Header,
    /// Bytes before the data.
    front: u64,
    rows: usize,
    columns: usize,
    /// Whether rows are contiguous.
    by_rows: bool,
}

pub(super) fn pieces(file: File, name: &str, start: Start, each: &mut Each<'_>) -> Result<()> {
    let mut array = Array::open(file, name)?;
    let first = usize::try_from(start.row).unwrap_or(usize::MAX).min(array.rows);
    array.skip(first)?;
    let mut row = first;
    while row < array.rows {
        let count = start.rows.min(array.rows - row);
        let survey = array.read(row, count)?;
        row += count;
        if row == array.rows {
            array.check_end()?;
        }
        if each(start.checked(survey)?, None)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// The number of rows of an array.
pub(super) fn rows(file: File, name: &str) -> Result<u64> {
    Ok(Array::open(file, name)?.rows as u64)
}

impl Array {
    fn open(file: File, name: &str) -> Result<Self> {
        let io = DataError::io(name);
        let at = |problem: Problem| problem.at(Place::new(name));
        let length = file.metadata().map_err(io)?.len();
        let mut source = Uncompressed::new(file).map_err(io)?;
        let mut bytes = Vec::new();
        let mut take = |count: usize, bytes: &mut Vec<u8>| {
            source.by_ref().take(count as u64).read_to_end(bytes).map_err(io).map(drop)
        };
        take(MAGIC.len() + 6, &mut bytes)?;
        // the rest of the header after these bytes; `header` returns the error if its length is
        // wrong
        let size = match bytes.get(MAGIC.len()..) {
            Some([1, _, a, b, ..]) => usize::from(u16::from_le_bytes([*a, *b])).saturating_sub(2),
            Some([2 | 3, _, a, b, c, d]) => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
            _ => 0,
        };
        take(size.min(MAX_HEADER), &mut bytes)?;
        let (text, _) = header(&bytes).map_err(at)?;
        let header = Header::parse(text).map_err(at)?;
        let (rows, columns) = header.sizes().map_err(at)?;
        let by_rows = !header.fortran || columns == 1;
        let (front, size) = (bytes.len() as u64, header.item.size);
        let expected = rows.checked_mul(columns).and_then(|count| count.checked_mul(size));
        if !source.is_compressed() {
            let found = length.saturating_sub(front);
            if expected.map(|bytes| bytes as u64) != Some(found) {
                let found = found as usize;
                return Err(at(Problem::NpyLength { rows, columns, size, found }));
            }
        } else if !by_rows {
            let why = "its columns lie one after another, and it is compressed; uncompress it, or \
                       save it in C order";
            return Err(DataError::NotStreamed { file: name.to_owned(), why: why.into() });
        }
        Ok(Array { source, name: name.to_owned(), header, front, rows, columns, by_rows })
    }

    /// Bytes of a row.
    fn width(&self) -> usize {
        self.columns * self.header.item.size
    }

    /// Skips the first `rows` rows.
    fn skip(&mut self, rows: usize) -> Result<()> {
        if !self.by_rows || rows == 0 {
            return Ok(());
        }
        let bytes = rows as u64 * self.width() as u64;
        match self.source.plain_mut() {
            Some(file) => {
                let done = file.seek(SeekFrom::Start(self.front + bytes));
                done.map(drop).map_err(DataError::io(&self.name))
            }
            None => {
                let mut skipped = self.source.by_ref().take(bytes);
                let done = std::io::copy(&mut skipped, &mut std::io::sink());
                done.map(drop).map_err(|error| self.failed(error))
            }
        }
    }

    fn read(&mut self, row: usize, count: usize) -> Result<Survey> {
        let size = self.header.item.size;
        let mut data = vec![0; count * self.width()];
        if self.by_rows {
            self.fill(&mut data)?;
        } else {
            for (j, part) in data.chunks_exact_mut(count * size).enumerate() {
                let at = self.front + ((j * self.rows + row) * size) as u64;
                if let Some(file) = self.source.plain_mut() {
                    file.seek(SeekFrom::Start(at)).map_err(DataError::io(&self.name))?;
                }
                self.fill(part)?;
            }
        }
        let (columns, doubts) = self.header.columns(&data, [count, self.columns], row);
        let lines = (row..row + count).map(|row| row as u64 + 1).collect();
        Ok(Survey { table: Table::with_lines(&self.name, columns, lines)?, doubts })
    }

    fn fill(&mut self, data: &mut [u8]) -> Result<()> {
        self.source.read_exact(data).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> DataError {
        if error.kind() == std::io::ErrorKind::UnexpectedEof && !self.source.is_compressed() {
            return self.too_short();
        }
        self.source.failed(error, Place::new(&self.name))
    }

    fn too_short(&self) -> DataError {
        let (rows, columns, size) = (self.rows, self.columns, self.header.item.size);
        let found = Uncompressed::bytes(&self.source).saturating_sub(self.front) as usize;
        Problem::NpyLength { rows, columns, size, found }.at(Place::new(&self.name))
    }

    /// Returns an error if data follow the last row.
    fn check_end(&mut self) -> Result<()> {
        if !self.by_rows {
            return Ok(());
        }
        match self.source.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.too_short()),
            Err(error) => Err(self.failed(error)),
        }
    }
}
