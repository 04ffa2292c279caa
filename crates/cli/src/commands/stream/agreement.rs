//! Whether a step succeeded on all processes of a job.

use crate::failure::{self, Failure, Result};
use crate::session::Session;

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
