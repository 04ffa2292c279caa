//! Quotas, and greedy selection within them.

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Dense, Error};
use nystrom_sketch::{Greedy, GreedyByGroup, LandmarkSelector, Quotas};

fn groups(n: usize) -> Vec<usize> {
    (0..n).map(|i| usize::from(i % 3 == 0) + usize::from(i % 7 == 0)).collect()
}

#[test]
fn proportional_quotas_are_largest_remainders() {
    // 5, 3 and 2 of 10 rows
    let groups = vec![0, 0, 0, 0, 0, 1, 1, 1, 2, 2];
    for (size, expected) in [
        (1, [1, 0, 0]), // 0.5 0.3 0.2
        (3, [1, 1, 1]), // 1.5 0.9 0.6
        (5, [3, 1, 1]), // 2.5 1.5 1.0: of equal remainders the first
        (9, [4, 3, 2]), // 4.5 2.7 1.8
        (10, [5, 3, 2]),
    ] {
        let quotas = Quotas::proportional(groups.clone(), size).unwrap();
        assert_eq!((quotas.quotas(), quotas.size()), (&expected[..], size));
    }
    assert!(matches!(
        Quotas::proportional(groups.clone(), 11),
        Err(Error::TooMany { requested: 11, available: 10, .. })
    ));
    assert!(matches!(Quotas::proportional(groups, 0), Err(Error::Empty { .. })));
    assert!(matches!(Quotas::proportional(vec![], 1), Err(Error::TooMany { .. })));
}

#[test]
fn impossible_quotas_are_named() {
    let new = |groups: &[usize], quotas: &[usize]| Quotas::new(groups.to_vec(), quotas.to_vec());
    assert!(matches!(
        new(&[0, 1, 2], &[1, 1]),
        Err(Error::IndexOutOfRange { position: 2, index: 2, n: 2, .. })
    ));
    let error = new(&[0, 1, 1], &[1, 3]).unwrap_err();
    assert!(matches!(error, Error::Quota { group: 1, quota: 3, found: 2, .. }));
    assert!(error.to_string().contains("lower the quota"), "{error}");
    let none = GreedyByGroup { quotas: new(&[0, 0, 0], &[0]).unwrap() };
    let error = none.factor(&Broken { n: 3, bad: vec![] }).unwrap_err();
    assert!(matches!(error, Error::Empty { .. }), "{error}");

    let quotas = new(&[0, 0, 1, 1], &[1, 1]).unwrap();
    let a = Mat::<f64>::identity(4, 4);
    let k = Dense::new(a.as_ref()).unwrap();
    let select = |m| GreedyByGroup { quotas: quotas.clone() }.select(&k, m, &mut rng(0));
    assert!(matches!(select(3), Err(Error::Shape { expected: 3, got: 2, .. })));
    assert_eq!(select(2).unwrap().indices(), [0, 2]);
    let small = Dense::new(a.get(..3, ..3)).unwrap();
    let other = GreedyByGroup { quotas: quotas.clone() }.factor(&small).unwrap_err();
    assert!(matches!(other, Error::Shape { expected: 3, got: 4, .. }));

    assert!(matches!(
        quotas.after(&[0, 1], &[2, 3]),
        Err(Error::Quota { group: 0, quota: 1, found: 2, .. })
    ));
    let left = quotas.after(&[3], &[0, 1, 2]).unwrap();
    assert_eq!((left.groups(), left.quotas()), (&[0, 0, 1][..], &[1, 0][..]));
    assert!(matches!(quotas.after(&[9], &[0]), Err(Error::IndexOutOfRange { index: 9, .. })));
}

/// With quotas that the greedy choice fills anyway it is the greedy choice; the counts are right
/// with any; the bits are the same for any number of threads.
#[test]
fn greedy_fills_the_quotas() {
    for kind in [Kind::Gaussian, Kind::Rough] {
        let a = psd(kind, 40, 3);
        let k = Dense::new(a.as_ref()).unwrap();
        let plain = Greedy::default().factor(&k, 9).unwrap();
        let mut counts = vec![0; 3];
        plain.pivots().iter().for_each(|&i| counts[groups(40)[i]] += 1);
        let quotas = Quotas::new(groups(40), counts).unwrap();
        let within = GreedyByGroup { quotas }.factor(&k).unwrap();
        assert_eq!(within.pivots(), plain.pivots());

        let quotas = Quotas::new(groups(40), vec![2, 5, 1]).unwrap();
        let f = same_at_any_thread_count(|| {
            let f = GreedyByGroup { quotas: quotas.clone() }.factor(&k).unwrap();
            (f.pivots().to_vec(), f.log_det())
        });
        for (group, quota) in [2, 5, 1].into_iter().enumerate() {
            assert_eq!(f.0.iter().filter(|&&i| groups(40)[i] == group).count(), quota);
        }
        assert!(f.1 <= plain.log_det() || f.0.len() < 9);
    }
}

/// Row 2, the only one of group 1, is a copy of row 0, which greedy selection takes first.
#[test]
fn a_group_without_rows_to_spare_comes_first() {
    let x = [2.0_f64, 1.0, 2.0, 3.0];
    let a = Mat::from_fn(4, 4, |i, j| if x[i] == x[j] { 1.0 + x[i] } else { 0.5 });
    let k = Dense::new(a.as_ref()).unwrap();
    let groups = vec![0, 0, 1, 2];
    let quotas = Quotas::new(groups.clone(), vec![1, 1, 1]).unwrap();
    let f = GreedyByGroup { quotas }.factor(&k).unwrap();
    let mut chosen = f.pivots().to_vec();
    chosen.sort_unstable();
    assert_eq!(chosen, [1, 2, 3]);
    let quotas = Quotas::new(groups, vec![2, 1, 1]).unwrap();
    let error = GreedyByGroup { quotas }.factor(&k).unwrap_err();
    assert!(matches!(error, Error::Quota { group: 1, quota: 1, found: 0, .. }), "{error}");
}
