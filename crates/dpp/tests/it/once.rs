//! One draw with few eigenvectors against enumeration, and against draws with all of them.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::{KDpp, LEnsemble};
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::{BandEigen, Dense, Error, Scalar, random};
use nystrom_sketch::LandmarkSelector;

fn assert_exact<T: Scalar>(k: &Mat<f64>, width: usize, sizes: &[usize], what: &str) {
    let narrow = Mat::from_fn(k.nrows(), k.ncols(), |i, j| T::lit(k[(i, j)]));
    let eigen = BandEigen::<T>::of_width(narrow.as_ref(), width).unwrap();
    for &c in sizes {
        let rng = &mut rng(c as u64);
        let draw = || LEnsemble::draw_by(&eigen, c, rng).unwrap().into_indices();
        assert_follows(&law(k.as_ref(), c), 3000, draw, &format!("{what}, c = {c}"));
    }
}

#[test]
fn single_draws_follow_the_law() {
    for kind in KINDS {
        let k = psd(kind, 8, 3);
        assert_exact::<f64>(&k, 2, &[1, 2, 4], &format!("{kind:?}"));
    }
    assert_exact::<f32>(&psd(Kind::Rough, 8, 3), 3, &[1, 3, 8], "f32");
}

/// Vectors of one eigenvalue are drawn anew for every subset; ones fixed by their index would give
/// another law.
#[test]
fn equal_eigenvalues() {
    let blocks = |i: usize, j: usize| f64::from(u8::from(i % 4 == j % 4));
    let identity = Mat::<f64>::identity(7, 7);
    assert_exact::<f64>(&identity, 2, &[1, 3, 6], "the identity");
    // 1.5 + 1 four times, 1 four times
    let pairs = Mat::from_fn(8, 8, |i, j| f64::from(u8::from(i == j)) + 0.75 * blocks(i, j));
    assert_exact::<f64>(&pairs, 3, &[1, 2, 5], "two eigenvalues");
    // rank 4
    assert_exact::<f64>(&Mat::from_fn(8, 8, blocks), 3, &[1, 2, 4], "one eigenvalue and 0");
}

/// Beyond the size from which on the band is taken.
#[test]
fn a_seed_draws_what_it_draws_with_all_eigenvectors() {
    let x = random::standard_normal::<f64>(800, 10, &mut rng(1));
    let k = KernelMatrix::new(Gaussian::new(4.3).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let ensemble = LEnsemble::new(&k).unwrap();
    let drawn = same_at_any_thread_count(|| {
        [20, 60].map(|c| LEnsemble::draw_of_size(&k, c, &mut rng(2)).unwrap())
    });
    for drawn in drawn {
        let c = drawn.len();
        assert_eq!(drawn, ensemble.k_dpp(c).unwrap().sample(&mut rng(2)));
        assert_eq!(drawn, KDpp.select(&k, c, &mut rng(2)).unwrap());
    }
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let two = Mat::from_fn(40, 40, |i, j| if i % 2 == j % 2 { 1.0 } else { 0.0 });
    let two = Dense::new(two.as_ref()).unwrap();
    let draw = |c| LEnsemble::draw_of_size(&two, c, &mut rng(0));
    assert!(matches!(draw(0), Err(Error::Empty { .. })));
    assert_eq!(draw(3).err(), Some(Error::RankDeficient { requested: 3, rank: 2 }));
    assert_eq!(draw(2).unwrap().len(), 2);
    let nan = Broken { n: 40, bad: vec![(2, 1, f64::NAN)] };
    let refused = LEnsemble::draw_of_size(&nan, 2, &mut rng(0));
    assert!(matches!(refused, Err(Error::NonFinite { row: 2, col: 1, .. })));
}
