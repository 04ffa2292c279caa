//! Weighted rows and Schur complements, against dense algebra.

use faer::Mat;
use nystrom_linalg_core::testing::{
    Broken, Kind, check_psd_matrix, psd, same_at_any_thread_count, whole,
};
use nystrom_linalg_core::{
    Counted, Dense, Error, PivotedCholesky, PsdMatrix, Scaled, SchurComplement,
};

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.25 + (i * 7 % 5) as f64).collect()
}

/// K_RR − K_RA K_AA⁻¹ K_AR by elimination.
fn eliminated(k: &Mat<f64>, given: &[usize]) -> Mat<f64> {
    let mut left = k.clone();
    for &p in given {
        let column = left.col(p).to_owned();
        let pivot = column[p];
        left =
            Mat::from_fn(k.nrows(), k.ncols(), |i, j| left[(i, j)] - column[i] * column[j] / pivot);
    }
    let rest: Vec<usize> = (0..k.nrows()).filter(|i| !given.contains(i)).collect();
    Mat::from_fn(rest.len(), rest.len(), |i, j| left[(rest[i], rest[j])])
}

#[test]
fn adaptors_keep_the_contract() {
    for kind in Kind::ALL {
        for n in [1, 2, 23] {
            let k = psd(kind, n, 1);
            let k = Dense::new(k.as_ref()).unwrap();
            let scaled = Scaled::new(k, weights(n)).unwrap();
            check_psd_matrix(&scaled);
            check_psd_matrix(&SchurComplement::new(&scaled, &[]).unwrap());
            if n > 2 {
                check_psd_matrix(&SchurComplement::new(&scaled, &[n - 1, 0]).unwrap());
            }
        }
    }
    let narrow = Mat::from_fn(9, 9, |i, j| (i.min(j) + 1) as f32);
    let narrow = Dense::new(narrow.as_ref()).unwrap();
    check_psd_matrix(&Scaled::new(narrow, vec![0.5; 9]).unwrap());
    check_psd_matrix(&SchurComplement::new(narrow, &[3, 7]).unwrap());
}

#[test]
fn blocks_are_those_of_dense_algebra() {
    let (n, given) = (40, [31, 2, 17]);
    let k = Mat::from_fn(n, n, |i, j| (-(i as f64 - j as f64).abs() / 7.0).exp());
    let counted = Counted::new(Dense::new(k.as_ref()).unwrap());
    let rest = same_at_any_thread_count(|| {
        let rest = SchurComplement::new(&counted, &given).unwrap();
        (rest.log_det(), whole(&rest))
    });
    let expected = eliminated(&k, &given);
    assert!((&rest.1 - &expected).norm_max() < 1e-14);
    let chosen = Mat::from_fn(3, 3, |i, j| k[(given[i], given[j])]);
    let volume = PivotedCholesky::new(chosen.as_ref(), 0.0).unwrap().log_det();
    assert!((rest.0 - volume).abs() < 1e-13);

    counted.reset();
    let rest = SchurComplement::new(&counted, &given).unwrap();
    assert_eq!((counted.entries(), counted.diagonal_entries()), (3 * n as u64, n as u64));
    rest.block((0..5).into(), (&[1, 2]).into());
    assert_eq!(counted.entries(), 3 * n as u64 + 10);
    assert_eq!((rest.given(), rest.dim(), rest.rest()[2]), (&given[..], n - 3, 3));
    assert_eq!(rest.complete(&[0, 36]), [31, 2, 17, 0, 39]);

    let q = weights(n);
    let scaled = Scaled::new(Dense::new(k.as_ref()).unwrap(), q.clone()).unwrap();
    let expected = Mat::from_fn(n, n, |i, j| q[i] * k[(i, j)] * q[j]);
    assert!((whole(&scaled) - expected).norm_max() < 1e-14);
    assert_eq!(scaled.weights(), &q[..]);
}

/// Rows that the given ones determine have no entries, not entries of the size of rounding errors.
#[test]
fn copies_of_given_rows_are_zero() {
    let at = |i: usize| (i % 5) as f64;
    let k = Mat::from_fn(10, 10, |i, j| (-(at(i) - at(j)).powi(2) / 3.0).exp());
    let rest = SchurComplement::new(Dense::new(k.as_ref()).unwrap(), &[1, 4]).unwrap();
    let left = whole(&rest);
    for (i, &row) in rest.rest().iter().enumerate() {
        let is_copy = row == 6 || row == 9;
        assert_eq!(left[(i, i)] == 0.0, is_copy, "row {row}");
        assert!(!is_copy || left.col(i).iter().all(|entry| *entry == 0.0));
    }
}

#[test]
fn bad_input_is_named() {
    let k = Mat::from_fn(4, 4, |i, j| if i % 2 == j % 2 { 1.0 } else { 0.0 });
    let k = Dense::new(k.as_ref()).unwrap();
    for (index, value) in [(2, 0.0), (0, -1.0), (3, f64::NAN), (1, f64::INFINITY)] {
        let mut q = vec![1.0; 4];
        q[index] = value;
        let error = Scaled::new(k, q).unwrap_err();
        let Error::NotPositive { index: found, value: named, .. } = error else {
            panic!("{error}");
        };
        assert!(found == index && (named == value || named.is_nan() == value.is_nan()));
        assert!(error.to_string().contains("leave out"), "{error}");
    }
    for extreme in [1e-170, 1e170] {
        let error = Scaled::new(k, vec![1.0, extreme, 1.0, 1.0]).unwrap_err();
        assert!(matches!(error, Error::NotPositive { index: 1, .. }));
    }
    let short = Scaled::new(k, vec![1.0; 3]).unwrap_err();
    assert!(matches!(short, Error::Shape { expected: 4, got: 3, .. }));

    let given = |rows: &[usize]| SchurComplement::new(k, rows).map(|_| ()).unwrap_err();
    assert!(matches!(given(&[1, 4]), Error::IndexOutOfRange { position: 1, index: 4, n: 4, .. }));
    assert!(matches!(given(&[1, 0, 1]), Error::DuplicateIndex { index: 1, second: 2, .. }));
    // rows 1 and 3 are equal
    assert!(matches!(given(&[0, 1, 3]), Error::Dependent { index: 3, position: 2, .. }));
    let rest = SchurComplement::new(k, &[0, 1]).unwrap();
    assert!(matches!(rest.missing(1), Err(Error::TooMany { requested: 2, available: 1, .. })));
    assert!(matches!(rest.missing(5), Err(Error::TooMany { requested: 5, available: 4, .. })));
    assert_eq!((rest.missing(2), rest.missing(4)), (Ok(0), Ok(2)));
    let nan = Broken { n: 4, bad: vec![(2, 1, f64::NAN)] };
    let error = SchurComplement::new(nan, &[1]).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 2, col: 1, .. }), "{error}");
}
