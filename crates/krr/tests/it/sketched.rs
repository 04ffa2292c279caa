//! The estimator f_S: what it equals, what it does not depend on, and what happens to the printed
//! formula.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use faer::linalg::solvers::Solve;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Matern32, Points};
use nystrom_krr::{NystromKrr, Problem, SketchedKrr, Solver, metrics::rmse};
use nystrom_linalg_core::{Ridge, Scalar, random};
use nystrom_sketch::{
    Accumulation, DenseSketch, GaussianSketch, Landmarks, Localized, Rademacher, Sketch,
    SketchDistribution, SketchedMatrix, SparseSign, SparseSketch, Subsampling, VerySparse,
    Whitening,
};

pub fn laws<T: Scalar>() -> Vec<(&'static str, Box<dyn SketchDistribution<T>>)> {
    vec![
        ("sub-sampling", Box::new(Subsampling::default())),
        ("accumulation", Box::new(Accumulation::uniform(5))),
        ("Gaussian", Box::new(GaussianSketch)),
        ("Rademacher", Box::new(Rademacher)),
        ("very sparse", Box::new(VerySparse::default())),
        ("localised", Box::new(Localized::shuffled(3))),
        ("sparse sign", Box::new(SparseSign::default())),
    ]
}

/// One entry per column, any probabilities, signs, repetitions: the model is that of the landmarks
/// to the bit.
#[test]
fn accumulation_with_m_1_is_nystrom_krr_to_the_bit() {
    let (x, y) = sample::<f64>(1500, 3, 2, 1);
    let (at, _) = sample::<f64>(50, 3, 1, 2);
    let points = Points::from_rows(x.as_ref());
    let scores: Vec<f64> = (0..1500).map(|i| 1.0 + (i % 3) as f64).collect();
    for law in [Accumulation::uniform(1), Accumulation::proportional(1, scores)] {
        let sketch = law.sample::<f64>(1500, 120, &mut rng(3)).unwrap();
        let landmarks = Landmarks::new(1500, sketch.support().to_vec()).unwrap();
        for solver in [Solver::WhitenOnce, Solver::NormalEquations, Solver::Qr] {
            let ridge = Ridge::PerSample(1e-4);
            let kernel = Matern32::new(1.0).unwrap();
            let sketched =
                SketchedKrr { intercept: true, solver, ..SketchedKrr::new(kernel, ridge) };
            let nystrom = NystromKrr { intercept: true, solver, ..NystromKrr::new(kernel, ridge) };
            let a = sketched.fit((points, y.as_ref()), &sketch).unwrap();
            let b = nystrom.fit((points, y.as_ref()), &landmarks).unwrap();
            assert!(
                a.coefficients() == b.coefficients() && a.intercept() == b.intercept(),
                "{solver:?}"
            );
            let at = Points::from_rows(at.as_ref());
            assert!(a.predict(at).unwrap() == b.predict(at).unwrap());
        }
    }
}

/// At the points, f_S = K_S(K_S + nλI)⁻¹y, whether KS is streamed or kept.
#[test]
fn at_the_points_it_is_krr_with_the_sketched_matrix() {
    let (n, lambda) = (300, 1e-3);
    let (x, y) = sample::<f64>(n, 2, 3, 4);
    let points = Points::from_rows(x.as_ref());
    let kernel = gaussian(1.5);
    let k = KernelMatrix::new(kernel, points).unwrap();
    for (name, law) in laws::<f64>() {
        let sketch = law.draw(n, 12, &mut rng(5)).unwrap();
        let F = SketchedMatrix::new(&k, &*sketch).unwrap().factor(Whitening::default()).unwrap();
        let K_S = &F * F.transpose();
        let A =
            Mat::from_fn(n, n, |i, j| K_S[(i, j)] + if i == j { n as f64 * lambda } else { 0.0 });
        let f = &K_S * lu(&A, &y);
        for solver in [Solver::Auto, Solver::NormalEquations, Solver::Qr] {
            let krr = SketchedKrr { solver, ..SketchedKrr::new(kernel, Ridge::PerSample(lambda)) };
            let model = krr.fit((points, y.as_ref()), &*sketch).unwrap();
            let gap = distance(model.predict(points).unwrap().as_ref(), f.as_ref());
            assert!(gap < 1e-8, "{name}, {solver:?}: {gap:e}");
        }
    }
}

#[test]
fn with_an_invertible_sketch_it_is_exact_krr() {
    let r = reference();
    let x = Points::from_slice(&r.x);
    for (name, law) in
        laws::<f64>().into_iter().filter(|(name, _)| ["Gaussian", "Rademacher"].contains(name))
    {
        let sketch = law.draw(96, 96, &mut rng(6)).unwrap();
        for (lambda, values, tolerance) in [(1e-3, &EXACT_1E3, 1e-9), (1e-8, &EXACT_1E8, 1e-6)] {
            let krr = SketchedKrr::new(gaussian(0.25), Ridge::PerSample(lambda));
            let model = krr.fit((x, r.y.as_ref()), &*sketch).unwrap();
            let gap = off(&model.predict(Points::from_slice(&r.at)).unwrap(), values);
            assert!(gap < tolerance, "{name}, λ = {lambda:e}: {gap:e}");
        }
        let krr = SketchedKrr {
            intercept: true,
            ..SketchedKrr::new(gaussian(0.25), Ridge::PerSample(1e-3))
        };
        let model = krr.fit(Problem::new(x, r.y.as_ref()).weighted(&r.weights), &*sketch).unwrap();
        let f = model.predict(Points::from_slice(&r.at)).unwrap();
        assert!(off(&f, &EXACT_1E3_WEIGHTED_INTERCEPT) < 1e-8, "{name}, weighted, with intercept");
    }
}

/// S = E_J A, A regular: another basis of the span of the first 16 points, hence Nyström with these
/// as centres, of which the values are known to 60 digits.
fn mixed(seed: u64) -> SparseSketch<f64> {
    let A: Mat<f64> = random::standard_normal(16, 16, &mut rng(seed));
    SparseSketch::new(96, (0..16).map(|j| (0..16).map(|i| (i, A[(i, j)])).collect()).collect())
        .unwrap()
}

/// Equation (3) as printed: LU of SᵀK²S + nλSᵀKS.
fn as_printed(ell: f64, lambda: f64, sketch: &dyn Sketch<f64>) -> Mat<f64> {
    let r = reference();
    let k = gaussian(ell);
    let (K, S) = (k.gram(Points::from_slice(&r.x)), sketch.to_dense());
    let KS = &K * &S;
    let A = KS.transpose() * &KS + faer::Scale(96.0 * lambda) * (S.transpose() * &KS);
    let theta = A.partial_piv_lu().solve(KS.transpose() * &r.y);
    k.eval(Points::from_slice(&r.at), Points::from_slice(&r.x)) * S * theta
}

fn ours(ell: f64, lambda: f64, sketch: &dyn Sketch<f64>, solver: Solver) -> Mat<f64> {
    let r = reference();
    let krr = SketchedKrr { solver, ..SketchedKrr::new(gaussian(ell), Ridge::PerSample(lambda)) };
    let model = krr.fit((Points::from_slice(&r.x), r.y.as_ref()), sketch).unwrap();
    model.predict(Points::from_slice(&r.at)).unwrap()
}

/// The printed formula squares the condition number of KS. Where SᵀKS is numerically singular (ℓ =
/// 1/4) it is wrong in the first or second decimal place (the targets are of size ½) and ours in
/// the third, as is NystromKrr: that is the rounding of the kernel values themselves. Where it is
/// regular (ℓ = 1/8, cond(W) = 2e9 and that of A on top) ours keeps four digits more.
#[test]
fn the_printed_formula_is_lost_at_small_lambda_and_ours_is_not() {
    for seed in 0..5 {
        let sketch = mixed(seed);
        let printed = off(&as_printed(0.25, 1e-12, &sketch), &NYSTROM_1E12);
        let regular = off(&as_printed(0.125, 1e-12, &sketch), &NYSTROM_EIGHTH_1E12);
        for solver in [Solver::Auto, Solver::NormalEquations, Solver::Qr] {
            let a = off(&ours(0.25, 1e-12, &sketch, solver), &NYSTROM_1E12);
            let b = off(&ours(0.125, 1e-12, &sketch, solver), &NYSTROM_EIGHTH_1E12);
            assert!(
                printed > 1e-2 && a < 5e-3 && printed > 10.0 * a,
                "{solver:?}: printed {printed:e}, ours {a:e}"
            );
            assert!(b < 1e-6 && regular > 1e4 * b, "{solver:?}: printed {regular:e}, ours {b:e}");
        }
        assert!(off(&ours(0.25, 1e-3, &sketch, Solver::Auto), &NYSTROM_1E3) < 1e-5);
    }
}

#[test]
fn columns_may_have_any_scale() {
    let (x, y) = sample::<f64>(400, 2, 1, 8);
    let points = Points::from_rows(x.as_ref());
    let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-6));
    let fit = |sketch: &dyn Sketch<f64>| {
        krr.fit((points, y.as_ref()), sketch).unwrap().predict(points).unwrap()
    };
    for (name, law) in laws::<f64>() {
        let S = law.draw(400, 15, &mut rng(9)).unwrap().to_dense();
        let scaled =
            |c: &dyn Fn(usize) -> f64| Mat::from_fn(400, S.ncols(), |i, j| S[(i, j)] * c(j));
        let columns = |S: &Mat<f64>| {
            let column =
                |j| (0..400).filter(|&i| S[(i, j)] != 0.0).map(|i| (i, S[(i, j)])).collect();
            SparseSketch::<f64>::new(400, (0..S.ncols()).map(column).collect()).unwrap()
        };
        let binary = scaled(&|j| {
            2.0_f64.powi(37 * (j as i32 % 5 - 2)) * if j % 2 == 0 { 1.0 } else { -1.0 }
        });
        let decimal = scaled(&|j| 10.0_f64.powi(7 * (j as i32 % 5 - 2)));
        assert!(fit(&columns(&S)) == fit(&columns(&binary)), "{name}: not even the bits change");
        let dense = |S: &Mat<f64>| fit(&DenseSketch::from_matrix(S.clone()).unwrap());
        let gap = distance(dense(&S).as_ref(), dense(&decimal).as_ref());
        assert!(gap < 1e-7, "{name}: {gap:e}");
    }
}

#[test]
fn targets_are_fitted_together_as_apart() {
    let (x, y) = sample::<f64>(200, 2, 3, 10);
    let points = Points::from_rows(x.as_ref());
    let krr =
        SketchedKrr { intercept: true, ..SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-4)) };
    for (name, law) in laws::<f64>() {
        let sketch = law.draw(200, 10, &mut rng(11)).unwrap();
        let together = krr.fit((points, y.as_ref()), &*sketch).unwrap().predict(points).unwrap();
        for j in 0..3 {
            let apart = krr
                .fit((points, y.as_ref().subcols(j, 1)), &*sketch)
                .unwrap()
                .predict(points)
                .unwrap();
            assert!(distance(apart.as_ref(), together.as_ref().subcols(j, 1)) < 1e-10, "{name}");
        }
    }
}

#[test]
fn single_precision_is_close_to_double() {
    let (x, y) = sample::<f64>(2000, 3, 1, 12);
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
    let (xs, ys) = (narrow(&x), narrow(&y));
    for ((name, double), (_, single)) in laws::<f64>().into_iter().zip(laws::<f32>()) {
        let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-4));
        let sketch = double.draw(2000, 60, &mut rng(13)).unwrap();
        let points = Points::from_rows(x.as_ref());
        let wide = krr.fit((points, y.as_ref()), &*sketch).unwrap().predict(points).unwrap();
        let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-4_f32));
        let sketch = single.draw(2000, 60, &mut rng(13)).unwrap();
        let points = Points::from_rows(xs.as_ref());
        let thin = krr.fit((points, ys.as_ref()), &*sketch).unwrap().predict(points).unwrap();
        let gap = (0..2000).map(|i| (wide[(i, 0)] - f64::from(thin[(i, 0)])).powi(2)).sum::<f64>()
            / 2000.0;
        assert!(gap.sqrt() < 2e-3, "{name}: root mean square difference {:e}", gap.sqrt());
    }
}

/// In `f32` the error goes down as the sketch widens, as it does in `f64`, though SᵀKS gets ever
/// worse conditioned.
#[test]
fn single_precision_fits_do_not_get_worse_as_the_sketch_widens() {
    let (x, y) = sample::<f64>(2000, 3, 1, 14);
    let (at, actual) = sample::<f64>(500, 3, 1, 15);
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
    let single = [&x, &y, &at, &actual].map(narrow);
    for ((name, wide), (_, thin)) in laws::<f64>().into_iter().zip(laws::<f32>()) {
        let mut best = f64::INFINITY;
        for width in [25, 50, 100, 200, 400] {
            let double = test_error(&*wide, width, [&x, &y, &at, &actual]);
            let single = test_error(&*thin, width, single.each_ref());
            println!("{name}, {width} columns: f32 {single:.5}, f64 {double:.5}");
            assert!(single < 1.03 * double, "{name}, {width} columns: f32 {single} f64 {double}");
            assert!(single < 1.02 * best, "{name}, {width} columns: {single} after {best}");
            best = best.min(single);
        }
    }
}

fn test_error<T: Scalar>(
    law: &dyn SketchDistribution<T>,
    width: usize,
    [x, y, at, actual]: [&Mat<T>; 4],
) -> f64
where
    Gaussian: Kernel<T>,
{
    let sketch = law.draw(x.nrows(), width, &mut rng(16)).unwrap();
    let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(T::lit(1e-5)));
    let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &*sketch).unwrap();
    rmse(model.predict(Points::from_rows(at.as_ref())).unwrap().as_ref(), actual.as_ref()).unwrap()
}

#[test]
fn kernel_values_are_those_of_the_report() {
    let (n, d) = (1300, 12);
    let (x, y) = sample::<f64>(n, 2, 1, 14);
    let kernel = Counting::new(gaussian(1.0));
    for (name, law) in laws::<f64>() {
        let sketch = law.draw(n, d, &mut rng(15)).unwrap();
        let u = sketch.support().len();
        for solver in [Solver::NormalEquations, Solver::Qr] {
            let krr = SketchedKrr { solver, ..SketchedKrr::new(&kernel, Ridge::PerSample(1e-4)) };
            let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &*sketch).unwrap();
            let report = model.report();
            assert_eq!(kernel.entries(), report.kernel_entries, "{name}");
            assert_eq!((report.m, report.n), (u, n));
            let expected = if u <= n / 4 { u * (n + u) } else { n * u };
            assert!(report.kernel_entries <= expected as u64, "{name}");
        }
    }
    let accumulated = Accumulation::uniform(4).sample::<f64>(n, d, &mut rng(1)).unwrap();
    assert!(accumulated.support().len() <= 4 * d);
}
