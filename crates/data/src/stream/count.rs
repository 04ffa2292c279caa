//! Counting rows without reading their values.

use std::ops::ControlFlow;

use super::Files;
#[cfg(feature = "parquet")]
use super::parquet::page_bytes;
use super::pieces::pieces;
use crate::Format;
use crate::error::Result;
use crate::open::open;

impl Files {
    /// The number of rows of all files, if their headers have it: those of npy and Parquet files.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn stated_rows(&self) -> Result<Option<u64>> {
        match self.format {
            Format::Npy(_) => self.count_rows().map(Some),
            #[cfg(feature = "parquet")]
            Format::Parquet(_) => self.count_rows().map(Some),
            _ => Ok(None),
        }
    }

    /// The bytes that a pass over Parquet files holds beside its blocks, estimated from above: a
    /// dictionary and a page of every column of a row group. 0 for other files.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn page_bytes(&self) -> Result<u64> {
        #[cfg(feature = "parquet")]
        if let Format::Parquet(_) = self.format {
            let files = self.paths.iter().map(|path| open(path));
            let bytes = files.map(|file| file.and_then(|(file, name)| page_bytes(file, &name)));
            return bytes.reduce(|a, b| Ok(a?.max(b?))).unwrap_or(Ok(0));
        }
        Ok(0)
    }

    /// The number of rows of all files, found faster than by reading them: from the headers of npy
    /// and Parquet files, and from the record ends of CSV files. libsvm files are read.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn count_rows(&self) -> Result<u64> {
        let mut rows = 0;
        for path in &self.paths {
            let (mut file, name) = open(path)?;
            rows += match &self.format {
                Format::Npy(_) => super::npy::rows(file, &name)?,
                #[cfg(feature = "parquet")]
                Format::Parquet(_) => super::parquet::rows(file, &name)?,
                Format::Csv(csv) => csv.count(&mut file, &name)?,
                format => {
                    let mut count = 0;
                    pieces(format, file, &name, self.start, &mut |table, _| {
                        count += table.rows() as u64;
                        Ok(ControlFlow::Continue(()))
                    })?;
                    count
                }
            };
        }
        Ok(rows)
    }
}
