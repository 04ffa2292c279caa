//! Packed bits in every method: the results are those of the same rows as dense zeros and ones.

use nystrom::kernels::{Bits, FromFn, MinMax, Tanimoto};
use nystrom::linalg_core::testing::rng;
use nystrom::prelude::*;

const BITS: usize = 300;

/// n rows in clusters: ones of a centre, of which some are moved.
fn rows(n: usize, seed: u64) -> Vec<Vec<usize>> {
    let rng = &mut rng(seed);
    let centres: Vec<Vec<usize>> =
        (0..7).map(|_| (0..30).map(|_| rng.random_range(0..BITS)).collect()).collect();
    let row = |i: usize| {
        let mut row: Vec<usize> = centres[i % 7]
            .iter()
            .map(|&one| if rng.random::<f64>() < 0.3 { rng.random_range(0..BITS) } else { one })
            .collect();
        row.sort_unstable();
        row.dedup();
        row
    };
    (0..n).map(row).collect()
}

fn packed(rows: &[Vec<usize>]) -> Bits<f64> {
    Bits::from_positions(rows.iter().map(|row| row.iter().copied()), BITS).unwrap()
}

fn dense(rows: &[Vec<usize>]) -> Mat<f64> {
    let mut x = Mat::zeros(rows.len(), BITS);
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&one| x[(i, one)] = 1.0);
    }
    x
}

/// The Tanimoto kernel of dense rows.
fn plain() -> FromFn<impl Fn(&[f64], &[f64]) -> f64 + Clone + Send + Sync> {
    FromFn::new(|x: &[f64], y: &[f64]| {
        let common: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        let all = x.iter().zip(y).map(|(x, y)| x.max(*y)).sum::<f64>();
        if all > 0.0 { common / all } else { 1.0 }
    })
}

fn target(n: usize) -> Mat<f64> {
    Mat::from_fn(n, 1, |i, _| (i % 7) as f64 + (i as f64 * 0.7).sin())
}

fn assert_close(a: &Mat<f64>, b: &Mat<f64>) {
    assert!((a - b).norm_max() <= 1e-10, "{:e}", (a - b).norm_max());
}

#[test]
fn subsets_are_those_of_dense_rows() {
    let rows = rows(400, 1);
    let (bits, x) = (packed(&rows), dense(&rows));
    let k = KernelMatrix::new(Tanimoto, bits.points()).unwrap();
    let reference = KernelMatrix::new(plain(), Points::from_rows(x.as_ref())).unwrap();
    let selectors: [&dyn LandmarkSelector<f64>; 4] =
        [&RpCholesky::default(), &Greedy::default(), &KMeansPlusPlus, &ColumnNorm::default()];
    for selector in selectors {
        let of = |k: &dyn PsdMatrix<f64>| selector.select(k, 20, &mut rng(2)).unwrap();
        assert_eq!(of(&k), of(&reference));
    }
    let exact =
        |k: &dyn PsdMatrix<f64>| LEnsemble::new(k).unwrap().k_dpp(12).unwrap().sample(&mut rng(3));
    assert_eq!(exact(&k), exact(&reference));
    let rejection = |k: &dyn PsdMatrix<f64>| {
        let rng = &mut rng(4);
        RejectionKDpp::new(k, 6, Rejection::of_size(6), rng).unwrap().sample(rng).unwrap()
    };
    assert_eq!(rejection(&k), rejection(&reference));
}

#[test]
fn regression_is_that_of_dense_rows() {
    let (rows, new) = (rows(500, 5), rows(60, 6));
    let (bits, x, y) = (packed(&rows), dense(&rows), target(500));
    let (new_bits, new_x) = (packed(&new), dense(&new));
    let (points, dense) = (bits.points(), Points::from_rows(x.as_ref()));
    let (new_points, new_dense) = (new_bits.points(), Points::from_rows(new_x.as_ref()));
    let ridge = Ridge::PerSample(1e-4);
    let landmarks = Landmarks::new(500, (0..500).step_by(6).collect()).unwrap();
    let nystrom = NystromKrr { intercept: true, ..NystromKrr::new(Tanimoto, ridge) };
    let model = nystrom.fit((points, &y), &landmarks).unwrap();
    let reference = NystromKrr { intercept: true, ..NystromKrr::new(plain(), ridge) };
    let reference = reference.fit((dense, &y), &landmarks).unwrap();
    assert_close(&model.predict(new_points).unwrap(), &reference.predict(new_dense).unwrap());
    let full = FullKrr::new(Tanimoto, ridge).fit((points, &y), &mut rng(7)).unwrap();
    let reference = FullKrr::new(plain(), ridge).fit((dense, &y), &mut rng(7)).unwrap();
    let (full, reference) = (full.into_model().unwrap(), reference.into_model().unwrap());
    assert_close(&full.predict(new_points).unwrap(), &reference.predict(new_dense).unwrap());
    let exact = ExactKrr::new(Tanimoto, ridge).fit((points, &y)).unwrap();
    let far = &full.predict(new_points).unwrap() - &exact.predict(new_points).unwrap();
    assert!(far.norm_max() <= 1e-3, "{:e}", far.norm_max()); // solved to a residual of 1e-6
}

/// A saved model has the landmarks as packed numbers; it predicts the same bits, and refuses points
/// that are not packed.
#[test]
fn a_saved_model_predicts_the_same_bits() {
    let (rows, new) = (rows(200, 8), rows(40, 9));
    let (bits, y, new) = (packed(&rows), target(200), packed(&new));
    let landmarks = Landmarks::new(200, (0..200).step_by(5).collect()).unwrap();
    let nystrom = NystromKrr::new(Tanimoto, Ridge::PerSample(1e-3));
    let model = nystrom.fit((bits.points(), &y), &landmarks).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    assert!(text.contains(r#"{"tanimoto":{}}"#), "{text}");
    let loaded: KrrModel<Tanimoto, f64> = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded.predict(new.points()).unwrap(), model.predict(new.points()).unwrap());
    let zeros = Mat::zeros(3, new.points().dim());
    let refused = loaded.predict(Points::from_rows(zeros.as_ref())).unwrap_err();
    assert!(matches!(refused, Error::Coordinate { row: 0, col: 0, value: 0.0, .. }), "{refused}");
    let other = serde_json::from_str::<KrrModel<MinMax, f64>>(&text).unwrap_err().to_string();
    assert!(other.contains("`tanimoto`, not `min-max`"), "{other}");
}
