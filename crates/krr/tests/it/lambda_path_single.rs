//! The path of ridges in single precision.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::Points;
use nystrom_krr::{NystromKrr, metrics};
use nystrom_linalg_core::Ridge;
use nystrom_sketch::Landmarks;

#[test]
fn single_precision_follows_double() {
    let (x, y) = sample::<f32>(1500, 2, 1, 6);
    let (x64, y64) = (
        Mat::from_fn(1500, 2, |i, k| f64::from(x[(i, k)])),
        Mat::from_fn(1500, 1, |i, _| f64::from(y[(i, 0)])),
    );
    let landmarks = Landmarks::new(1500, (0..60).collect()).unwrap();
    let a = NystromKrr::without_ridge(gaussian(1.0))
        .path(
            (Points::from_rows(x.as_ref()), y.as_ref()),
            &landmarks,
            &[1e-2, 1e-4, 1e-7].map(Ridge::PerSample),
        )
        .unwrap();
    let b = NystromKrr::without_ridge(gaussian(1.0))
        .path(
            (Points::from_rows(x64.as_ref()), y64.as_ref()),
            &landmarks,
            &[1e-2, 1e-4, 1e-7].map(Ridge::PerSample),
        )
        .unwrap();
    for (p, q) in a.points().iter().zip(b.points()) {
        // The errors are those of the models in this precision...
        let f = a.model_at(p.ridge).unwrap().predict(Points::from_rows(x.as_ref())).unwrap();
        let training = metrics::mse(f.as_ref(), y.as_ref()).unwrap();
        assert!((p.training / training - 1.0).abs() < 1e-3, "{} {training}", p.training);
        // ... which has a shift δ of W, here 1e-5 and more, that hides directions: d_eff is
        // smaller, the errors differ by some per cent.
        assert!(
            (p.loo / q.loo - 1.0).abs() < 0.1 && p.d_eff < q.d_eff && p.d_eff > 0.85 * q.d_eff,
            "{p:?} {q:?}"
        );
    }
}
