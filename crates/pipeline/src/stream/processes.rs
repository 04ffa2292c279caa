//! The processes of a job, and their messages.

use super::sections;
use crate::error::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;

/// The processes of a job, numbered from 0. Each runs the same program on a part of the rows.
///
/// An implementation delivers messages from one process to another whole and in the order of
/// sending, and ends the job if a message cannot be sent.
///
/// [`Alone`] is a job of one process. Functions that take `ranks` give the same bits for any number
/// of processes.
pub trait Ranks {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// Sends bytes to another process.
    fn send(&self, to: usize, bytes: &[u8]);

    /// The next message that another process sent to this process.
    fn receive(&self, from: usize) -> Vec<u8>;

    /// Sends the bytes of process 0 to every process; those of the other processes are ignored.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.rank() > 0 {
            return self.receive(0);
        }
        (1..self.size()).for_each(|to| self.send(to, &bytes));
        bytes
    }
}

impl dyn Ranks + '_ {
    /// The value of process 0, on every process; those of the other processes are ignored.
    ///
    /// # Errors
    /// [`Error::Checkpoint`](crate::Error::Checkpoint) if process 0 has no value.
    ///
    /// ```
    /// use nystrom_pipeline::{Alone, Ranks};
    /// let ranks: &dyn Ranks = &Alone;
    /// assert_eq!(ranks.share(Some(0.5))?, 0.5);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn share<T: Serialize + DeserializeOwned>(&self, value: Option<T>) -> Result<T> {
        let value = value.filter(|_| self.rank() == 0);
        let sent = value.as_ref().filter(|_| self.size() > 1);
        let bytes = self.broadcast(sent.map_or(Ok(Vec::new()), sections::write)?);
        value.map_or_else(|| sections::read(&bytes), Ok)
    }

    /// The values of all processes, on every process, in the order of the ranks.
    ///
    /// # Errors
    /// None that a caller can cause.
    ///
    /// ```
    /// use nystrom_pipeline::{Alone, Ranks};
    /// let ranks: &dyn Ranks = &Alone;
    /// assert_eq!(ranks.gather(0.5)?, [0.5]);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn gather<T: Serialize + DeserializeOwned>(&self, mine: T) -> Result<Vec<T>> {
        let all = self.merge(vec![mine], |all, later| all.extend(later))?;
        self.share(all)
    }

    /// On process 0, the values of all processes, merged in the order of the ranks; `None` on the
    /// other processes. `merge` must be associative.
    ///
    /// # Errors
    /// None that a caller can cause.
    ///
    /// ```
    /// use nystrom_pipeline::{Alone, Ranks};
    /// let ranks: &dyn Ranks = &Alone;
    /// let all = ranks.merge(vec![1], |all, later: Vec<i32>| all.extend(later))?;
    /// assert_eq!(all, Some(vec![1]));
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn merge<T: Serialize + DeserializeOwned>(
        &self,
        mine: T,
        merge: impl Fn(&mut T, T),
    ) -> Result<Option<T>> {
        self.try_merge(mine, |all, later| {
            merge(all, later);
            Ok(())
        })
    }

    /// As `merge`, with a function that checks the value of the other process and can refuse it.
    ///
    /// # Errors
    /// Those of this function.
    ///
    /// ```
    /// use nystrom_pipeline::{Alone, Error, Ranks};
    /// let ranks: &dyn Ranks = &Alone;
    /// let all = ranks.try_merge(1_u32, |all, later: u32| {
    ///     let problem = || "the counts of another process are too large".to_owned();
    ///     *all = all.checked_add(later).ok_or_else(|| Error::Checkpoint { problem: problem() })?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(all, Some(1));
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn try_merge<T: Serialize + DeserializeOwned>(
        &self,
        mine: T,
        merge: impl Fn(&mut T, T) -> Result<()>,
    ) -> Result<Option<T>> {
        merged(self, mine, sections::write, merge)
    }
}

/// A job of one process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&self, _: usize, _: &[u8]) {}

    fn receive(&self, _: usize) -> Vec<u8> {
        Vec::new()
    }
}

/// The values of all processes, merged on process 0 in the order of the ranks: every process
/// receives from the processes at the distances 1, 2, 4 and so on behind it. For values whose
/// merging does not round; sums of numbers are merged along the tree of their rows (`summing.rs`).
pub(super) fn merged<T, M: DeserializeOwned>(
    ranks: &dyn Ranks,
    mine: T,
    to_bytes: impl Fn(&T) -> Result<Vec<u8>>,
    merge: impl Fn(&mut T, M) -> Result<()>,
) -> Result<Option<T>> {
    let (rank, mut all, mut step) = (ranks.rank(), mine, 1);
    while step < ranks.size() {
        if rank % (2 * step) == step {
            ranks.send(rank - step, &to_bytes(&all)?);
            return Ok(None);
        }
        if rank + step < ranks.size() {
            merge(&mut all, sections::read(&ranks.receive(rank + step))?)?;
        }
        step *= 2;
    }
    Ok(Some(all))
}

/// The range of 0..count that belongs to this process; all ranges have about the same length.
pub(super) fn share_of(ranks: &dyn Ranks, count: u64) -> Range<u64> {
    let cut =
        |rank: usize| (rank as u128 * u128::from(count)).div_ceil(ranks.size() as u128) as u64;
    cut(ranks.rank())..cut(ranks.rank() + 1)
}
