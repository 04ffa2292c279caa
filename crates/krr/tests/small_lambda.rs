//! What is lost, and what is not, when λ is far below the square root of the rounding unit.
#![allow(missing_docs, non_snake_case)]

mod common;
use common::*;
use faer::{Mat, mat};
use nystrom_kernels::{Linear, Points};
use nystrom_krr::{ExactKrr, NystromKrr, SolvedBy, Solver, metrics::rmse};
use nystrom_linalg_core::{Error, Ridge};

fn fit_reference(lambda: f64, weighted: bool, solver: Solver) -> Mat<f64> {
    let r = reference();
    let krr = NystromKrr { intercept: weighted, solver, ..NystromKrr::new(gaussian(0.25), Ridge::PerSample(lambda)) };
    let (x, z) = (Points::from_slice(&r.x), Points::from_slice(&r.x[..16]));
    let model = match weighted {
        true => krr.fit_centers_weighted(x, r.y.as_ref(), z, &r.weights),
        false => krr.fit_centers(x, r.y.as_ref(), z),
    };
    model.unwrap().predict(Points::from_slice(&r.at)).unwrap()
}

#[test]
fn probe() {
    for solver in [Solver::NormalEquations, Solver::Qr] {
        eprintln!("{solver:?} 1e-3 {:e}", off(&fit_reference(1e-3, false, solver), &NYSTROM_1E3));
        eprintln!("{solver:?} 1e-3 wi {:e}", off(&fit_reference(1e-3, true, solver), &NYSTROM_1E3_WEIGHTED_INTERCEPT));
        eprintln!("{solver:?} 1e-12 {:e}", off(&fit_reference(1e-12, false, solver), &NYSTROM_1E12));
        eprintln!(
            "{solver:?} 1e-12 wi {:e}",
            off(&fit_reference(1e-12, true, solver), &NYSTROM_1E12_WEIGHTED_INTERCEPT)
        );
    }
    let r = reference();
    for lambda in [1e-3, 1e-8] {
        let m = ExactKrr::new(gaussian(0.25), Ridge::PerSample(lambda))
            .fit(Points::from_slice(&r.x), r.y.as_ref())
            .unwrap();
        let f = m.predict(Points::from_slice(&r.at)).unwrap();
        eprintln!("exact {lambda:e} {:e} {:e}", off(&f, &EXACT_1E3), off(&f, &EXACT_1E8));
    }
    for m in [50, 100, 200, 400] {
        for lambda in [1e-4, 1e-5, 1e-6, 1e-7, 1e-9] {
            let (x, y) = sample::<f64>(3000, 3, 1, 7);
            let (xt, yt) = sample::<f64>(500, 3, 1, 8);
            let n = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
            let d = NystromKrr::new(gaussian(1.0), Ridge::PerSample(lambda))
                .fit_centers(Points::from_rows(x.as_ref()), y.as_ref(), Points::from_rows(x.as_ref().subrows(0, m)))
                .unwrap();
            let e64 = rmse(d.predict(Points::from_rows(xt.as_ref())).unwrap().as_ref(), yt.as_ref()).unwrap();
            let (x, y, xt, yt) = (n(&x), n(&y), n(&xt), n(&yt));
            let mut s = String::new();
            for solver in [Solver::NormalEquations, Solver::Qr] {
                let e = NystromKrr { solver, ..NystromKrr::new(gaussian(1.0), Ridge::PerSample(lambda as f32)) }
                    .fit_centers(
                        Points::from_rows(x.as_ref()),
                        y.as_ref(),
                        Points::from_rows(x.as_ref().subrows(0, m)),
                    );
                s += &match e {
                    Ok(e) => format!(
                        " {:.5}",
                        rmse(e.predict(Points::from_rows(xt.as_ref())).unwrap().as_ref(), yt.as_ref()).unwrap()
                    ),
                    Err(e) => format!(" {e}"),
                };
            }
            eprintln!("m {m} lambda {lambda:e} f64 {e64:.5} f32 {s}");
        }
    }
}
