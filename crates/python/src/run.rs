//! Runs computations in a thread pool with the GIL released. Ctrl-C interrupts them.

use crate::error::Outcome;
use crate::pool::{own_pool, pool};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// The interval between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// After a signal, [`run_owned`] waits for its work for this many intervals.
const INTERVALS_AFTER_SIGNAL: usize = 10;

/// A flag that asks a computation to end.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// The payload that unwinds through a computation that [`Stop`] ends.
struct Stopped;

impl Stop {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Ends the computation if the flag is set, by unwinding to [`run`] without a message. The
    /// values that the computation owns are dropped on the way.
    pub fn check(&self) {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Ends the computation with an exception, by unwinding to [`run`].
pub fn leave(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

/// Runs `work` in the pool with the GIL released. Meanwhile the main thread checks for signals.
///
/// # Errors
/// Those of `work`; the exception of a signal.
pub fn run<R: Send>(
    py: Python<'_>,
    n_jobs: Option<isize>,
    work: impl FnOnce(&Stop) -> Outcome<R> + Send,
) -> PyResult<R> {
    let pool = pool(n_jobs)?;
    let watched = is_main_thread(py)?;
    let stop = Stop::default();
    let (send, receive) = sync_channel(1);
    let ended = py.detach(move || {
        pool.in_place_scope(|scope| {
            let inside = stop.clone();
            scope.spawn(move |_| {
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&inside)));
                // the receiver exists until the scope ends
                let _ = send.send(outcome);
            });
            listen(&receive, watched.then_some(&stop), None)
        })
    });
    outcome(ended)
}

/// As [`run`], for work that owns its data. After Ctrl-C it waits at most half a second for the
/// work, then returns the exception; the work ends on its own at its next block of kernel values.
pub fn run_owned<R: Send + 'static>(
    py: Python<'_>,
    n_jobs: Option<isize>,
    work: impl FnOnce(&Stop) -> Outcome<R> + Send + 'static,
) -> PyResult<R> {
    let pool = pool(n_jobs)?;
    let watched = is_main_thread(py)?;
    let stop = Stop::default();
    let (send, receive) = sync_channel(1);
    let inside = stop.clone();
    pool.spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&inside)));
        // there is no receiver if the caller has stopped waiting
        let _ = send.send(outcome);
    });
    let ended =
        py.detach(move || listen(&receive, watched.then_some(&stop), Some(INTERVALS_AFTER_SIGNAL)));
    outcome(ended)
}

/// Sends a question to the thread that called [`run_asking`], and waits for the answer.
pub type Ask<'a, Q, A> = &'a mut (dyn FnMut(Q) -> A + Send);

/// Runs `work` in a new pool with the GIL released. Meanwhile the calling thread answers the
/// questions of the work by `answer`, which may run Python. An exception in an answer, or Ctrl-C,
/// ends the work.
pub fn run_asking<R: Send, Q: Send, A: Send>(
    py: Python<'_>,
    n_jobs: Option<isize>,
    work: impl FnOnce(&Stop, Ask<'_, Q, A>) -> Outcome<R> + Send,
    mut answer: impl FnMut(Python<'_>, Q) -> PyResult<A> + Send,
) -> PyResult<R> {
    let pool = own_pool(n_jobs)?;
    let watched = is_main_thread(py)?;
    let stop = Stop::default();
    let (ask, questions) = sync_channel::<Q>(1);
    let (reply, answers) = sync_channel::<PyResult<A>>(1);
    let (send, receive) = sync_channel(1);
    let ended = py.detach(move || {
        pool.in_place_scope(|scope| {
            let inside = stop.clone();
            scope.spawn(move |_| {
                let mut asked = move |question| {
                    // the caller answers until the work ends, because the scope outlives it
                    let answer = ask.send(question).ok().and_then(|()| answers.recv().ok());
                    answer.unwrap_or_else(|| Err(abandoned())).unwrap_or_else(|error| leave(error))
                };
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&inside, &mut asked)));
                drop(asked);
                let _ = send.send(outcome);
            });
            let mut signal = None;
            loop {
                match questions.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(question) => {
                        let _ = reply.send(Python::attach(|py| answer(py, question)));
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) if watched && signal.is_none() => {
                        signal = Python::try_attach(|py| py.check_signals().err()).flatten();
                        signal.iter().for_each(|_| stop.set());
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            (receive.recv().ok(), signal)
        })
    });
    outcome(ended)
}

/// The outcome of the work, unless waiting was given up, and the exception of a signal, if any.
type Ended<R> = (Option<std::thread::Result<Outcome<R>>>, Option<PyErr>);

/// Waits for the outcome of the work. If `stop` is given, signals set it; after a signal the wait
/// lasts at most `patience` more intervals.
fn listen<R>(
    receive: &Receiver<std::thread::Result<Outcome<R>>>,
    stop: Option<&Stop>,
    patience: Option<usize>,
) -> Ended<R> {
    let (mut signal, mut looks) = (None, 0);
    loop {
        match receive.recv_timeout(SIGNAL_INTERVAL) {
            Ok(outcome) => return (Some(outcome), signal),
            Err(RecvTimeoutError::Disconnected) => return (None, signal),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match stop {
            Some(stop) if signal.is_none() => {
                signal = Python::try_attach(|py| py.check_signals().err()).flatten();
                if signal.is_some() {
                    stop.set();
                }
            }
            Some(_) if patience.is_some_and(|most| looks >= most) => return (None, signal),
            _ => looks += usize::from(signal.is_some()),
        }
    }
}

fn outcome<R>(ended: Ended<R>) -> PyResult<R> {
    match ended {
        (_, Some(signal)) => Err(signal),
        (Some(Ok(outcome)), None) => outcome.map_err(PyErr::from),
        (Some(Err(panic)), None) => Err(exception(panic)),
        (None, None) => Err(abandoned()),
    }
}

fn abandoned() -> PyErr {
    PyKeyboardInterrupt::new_err("the computation was abandoned")
}

/// The exception by which the work unwound. Other panics are bugs and are resumed.
fn exception(panic: Box<dyn Any + Send>) -> PyErr {
    match panic.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(panic) if panic.is::<Stopped>() => PyKeyboardInterrupt::new_err(()),
        Err(panic) => resume_unwind(panic),
    }
}

/// Whether this is the main thread, the only one that Python delivers signals to.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}
