//! The files of each process, the record of all files after the first pass, and whether a step
//! succeeded on all processes.

use crate::failure::{self, Failure, Result, data};
use crate::session::Session;
use nystrom_data::{Files, FilesRecord};
use std::ops::Range;

/// Consecutive files of a table.
pub struct ProcessFiles {
    pub files: Files,
    /// The number of their first row among all rows, from 0.
    pub first: u64,
    /// The bytes of these files.
    pub bytes: u64,
}

impl ProcessFiles {
    /// The share of this process. With several processes, each first counts the rows of its files.
    pub fn of(files: &Files, session: &Session<'_>) -> Result<ProcessFiles> {
        let (ranks, (files, bytes)) = (session.ranks, part(files, session)?);
        if ranks.size() == 1 {
            return Ok(ProcessFiles { files, first: 0, bytes });
        }
        let rows: Vec<u64> = ranks.gather(files.count_rows()?)?;
        let first = rows[..ranks.rank()].iter().sum();
        Ok(ProcessFiles { files, first, bytes })
    }

    /// The record of all files, after every process has read its share.
    pub fn record(&self, session: &Session<'_>) -> Result<FilesRecord> {
        let parts: Vec<Option<FilesRecord>> = session.ranks.gather(self.files.record())?;
        session.succeeded_on_all(FilesRecord::join(parts.into_iter().flatten()))
    }
}

/// The files of this process, and the number of their bytes.
pub fn part(files: &Files, session: &Session<'_>) -> Result<(Files, u64)> {
    let bytes = session.succeeded_on_all(files.bytes_by_file())?;
    session.succeeded_on_all(same_files(files, &bytes, session))?;
    let ranks = session.ranks;
    let range = range(&bytes, ranks.rank(), ranks.size());
    Ok((files.part(range.clone()), bytes[range].iter().sum()))
}

/// An error if this process finds other files than process 0, for instance in a local folder of the
/// same name.
fn same_files(files: &Files, bytes: &[u64], session: &Session<'_>) -> Result<()> {
    let names = files.paths().iter().map(|path| path.display().to_string());
    let ours: Vec<(String, u64)> = names.zip(bytes.iter().copied()).collect();
    let first: Vec<(String, u64)> = session.ranks.share(Some(ours.clone()))?;
    let differ = |i: &usize| first.get(*i) != ours.get(*i);
    let Some(i) = (0..first.len().max(ours.len())).find(differ) else { return Ok(()) };
    let describe = |file: Option<&(String, u64)>| match file {
        Some((name, bytes)) => format!("{name} with {bytes} bytes"),
        None => "no file".to_owned(),
    };
    let (ours, first) = (describe(ours.get(i)), describe(first.get(i)));
    Err(data(format!(
        "file {} is {ours} here, and {first} on rank 0; all processes must see the same files",
        i + 1
    )))
}

impl Session<'_> {
    /// The result of a step that every process did for itself, if it succeeded on all. If it failed
    /// on some, the first of them prints its error, with its rank unless it failed on all, and
    /// every process gets an error with the same status.
    pub fn succeeded_on_all<T, E: Into<anyhow::Error>>(
        &self,
        mine: std::result::Result<T, E>,
    ) -> Result<T> {
        let (mine, ranks) = (mine.map_err(Into::into), self.ranks);
        if ranks.size() == 1 {
            return mine;
        }
        let status = mine.as_ref().map_or_else(failure::status, |_| 0);
        let all: Vec<u8> = ranks.gather(status)?;
        let Some(first) = all.iter().position(|status| *status != 0) else { return mine };
        if let (Err(error), true) = (mine, ranks.rank() == first) {
            let alone = all.contains(&0);
            failure::report(&if alone { error.context(format!("rank {first}")) } else { error });
        }
        Err(Failure::Elsewhere(all[first]).into())
    }

    /// The value of a step that process 0 does alone, on process 0; none on the other processes.
    pub fn on_first<T>(&self, step: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.succeeded_on_all(if self.is_first() { step().map(Some) } else { Ok(None) })
    }
}

/// The files of process `rank` of `size`. All bytes are cut into `size` equal parts, and a file
/// belongs to the part that holds its middle byte.
fn range(bytes: &[u64], rank: usize, size: usize) -> Range<usize> {
    let all: u128 = bytes.iter().map(|bytes| u128::from(*bytes)).sum();
    let mut before = 0;
    let middles = bytes.iter().map(|bytes| {
        before += u128::from(*bytes);
        2 * before - u128::from(*bytes)
    });
    let owner = |middle: u128| (middle * size as u128 / (2 * all).max(1)) as usize;
    let owners: Vec<usize> = middles.map(owner).collect();
    owners.partition_point(|owner| *owner < rank)..owners.partition_point(|owner| *owner <= rank)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn every_file_has_one_process() {
        for (bytes, size, expected) in [
            (&[10, 10, 10, 10][..], 2, vec![0..2, 2..4]),
            (&[10, 10, 10], 4, vec![0..1, 1..1, 1..2, 2..3]),
            (&[100, 1, 1, 1], 3, vec![0..0, 0..1, 1..4]),
            (&[7], 3, vec![0..0, 0..1, 1..1]),
            (&[0, 0], 2, vec![0..2, 2..2]),
        ] {
            let ranges: Vec<_> = (0..size).map(|rank| range(bytes, rank, size)).collect();
            assert_eq!(ranges, expected, "{bytes:?}");
        }
        assert_eq!(range(&[1, 2, 3], 0, 1), 0..3);
    }
}
