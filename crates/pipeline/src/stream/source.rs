//! Sources of tables that are read block by block.

use nystrom_data::{Files, Table};

/// The rows of a table in blocks, which can be read again from any row.
///
/// Results depend only on the rows and their order, to the bit, and not on the size of the blocks.
pub trait TableSource {
    /// Starts reading at a row, numbered from 0. A row other than 0 is allowed only after all rows
    /// have been read once.
    ///
    /// # Errors
    /// Those of the reader.
    fn start(&mut self, row: u64) -> nystrom_data::Result<()>;

    /// The next block, of at least one row; `None` after the last block.
    ///
    /// # Errors
    /// Those of the reader.
    fn next_block(&mut self) -> nystrom_data::Result<Option<Table>>;
}

impl TableSource for Files {
    fn start(&mut self, row: u64) -> nystrom_data::Result<()> {
        Files::start(self, row)
    }

    fn next_block(&mut self) -> nystrom_data::Result<Option<Table>> {
        Files::next_block(self)
    }
}

/// A table in memory, in blocks.
#[derive(Debug, Clone)]
pub struct TableBlocks<'a> {
    table: &'a Table,
    rows: usize,
    at: usize,
}

impl<'a> TableBlocks<'a> {
    /// The blocks of a table, of at most `rows` rows each.
    pub fn new(table: &'a Table, rows: usize) -> Self {
        TableBlocks { table, rows: rows.max(1), at: 0 }
    }
}

impl TableSource for TableBlocks<'_> {
    fn start(&mut self, row: u64) -> nystrom_data::Result<()> {
        self.at = usize::try_from(row).unwrap_or(usize::MAX).min(self.table.rows());
        Ok(())
    }

    fn next_block(&mut self) -> nystrom_data::Result<Option<Table>> {
        let start = self.at;
        self.at = self.table.rows().min(start.saturating_add(self.rows));
        let rows: Vec<usize> = (start..self.at).collect();
        if rows.is_empty() { Ok(None) } else { self.table.select_rows(&rows).map(Some) }
    }
}
