//! How many rows there are, without reading what is in them.

use std::ops::ControlFlow;

use super::Files;
use super::pieces::pieces;
use crate::Format;
use crate::error::Result;
use crate::open::open;

impl Files {
    /// The rows of all files, counted faster than they are read. The heads of npy and Parquet files
    /// say it, and the ends of CSV records. Files of libsvm are read.
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
