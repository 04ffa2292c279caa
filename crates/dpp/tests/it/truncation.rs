//! Spectra of truncated matrices: the bound, the law, the refusals.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::{KDpp, LEnsemble};
use nystrom_kernels::{Gaussian, KernelMatrix, Matern12, Points};
use nystrom_linalg_core::{Counted, Dense, Error, random};
use nystrom_sketch::LandmarkSelector;

/// Of twelve items with eigenvalues that fall fast, five or six are kept: the law is that of all.
#[test]
fn draws_follow_the_law_of_the_whole() {
    let x: Mat<f64> = random::standard_normal(12, 1, &mut rng(4));
    let k = Mat::from_fn(12, 12, |i, j| (-(x[(i, 0)] - x[(j, 0)]).powi(2) / 8.0).exp());
    let dense = Dense::new(k.as_ref()).unwrap();
    for c in [1, 2, 3] {
        let found = LEnsemble::truncated(&dense, c, 1e-5, 11).unwrap().unwrap();
        assert!(found.distance <= 1e-5 && found.ensemble.rank() < 12, "{}", found.distance);
        let (k_dpp, mut rng) = (found.ensemble.k_dpp(c).unwrap(), rng(1));
        let draw = || k_dpp.sample(&mut rng).into_indices();
        assert_follows(&law(k.as_ref(), c), 20_000, draw, &format!("c = {c}"));
    }
}

/// 900 points, a kernel of numerical rank far below: inclusion as from all of K, by fewer values.
#[test]
fn inclusion_is_that_of_the_whole() {
    let (n, c) = (900, 12);
    let x: Mat<f64> = random::standard_normal(n, 2, &mut rng(5));
    let k = KernelMatrix::new(Gaussian::new(3.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let k = Counted::new(k);
    let part = LEnsemble::of_size(&k, c).unwrap();
    assert!(k.entries() <= (n * n / 8) as u64, "{} entries", k.entries());
    let whole = LEnsemble::new(&k).unwrap();
    let (part, whole) = (part.k_dpp(c).unwrap(), whole.k_dpp(c).unwrap());
    for (p, q) in part.inclusion().into_iter().zip(whole.inclusion()) {
        assert!((p - q).abs() < 1e-8, "{p} against {q}");
    }
    assert!((part.log_normaliser() - whole.log_normaliser()).abs() < 1e-7);
    // what the selector draws from
    let drawn = KDpp.select(&k, c, &mut rng(9)).unwrap();
    assert_eq!(drawn, part.sample(&mut rng(9)));
}

#[test]
fn what_cannot_be_truncated_is_said() {
    let x: Mat<f64> = random::standard_normal(600, 3, &mut rng(6));
    let rough =
        KernelMatrix::new(Matern12::new(0.5).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    assert!(LEnsemble::truncated(&rough, 5, 1e-9, 75).unwrap().is_none());
    assert!(LEnsemble::truncated(&rough, 5, 1e-9, 3).unwrap().is_none());
    assert_eq!(LEnsemble::of_size(&rough, 5).unwrap().rank(), 600); // all of K
    // a lax distance is reached, and the bound is what it came to
    let lax = LEnsemble::truncated(&rough, 1, 0.9, 500).unwrap().unwrap();
    assert!(lax.distance <= 0.9 && lax.distance > 0.01 && lax.ensemble.rank() < 500);
    let low = psd(Kind::LowRank, 40, 1);
    let low = Dense::new(low.as_ref()).unwrap();
    assert_eq!(LEnsemble::truncated(&low, 4, 1e-9, 20).unwrap().unwrap().distance, 0.0);
    let deficient = Error::RankDeficient { requested: 5, rank: 4 };
    assert_eq!(LEnsemble::truncated(&low, 5, 1e-9, 20).err(), Some(deficient));
    let zero = Mat::<f64>::zeros(3, 3);
    let zero = Dense::new(zero.as_ref()).unwrap();
    assert!(matches!(
        LEnsemble::truncated(&zero, 1, 1e-9, 3),
        Err(Error::RankDeficient { rank: 0, .. })
    ));
    for within in [0.0, 1.0, f64::NAN] {
        let refused = LEnsemble::truncated(&low, 2, within, 20);
        assert!(matches!(refused, Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(LEnsemble::truncated(&low, 0, 0.1, 20), Err(Error::Empty { .. })));
    assert!(matches!(LEnsemble::truncated(&low, 41, 0.1, 20), Err(Error::TooMany { .. })));
    let nan = Broken { n: 6, bad: vec![(2, 1, f64::NAN)] };
    assert!(matches!(LEnsemble::truncated(&nan, 3, 0.1, 6), Err(Error::NonFinite { .. })));
    let negative = Broken { n: 6, bad: vec![(2, 2, -1.0)] };
    let refused = LEnsemble::truncated(&negative, 3, 0.1, 6);
    assert!(matches!(refused, Err(Error::InvalidWeight { index: 2, .. })));
}

#[test]
fn bits_do_not_depend_on_threads() {
    let x: Mat<f64> = random::standard_normal(3000, 2, &mut rng(7));
    let k = KernelMatrix::new(Gaussian::new(3.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let drawn = same_at_any_thread_count(|| {
        let found = LEnsemble::truncated(&k, 10, 1e-9, 375).unwrap().unwrap();
        let drawn = found.ensemble.k_dpp(10).unwrap().sample(&mut rng(0)).into_indices();
        (drawn, found.distance.to_bits())
    });
    assert_eq!(drawn.0.len(), 10);
}
