//! Messages of any size over MPI. `crates/pipeline/src/stream/summing.rs` merges the sums of the
//! processes, along one tree for any number of them.

use mpi::collective::Root;
use mpi::point_to_point::{Destination, Source};
use mpi::topology::{Communicator, SimpleCommunicator};
use nystrom_pipeline::Ranks;

/// The most bytes of a message, because MPI counts them as a signed 32-bit number.
const LIMIT: usize = 1 << 30;

/// All processes of an MPI job.
///
/// A message is sent as its length, then in pieces of at most 2³⁰ bytes. An error of MPI ends the
/// job.
pub struct World {
    comm: SimpleCommunicator,
    limit: usize,
}

impl World {
    pub(crate) fn new(comm: SimpleCommunicator) -> World {
        World { comm, limit: LIMIT }
    }

    /// Sends messages in pieces of at most `limit` bytes (at least 1). Every process must set the
    /// same limit.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> World {
        World { limit: limit.clamp(1, LIMIT), ..self }
    }

    /// Ends all processes of the job at once with this status.
    pub fn abort(&self, status: u8) -> ! {
        self.comm.abort(status.into())
    }

    fn other(&self, rank: usize) -> mpi::topology::Process<'_> {
        // ranks are those that MPI counts
        self.comm.process_at_rank(mpi::Rank::try_from(rank).unwrap_or(mpi::Rank::MAX))
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.size())
    }
}

impl Ranks for World {
    fn rank(&self) -> usize {
        self.comm.rank().unsigned_abs() as usize
    }

    fn size(&self) -> usize {
        self.comm.size().unsigned_abs() as usize
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        let other = self.other(to);
        other.send(&(bytes.len() as u64));
        bytes.chunks(self.limit).for_each(|piece| other.send(piece));
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let other = self.other(from);
        let (length, _) = other.receive::<u64>();
        let mut bytes = vec![0; length as usize];
        for piece in bytes.chunks_mut(self.limit) {
            other.receive_into(piece);
        }
        bytes
    }

    fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let root = self.other(0);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        for piece in bytes.chunks_mut(self.limit) {
            root.broadcast_into(piece);
        }
        bytes
    }
}
