//! The processes of a job, and their messages.

use super::sections;
use crate::error::Result;
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

    /// Collects the bytes of every process on every process, in the order of the ranks.
    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        if self.rank() > 0 {
            self.send(0, &bytes);
        }
        let mut all = vec![bytes];
        if self.rank() == 0 {
            all.extend((1..self.size()).map(|from| self.receive(from)));
        }
        // lengths first
        let lengths = all.iter().flat_map(|bytes| (bytes.len() as u64).to_le_bytes()).collect();
        let lengths = self.broadcast(lengths);
        let together = self.broadcast(all.concat());
        let mut rest = &together[..];
        let (lengths, _) = lengths.as_chunks::<8>();
        let cut = |length: &[u8; 8]| {
            let (bytes, behind) = rest.split_at(u64::from_le_bytes(*length) as usize);
            rest = behind;
            bytes.to_vec()
        };
        lengths.iter().map(cut).collect()
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

/// The things of all processes, merged on process 0 in the order of their ranks. Each takes what
/// its neighbours have, at distances 1, 2, 4 and so on.
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

/// Which of `count` things in a row belong to this process: about as many to each.
pub(super) fn share_of(ranks: &dyn Ranks, count: u64) -> Range<u64> {
    let cut =
        |rank: usize| (rank as u128 * u128::from(count)).div_ceil(ranks.size() as u128) as u64;
    cut(ranks.rank())..cut(ranks.rank() + 1)
}
