//! Folds: every row is validated once or not at all, and nothing leaks.

use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::Split;
use proptest::prelude::*;

proptest! {
    #[test]
    fn groups_stay_together(n in 5..300_usize, groups in 2..9_usize, seed in any::<u64>()) {
        let group: Vec<f64> = (0..n).map(|i| (i % groups) as f64).collect();
        let table = Table::new("t", vec![Column::numbers("g", group.clone())]).unwrap();
        let rng = &mut Pcg64::seed_from_u64(seed);
        for fold in Split::Group("g".into()).folds(&table, rng).unwrap() {
            prop_assert_eq!(fold.train.len() + fold.validation.len(), n);
            prop_assert!(!fold.train.is_empty() && !fold.validation.is_empty());
            for &row in &fold.validation {
                prop_assert!(fold.train.iter().all(|&other| group[other] != group[row]));
            }
        }
    }

    #[test]
    fn time_only_looks_ahead(n in 5..300_usize, seed in any::<u64>()) {
        let time: Vec<f64> = (0..n).map(|i| (i % 97) as f64).collect();
        let table = Table::new("t", vec![Column::numbers("t", time.clone())]).unwrap();
        let rng = &mut Pcg64::seed_from_u64(seed);
        let folds = Split::Time("t".into()).folds(&table, rng).unwrap();
        prop_assert_eq!(folds.len(), 1);
        let last = folds[0].train.iter().map(|&row| time[row]).fold(0.0, f64::max);
        prop_assert!(folds[0].validation.iter().all(|&row| time[row] >= last));
    }

    #[test]
    fn random_folds_cover_all_rows_once(n in 3..1999_usize, seed in any::<u64>()) {
        let column = Column::numbers("a", vec![0.0; n]);
        let table = Table::new("t", vec![column]).unwrap();
        let folds = Split::Random.folds(&table, &mut Pcg64::seed_from_u64(seed)).unwrap();
        let mut all: Vec<usize> = folds.iter().flat_map(|fold| fold.validation.clone()).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
    }
}
