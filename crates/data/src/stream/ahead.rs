//! Making the next item while the last one is used.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{JoinHandle, spawn};

use crate::error::Result;

/// A consumer of items. It returns whether more are wanted.
pub(super) type Give<'a, T> = dyn FnMut(T) -> ControlFlow<()> + 'a;

/// Items made by another thread, at most one in advance.
pub(super) struct Ahead<T> {
    items: Option<Receiver<Result<T>>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Starts a thread that runs `make`, which passes each item on until no more are wanted.
    pub fn new(make: impl FnOnce(&mut Give<'_, T>) -> Result<()> + Send + 'static) -> Self {
        let (sender, items) = sync_channel(0);
        let thread = spawn(move || {
            let mut give = |item| match sender.send(Ok(item)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            if let Err(error) = make(&mut give) {
                // fails if the receiver is gone, and then nobody wants the error
                let _ = sender.send(Err(error));
            }
        });
        Ahead { items: Some(items), thread: Some(thread) }
    }

    /// The next item; `None` after the last.
    pub fn next(&mut self) -> Option<Result<T>> {
        match self.items.as_ref()?.recv() {
            Ok(item) => Some(item),
            Err(_) => {
                self.end();
                None
            }
        }
    }
}

impl<T> Ahead<T> {
    fn end(&mut self) {
        self.items = None; // so that the thread stops waiting
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl<T> Drop for Ahead<T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T> std::fmt::Debug for Ahead<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ahead").finish_non_exhaustive()
    }
}
