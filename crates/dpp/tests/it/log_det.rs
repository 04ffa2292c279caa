//! ln det of a given set: against elimination, without volume, and bad input.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::log_det;
use nystrom_linalg_core::{Dense, Error};

#[test]
fn log_det_is_that_of_elimination() {
    for kind in KINDS {
        let k = psd(kind, 9, 2);
        let dense = Dense::new(k.as_ref()).unwrap();
        for (C, _) in (1..=4).flat_map(|c| law(k.as_ref(), c)) {
            let (mine, det) = (log_det(&dense, &C).unwrap(), det(&principal(k.as_ref(), &C)));
            let scale: f64 = C.iter().map(|&i| k[(i, i)]).product();
            if det > 1e-11 * scale {
                let ln = det.ln();
                assert!((mine - ln).abs() < 1e-4, "{kind:?}, {C:?}: {mine} against {ln}");
            } else {
                assert!(mine < (1e-10 * scale).ln(), "{kind:?}, {C:?}: {mine}");
            }
        }
    }
    let k = psd(Kind::Rough, 200, 3);
    let (dense, all): (_, Vec<usize>) = (Dense::new(k.as_ref()).unwrap(), (0..200).collect());
    let exact: f64 = nystrom_linalg_core::SymmetricEigen::new(k.as_ref())
        .unwrap()
        .values()
        .iter()
        .map(|v| v.ln())
        .sum();
    assert!((log_det(&dense, &all).unwrap() - exact).abs() < 1e-9 * exact.abs());
    // what overflows and underflows as a product
    for scale in [1e-300, 1e300] {
        let scaled = Mat::from_fn(200, 200, |i, j| scale * k[(i, j)]);
        let scaled = log_det(&Dense::new(scaled.as_ref()).unwrap(), &all).unwrap();
        assert!((scaled - exact - 200.0 * f64::ln(scale)).abs() < 1e-7);
    }
}

#[test]
fn log_det_of_what_has_no_volume_or_is_no_matrix() {
    let k = psd(Kind::Doubled, 12, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    assert_eq!(log_det(&k, &[3, 2]).unwrap(), f64::NEG_INFINITY);
    assert_eq!(log_det(&k, &[]).unwrap(), 0.0);
    assert!((log_det(&k, &[7, 2, 4]).unwrap() - log_det(&k, &[2, 4, 7]).unwrap()).abs() < 1e-12);
    assert!(matches!(log_det(&k, &[1, 12]), Err(Error::IndexOutOfRange { index: 12, .. })));
    assert!(matches!(log_det(&k, &[1, 1]), Err(Error::DuplicateIndex { index: 1, .. })));
    let zero = Mat::<f64>::zeros(3, 3);
    assert_eq!(log_det(&Dense::new(zero.as_ref()).unwrap(), &[1]).unwrap(), f64::NEG_INFINITY);
    let single = as_f32(&psd(Kind::LowRank, 12, 1));
    let single = Dense::new(single.as_ref()).unwrap();
    assert_eq!(log_det(&single, &[0, 1, 2, 3, 4]).unwrap(), f64::NEG_INFINITY);
    let nan = Broken { n: 6, bad: vec![(5, 1, f64::NAN)] };
    assert!(log_det(&nan, &[0, 1]).is_ok());
    assert!(matches!(log_det(&nan, &[1, 0, 5]), Err(Error::NonFinite { row: 5, col: 1, .. })));
    let indefinite = Broken { n: 6, bad: vec![(5, 1, 2.0)] };
    assert!(matches!(
        log_det(&indefinite, &[1, 0, 5]),
        Err(Error::NotPositiveDefinite { order: 3, .. })
    ));
    let negative = Broken { n: 6, bad: vec![(2, 2, -1.0)] };
    assert!(matches!(
        log_det(&negative, &[0, 2]),
        Err(Error::NotPositiveDefinite { pivot: 1, .. })
    ));
}
