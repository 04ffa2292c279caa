//! Levels: of texts with means of the target beside them, and of numbers.

use crate::columns::{numbers, options, random, table};
use crate::fit::{fitted, quick, text};
use nystrom_data::Column;
use nystrom_pipeline::{ColumnOptions, Columns, Fit, Shape};

/// 200 levels with an effect each: the mean of the target by level is better than 32 frequent ones.
#[test]
fn many_levels_become_means_of_the_target() {
    let n = 1600;
    let (effects, noise) = (random(200, 8), random(n, 9));
    let level = |i: usize| (i * 61) % 200;
    let columns = vec![
        text("shop", (0..n).map(|i| format!("s{}", level(i)))),
        Column::numbers("x", random(n, 10)),
        Column::numbers("y", numbers(n, |i| 4.0 * effects[level(i)] + 0.5 * noise[i])),
    ];
    let report = fitted(&quick(), &table(columns), "y").unwrap().report;
    assert!(report.features.contains(&"shop: mean".to_owned()), "{:?}", report.features);
    assert!(report.chosen.error < 0.3, "{}", report.chosen.error);
}

/// Of 400 levels that say nothing, means leak no target: the error is that of knowing nothing.
#[test]
fn levels_that_say_nothing_help_nothing() {
    let n = 1200;
    let columns = vec![
        text("shop", (0..n).map(|i| format!("s{}", (i * 61) % 400))),
        Column::numbers("x", random(n, 11)),
        Column::numbers("y", random(n, 12)),
    ];
    let report = fitted(&quick(), &table(columns), "y").unwrap().report;
    // the mean of 1200 squares of a uniform number has a deviation of 2.6 %
    assert!(report.chosen.error > 0.95, "{}", report.chosen.error);
}

/// Zero in most rows, and a few values with an effect each, as gains and codes are: the value says
/// little as a number, and its category says everything.
#[test]
fn frequent_numbers_become_categories_as_well() {
    let n = 1500;
    let (noise, x) = (random(n, 21), random(n, 22));
    // a row in three has one of twelve gains
    let gain = |i: usize| {
        if i.is_multiple_of(3) {
            [5013.0, 5178.5, 7298.0, 7688.0][i / 3 % 4] + (i / 12 % 3) as f64
        } else {
            0.0
        }
    };
    let effect = |i: usize| {
        if i.is_multiple_of(3) { [2.0, -2.0, 3.0, -3.0][(i / 3 % 4 + i / 12 % 3) % 4] } else { 0.0 }
    };
    let columns = vec![
        Column::numbers("gain", numbers(n, gain)),
        Column::numbers("x", x.clone()),
        Column::numbers("y", numbers(n, |i| effect(i) + x[i] + 0.2 * noise[i])),
    ];
    let fit = quick();
    let report = fitted(&fit, &table(columns.clone()), "y").unwrap().report;
    assert!(report.chosen.shape.levels, "{:?}", report.chosen.shape);
    assert!(report.features.contains(&"gain=0".to_owned()), "{:?}", report.features);
    assert!(report.features.contains(&"gain".to_owned()) && report.chosen.error < 0.15);
    // columns said to be numbers stay numbers
    let numeric = ColumnOptions { numeric: vec!["gain".into()], ..options() };
    let report = fitted(&Fit { columns: numeric, ..fit }, &table(columns), "y").unwrap().report;
    assert_eq!(report.features, ["gain", "x"]);
}

/// Which numbers are frequent, and the features of others and of gaps.
#[test]
fn frequent_numbers_are_those_of_many_rows() {
    let of = |values: Vec<f64>, shape| {
        let columns = vec![Column::numbers("a", values)];
        Columns::fit(&table(columns), &options(), &[], shape)
    };
    let levels = Shape { levels: true, ..Shape::PLAIN };
    // 40 rows each of 1, 2 and 3, others once, five gaps
    let often = numbers(160, |i| match i {
        0..120 => (i % 3 + 1) as f64,
        155.. => f64::NAN,
        _ => i as f64,
    });
    let columns = of(often.clone(), levels).unwrap();
    let names = ["a", "a is missing", "a=1", "a=2", "a=3", "a is rare"];
    assert_eq!(columns.features(), names);
    assert!(columns.rare().is_empty(), "numbers have no rare levels to tell of");
    assert_eq!(of(often.clone(), Shape::PLAIN).unwrap().features(), ["a", "a is missing"]);
    // a number never seen is as rare as those seen once, and both differ from a gap
    let new = vec![Column::numbers("a", vec![2.0, 130.0, 9e9, f64::NAN])];
    let applied = columns.apply(&table(new)).unwrap();
    assert!(applied.notes.is_empty(), "{:?}", applied.notes);
    let row = |i: usize| -> Vec<bool> { (2..6).map(|j| applied.x[(i, j)] > 0.0).collect() };
    assert_eq!(row(0), [false, true, false, false]);
    assert_eq!((row(1), row(2)), (vec![false, false, false, true], row(1)));
    assert_eq!(row(3), [false; 4]);
    // three standard features have the variance of one number together
    let fitted = columns.apply(&table(vec![Column::numbers("a", often)])).unwrap().x;
    let square = |j: usize| fitted.col(j).squared_norm_l2() / 160.0;
    assert!(((2..6).map(square).sum::<f64>() - 1.0).abs() < 1e-12);
    // two values, values of few rows, and values that few rows have are numbers alone
    for values in [
        numbers(160, |i| (i % 2) as f64),
        numbers(160, |i| (i % 18) as f64),
        numbers(160, |i| if i < 70 { (i % 3) as f64 } else { i as f64 }),
    ] {
        assert_eq!(of(values, levels).unwrap().features(), ["a"]);
    }
}
