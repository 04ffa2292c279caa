//! Thread pools for `n_jobs`. rayon's global pool is not used because a fork loses its threads.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

/// The pool used last, and the id of its process.
struct Kept {
    process: u32,
    pool: Arc<ThreadPool>,
}

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// A pool of `n_jobs` threads, counted as by scikit-learn: −1 is one for each core, −2 one less,
/// and `None` is −1. The pool is reused if the last call asked for as many threads.
pub fn pool(n_jobs: Option<isize>) -> PyResult<Arc<ThreadPool>> {
    let threads = threads(n_jobs)?;
    let process = std::process::id();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match kept.take() {
        // the threads exist only in the parent process, so the pool cannot be dropped here
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

/// As [`pool`], but always a new pool: for a computation that waits for another one, which may run
/// in the pool of [`pool`].
pub fn own_pool(n_jobs: Option<isize>) -> PyResult<ThreadPool> {
    built(threads(n_jobs)?)
}

fn built(threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}"))
    })
}

/// The number of threads for `n_jobs`, as in [`pool`].
#[pyfunction]
#[pyo3(signature = (n_jobs=None))]
#[expect(clippy::disallowed_methods, reason = "n_jobs counts down from the number of cores")]
pub fn threads(n_jobs: Option<isize>) -> PyResult<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match n_jobs.unwrap_or(-1) {
        0 => Err(PyValueError::new_err("n_jobs = 0 has no meaning; take 1, or -1 for all cores")),
        given if given > 0 => Ok(given.unsigned_abs()),
        given => Ok((cores + 1).saturating_sub(given.unsigned_abs()).max(1)),
    }
}
