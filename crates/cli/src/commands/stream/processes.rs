//! What the processes of a job tell one another: whether a step succeeded on all, a value of
//! process 0, and values that process 0 merges.

use crate::failure::{self, Failure, Result};
use crate::session::Session;
use serde::Serialize;
use serde::de::DeserializeOwned;

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
        let all: Vec<u8> = ranks.gather(vec![status]).concat();
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

    /// The value of process 0, on every process.
    pub fn of_first<T: Serialize + DeserializeOwned>(&self, value: Option<T>) -> Result<T> {
        let bytes = serde_json::to_vec(&value)?;
        let value: Option<T> = serde_json::from_slice(&self.ranks.broadcast(bytes))?;
        value.ok_or_else(|| anyhow::anyhow!("process 0 has nothing to share"))
    }

    /// On process 0, the values of all processes, merged in the order of the ranks; none on the
    /// other processes.
    pub fn merged<T: Serialize + DeserializeOwned>(
        &self,
        mine: T,
        merge: impl Fn(&mut T, T),
    ) -> Result<Option<T>> {
        if !self.is_first() {
            let mut bytes = Vec::new();
            // JSON would lose NaN
            ciborium::into_writer(&mine, &mut bytes)?;
            self.ranks.send(0, &bytes);
            return Ok(None);
        }
        let mut all = mine;
        for rank in 1..self.ranks.size() {
            merge(&mut all, ciborium::from_reader(&self.ranks.receive(rank)[..])?);
        }
        Ok(Some(all))
    }
}
