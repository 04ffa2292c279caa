//! Runs of conjugate gradients that are saved and gone on with.
#![allow(non_snake_case)]

use crate::factorisations::{distance, psd};
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::testing::rng;
use nystrom_linalg_core::{
    Cholesky, ConjugateGradients, Error, LinearSystem, Result, SavedSolve, Stop, ops, random,
};
use proptest::prelude::*;

/// A, Â = A + E as the nearby one that gives way to A, and M = sI.
pub struct System {
    pub A: Mat<f64>,
    pub E: Option<Mat<f64>>,
    pub scale: f64,
}

impl LinearSystem for System {
    fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>, exact: bool) -> Result<()> {
        ops::matmul(out.rb_mut(), Accum::Replace, self.A.as_ref(), x, 1.0);
        if let Some(E) = self.E.as_ref().filter(|_| !exact) {
            ops::matmul(out, Accum::Add, E.as_ref(), x, 1.0);
        }
        Ok(())
    }
    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(faer::Scale(1.0 / self.scale) * r);
    }
    fn error(&self) -> f64 {
        self.E.as_ref().map_or(0.0, |E| E.norm_l2())
    }
    fn fall_back(&mut self) -> bool {
        self.E.take().is_some()
    }
}

/// GGᵀ + I, and a nearby matrix that is not positive definite if `rough`.
fn system(n: usize, rough: bool, seed: u64) -> System {
    let G: Mat<f64> = random::standard_normal(n, n, &mut rng(seed));
    let A = &G * G.transpose() + Mat::<f64>::identity(n, n);
    let size = if rough { 3.0 } else { 1e-4 };
    let E = Mat::from_fn(n, n, |i, j| if i == j { -size } else { 0.0 });
    System { A, E: Some(E), scale: 2.0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Wherever it was interrupted: before and after refinement, before and after a fall-back.
    #[test]
    fn a_run_that_is_gone_on_with_is_the_run(
        n in 2..30usize, t in 1..4usize, rough: bool, at in 1..40usize, seed in 0..1000u64,
    ) {
        let b: Mat<f64> = random::standard_normal(n, t, &mut rng(seed + 1));
        let (mut whole, mut saved) = (system(n, rough, seed), None);
        let mut solve = ConjugateGradients::start(&mut whole, b.as_ref(), None).unwrap();
        let stop = solve.run(&mut whole, b.as_ref(), 1e-9, 60, &mut |solve| {
            if solve.iterations() == at {
                saved = Some(solve.save());
            }
            None
        });
        let stop = stop.unwrap();
        if let Some(saved) = saved {
            let bytes = saved.to_bytes();
            prop_assert_eq!(&SavedSolve::from_bytes(&bytes).unwrap(), &saved);
            let other = |bytes: &[u8]| {
                matches!(SavedSolve::from_bytes(bytes), Err(Error::Incompatible { .. }))
            };
            prop_assert!((0..bytes.len()).all(|end| other(&bytes[..end])));
            // any size is another, however large
            for at in 0..3 + t {
                for size in [0, 1, 7, u64::MAX / 3, u64::MAX] {
                    let mut damaged = bytes.clone();
                    damaged[8 * at..8 * at + 8].copy_from_slice(&size.to_le_bytes());
                    prop_assert!(damaged == bytes || other(&damaged), "{} {}", at, size);
                }
            }
            let mut again = system(n, rough, seed);
            let mut resumed = ConjugateGradients::resume(&saved, &mut again, b.as_ref()).unwrap();
            prop_assert_eq!(resumed.iterations(), at);
            prop_assert_eq!(&resumed.save(), &saved);
            let rest = resumed.run(&mut again, b.as_ref(), 1e-9, 60, &mut |_| None).unwrap();
            prop_assert_eq!(rest, stop);
            prop_assert_eq!(resumed.history(), solve.history());
            prop_assert_eq!(resumed.x(), solve.x());
            prop_assert_eq!(resumed.residual(), solve.residual());
            prop_assert_eq!(resumed.condition(), solve.condition());
        } else {
            prop_assert!(solve.iterations() < at);
        }
    }
}

#[test]
fn a_state_of_something_else_is_refused() {
    let b: Mat<f64> = random::standard_normal(20, 2, &mut rng(0));
    let mut own = system(20, false, 1);
    let (mut solve, mut saved) =
        (ConjugateGradients::start(&mut own, b.as_ref(), None).unwrap(), None);
    let mut keep = |cg: &ConjugateGradients| {
        saved = Some(cg.save());
        None
    };
    solve.run(&mut own, b.as_ref(), 1e-9, 4, &mut keep).unwrap();
    let saved = saved.unwrap();
    let says = |system: &mut System, b: MatRef<'_, f64>| match ConjugateGradients::resume(
        &saved, system, b,
    ) {
        Err(Error::Incompatible { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    let mut other = System { scale: 2.0 + 1e-9, ..system(20, false, 1) };
    assert!(says(&mut other, b.as_ref()).contains("ridge, preconditioner"));
    let scaled = faer::Scale(1.0 + 1e-9) * &b;
    assert!(says(&mut own, scaled.as_ref()).contains("saved with other data"));
    assert!(says(&mut own, b.as_ref().subcols(0, 1)).contains("sizes"));
    assert!(says(&mut system(19, false, 1), b.as_ref().subrows(0, 19)).contains("sizes"));
}

/// A run that came to its end is gone on with to a smaller tolerance.
#[test]
fn a_run_that_ended_goes_on() {
    let b: Mat<f64> = random::standard_normal(25, 1, &mut rng(2));
    let mut own = system(25, false, 3);
    let mut solve = ConjugateGradients::start(&mut own, b.as_ref(), None).unwrap();
    let mut run = |tolerance: f64| {
        let stop = solve.run(&mut own, b.as_ref(), tolerance, 500, &mut |_| None).unwrap();
        assert_eq!(stop, Stop::Converged);
        assert!(solve.residual() <= tolerance);
        solve.history().to_vec()
    };
    let (rough, fine) = (run(1e-3), run(1e-11));
    assert!(rough.len() < fine.len());
    assert_eq!(fine[..rough.len()], rough);
    let r = &b - &system(25, false, 3).A * solve.x();
    assert!(r.norm_l2() < 1.001e-11 * b.norm_l2());
}

/// The Lanczos matrix of diag(1, 10⁻²⁰) is [[½, ½], [½, ½]] when rounded.
#[test]
fn a_condition_beyond_rounding_is_not_a_good_one() {
    let A = Mat::from_fn(2, 2, |i, j| if i == j { 1e-20_f64.powi(i as i32) } else { 0.0 });
    let (mut hopeless, b) = (System { A, E: None, scale: 1.0 }, Mat::full(2, 1, 1.0));
    let mut cg = ConjugateGradients::start(&mut hopeless, b.as_ref(), None).unwrap();
    while cg.residual() > 1e-10 && cg.step(&mut hopeless, 1e-10).unwrap() {}
    assert_eq!(cg.condition(), 1e18);
}

/// `max_iterations` leaves the check of the true residual out.
#[test]
fn the_checks_apply_the_matrix_besides_the_iterations() {
    let (inner, b) = (system(25, false, 3), random::standard_normal(25, 1, &mut rng(2)));
    for nearby in [None, inner.E.clone()] {
        let mut counting = Counting(System { A: inner.A.clone(), E: nearby, scale: 1.0 }, 0);
        let mut solve = ConjugateGradients::start(&mut counting, b.as_ref(), None).unwrap();
        let stop = solve.run(&mut counting, b.as_ref(), 1e-12, 7, &mut |_| None).unwrap();
        assert_eq!((stop, solve.iterations(), counting.1), (Stop::IterationLimit, 7, 7 + 1));
    }
}

/// And how often it was applied.
struct Counting(System, usize);

impl LinearSystem for Counting {
    fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, exact: bool) -> Result<()> {
        self.1 += 1;
        self.0.apply(out, x, exact)
    }
    fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        self.0.precondition(out, r);
    }
    fn error(&self) -> f64 {
        self.0.error()
    }
}

/// A, with M⁻¹ in place.
struct Preconditioned<'a>(&'a Mat<f64>, &'a dyn Fn(MatMut<'_, f64>));

impl LinearSystem for Preconditioned<'_> {
    fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
        ops::matmul(out, Accum::Replace, self.0.as_ref(), x, 1.0);
        Ok(())
    }
    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(r);
        (self.1)(out);
    }
}

impl Preconditioned<'_> {
    fn solve(
        &mut self,
        b: &Mat<f64>,
        x0: Option<&Mat<f64>>,
        tolerance: f64,
        max_iterations: usize,
    ) -> (Stop, ConjugateGradients) {
        let mut solve = ConjugateGradients::start(self, b.as_ref(), x0.map(Mat::as_ref)).unwrap();
        let stop = solve.run(self, b.as_ref(), tolerance, max_iterations, &mut |_| None).unwrap();
        (stop, solve)
    }
}

#[test]
fn several_systems_are_solved_and_the_truth_reported() {
    let n = 60;
    let mut a = psd::<f64>(n, n, 3);
    ops::add_to_diagonal(a.as_mut(), 0.1);
    let mut b = random::standard_normal::<f64>(n, 3, &mut rng(4));
    b.col_mut(1).fill(0.0); // a zero right-hand side is solved by zero at once
    let jacobi = |mut r: MatMut<'_, f64>| {
        for j in 0..r.ncols() {
            (0..n).for_each(|i| r[(i, j)] /= a[(i, i)]);
        }
    };
    let mut system = Preconditioned(&a, &jacobi);
    let (stop, solve) = system.solve(&b, None, 1e-11, 500);
    let (x, residual) = (solve.x(), solve.residual());
    let mut exact = b.clone();
    Cholesky::new(a.as_ref()).unwrap().solve_in_place(exact.as_mut());
    assert!(stop == Stop::Converged && residual <= 1e-11, "{stop:?} {residual}");
    assert!(distance(x, exact.as_ref()) < 1e-9 * exact.norm_l2());
    assert_eq!(x.col(1).norm_l2(), 0.0);

    // Warm start: the solution itself takes no iteration.
    let (_, warm) = system.solve(&b, Some(&exact), 1e-11, 500);
    assert_eq!(warm.iterations(), 0);

    // Too few iterations: the iterate is kept, and the residual is the true one.
    let (stop, few) = system.solve(&b, None, 1e-11, 2);
    assert!(stop == Stop::IterationLimit && few.history().len() == 2);
    assert!(few.residual() > 1e-11);
}

#[test]
fn a_perfect_preconditioner_needs_one_iteration() {
    let mut a = psd::<f64>(40, 40, 8);
    ops::add_to_diagonal(a.as_mut(), 1.0);
    let factor = Cholesky::new(a.as_ref()).unwrap();
    let b = random::standard_normal::<f64>(40, 2, &mut rng(9));
    let solve = |out: MatMut<'_, f64>| factor.solve_in_place(out);
    let (_, solve) = Preconditioned(&a, &solve).solve(&b, None, 1e-8, 100);
    assert_eq!(solve.iterations(), 1);
}

/// An application that fails ends the run: no step is made of what it left.
#[test]
fn a_failed_application_is_returned() {
    struct Failing(System, usize);
    impl LinearSystem for Failing {
        fn apply(&mut self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
            self.1 = self.1.saturating_sub(1);
            self.0.apply(out, x, true)?;
            if self.1 > 0 { Ok(()) } else { Err(Error::Empty { what: "rows" }) }
        }
        fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
            self.0.precondition(out, r);
        }
    }
    let b: Mat<f64> = random::standard_normal(25, 1, &mut rng(2));
    let mut looks = 0;
    let mut failing = Failing(system(25, false, 3), 3);
    let mut solve = ConjugateGradients::start(&mut failing, b.as_ref(), None).unwrap();
    let failed = solve.run(&mut failing, b.as_ref(), 1e-9, 60, &mut |_| {
        looks += 1;
        None
    });
    assert!(matches!(failed, Err(Error::Empty { what: "rows" })) && looks == 2, "{failed:?}");
    let x0 = ConjugateGradients::start(&mut failing, b.as_ref(), Some(b.as_ref()));
    assert!(matches!(x0, Err(Error::Empty { .. })));
}

use faer::reborrow::*;
