//! Rows that are shown again and again, and runs that take a pass for each iteration.

use super::{Iteration, Monitor, Verdict};
use crate::source::RowSource;
use crate::state::RowSums;
use nystrom_linalg_core::{Error, Result, Scalar, validate};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Rows that can be shown again and again to sums: a source of blocks, files, the processes of a
/// job.
pub trait RowPasses<T> {
    /// Shows every row, in the same order every time, to sums that are `empty`; the sums over all.
    ///
    /// # Errors
    /// Of reading, and those of the sums.
    fn pass<S: RowSums<T>>(&mut self, empty: S) -> Result<S>;
}

impl<T: Scalar, R: RowSource<T>> RowPasses<T> for R {
    fn pass<S: RowSums<T>>(&mut self, mut empty: S) -> Result<S> {
        self.rewind()?;
        while let Some(block) = self.next_block()? {
            empty.accumulate(block)?;
        }
        Ok(empty)
    }
}

/// What those who watch a run know of its passes.
pub(super) struct Seen {
    passes: AtomicU64,
    failed: AtomicBool,
}

impl Seen {
    /// After so many passes.
    pub fn after(passes: u64) -> Self {
        Seen { passes: AtomicU64::new(passes), failed: AtomicBool::new(false) }
    }

    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// A pass that failed ends the run before the monitor sees what came of it.
    pub fn until_failure<'s, 'm: 's, K, T>(
        &'s self,
        mut monitor: Option<&'m mut Monitor<'m, K, T>>,
    ) -> impl FnMut(&Iteration<'_, K, T>) -> Verdict + Send + 's {
        move |iteration| match &mut monitor {
            _ if self.failed.load(Ordering::Relaxed) => Ok(ControlFlow::Break(())),
            Some(monitor) => monitor(iteration),
            None => Ok(ControlFlow::Continue(())),
        }
    }
}

/// The passes of a run.
pub(super) struct Again<'a, P> {
    rows: &'a mut P,
    /// How many rows there are.
    n: u64,
    seen: &'a Seen,
    /// What ended them.
    error: Option<Error>,
}

impl<'a, P> Again<'a, P> {
    pub fn new(rows: &'a mut P, n: u64, seen: &'a Seen) -> Self {
        Again { rows, n, seen, error: None }
    }

    /// What one more pass finds; nothing once a pass has failed.
    pub fn pass<T, S: RowSums<T>, X>(
        &mut self,
        empty: S,
        finish: impl FnOnce(S) -> Result<X>,
    ) -> Option<X>
    where
        P: RowPasses<T>,
    {
        if self.error.is_some() {
            return None;
        }
        match self.rows.pass(empty).and_then(|sums| same_rows(self.n, sums)).and_then(finish) {
            Ok(found) => {
                self.seen.passes.fetch_add(1, Ordering::Relaxed);
                Some(found)
            }
            Err(error) => {
                self.error = Some(error);
                self.seen.failed.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// What the run found, or why a pass failed.
    pub fn unless_failed<X>(self, ran: Result<X>) -> Result<X> {
        self.error.map_or(ran, Err)
    }
}

/// The sums of a further pass, if it showed all n rows.
pub(crate) fn same_rows<T, S: RowSums<T>>(n: u64, sums: S) -> Result<S> {
    validate::same_size("rows of the source when read again", n as usize, sums.rows() as usize)?;
    Ok(sums)
}
