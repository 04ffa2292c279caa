//! Threads by `n_jobs`: pools of our own, never rayon's global one, whose threads a fork loses.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

/// The pool used last, and the process that it belongs to.
struct Kept {
    process: u32,
    pool: Arc<ThreadPool>,
}

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// A pool of so many threads, as scikit-learn counts them: −1 is one for each core, −2 one less;
/// `None` is −1.
pub fn pool(n_jobs: Option<isize>) -> PyResult<Arc<ThreadPool>> {
    let threads = threads(n_jobs)?;
    let process = std::process::id();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match kept.take() {
        // its threads stayed behind in the parent: nothing can end them here
        Some(forked) if forked.process != process => std::mem::forget(forked),
        Some(Kept { pool, .. }) if pool.current_num_threads() == threads => {
            *kept = Some(Kept { process, pool: Arc::clone(&pool) });
            return Ok(pool);
        }
        _ => {}
    }
    let pool = Arc::new(built(threads)?);
    *kept = Some(Kept { process, pool: Arc::clone(&pool) });
    Ok(pool)
}

/// As [`pool`], of its own: for work that waits for other work, which may be in the kept one.
pub fn own_pool(n_jobs: Option<isize>) -> PyResult<ThreadPool> {
    built(threads(n_jobs)?)
}

fn built(threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}"))
    })
}

#[expect(clippy::disallowed_methods, reason = "n_jobs counts down from the number of cores")]
fn threads(n_jobs: Option<isize>) -> PyResult<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs.unwrap_or(-1) {
        0 => Err(PyValueError::new_err("n_jobs = 0 has no meaning; take 1, or -1 for all cores")),
        given if given > 0 => Ok(given.unsigned_abs()),
        given => Ok((cores + 1).saturating_sub(given.unsigned_abs()).max(1)),
    }
}
