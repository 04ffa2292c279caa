//! Merge trees: the same bits in any order of arrival and on any number of threads, merges that
//! refuse what they must.

use crate::squeak_stream::{cube, gaussian as kernel};
use faer::Mat;
use nystrom_kernels::{FromFn, Gaussian, Kernel, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::Error;
use nystrom_linalg_core::testing::{rng, same_at_any_thread_count};
use proptest::prelude::*;

/// The chunks of `x` inserted in the given order.
fn inserted(
    x: &Mat<f64>,
    params: SqueakParams,
    shape: TreeShape,
    order: &[usize],
) -> StreamDictionary<f64> {
    let sizes = even_chunks(x.nrows(), order.len());
    let start = |chunk: usize| sizes[..chunk].iter().sum::<usize>();
    let mut tree =
        MergeTree::new(kernel(), x.ncols(), 1.0, params, shape, &sizes, &mut rng(9)).unwrap();
    for &chunk in order {
        let rows = x.as_ref().subrows(start(chunk), sizes[chunk]);
        tree.insert(chunk, Points::from_rows(rows)).unwrap();
    }
    tree.finish().unwrap().dictionary().clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_any_number_of_threads_give_the_same_bits(
        order in (1_usize..14).prop_flat_map(|k| Just((0..k).collect::<Vec<_>>()).prop_shuffle()),
        sequential in any::<bool>(),
    ) {
        let x = cube(390, 2, 1);
        let params = SqueakParams::new(6);
        let shape = if sequential { TreeShape::Sequential } else { TreeShape::Balanced };
        let disqueak = Disqueak { params, chunks: order.len(), shape };
        let points = Points::from_rows(x.as_ref());
        let reference = same_at_any_thread_count(|| {
            disqueak.of_points(&kernel(), points, 1.0, &mut rng(9)).unwrap()
        });
        prop_assert_eq!(&inserted(&x, params, shape, &order), &reference);
        prop_assert_eq!(reference.seen(), 390);
        // Members are points of the set, each once, at the position they say.
        let mut positions = reference.positions().to_vec();
        for (t, &i) in positions.iter().enumerate() {
            prop_assert_eq!(reference.points().coordinate(t, 1), x[(i as usize, 1)]);
        }
        positions.sort_unstable();
        positions.dedup();
        prop_assert_eq!(positions.len(), reference.len());
    }
}

#[test]
fn another_seed_or_shape_gives_another_dictionary_of_like_size() {
    let x = cube(2000, 2, 2);
    let size =
        |shape, order: &[usize]| inserted(&x, SqueakParams::new(10), shape, order).len() as f64;
    let (balanced, sequential) = (
        size(TreeShape::Balanced, &[0, 1, 2, 3, 4, 5]),
        size(TreeShape::Sequential, &[0, 1, 2, 3, 4, 5]),
    );
    assert!((balanced / sequential - 1.0).abs() < 0.25, "{balanced} against {sequential}");
}

/// 400 seeds each: sizes of the balanced tree with the data forwards and backwards. The data are
/// independent uniform points, so turning them round changes nothing in law but the data set's own
/// leaves: means must agree to 3 % (the effect that fixed leaves may have) and 5.2 standard errors
/// (normal tail 2e-7).
#[test]
fn permuting_the_leaves_changes_sizes_only_by_chance() {
    let x = cube(600, 2, 3);
    let back = Mat::from_fn(600, 2, |i, k| x[(599 - i, k)]);
    let sizes = |x: &Mat<f64>, shape| -> (f64, f64) {
        let disqueak = Disqueak { params: SqueakParams::new(5), chunks: 5, shape };
        let of = |seed| {
            let points = Points::from_rows(x.as_ref());
            disqueak.of_points(&kernel(), points, 1.0, &mut rng(seed)).unwrap().len() as f64
        };
        let sizes: Vec<f64> = (0..400).map(of).collect();
        let mean = sizes.iter().sum::<f64>() / 400.0;
        (mean, sizes.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 399.0 / 400.0)
    };
    let (mean, variance) = sizes(&x, TreeShape::Balanced);
    let (mean_back, variance_back) = sizes(&back, TreeShape::Balanced);
    let margin = 0.03 * mean + 5.2 * (variance + variance_back).sqrt();
    assert!((mean - mean_back).abs() < margin, "{mean} against {mean_back}, margin {margin}");
    assert!(margin < 0.08 * mean, "{margin} of {mean}: too wide to see anything");
}

/// The state of 100 points in ℝ^d, numbered from `first`.
fn made<K: Kernel<f64>>(
    kernel: K,
    gamma: f64,
    params: SqueakParams,
    first: u64,
    d: usize,
) -> Squeak<K, f64> {
    let mut squeak = Squeak::new(kernel, d, gamma, params).unwrap().starting_at(first);
    squeak.push(Points::from_rows(cube(100, d, 4).as_ref()), &mut rng(0)).unwrap();
    squeak.settle(&mut rng(0)).unwrap();
    squeak
}

#[test]
fn merges_refuse_what_does_not_belong_together() {
    let params = SqueakParams::new(5);
    let state = |gamma, params, d| made(kernel(), gamma, params, 100, d);
    let a = made(kernel(), 1.0, params, 0, 2);
    let refused = |other: &Squeak<Gaussian, f64>| {
        let mut state = a.clone();
        let error = state.merge(other, &mut rng(0)).unwrap_err();
        assert_eq!(state, a, "{error}");
        error
    };
    for (says, other) in [
        ("its gamma is 2, that of the other stream is 1", state(2.0, params, 2)),
        ("copies per point (q) is 6", state(1.0, SqueakParams::new(6), 2)),
        ("epsilon is 0.4", state(1.0, SqueakParams { epsilon: 0.4, ..params }, 2)),
        ("dimension is 3", state(1.0, params, 3)),
        ("other values", made(Gaussian::new(0.3 + 1e-9).unwrap(), 1.0, params, 100, 2)),
    ] {
        let error = refused(&other);
        let Error::Incompatible { what: "SQUEAK stream", problem } = error else {
            panic!("{error}")
        };
        assert!(problem.contains(says), "{problem}");
    }
    let code = SqueakParams { epsilon: 0.3, scores: ScoreRule::ReferenceCode, ..params };
    let provable = SqueakParams { scores: ScoreRule::Provable, ..code };
    let mut other = state(1.0, provable, 2);
    let error = other.merge(&made(kernel(), 1.0, code, 0, 2), &mut rng(0)).unwrap_err();
    assert!(error.to_string().contains("score rule is ReferenceCode"), "{error}");
    // two shards numbered from 0
    let error = refused(&a);
    assert_eq!(error, Error::SamePosition { position: a.dictionary().positions()[0] });
    assert!(error.to_string().contains("`starting_at`"), "{error}");
    let small = SqueakParams { max_dictionary: 3, ..params };
    let mut full = Squeak::new(kernel(), 2, 1.0, small).unwrap();
    full.merge(&Squeak::new(kernel(), 2, 1.0, params).unwrap(), &mut rng(0)).unwrap();
    let error = full.merge(&a, &mut rng(0)).unwrap_err();
    assert!(matches!(error, Error::DictionaryFull { cap: 3, seen: 100, .. }), "{error}");
}

/// Kernels are known by their values: one that is written otherwise may merge, and an empty state
/// is the neutral element of the union.
#[test]
fn a_merged_state_is_saved_and_goes_on() {
    let params = SqueakParams::new(5);
    let written = FromFn::new(|x: &[f64], y: &[f64]| kernel().value(x, y));
    let boxed = |kernel: Box<dyn Kernel<f64>>, first| made(kernel, 1.0, params, first, 2);
    let mut other = boxed(Box::new(written), 0);
    other.merge(&boxed(Box::new(written), 100), &mut rng(0)).unwrap();

    let nothing = || Squeak::new(kernel(), 2, 1.0, params).unwrap();
    let mut empty = nothing();
    empty.merge(&nothing(), &mut rng(0)).unwrap();
    assert_eq!(empty, nothing());

    let (a, c) = (made(kernel(), 1.0, params, 0, 2), made(kernel(), 1.0, params, 200, 2));
    let mut state = a.clone();
    state.merge(&c, &mut rng(1)).unwrap();
    assert_eq!((state.n_seen(), state.pending()), (200, 0));
    assert!(state.dictionary().len() <= a.dictionary().len() + c.dictionary().len());
    // a gap of positions may be filled, and the next point comes behind all of them
    state.merge(&made(kernel(), 1.0, params, 100, 2), &mut rng(2)).unwrap();
    let text = serde_json::to_string(&state).unwrap();
    let mut loaded: Squeak<Gaussian, f64> = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, state);
    for state in [&mut state, &mut loaded] {
        state.push(Points::from_rows(cube(40, 2, 6).as_ref()), &mut rng(3)).unwrap();
        assert_eq!(state.dictionary().positions().last(), Some(&339));
        assert_eq!(state.n_seen(), 340);
    }
    assert_eq!(loaded, state);
}

#[test]
fn a_tree_keeps_account_of_its_chunks_and_survives_its_cap() {
    let x = cube(400, 2, 5);
    let chunk = |c: usize| Points::from_rows(x.as_ref().subrows(100 * c, 100));
    let params = SqueakParams { max_dictionary: 75, ..SqueakParams::new(20) };
    let new = |params| {
        MergeTree::new(kernel(), 2, 0.05, params, TreeShape::Balanced, &[100; 4], &mut rng(1))
    };
    let mut tree = new(params).unwrap();
    assert!(matches!(tree.insert(4, chunk(0)), Err(Error::IndexOutOfRange { index: 4, n: 4, .. })));
    assert!(matches!(
        tree.insert(0, chunk(0).slice(0..99)),
        Err(Error::Shape { expected: 100, got: 99, .. })
    ));
    assert!(matches!(tree.finish(), Err(Error::Shape { expected: 4, got: 0, .. })));
    let mut full = 0;
    for c in [2, 3, 0, 1] {
        loop {
            match tree.insert(c, chunk(c)) {
                Err(Error::DictionaryFull { .. }) => {
                    full += 1;
                    tree.set_max_dictionary(90).unwrap();
                }
                Err(Error::DuplicateIndex { .. }) => break, // the leaf is in, its merge waits
                result => break result.unwrap(),
            }
        }
    }
    while let Err(error) = tree.finish() {
        assert!(matches!(error, Error::DictionaryFull { .. }), "{error}");
        full += 1;
        tree.set_max_dictionary(400).unwrap();
    }
    assert!(full > 0, "the cap was never reached");
    assert!(matches!(tree.insert(1, chunk(1)), Err(Error::DuplicateIndex { index: 1, .. })));
    let mut roomy = new(SqueakParams { max_dictionary: 400, ..params }).unwrap();
    (0..4).for_each(|c| roomy.insert(c, chunk(c)).unwrap());
    assert_eq!(tree.finish().unwrap().dictionary(), roomy.finish().unwrap().dictionary());
    assert!(
        MergeTree::new(kernel(), 2, 1.0, params, TreeShape::Balanced, &[], &mut rng(1)).is_err()
    );
}

#[test]
fn chunks_are_checked_before_they_are_taken() {
    let (params, shape) = (SqueakParams::new(5), TreeShape::Balanced);
    let mut tree = MergeTree::new(kernel(), 2, 1.0, params, shape, &[50, 0], &mut rng(1)).unwrap();
    let (x, wide) = (cube(50, 2, 7), cube(50, 3, 7));
    let mut poisoned = x.clone();
    poisoned[(31, 1)] = f64::INFINITY;
    let empty = Mat::<f64>::zeros(0, 2);
    let mut insert = |c: usize, x: &Mat<f64>| tree.insert(c, Points::from_rows(x.as_ref()));
    assert!(matches!(insert(0, &wide), Err(Error::Shape { expected: 2, got: 3, .. })));
    assert!(matches!(insert(0, &poisoned), Err(Error::NonFinite { row: 31, col: 1, .. })));
    insert(0, &x).unwrap();
    insert(1, &empty).unwrap(); // a shard may have had nothing
    assert_eq!(tree.finish().unwrap().n_seen(), 50);
    // no points at all, one point, all points equal
    let of = |x: &[f64], chunks| {
        Disqueak::new(SqueakParams::new(20), chunks).of_points(
            &kernel(),
            Points::from_slice(x),
            1.0,
            &mut rng(2),
        )
    };
    assert!(matches!(of(&[], 3), Err(Error::Empty { .. })));
    assert!(of(&[0.3], 3).unwrap().len() <= 1);
    let equal = of(&[0.3; 3000], 7).unwrap();
    assert!(equal.len() <= 60 && equal.seen() == 3000, "{}", equal.len()); // d_eff = 3000/3001
}

#[test]
fn chunks_cover_the_points_evenly() {
    for n in 0..40 {
        for k in 1..12 {
            let sizes = even_chunks(n, k);
            assert_eq!((sizes.iter().sum::<usize>(), sizes.len()), (n, k.min(n)));
            assert!(sizes.iter().all(|&s| s == n / k.min(n.max(1)) || s == n.div_ceil(k)));
        }
    }
    assert!(even_chunks(10, 0).is_empty());
    let x = cube(10, 2, 6);
    let of = |chunks| {
        Disqueak::new(SqueakParams::new(3), chunks).of_points(
            &kernel(),
            Points::from_rows(x.as_ref()),
            1.0,
            &mut rng(0),
        )
    };
    assert!(matches!(of(0), Err(Error::Empty { .. })));
    assert_eq!(of(1000).unwrap().seen(), 10); // one point a chunk
}

/// Chunks that come block by block, on three trees that hand over what they have: the bits of one
/// tree that had whole chunks.
#[test]
#[cfg(feature = "serde")]
fn parts_of_a_tree_give_its_bits() {
    let (x, params) = (cube(900, 2, 4), SqueakParams::new(6));
    let sizes = even_chunks(900, 11);
    let start = |chunk: usize| sizes[..chunk].iter().sum::<usize>();
    for shape in [TreeShape::Balanced, TreeShape::Sequential] {
        let order: Vec<usize> = (0..11).collect();
        let reference = inserted(&x, params, shape, &order);
        let tree = |key: u64| {
            MergeTree::new(kernel(), 2, 1.0, params, shape, &sizes, &mut rng(key)).unwrap()
        };
        let mut all = tree(9);
        for chunks in [5..11, 0..1, 1..5] {
            let mut part = tree(9);
            for chunk in chunks {
                let (mut leaf, mut rng) = part.begin(chunk).unwrap();
                for (first, rows) in [(0, 7), (7, 1), (8, sizes[chunk] - 8)] {
                    let block = x.as_ref().subrows(start(chunk) + first, rows);
                    leaf.push(Points::from_rows(block), &mut rng).unwrap();
                }
                part.end(chunk, leaf, &mut rng).unwrap();
            }
            let text = serde_json::to_string(&part.state()).unwrap();
            all.take(serde_json::from_str(&text).unwrap()).unwrap();
        }
        assert_eq!(*all.finish().unwrap().dictionary(), reference, "{shape:?}");
    }
}

#[test]
#[cfg(feature = "serde")]
fn states_of_other_trees_are_refused() {
    let x = cube(300, 2, 4);
    let tree = |sizes: &[usize]| {
        let params = SqueakParams::new(6);
        MergeTree::new(kernel(), 2, 1.0, params, TreeShape::Balanced, sizes, &mut rng(9)).unwrap()
    };
    let mut done = tree(&[100, 100, 100]);
    done.insert(1, Points::from_rows(x.as_ref().subrows(100, 100))).unwrap();
    let error = done.take(done.state()).unwrap_err();
    assert!(matches!(error, Error::DuplicateIndex { index: 1, .. }), "{error}");
    let error = tree(&[300]).take(done.state()).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfRange { index: 1, n: 1, .. }), "{error}");
    let error = tree(&[100, 90, 110]).take(done.state()).unwrap_err();
    assert!(error.to_string().contains("a node of 90 rows"), "{error}");
    let error = tree(&[10; 30]).take(done.state()).unwrap_err();
    assert!(matches!(error, Error::Incompatible { .. }), "{error}");
    let mut few = tree(&[100, 100, 100]);
    let (mut leaf, mut rng) = few.begin(0).unwrap();
    leaf.push(Points::from_rows(x.as_ref().subrows(0, 99)), &mut rng).unwrap();
    let error = few.end(0, leaf, &mut rng).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 100, got: 99, .. }), "{error}");
    assert!(matches!(few.begin(3), Err(Error::IndexOutOfRange { index: 3, .. })));
    assert!(few.finish().is_err(), "chunks are missing");
}

/// [`PointProjector`] is [`Projector`] with the points of its rows.
#[test]
fn a_projector_of_points_is_that_of_rows() {
    use nystrom_kernels::KernelMatrix;
    use nystrom_linalg_core::Ridge;
    let x = cube(200, 2, 7);
    let points = Points::from_rows(x.as_ref());
    let rows: Vec<usize> = (0..200).step_by(7).collect();
    let weights: Vec<f64> = rows.iter().map(|&i| 3.0 + (i % 5) as f64).collect();
    let members = Mat::from_fn(rows.len(), 2, |j, k| x[(rows[j], k)]);
    for mu in [1e-3, 1.0, 1e4] {
        let matrix = KernelMatrix::new(kernel(), points).unwrap();
        let dictionary = Dictionary::new(200, rows.clone(), weights.clone()).unwrap();
        let by_rows = Projector::new(&matrix, &dictionary, Ridge::Absolute(mu)).unwrap();
        let by_rows = by_rows.scores(&matrix, (0..200).into()).unwrap();
        let of = Points::from_rows(members.as_ref());
        let by_points = PointProjector::new(kernel(), of, weights.clone(), mu).unwrap();
        let by_points = by_points.scores(points).unwrap();
        for (a, b) in by_points.iter().zip(&by_rows) {
            assert!((a - b).abs() < 1e-12 / mu + 1e-12 && *a > 0.0, "{a} against {b} at {mu}");
        }
    }
    let of = Points::from_rows(members.as_ref());
    let error = PointProjector::new(kernel(), of, vec![1.0], 1.0).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    let error = PointProjector::new(kernel(), of, vec![-1.0; rows.len()], 1.0).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { .. }), "{error}");
    let error = PointProjector::new(kernel(), of, weights, 0.0).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { .. }), "{error}");
}
