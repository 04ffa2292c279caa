//! Who else reads rows: the processes of a job.

/// The processes of a job, numbered from 0, of which each runs the same program over a part of the
/// rows.
///
/// What one sends to another arrives whole, and in the order in which it was sent. A message that
/// cannot be sent ends the job.
///
/// [`Alone`] is a job of one process. What is made over ranks has the bits of what one makes alone.
pub trait Ranks {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends bytes to another process.
    fn send(&self, to: usize, bytes: &[u8]);

    /// The next bytes that another process sent to this one.
    fn receive(&self, from: usize) -> Vec<u8>;

    /// The bytes of process 0, on every process; those of the others play no part.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.rank() > 0 {
            return self.receive(0);
        }
        (1..self.size()).for_each(|to| self.send(to, &bytes));
        bytes
    }

    /// The bytes of every process, on every process.
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
pub(super) fn merged<T, E>(
    ranks: &dyn Ranks,
    mine: T,
    to_bytes: impl Fn(&T) -> Result<Vec<u8>, E>,
    merge: impl Fn(&mut T, Vec<u8>) -> Result<(), E>,
) -> Result<Option<T>, E> {
    let (rank, mut all, mut step) = (ranks.rank(), mine, 1);
    while step < ranks.size() {
        if rank % (2 * step) == step {
            ranks.send(rank - step, &to_bytes(&all)?);
            return Ok(None);
        }
        if rank + step < ranks.size() {
            merge(&mut all, ranks.receive(rank + step))?;
        }
        step *= 2;
    }
    Ok(Some(all))
}
