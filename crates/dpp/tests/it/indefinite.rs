//! Matrices with eigenvalues below 0, by rounding or for good.

use crate::common::*;
use faer::Mat;
use nystrom_dpp::LEnsemble;
use nystrom_linalg_core::{BandEigen, Dense, Error};

fn ensemble(k: &Mat<f64>) -> LEnsemble<f64> {
    LEnsemble::new(&Dense::new(k.as_ref()).unwrap()).unwrap()
}

/// Eigenvalues 1 ± s: from s = 1 on the smaller one is negative.
#[test]
fn indefinite_matrices_have_no_law() {
    for (s, scale) in [(2.0, 1.0), (1.001, 1.0), (1.5, 1e-200), (3.0, 1e200), (1e3, 1e-5)] {
        let k = Mat::from_fn(6, 6, |i, j| match (i, j) {
            _ if i == j => scale,
            (0, 1) | (1, 0) => s * scale,
            _ => 0.0,
        });
        let dense = Dense::new(k.as_ref()).unwrap();
        let refused = |error: Error| match error {
            Error::Indefinite { smallest, largest, .. } => {
                let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * scale * s;
                assert!(near(smallest, scale * (1.0 - s)) && near(largest, scale * (1.0 + s)));
            }
            other => panic!("{other}"),
        };
        refused(LEnsemble::new(&dense).unwrap_err());
        refused(LEnsemble::draw_of_size(&dense, 1, &mut rng(0)).unwrap_err());
        refused(
            LEnsemble::draw_by(&BandEigen::new(k.as_ref()).unwrap(), 1, &mut rng(0)).unwrap_err(),
        );
        // the remedy that the message names
        let shifted = Mat::from_fn(6, 6, |i, j| {
            k[(i, j)] + if i == j { 1.01 * scale * (s - 1.0) } else { 0.0 }
        });
        assert_eq!(ensemble(&shifted).k_dpp(2).unwrap().sample(&mut rng(0)).len(), 2);
    }
    let negative = Mat::from_fn(3, 3, |i, j| if i == j { -1.0 } else { 0.0 });
    let error = LEnsemble::new(&Dense::new(negative.as_ref()).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Indefinite { .. }), "{error}");
}

/// A matrix of low rank computed in `f32`: its eigenvalues below 0 are rounding errors.
#[test]
fn rounding_errors_are_no_negative_eigenvalues() {
    for n in [30, 300] {
        let k = psd(Kind::LowRank, n, 5);
        let rounded = Mat::from_fn(n, n, |i, j| f64::from(k[(i, j)] as f32));
        let values = nystrom_linalg_core::SymmetricEigen::new(rounded.as_ref()).unwrap();
        assert!(values.values()[n - 1] < 0.0);
        assert!(ensemble(&rounded).rank() >= 4);
        let narrow = as_f32(&k);
        assert!(LEnsemble::new(&Dense::new(narrow.as_ref()).unwrap()).unwrap().rank() >= 4);
    }
}

/// Of many rows, few pivots explain the diagonal and overshoot it elsewhere.
#[test]
fn pivots_show_that_a_large_matrix_is_indefinite() {
    let n = 600;
    for s in [1.001, 1.5, 30.0] {
        // 1 everywhere but between the first row and the second: eigenvalues of both signs
        let k = Mat::from_fn(n, n, |i, j| if i.min(j) == 0 && i.max(j) == 1 { s } else { 1.0 });
        let dense = Dense::new(k.as_ref()).unwrap();
        for c in [1, 2] {
            let error = LEnsemble::of_size(&dense, c).map(drop).unwrap_err();
            let indefinite = matches!(error, Error::Indefinite { .. });
            assert!(indefinite || c > 1 && matches!(error, Error::RankDeficient { .. }), "{error}");
            assert!(LEnsemble::draw_of_size(&dense, c, &mut rng(0)).is_err());
        }
    }
}
