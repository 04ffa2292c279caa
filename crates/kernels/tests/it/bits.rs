//! Rows of bits as points, and the Tanimoto kernel of them.

use faer::Mat;
use nystrom_kernels::reference::Reference;
use nystrom_kernels::testing::check_kernel;
use nystrom_kernels::{Bits, Kernel, KernelMatrix, Points, Tanimoto};
use nystrom_linalg_core::{Error, PsdMatrix, Scalar, testing};
use proptest::prelude::*;
use rand::{Rng, RngExt};
use std::collections::BTreeSet;

/// n rows of `bits` bits, of which a share is one. Every seventh row is one of three others, every
/// eleventh has no ones.
fn sets(n: usize, bits: usize, share: f64, rng: &mut dyn Rng) -> Vec<BTreeSet<usize>> {
    let mut rows: Vec<BTreeSet<usize>> = Vec::new();
    for i in 0..n {
        let row = match i {
            _ if i % 11 == 10 => BTreeSet::new(),
            _ if i > 3 && i % 7 == 0 => rows[i % 3].clone(),
            _ => (0..bits).filter(|_| rng.random::<f64>() < share).collect(),
        };
        rows.push(row);
    }
    rows
}

fn packed<T: Scalar>(rows: &[BTreeSet<usize>], bits: usize) -> Bits<T> {
    Bits::from_positions(rows.iter().map(|row| row.iter().copied()), bits).unwrap()
}

fn tanimoto(x: &BTreeSet<usize>, y: &BTreeSet<usize>) -> f64 {
    let (common, all) = (x.intersection(y).count(), x.union(y).count());
    if all > 0 { common as f64 / all as f64 } else { 1.0 }
}

fn bytes(row: &BTreeSet<usize>, bits: usize) -> Vec<u8> {
    let mut bytes = vec![0; bits.div_ceil(8)];
    row.iter().for_each(|&one| bytes[one / 8] |= 1 << (one % 8));
    bytes
}

#[test]
fn rows_of_any_length_come_back() {
    fn check<T: Scalar>(bits: usize, rows: &[BTreeSet<usize>]) {
        let by_position = packed::<T>(rows, bits);
        let rows_of_bytes: Vec<Vec<u8>> = rows.iter().map(|row| bytes(row, bits)).collect();
        assert_eq!(Bits::<T>::from_bytes(&rows_of_bytes.concat(), bits).unwrap(), by_position);
        let hex = |upper: bool| {
            rows_of_bytes.iter().map(move |row| {
                let byte = |b: &u8| if upper { format!("{b:02X}") } else { format!("{b:02x}") };
                row.iter().map(byte).collect::<String>()
            })
        };
        assert_eq!(Bits::<T>::from_hex(hex(false), bits).unwrap(), by_position);
        assert_eq!(Bits::<T>::from_hex(hex(true), bits).unwrap(), by_position);
        assert_eq!((by_position.len(), by_position.bits()), (rows.len(), bits));
        let points = by_position.points();
        assert_eq!(points.len(), rows.len());
        assert_eq!(points.dim(), bits.div_ceil(if T::NAME == "f64" { 52 } else { 23 }));
        Tanimoto.check_points(points).unwrap();
        for (i, row) in rows.iter().enumerate() {
            assert!(by_position.positions(i).iter().eq(row), "row {i} of {bits} bits");
        }
    }
    let rng = &mut testing::rng(1);
    for bits in (1..=200).chain([2047, 2048, 2049]) {
        let mut rows = sets(12, bits, 0.3, rng);
        rows.push((0..bits).collect());
        check::<f64>(bits, &rows);
        check::<f32>(bits, &rows);
    }
}

/// Blocks, single rows and columns, selected points and either layout of points and output: always
/// the quotient of the two counts, correctly rounded.
#[test]
fn values_are_those_of_the_sets() {
    fn check<T: Scalar>(bits: usize, share: f64) {
        let rng = &mut testing::rng(bits as u64);
        let rows = sets(300, bits, share, rng);
        let expected = Mat::from_fn(300, 300, |i, j| T::lit(tanimoto(&rows[i], &rows[j])));
        let x = packed::<T>(&rows, bits);
        let x = x.points();
        let by_coordinate = x.as_cols().transpose().to_owned();
        for x in [x, Points::from_rows(by_coordinate.as_ref())] {
            assert_eq!(Tanimoto.gram(x), expected);
            for (rows, cols) in [(0..300, 30..150), (7..8, 0..300), (0..300, 5..6), (20..40, 9..10)]
            {
                let block = Tanimoto.eval(x.slice(rows.clone()), x.slice(cols.clone()));
                let part = expected.as_ref().subrows(rows.start, rows.len());
                assert_eq!(block.as_ref(), part.subcols(cols.start, cols.len()));
            }
            let mut row_major = Mat::zeros(120, 300);
            Tanimoto.eval_into(row_major.as_mut().transpose_mut(), x, x.slice(30..150));
            assert_eq!(row_major.as_ref().transpose(), expected.as_ref().subcols(30, 120));
            let mut upside_down = Mat::zeros(300, 20);
            Tanimoto.eval_into(upside_down.as_mut().reverse_rows_mut(), x, x.slice(0..20));
            assert!((0..300).all(|i| upside_down[(299 - i, 7)] == expected[(i, 7)]));
        }
        let k = KernelMatrix::new(Tanimoto, x).unwrap();
        let (some, others) = ([290, 3, 3, 77], [0, 10, 299]);
        let block = k.block((&some).into(), (&others).into());
        for (s, &i) in some.iter().enumerate() {
            assert!((0..3).all(|t| block[(s, t)] == expected[(i, others[t])]));
        }
        let wide =
            |i: usize| -> Vec<f64> { (0..x.dim()).map(|c| x.coordinate(i, c).f64()).collect() };
        assert_eq!(T::lit(Reference::value(&Tanimoto, &wide(0), &wide(5))), expected[(0, 5)]);
    }
    for (bits, share) in [(2048, 0.03), (1, 0.5), (64, 0.5), (166, 0.9), (1040, 0.1)] {
        check::<f64>(bits, share);
        check::<f32>(bits, share);
    }
}

/// More points than are packed at a time.
#[test]
fn many_points_have_the_values_of_few() {
    let rows = sets(8300, 100, 0.2, &mut testing::rng(3));
    let x = packed::<f64>(&rows, 100);
    let (x, few) = (x.points(), x.points().slice(8190..8200));
    let (tall, flat) = (Tanimoto.eval(x, few), Tanimoto.eval(few, x));
    for (i, row) in rows.iter().enumerate() {
        for (j, other) in (8190..8200).map(|j| &rows[j]).enumerate() {
            assert_eq!((tall[(i, j)], flat[(j, i)]), (tanimoto(row, other), tanimoto(row, other)));
        }
    }
}

#[test]
fn the_contract_of_a_kernel() {
    let rng = &mut testing::rng(4);
    for (n, bits) in [(1, 1), (2, 1), (40, 70), (33, 2048), (150, 12)] {
        let rows = sets(n, bits, 0.3, rng);
        check_kernel(&Tanimoto, packed::<f64>(&rows, bits).points());
        check_kernel(&Tanimoto, packed::<f32>(&rows, bits).points());
    }
    let bits = packed::<f64>(&sets(30, 90, 0.2, rng), 90);
    testing::check_psd_matrix(&KernelMatrix::new(Tanimoto, bits.points()).unwrap());
}

/// An `f32` has the same bits when it is converted to `f64`.
#[test]
fn wider_coordinates_have_the_same_bits() {
    let x = packed::<f32>(&sets(25, 500, 0.1, &mut testing::rng(5)), 500);
    let x = x.points();
    let wide = Mat::from_fn(x.dim(), x.len(), |k, i| f64::from(x.coordinate(i, k)));
    let (narrow, wide) = (Tanimoto.gram(x), Tanimoto.gram(Points::from_cols(wide.as_ref())));
    assert!((0..25).all(|i| (0..25).all(|j| narrow[(i, j)] == wide[(i, j)] as f32)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]
    #[test]
    fn tanimoto_is_positive_semi_definite(seed in 0_u64..1 << 40, n in 1_usize..60,
        bits in 1_usize..400, share in 0.0_f64..1.0) {
        let rows = sets(n, bits, share, &mut testing::rng(seed));
        let k = Tanimoto.gram(packed::<f64>(&rows, bits).points());
        let smallest = testing::smallest_eigenvalue(k.as_ref());
        // the eigenvalues are computed to some ε·‖K‖, and ‖K‖ ≤ n
        prop_assert!(smallest >= -16.0 * f64::EPSILON * n as f64, "{smallest:e}");
    }
}

/// The row and the message of a refusal.
fn refused(result: nystrom_linalg_core::Result<Bits<f64>>) -> (usize, String) {
    match result.unwrap_err() {
        Error::Bits { row, problem } => (row, problem),
        other => panic!("{other}"),
    }
}

#[test]
fn bad_rows_are_errors_with_row_and_place() {
    let (row, problem) = refused(Bits::from_hex(["00ff", "0g00"], 16));
    assert_eq!((row, problem.contains("'g' at position 1")), (1, true), "{problem}");
    let (row, problem) = refused(Bits::from_hex(["0xff"], 16));
    assert_eq!((row, problem.contains("'x' at position 1")), (0, true), "{problem}");
    let (row, problem) = refused(Bits::from_hex(["é"], 16));
    assert_eq!((row, problem.contains("'é' at position 0")), (0, true), "{problem}");
    let (row, problem) = refused(Bits::from_hex(["00ff", "00ff", "00"], 16));
    assert_eq!((row, problem.contains("2 hexadecimal digits, but 16 bits are 4")), (2, true));
    let (row, problem) = refused(Bits::from_hex(["00ff", ""], 16));
    assert_eq!((row, problem.contains("0 hexadecimal digits")), (1, true), "{problem}");
    let (row, problem) = refused(Bits::from_hex(["0003", "0004"], 10));
    assert_eq!((row, problem.contains("bit 10 is set, but there are 10 bits")), (1, true));
    let (row, problem) = refused(Bits::from_bytes(&[0, 0, 255, 128], 15));
    assert_eq!((row, problem.contains("bit 15 is set, but there are 15 bits")), (1, true));
    let (row, problem) = refused(Bits::from_positions([vec![1], vec![0, 9]], 9));
    assert_eq!((row, problem.contains("position 9 is not below 9")), (1, true), "{problem}");
    let (row, _) = refused(Bits::from_positions([[usize::MAX]], 9));
    assert_eq!(row, 0);
    let whole = Bits::<f64>::from_bytes(&[0; 5], 16).unwrap_err();
    assert!(matches!(whole, Error::Shape { expected: 6, got: 5, .. }), "{whole}");
    let none: [&str; 0] = [];
    assert!(matches!(Bits::<f64>::from_hex(none, 16), Err(Error::Empty { what: "rows of bits" })));
    assert!(matches!(Bits::<f64>::from_bytes(&[], 16), Err(Error::Empty { .. })));
    let no_bits = Bits::<f64>::from_positions([[0]], 0).unwrap_err();
    assert!(matches!(no_bits, Error::Empty { what: "bits of a row" }), "{no_bits}");
    assert!(Bits::<f64>::from_hex([""], 0).is_err() && Bits::<f64>::from_bytes(&[1], 0).is_err());
}

#[test]
fn other_points_are_refused() {
    let refuse = |x: &[f64], row: usize, value: f64| match KernelMatrix::new(
        Tanimoto,
        Points::from_row_major(x, 2),
    )
    .map(|_| ())
    .unwrap_err()
    {
        Error::Coordinate { row: at, col: 1, value: found, requirement } => {
            assert_eq!((at, found), (row, value));
            assert!(requirement.contains("`Bits`"));
        }
        other => panic!("{other}"),
    };
    refuse(&[1.0, 1.5, 1.0, 2.0], 1, 2.0);
    refuse(&[1.0, 1.0_f64.next_down(), 1.0, 1.0], 0, 1.0_f64.next_down());
    refuse(&[1.0, 1.0, 1.0, -1.5], 1, -1.5);
    let nan = [1.0, f64::NAN];
    let error = KernelMatrix::new(Tanimoto, Points::from_slice(&nan)).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 1, .. }), "{error}");
    let none = Tanimoto.check_points(Points::from_slice(&[0.0_f64; 0]));
    assert!(matches!(none, Err(Error::Empty { what: "points (n)" })));
}
