//! Work outside the GIL, in a pool of threads, which Ctrl-C ends.

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

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How many looks after a signal work that can be left is waited for.
const PATIENCE: usize = 10;

/// Whether the work is to end.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// What unwinds through work that is to end.
struct Stopped;

impl Stop {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Leaves the work if it is to end: by unwinding, without a message, to [`run`]. All that the
    /// work holds is its own and is dropped on the way.
    pub fn check(&self) {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Leaves the work with an exception, by unwinding to [`run`].
pub fn leave(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

/// Runs `work` in a pool, with the GIL released; while it goes on, the main thread looks for
/// signals.
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
                // the receiver is there until the scope ends
                let _ = send.send(outcome);
            });
            listen(&receive, watched.then_some(&stop), None)
        })
    });
    outcome(ended)
}

/// As [`run`], for work that owns all it needs. An exception by Ctrl-C waits for it half a second.
/// Then it leaves the work to end by itself, at its next block of kernel values.
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
        // nobody may be there to hear of work that was left
        let _ = send.send(outcome);
    });
    let ended = py.detach(move || listen(&receive, watched.then_some(&stop), Some(PATIENCE)));
    outcome(ended)
}

/// Asks the caller of [`run_asking`] a question, and waits for the answer.
pub type Ask<'a, Q, A> = &'a mut (dyn FnMut(Q) -> A + Send);

/// Runs `work` in a pool of its own, with the GIL released; the calling thread, and so Python,
/// answers its questions meanwhile. An exception in an answer, Ctrl-C among them, ends the work.
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
                    // the scope outlives the work, and the caller answers until it ends
                    let answer = ask.send(question).ok().and_then(|()| answers.recv().ok());
                    answer.unwrap_or_else(|| Err(abandoned())).unwrap_or_else(|error| leave(error))
                };
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&inside, &mut asked)));
                drop(asked);
                let _ = send.send(outcome);
            });
            let mut signal = None;
            loop {
                match questions.recv_timeout(LOOK) {
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

/// What work came to, if it was waited for, and the exception that a signal raised meanwhile.
type Ended<R> = (Option<std::thread::Result<Outcome<R>>>, Option<PyErr>);

/// Waits for the work, and for signals if it can be stopped; after one so many looks more.
fn listen<R>(
    receive: &Receiver<std::thread::Result<Outcome<R>>>,
    stop: Option<&Stop>,
    patience: Option<usize>,
) -> Ended<R> {
    let (mut signal, mut looks) = (None, 0);
    loop {
        match receive.recv_timeout(LOOK) {
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
    PyKeyboardInterrupt::new_err("the work was abandoned")
}

/// The exception that unwound, or the bug.
fn exception(panic: Box<dyn Any + Send>) -> PyErr {
    match panic.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(panic) if panic.is::<Stopped>() => PyKeyboardInterrupt::new_err(()),
        Err(panic) => resume_unwind(panic),
    }
}

/// Signals reach the main thread alone.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}
