//! Matrices at which arithmetic breaks first, and the guard under which every function meets them:
//! shared by the crates that see a matrix by its blocks alone.
//!
//! A panic, a hang, or NaN from finite input is a failure; a typed error is fine, and so are 0 and
//! ∞ where numbers underflow or overflow.

use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Indices, PsdMatrix, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// What no function needs for matrices of order 8, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// An n × n matrix of which nothing was checked, by its lower triangle; n may be 0.
#[derive(Debug, Clone)]
pub struct Raw(pub Mat<f64>);

impl Raw {
    fn is_finite(&self) -> bool {
        self.0.col_iter().all(|column| column.iter().all(|value| value.is_finite()))
    }

    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.0.nrows()).map(|i| self.0[(i, i)]).collect()
    }
}

impl PsdMatrix<f64> for Raw {
    fn dim(&self) -> usize {
        self.0.nrows()
    }

    fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
        idx.iter().enumerate().for_each(|(t, i)| out[t] = self.0[(i, i)]);
    }

    fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
        for (t, j) in cols.iter().enumerate() {
            for (s, i) in rows.iter().enumerate() {
                out[(s, t)] = self.0[(i.max(j), i.min(j))];
            }
        }
    }
}

/// All numbers that a call gave, or its error.
pub type Operation = fn(&Raw, usize) -> Result<Vec<f64>>;

fn smooth(i: usize, j: usize) -> f64 {
    (-(i as f64 - j as f64).powi(2) / 4.0).exp()
}

/// The matrices by name; those that are finite must not give NaN.
fn matrices() -> Vec<(String, Raw)> {
    let mut all: Vec<(String, Mat<f64>)> = vec![];
    let mut add = |name: &str, n: usize, at: &dyn Fn(usize, usize) -> f64| {
        all.push((name.into(), Mat::from_fn(n, n, at)));
    };
    add("order 0", 0, &|_, _| 1.0);
    add("order 1", 1, &|_, _| 2.0);
    add("order 2", 2, &smooth);
    add("zero of order 1", 1, &|_, _| 0.0);
    add("zero", 5, &|_, _| 0.0);
    add("one point seven times", 7, &|_, _| 1.0);
    add("every point twice", 8, &|i, j| smooth(i / 2, j / 2));
    add("identity", 6, &|i, j| f64::from(u8::from(i == j)));
    add("rank 1", 6, &|i, j| (i as f64 + 1.0) * (j as f64 + 1.0));
    add("a row of zeros", 7, &|i, j| if i == 2 || j == 2 { 0.0 } else { smooth(i, j) });
    for scale in [5e-324, 1e-320, 1e-300, 1e-160, 1e160, 1e300, 1e307] {
        add(&format!("times {scale:e}"), 7, &|i, j| scale * smooth(i, j));
        add(&format!("identity times {scale:e}"), 5, &|i, j| if i == j { scale } else { 0.0 });
    }
    let mixed = |i: usize| 10.0_f64.powf(50.0 * (i as f64 - 3.0));
    add("from 1e-300 to 1e300", 7, &|i, j| mixed(i) * smooth(i, j) * mixed(j));
    add("diagonal from 1e-300 to 1e300", 7, &|i, j| if i == j { mixed(i).powi(2) } else { 0.0 });
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        add(&format!("{value} on the diagonal"), 7, &|i, j| {
            if i == 3 && j == 3 { value } else { smooth(i, j) }
        });
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0] {
        add(&format!("{value} elsewhere"), 7, &|i, j| {
            if (i.max(j), i.min(j)) == (4, 1) { value } else { smooth(i, j) }
        });
    }
    all.into_iter().map(|(name, matrix)| (name, Raw(matrix))).collect()
}

/// Runs every operation on every matrix with sizes 0, 1, 2, n/2, n − 1, n, n + 1 and the largest
/// number there is.
///
/// # Panics
/// With all that went wrong.
pub fn check(operations: &[(&str, Operation)]) {
    let failures: Vec<String> =
        operations.iter().flat_map(|&(name, operation)| failures_of(name, operation)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn failures_of(name: &str, operation: Operation) -> Vec<String> {
    let (send, receive) = mpsc::channel();
    let current = Arc::new(Mutex::new(String::new()));
    let at = Arc::clone(&current);
    std::thread::spawn(move || {
        let mut failures = vec![];
        for (matrix, k) in matrices() {
            let n = k.dim();
            let mut sizes = vec![0, 1, 2, n / 2, n.saturating_sub(1), n, n + 1, usize::MAX];
            sizes.sort_unstable();
            sizes.dedup();
            for size in sizes {
                let case = format!("{matrix}, size {size}");
                at.lock().unwrap().clone_from(&case);
                match catch_unwind(AssertUnwindSafe(|| operation(&k, size))) {
                    Err(panic) => failures.push(format!("{case}: panic: {}", message(&*panic))),
                    Ok(Ok(values)) if values.iter().any(|v| v.is_nan()) && k.is_finite() => {
                        failures.push(format!("{case}: NaN"));
                    }
                    Ok(_) => {}
                }
            }
        }
        send.send(failures).unwrap();
    });
    let failures = receive.recv_timeout(PATIENCE);
    let failures =
        failures.unwrap_or_else(|_| vec![format!("{}: no end", current.lock().unwrap())]);
    failures.into_iter().map(|failure| format!("{name}: {failure}")).collect()
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}
