//! Agreement between the processes of a job: on errors, on the data of process 0, and on the merged
//! data of all.

use crate::failure::{self, Failure, Result};
use nystrom_pipeline::Ranks;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The result of a step that every process did for itself, if it succeeded on all. If it failed on
/// some, the first of them prints its error, with its rank unless it failed on all, and every
/// process gets an error with the same status.
pub fn agree<T>(ranks: &dyn Ranks, mine: Result<T>) -> Result<T> {
    if ranks.size() == 1 {
        return mine;
    }
    let status = mine.as_ref().map_or_else(failure::status, |_| 0);
    let all: Vec<u8> = ranks.gather(vec![status]).concat();
    let Some(first) = all.iter().position(|status| *status != 0) else { return mine };
    if let (Err(error), true) = (mine, ranks.rank() == first) {
        let alone = all.contains(&0);
        failure::report(&if alone { error.context(format!("rank {first}")) } else { error });
    }
    Err(Failure::Elsewhere(all[first]).into())
}

/// Sends the value of process 0 to all processes.
pub fn share<T: Serialize + DeserializeOwned>(ranks: &dyn Ranks, value: Option<T>) -> Result<T> {
    let bytes = serde_json::to_vec(&value)?;
    let value: Option<T> = serde_json::from_slice(&ranks.broadcast(bytes))?;
    value.ok_or_else(|| anyhow::anyhow!("process 0 has nothing to share"))
}

/// Collects the values of all processes on process 0, which merges them with `merge` in the order
/// of the ranks. None on the other processes.
pub fn together<T: Serialize + DeserializeOwned>(
    ranks: &dyn Ranks,
    mine: T,
    merge: impl Fn(&mut T, T),
) -> Result<Option<T>> {
    if ranks.rank() > 0 {
        let mut bytes = Vec::new();
        // JSON would lose NaN
        ciborium::into_writer(&mine, &mut bytes)?;
        ranks.send(0, &bytes);
        return Ok(None);
    }
    let mut all = mine;
    for rank in 1..ranks.size() {
        merge(&mut all, ciborium::from_reader(&ranks.receive(rank)[..])?);
    }
    Ok(Some(all))
}
