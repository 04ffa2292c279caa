//! Randomly pivoted Cholesky: where it stops, threads, seeds and bad input.

use crate::common::*;
use crate::rp_cholesky::{forms, run};
use faer::Mat;
use nystrom_linalg_core::{Dense, Error, PsdMatrix};
use nystrom_sketch::{Greedy, LandmarkSelector, RpCholesky};

#[test]
fn it_stops_at_the_numerical_rank_and_at_the_tolerance() {
    let a = psd(Kind::LowRank, 50, 2); // rank 3
    let k = Dense::new(a.as_ref()).unwrap();
    for (name, form) in forms() {
        let f = run(form, &k, 20, &mut rng(3)).unwrap();
        assert_eq!(f.rank(), 3, "{name}");
        assert!((whole(&f) - &a).norm_max() < 1e-12, "{name}");
    }
    assert_eq!(Greedy::default().select(&k, 20, &mut rng(3)).unwrap().len(), 3);
    let twice = psd(Kind::Doubled, 40, 2); // every point twice
    let k = Dense::new(twice.as_ref()).unwrap();
    for (name, form) in forms() {
        let f = run(form, &k, 40, &mut rng(3)).unwrap();
        let mut points: Vec<usize> = f.pivots().iter().map(|s| s / 2).collect();
        points.sort_unstable();
        points.dedup();
        assert_eq!((points.len(), f.rank()), (20, 20), "{name}");
    }
    let rough = psd(Kind::Rough, 80, 2);
    let k = Dense::new(rough.as_ref()).unwrap();
    let f = RpCholesky { tolerance: 0.3, proposals: Some(1) }.factor(&k, 80, &mut rng(0)).unwrap();
    let traces = f.traces();
    assert!(traces[f.rank()] <= 0.3 * 80.0 && traces[f.rank() - 1] > 0.3 * 80.0);
    let all = RpCholesky::default().factor(&k, 80, &mut rng(0)).unwrap();
    assert_eq!(all.rank(), 80);
    assert!((whole(&all) - &rough).norm_max() < 1e-13);
}

#[test]
fn single_precision_stops_at_its_own_rank() {
    let a = psd(Kind::Gaussian, 200, 5);
    let b = Mat::from_fn(200, 200, |i, j| a[(i, j)] as f32);
    let k = Dense::new(b.as_ref()).unwrap();
    for seed in 0..5 {
        let f = RpCholesky::default().factor(&k, 200, &mut rng(seed)).unwrap();
        let wide = Mat::from_fn(200, f.rank(), |i, j| f.factor()[(i, j)] as f64);
        let left = &a - &wide * wide.transpose();
        assert!(
            left.norm_max() < 1e-4 && smallest_eigenvalue(left.as_ref()) > -1e-4,
            "{}",
            left.norm_max()
        );
        assert!(f.rank() < 200);
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let x = nystrom_linalg_core::random::standard_normal::<f64>(9000, 2, &mut rng(1));
    let points = nystrom_kernels::Points::from_rows(x.as_ref());
    let k =
        nystrom_kernels::KernelMatrix::new(nystrom_kernels::Matern32::new(0.5).unwrap(), points)
            .unwrap();
    for form in [None, Some(RpCholesky::default())] {
        same_at_any_thread_count(|| {
            let f = run(form, &k, 60, &mut rng(9)).unwrap();
            (f.pivots().to_vec(), f.traces().to_vec(), f.residual().to_vec(), f.into_factor())
        });
    }
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let a = Mat::from_fn(8, 8, |i, j| (i.min(j) + 1) as f64);
    let k = Dense::new(a.as_ref()).unwrap();
    let pick = |form| run(form, &k, 4, &mut rng(2024)).unwrap().pivots().to_vec();
    let picks: Vec<Vec<usize>> = forms().into_iter().map(|(_, form)| pick(form)).collect();
    assert_eq!(
        picks,
        [[3, 6, 4, 0], [3, 6, 1, 0], [3, 5, 1, 7], [3, 5, 1, 6], [3, 5, 1, 7], [3, 6, 0, 1]]
    );
}

#[test]
fn bad_input_is_refused() {
    let fine = psd(Kind::Rough, 10, 0);
    let fine = Dense::new(fine.as_ref()).unwrap();
    let zero = Mat::<f64>::zeros(4, 4);
    let zero = Dense::new(zero.as_ref()).unwrap();
    let broken = |bad| Broken { n: 6, bad };
    let by = |a: &dyn PsdMatrix<f64>, k| {
        let mut all: Vec<_> =
            forms().into_iter().map(|(_, form)| run(form, a, k, &mut rng(0)).err()).collect();
        all.push(Greedy::default().factor(a, k).err());
        all
    };
    assert!(by(&fine, 0).iter().all(|e| matches!(e, Some(Error::Empty { .. }))));
    assert!(
        by(&fine, 11)
            .iter()
            .all(|e| matches!(e, Some(Error::TooMany { requested: 11, available: 10, .. })))
    );
    assert!(
        by(&Broken { n: 0, bad: vec![] }, 1).iter().all(|e| matches!(e, Some(Error::Empty { .. })))
    );
    assert!(by(&zero, 2).iter().all(|e| matches!(e, Some(Error::InvalidWeight { index: 4, .. }))));
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        let refused = by(&broken(vec![(3, 3, value)]), 2);
        assert!(refused.iter().all(|e| matches!(e, Some(Error::InvalidWeight { index: 3, .. }))));
    }
    for e in by(&broken(vec![(4, 2, f64::NAN)]), 6) {
        assert!(
            matches!(e, Some(Error::NonFinite { row, col, .. }) if (row, col) == (4, 2) || (row,
                col) == (2, 4)),
            "{e:?}"
        );
    }
    let refused = |form: RpCholesky| form.factor(&fine, 2, &mut rng(0)).unwrap_err();
    assert!(matches!(
        refused(RpCholesky { proposals: Some(0), tolerance: 0.0 }),
        Error::Empty { .. }
    ));
    for tolerance in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(
            refused(RpCholesky { proposals: None, tolerance }),
            Error::InvalidParameter { .. }
        ));
        assert!(matches!(
            Greedy { tolerance }.factor(&fine, 2),
            Err(Error::InvalidParameter { .. })
        ));
    }
    let one = Mat::from_fn(1, 1, |_, _| 2.0);
    let f =
        RpCholesky::default().factor(&Dense::new(one.as_ref()).unwrap(), 1, &mut rng(0)).unwrap();
    assert_eq!((f.pivots(), f.trace_error()), (&[0][..], 0.0));
}
