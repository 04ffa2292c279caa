//! Iterative fits that are saved after any iteration, as text, and gone on with.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{Extras, Falkon, FullKrr, Iteration, IterativeFit, IterativeOptions, Krill};
use nystrom_linalg_core::{Error, Result, Ridge};
use std::ops::ControlFlow;

type Fit = Result<IterativeFit<Gaussian, f64>>;

/// The state after iteration `at`, as text.
fn saved(at: usize, fit: &dyn Fn(Extras<'_, Gaussian, f64>) -> Fit) -> String {
    let mut text = String::new();
    let mut keep = |iteration: &Iteration<'_, Gaussian, f64>| {
        if iteration.number < at {
            return Ok(ControlFlow::Continue(()));
        }
        text = serde_json::to_string(&iteration.state())?;
        Ok(ControlFlow::Break(()))
    };
    let extras = Extras { monitor: Some(&mut keep), ..Extras::default() };
    assert_eq!(fit(extras).unwrap().report.iterations, at);
    text
}

fn resumed(text: &str, fit: &dyn Fn(Extras<'_, Gaussian, f64>) -> Fit) -> Fit {
    let state = serde_json::from_str(text).unwrap();
    fit(Extras { resume: Some(&state), ..Extras::default() })
}

/// Interrupted anywhere and gone on with elsewhere, the bits are those of the whole run.
fn assert_goes_on(fit: &dyn Fn(Extras<'_, Gaussian, f64>) -> Fit) {
    let whole = fit(Extras::default()).unwrap();
    let n = whole.report.iterations;
    assert!(whole.converged() && n > 4, "{n} iterations");
    for at in [1, n / 2, n - 1] {
        let rest = resumed(&saved(at, fit), fit).unwrap();
        assert_eq!(rest.model.coefficients(), whole.model.coefficients(), "at {at} of {n}");
        assert_eq!(rest.model.intercept(), whole.model.intercept());
        assert_eq!(rest.report.history, whole.report.history);
        assert_eq!(rest.report.condition, whole.report.condition);
    }
}

fn falkon<'a>(
    x: &'a Mat<f64>,
    y: &'a Mat<f64>,
    lambda: f64,
    intercept: bool,
) -> impl Fn(Extras<'_, Gaussian, f64>) -> Fit + 'a {
    move |extras| {
        let centers = Points::from_rows(x.as_ref().subrows(0, 40));
        let falkon = Falkon { intercept, ..Falkon::new(gaussian(1.0), Ridge::PerSample(lambda)) };
        falkon.fit_with((Points::from_rows(x.as_ref()), y.as_ref()), centers, extras)
    }
}

#[test]
fn restricted_fits_go_on_to_the_same_bits() {
    let (x, y) = sample::<f64>(400, 2, 2, 0);
    assert_goes_on(&falkon(&x, &y, 1e-4, false));
    assert_goes_on(&falkon(&x, &y, 1e-4, true));
    assert_goes_on(&|extras| {
        let centers = Points::from_rows(x.as_ref().subrows(0, 40));
        Krill::new(gaussian(1.0), Ridge::PerSample(1e-4)).fit_with(
            (Points::from_rows(x.as_ref()), y.as_ref()),
            centers,
            extras,
            &mut rng(1),
        )
    });
}

#[test]
fn full_fits_go_on_to_the_same_bits() {
    let (x, y) = sample::<f64>(500, 2, 1, 3);
    for memory in [None, Some(1 << 30)] {
        let options = IterativeOptions { tolerance: 1e-9, max_iterations: 300, memory };
        let full = FullKrr {
            rank: Some(20),
            options,
            ..FullKrr::new(gaussian(0.5), Ridge::PerSample(1e-3))
        };
        assert_goes_on(&|extras| {
            let problem = (Points::from_rows(x.as_ref()), y.as_ref());
            full.fit_with(problem, extras, &mut rng(4))
        });
    }
}

#[test]
fn a_state_of_another_fit_is_refused() {
    let (x, y) = sample::<f64>(400, 2, 1, 0);
    let own = falkon(&x, &y, 1e-4, false);
    let text = saved(3, &own);
    assert!(resumed(&text, &own).is_ok());
    let other = Mat::from_fn(400, 1, |i, _| y[(i, 0)] + f64::from(u8::from(i == 7)) * 1e-9);
    for fit in [falkon(&x, &y, 1.1e-4, false), falkon(&x, &other, 1e-4, false)] {
        let error = resumed(&text, &fit).unwrap_err();
        let Error::Incompatible { what, ref problem } = error else { panic!("{error}") };
        assert!(
            what == "state of conjugate gradients" && problem.contains("other data"),
            "{error}"
        );
    }
    for (from, to) in [("\"nrows\":40", "\"nrows\":20"), ("\"ncols\":1", "\"ncols\":2")] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text);
        let state = serde_json::from_str::<nystrom_linalg_core::SavedSolve>(&damaged);
        assert!(state.unwrap_err().to_string().contains("damaged"));
    }
}
