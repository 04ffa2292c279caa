//! What sketches are and do: their contract, what KS costs, and what becomes of K.
#![allow(non_snake_case)]

use crate::common::*;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, mat};
use nystrom_linalg_core::{Counted, Dense, Error, RowTree, Scalar};
use nystrom_sketch::testing::check_sketch;
use nystrom_sketch::{
    Accumulation, DenseSketch, Dictionary, Draw, GaussianSketch, Landmarks, Localized, Nystrom,
    Rademacher, Sketch, SketchDiagnostics, SketchDistribution, SketchProduct, SketchedMatrix,
    SparseSign, SparseSketch, Subsampling, VerySparse, Whitening,
};
use proptest::prelude::*;

fn unequal(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + (i % 4) as f64).collect()
}

fn laws<T: Scalar>(n: usize) -> Vec<(&'static str, Box<dyn SketchDistribution<T>>)> {
    vec![
        ("sub-sampling", Box::new(Subsampling::default())),
        ("signed sub-sampling", Box::new(Subsampling { signed: true, ..Subsampling::default() })),
        (
            "distinct rows",
            Box::new(Subsampling { draw: Draw::WithoutReplacement, ..Subsampling::default() }),
        ),
        ("weighted sub-sampling", Box::new(Subsampling::proportional(unequal(n)))),
        ("accumulation, m = 1", Box::new(Accumulation::uniform(1))),
        ("accumulation, m = 5", Box::new(Accumulation::uniform(5))),
        ("weighted accumulation", Box::new(Accumulation::proportional(3, unequal(n)))),
        ("Gaussian", Box::new(GaussianSketch)),
        ("Rademacher", Box::new(Rademacher)),
        ("very sparse", Box::new(VerySparse::default())),
        ("very sparse, s = 1", Box::new(VerySparse { sparsity: Some(1.0) })),
        ("localised", Box::new(Localized::contiguous(2))),
        ("localised, shuffled", Box::new(Localized::shuffled(2))),
        ("sparse sign", Box::new(SparseSign { per_row: 2 })),
    ]
}

#[test]
fn every_law_keeps_the_contract() {
    for (name, law) in laws::<f64>(9) {
        println!("{name}");
        check_sketch(&*law, 9, 4, &mut rng(1));
    }
    for (name, law) in laws::<f32>(9) {
        println!("{name}, f32");
        check_sketch(&*law, 9, 4, &mut rng(2));
    }
}

#[test]
fn bad_parameters_are_named() {
    let rng = &mut rng(0);
    let weights =
        |w: Vec<f64>| Accumulation::proportional(2, w).sample::<f64>(3, 2, rng).unwrap_err();
    let mut weights = weights;
    assert!(matches!(weights(vec![1.0, 1.0]), Error::Shape { expected: 3, got: 2, .. }));
    assert!(matches!(weights(vec![1.0, f64::NAN, 1.0]), Error::InvalidWeight { index: 1, .. }));
    assert!(matches!(weights(vec![1.0, -1.0, 1.0]), Error::InvalidWeight { index: 1, .. }));
    assert!(matches!(weights(vec![0.0; 3]), Error::InvalidWeight { index: 3, .. }));
    let rng = &mut crate::common::rng(0);
    let error = Accumulation::uniform(0).sample::<f64>(3, 2, rng).unwrap_err();
    assert!(matches!(error, Error::Empty { what: "accumulated matrices (m)" }));
    let distinct =
        Subsampling { draw: Draw::WithoutReplacement, ..Subsampling::proportional(vec![1.0; 3]) };
    assert!(matches!(distinct.sample::<f64>(3, 2, rng), Err(Error::InvalidParameter { .. })));
    for s in [0.5, f64::NAN, f64::INFINITY] {
        let law = VerySparse { sparsity: Some(s) };
        assert!(matches!(law.sample::<f64>(3, 2, rng), Err(Error::InvalidParameter { .. })), "{s}");
    }
    let empty = VerySparse { sparsity: Some(1e9) }.sample::<f64>(3, 2, rng);
    assert!(matches!(empty, Err(Error::Empty { .. })));
    assert!(matches!(Localized::contiguous(0).sample::<f64>(9, 4, rng), Err(Error::Empty { .. })));
    assert!(matches!(
        Localized::contiguous(5).sample::<f64>(9, 4, rng),
        Err(Error::TooMany { requested: 5, .. })
    ));
    assert!(matches!(SparseSign { per_row: 0 }.sample::<f64>(9, 4, rng), Err(Error::Empty { .. })));
    assert!(matches!(
        SparseSketch::<f64>::new(3, vec![vec![(3, 1.0)]]),
        Err(Error::IndexOutOfRange { index: 3, .. })
    ));
    assert!(matches!(
        SparseSketch::<f64>::new(3, vec![vec![(2, f64::NAN)]]),
        Err(Error::NonFinite { row: 2, .. })
    ));
    assert!(matches!(
        SparseSketch::<f64>::new(3, vec![vec![(2, 1.0), (2, -1.0)]]),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        DenseSketch::from_matrix(Mat::<f64>::zeros(3, 2)),
        Err(Error::InvalidParameter { .. })
    ));
    assert!(matches!(DenseSketch::from_matrix(Mat::<f64>::zeros(3, 0)), Err(Error::Empty { .. })));
    let nan = mat![[1.0], [f64::NAN]];
    assert!(matches!(DenseSketch::from_matrix(nan), Err(Error::NonFinite { row: 1, .. })));
}

#[test]
fn a_sketch_of_another_size_and_a_matrix_with_nan_are_refused() {
    let sketch = Accumulation::uniform(3).sample::<f64>(10, 2, &mut rng(0)).unwrap();
    let k = psd(Kind::Rough, 11, 0);
    let k = Dense::new(k.as_ref()).unwrap();
    assert!(matches!(
        SketchedMatrix::new(&k, &sketch),
        Err(Error::Shape { expected: 11, got: 10, .. })
    ));
    let (i, j) = (sketch.support()[0], (0..10).find(|i| !sketch.support().contains(i)).unwrap());
    let broken = Broken { n: 10, bad: vec![(i, j, f64::NAN)] };
    assert!(matches!(SketchedMatrix::new(&broken, &sketch), Err(Error::NonFinite { row,
            .. }) if row == j));
    let product = SketchProduct::new(&broken, &sketch).unwrap();
    assert!(matches!(product.for_each_tile(|_, _| Ok(())), Err(Error::NonFinite { row,
            .. }) if row == j));
    let broken = Broken { n: 10, bad: vec![(i, i, f64::INFINITY)] };
    assert!(matches!(SketchedMatrix::new(&broken, &sketch), Err(Error::NonFinite { row,
            .. }) if row == i));
}

/// A matrix too large to be stored, cheap to evaluate: exp(−|i − j|/9).
fn chain(n: usize) -> Evaluated<fn(usize, usize) -> f64> {
    Evaluated { n, entry: |i, j| (-(i.abs_diff(j) as f64) / 9.0).exp() }
}

#[test]
fn entries_of_k_are_evaluated_once_whatever_is_drawn_twice() {
    let n = 1300;
    let k = Counted::new(chain(n));
    for (name, law) in laws::<f64>(n) {
        let sketch = law.draw(n, 12, &mut rng(3)).unwrap();
        let u = sketch.support().len();
        k.reset();
        SketchProduct::new(&k, &*sketch).unwrap().for_each_tile(|_, _| Ok(())).unwrap();
        assert_eq!(k.entries(), (n * u) as u64, "{name}, streamed");
        k.reset();
        SketchedMatrix::new(&k, &*sketch).unwrap();
        // tiles of 512 on the support: below its diagonal none is evaluated
        let saved: u64 =
            RowTree::tiles(0..u, 512).map(|rows| (rows.len() * (u - rows.end)) as u64).sum();
        assert_eq!(k.entries(), (n * u) as u64 - saved, "{name}, kept");
    }
    // 5·40 draws with replacement among 60 rows: far fewer rows than draws.
    let sketch = Accumulation::uniform(5).sample::<f64>(60, 40, &mut rng(4)).unwrap();
    assert!(sketch.support().len() <= 60 && sketch.entries() > 150);
}

#[test]
fn products_agree_with_dense_ones_over_several_tiles() {
    let n = 1100;
    let k = chain(n);
    let K = whole(&k);
    for (name, law) in laws::<f64>(n) {
        let sketch = law.draw(n, 7, &mut rng(5)).unwrap();
        let S = sketch.to_dense();
        let KS = &K * &S;
        let sketched = SketchedMatrix::new(&k, &*sketch).unwrap();
        let scale = KS.norm_max();
        assert!((sketched.product() - &KS).norm_max() < 1e-13 * scale, "{name}: KS");
        let gram = S.transpose() * &KS;
        assert!((sketched.gram() - &gram).norm_max() < 1e-12 * gram.norm_max(), "{name}: SᵀKS");
        SketchProduct::new(&k, &*sketch)
            .unwrap()
            .for_each_tile(|rows, tile| {
                let kept = sketched.unscaled().subrows(rows.start, rows.len());
                assert!(
                    (tile - kept).norm_max() < 1e-13 * scale * S.norm_max().recip().max(1.0),
                    "{name}: {rows:?}"
                );
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn single_precision_sums_over_tiles_are_double() {
    let (n, d) = (3000, 3);
    let wide = chain(n);
    let narrow = Evaluated { n, entry: |i, j| (wide.entry)(i, j) as f32 };
    let (single, double) = (
        Rademacher.sample::<f32>(n, d, &mut rng(6)).unwrap(),
        Rademacher.sample::<f64>(n, d, &mut rng(6)).unwrap(),
    );
    let a = SketchedMatrix::new(&narrow, &single).unwrap().gram();
    let b = SketchedMatrix::new(&wide, &double).unwrap().gram();
    assert!((a - &b).norm_max() < 4.0 * f64::from(f32::EPSILON) * b.norm_max());
}

#[test]
fn seeds_give_the_same_bits_at_any_thread_count() {
    let k = chain(1100);
    for (name, law) in laws::<f64>(1100) {
        println!("{name}");
        same_at_any_thread_count(|| {
            let sketch = law.draw(1100, 9, &mut rng(8)).unwrap();
            let sketched = SketchedMatrix::new(&k, &*sketch).unwrap();
            (sketched.product(), sketched.gram(), sketched.factor(Whitening::default()).unwrap())
        });
    }
}

/// One entry per column: K_S is the Nyström approximation of the same landmarks to the bit,
/// whatever scales, signs and repetitions.
#[test]
fn accumulation_with_m_1_is_nystrom_to_the_bit() {
    for (seed, kind) in [(0, Kind::Gaussian), (1, Kind::Rough), (2, Kind::Rough), (3, Kind::Rough)]
    {
        let k = psd(kind, 120, seed);
        let k = Dense::new(k.as_ref()).unwrap();
        let weights = unequal(120);
        for law in [Accumulation::uniform(1), Accumulation::proportional(1, weights)] {
            let sketch = law.sample::<f64>(120, 40, &mut rng(seed)).unwrap();
            // some row was drawn twice
            assert!(sketch.width() < 40 && sketch.support().len() == sketch.width());
            let sketched = SketchedMatrix::new(&k, &sketch).unwrap();
            let nystrom =
                Nystrom::new(&k, &Landmarks::new(120, sketch.support().to_vec()).unwrap()).unwrap();
            assert!(sketched.factor(Whitening::default()).unwrap() == nystrom.factor());
        }
    }
}

/// A row of weight 0 is never drawn, and E[SSᵀ] = I on the others: with d = m = 1 every SSᵀ is
/// e_je_jᵀ/p_j. The incoherence says what is lost.
#[test]
fn rows_of_weight_zero_are_left_out() {
    let weights = [3.0, 0.0, 1.0, 4.0];
    let law = Accumulation::proportional(1, weights.to_vec());
    let mut seen = [false; 4];
    for seed in 0..200 {
        let s = law.sample::<f64>(4, 1, &mut rng(seed)).unwrap();
        let j = s.support()[0];
        let square = s.to_dense()[(j, 0)].powi(2);
        assert!((square * weights[j] / 8.0 - 1.0).abs() < 1e-15, "row {j}: {square}");
        seen[j] = true;
    }
    // the rarest of them is missed with probability (7/8)²⁰⁰ < 3e-12
    assert_eq!(seen, [true, false, true, true]);
    let k = psd(Kind::Rough, 4, 1);
    let incoherence = |k: &Mat<f64>| {
        let of = SketchDiagnostics::new(&Dense::new(k.as_ref()).unwrap()).unwrap();
        of.incoherence(0.1, Some(&weights)).unwrap()
    };
    assert_eq!(incoherence(&k), f64::INFINITY);
    let without = Mat::from_fn(4, 4, |i, j| if i == 1 || j == 1 { 0.0 } else { k[(i, j)] });
    assert!(incoherence(&without).is_finite());
}

#[test]
fn landmarks_and_dictionaries_are_sketches() {
    let landmarks = Landmarks::new(9, vec![7, 2, 4]).unwrap();
    let s = SparseSketch::<f64>::from_landmarks(&landmarks).unwrap();
    assert!(s.support() == [7, 2, 4] && s.scales() == [1.0; 3]);
    let dictionary = Dictionary::new(9, vec![5, 0], vec![4.0, 0.25]).unwrap();
    let s = SparseSketch::from_dictionary(&dictionary).unwrap().to_dense();
    assert!(s[(5, 0)] == 2.0 && s[(0, 1)] == 0.5 && s.squared_norm_l2() == 4.25);
    assert!(matches!(
        SparseSketch::from_dictionary(&Dictionary::<f64>::empty(3).unwrap()),
        Err(Error::Empty { .. })
    ));
}

#[test]
fn every_row_in_the_span_gives_k_back() {
    let k = psd(Kind::Rough, 30, 3);
    let k = Dense::new(k.as_ref()).unwrap();
    for law in
        [&GaussianSketch as &dyn SketchDistribution<f64>, &Rademacher, &Localized::shuffled(3)]
    {
        let sketch = law.draw(30, 30, &mut rng(1)).unwrap();
        let sketched = SketchedMatrix::new(&k, &*sketch).unwrap();
        // With the shift δ of SᵀKS, K − K_S ⪯ δ(SSᵀ)⁻¹.
        let inverse = sketch.to_dense().partial_piv_lu().inverse();
        let delta = 10.0 * f64::EPSILON * (0..30).map(|j| sketched.gram()[(j, j)]).sum::<f64>();
        let bound = delta * inverse.squared_norm_l2();
        let error = sketched.trace_error(&k).unwrap();
        assert!(error < 2.0 * bound + 1e-12 && bound < 1e-6, "{error:e}, bound {bound:e}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// 0 ⪯ K_S ⪯ K for every sketch, and columns of K_S that are combinations of KS are exact: K_S
    /// S = KS.
    #[test]
    fn the_sketched_matrix_is_below_k((k, seed) in any_psd(), d in 1..12_usize) {
        let n = k.nrows();
        let K = Dense::new(k.as_ref()).unwrap();
        let top = largest_eigenvalue(k.as_ref());
        for (name, law) in laws::<f64>(n) {
            // all columns zero, too few for two blocks
            let Ok(sketch) = law.draw(n, d.min(n), &mut rng(seed)) else { continue };
            let sketched = SketchedMatrix::new(&K, &*sketch).unwrap();
            let F = match sketched.factor(Whitening::default()) {
                Ok(F) => F,
                Err(_) => continue, // SᵀKS = 0: the linear kernel at a sketch orthogonal to it
            };
            let rest = &k - &F * F.transpose();
            prop_assert!(smallest_eigenvalue(rest.as_ref()) >= -1e-9 * top, "{name}");
            let S = sketch.to_dense();
            let KS = &k * &S;
            let gap = (&F * (F.transpose() * &S) - &KS).norm_max();
            prop_assert!(gap <= 1e-6 * KS.norm_max().max(1e-12 * top), "{name}: {gap:e} of {:e}",
                KS.norm_max());
        }
    }
}

/// The law of an entry of SᵀKS under Accumulation(m) tends to that under the Gaussian sketch. Two
/// samples of 10,000: their empirical distributions are farther than 0.0381 apart with probability
/// below 1e-6 (Smirnov: 2·exp(−2·D²·5000)); at m = 1 they are.
#[test]
fn accumulation_tends_to_the_gaussian_sketch() {
    let (n, d, draws) = (40, 4, 10_000);
    let k = psd(Kind::Rough, n, 5);
    let K = Dense::new(k.as_ref()).unwrap();
    let entries = |law: &dyn SketchDistribution<f64>, first_seed: u64| {
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for r in 0..draws {
            let S = law.draw(n, d, &mut rng(first_seed + r)).unwrap().to_dense();
            let G = S.transpose() * K.as_ref() * &S;
            on.push(G[(0, 0)]);
            off.push(if G.ncols() > 1 { G[(1, 0)] } else { 0.0 });
        }
        [on, off].map(|mut v| {
            v.sort_by(f64::total_cmp);
            v
        })
    };
    let gaussian = entries(&GaussianSketch, 0);
    let distance = |m: usize| {
        let accumulated = entries(&Accumulation::uniform(m), 1_000_000 * m as u64);
        [0, 1].map(|e| smirnov(&gaussian[e], &accumulated[e]))
    };
    let [at_1, at_256] = [1, 256].map(distance);
    assert!(at_256.iter().all(|d| *d < 0.0381), "{at_256:?}");
    assert!(at_1[0] > 0.3 && at_1[1] > 0.05, "{at_1:?}");
}

/// sup |F − G| for two sorted samples.
fn smirnov(a: &[f64], b: &[f64]) -> f64 {
    let below = |v: &[f64], x: f64| v.partition_point(|&y| y <= x) as f64 / v.len() as f64;
    a.iter().chain(b).map(|&x| (below(a, x) - below(b, x)).abs()).fold(0.0, f64::max)
}

/// What a seed gives is part of the interface.
#[test]
fn values_are_stable() {
    let s = Accumulation::uniform(3).sample::<f64>(20, 4, &mut rng(7)).unwrap();
    assert_eq!(s.support(), [16, 6, 2, 4, 13, 1, 11]);
    let pinned = [
        ([16, 6, 4], 8.944272), // first rows of the support, sum of the entries
        ([16, 6, 4], 0.000000),
        ([16, 7, 6], 8.944272),
        ([0, 5, 18], 10.576775),
        ([16, 6, 4], 0.000000),
        ([2, 14, 16], 0.000000),
        ([0, 10, 12], -1.037841),
        ([0, 1, 2], -8.030077),
        ([0, 1, 2], -12.000000),
        ([2, 14, 15], 4.229485),
        ([0, 1, 2], 5.000000),
        ([0, 1, 2], -7.291517),
        ([1, 2, 4], 9.133709),
        ([0, 1, 2], -9.899495),
    ];
    for ((name, law), (support, sum)) in laws::<f64>(20).into_iter().zip(pinned) {
        let s = law.draw(20, 4, &mut rng(7)).unwrap();
        assert_eq!(s.support()[..3], support, "{name}");
        assert!((s.to_dense().sum() - sum).abs() < 1e-6, "{name}");
    }
}
