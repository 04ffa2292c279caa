//! What the processes of a job know of one another: whether all did it, what the first has, and
//! what all have together.

use crate::failure::{self, Failure, Result};
use nystrom_pipeline::Ranks;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What all processes did, each for itself. If it failed for some, the first of them tells the
/// error, and all end with its status. Its rank is told unless it failed for all.
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

/// What process 0 has, on all.
pub fn share<T: Serialize + DeserializeOwned>(ranks: &dyn Ranks, value: Option<T>) -> Result<T> {
    let bytes = serde_json::to_vec(&value)?;
    let value: Option<T> = serde_json::from_slice(&ranks.broadcast(bytes))?;
    value.ok_or_else(|| anyhow::anyhow!("process 0 has nothing to share"))
}

/// What all processes have, on process 0: there `merge` adds what the others have, in the order of
/// their ranks.
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
