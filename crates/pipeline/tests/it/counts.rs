//! Counts as features of the kernel min–max.

use crate::columns::{options, table};
use crate::fit::text;
use nystrom::prelude::*;
use nystrom_data::Column;
use nystrom_pipeline::{
    AnyKernel, ColumnOptions, Columns, Error, Family, Fit, Missing, Shape, StreamFit, StreamPoints,
    TableBlocks, Task,
};

fn of_counts() -> ColumnOptions {
    ColumnOptions { counts: true, ..options() }
}

fn applied(columns: Vec<Column>, options: &ColumnOptions) -> Result<Mat<f64>, Error> {
    let table = table(columns);
    let columns = Columns::fit(&table, options, &[], Shape { log: true, ..Shape::PLAIN })?;
    Ok(columns.apply(&table)?.x)
}

#[test]
fn counts_keep_their_units() {
    let gap = vec![3.0, 0.0, f64::NAN, 1e6];
    let columns = vec![
        Column::numbers("a", gap),
        Column::numbers("one", vec![2.0; 4]),
        text("c", ["x", "y", "y", "z"].map(str::to_owned)),
    ];
    let x = applied(columns.clone(), &of_counts()).unwrap();
    // the median and a mark for the gap, the constant, and three levels
    let expected = [
        [3.0, 0.0, 2.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 2.0, 0.0, 1.0, 0.0],
        [3.0, 1.0, 2.0, 0.0, 1.0, 0.0],
        [1e6, 0.0, 2.0, 0.0, 0.0, 1.0],
    ];
    assert_eq!(x, Mat::from_fn(4, 6, |i, k| expected[i][k]));
    // without the option, features are standardised and the constant is left out
    let standardised = applied(columns, &options()).unwrap();
    assert!(standardised.ncols() == 5 && standardised[(1, 0)] < 0.0);
    let alone = applied(vec![Column::numbers("a", vec![7.0])], &of_counts()).unwrap();
    assert_eq!(alone[(0, 0)], 7.0);
}

#[test]
fn what_is_no_count_is_an_error() {
    let words = |columns: Vec<Column>| applied(columns, &of_counts()).unwrap_err().to_string();
    let error = words(vec![
        Column::numbers("a", vec![0.0, 1.0, 2.0]),
        Column::numbers("b", vec![4.0, 2.0, -1.5]),
    ]);
    for part in ["\"b\"", "-1.5", "row 3", "at least 0", "--drop"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let days = ["2020-01-01", "2020-05-07", "2021-03-02"].map(str::to_owned);
    let error = words(vec![Column::numbers("a", vec![0.0, 1.0, 2.0]), text("day", days)]);
    assert!(error.contains("\"day\" holds dates"), "{error}");

    // new rows, also after the columns were saved
    let fitted = table(vec![Column::numbers("a", vec![0.0, 1.0, 2.0])]);
    let columns = Columns::fit(&fitted, &of_counts(), &[], Shape::PLAIN).unwrap();
    let saved = serde_json::to_string(&columns).unwrap();
    let columns: Columns = serde_json::from_str(&saved).unwrap();
    let new = table(vec![Column::numbers("a", vec![5.0, -3.0])]);
    let error = columns.apply(&new).unwrap_err().to_string();
    assert!(error.contains("-3 in row 2"), "{error}");
    // columns of an earlier version were not counts
    let earlier = saved.replace("\"counts\":true,", "");
    assert!(earlier != saved);
    let columns: Columns = serde_json::from_str(&earlier).unwrap();
    assert_eq!(columns.apply(&new).unwrap().x[(1, 0)], -3.0);
}

/// k(x, y) = Σ min/Σ max by hand, from a file as from the family.
#[test]
fn the_kernel_is_saved_and_has_no_derivatives() {
    let x = Mat::from_fn(2, 3, |i, k| [[3.0, 0.0, 1.0], [1.0, 2.0, 1.0]][i][k]);
    let kernel = Family::MinMax.kernel(9.0, 3).unwrap();
    let saved = serde_json::to_string(&kernel).unwrap();
    assert!(saved.contains("min-max"), "{saved}");
    assert_eq!(serde_json::to_value(Family::MinMax).unwrap(), "min-max");
    for kernel in [kernel, serde_json::from_str::<AnyKernel>(&saved).unwrap()] {
        assert_eq!(kernel.gram(Points::from_rows(x.as_ref()))[(0, 1)], 2.0 / 6.0);
        assert_eq!((kernel.family(), kernel.bandwidth()), (Family::MinMax, None));
        assert!(!kernel.is_differentiable() && kernel.stationary().is_none());
        assert_eq!(kernel.describe(), "min–max");
        assert!(kernel.family().takes_counts() && !kernel.family().has_scale());
    }
    assert!(!Family::Linear.takes_counts());
}

/// A negative number outside the sample is an error of the first pass; without one, a fit in blocks
/// gives a model that predicts.
#[test]
fn blocks_of_counts() {
    let (n, rng) = (900, &mut Pcg64::seed_from_u64(3));
    let mut counts = vec![vec![0.0; n]; 3];
    counts.iter_mut().flatten().for_each(|count| *count = f64::from(rng.random_range(0..6_u32)));
    let y: Vec<f64> = (0..n).map(|i| (counts[0][i] - counts[1][i]).abs()).collect();
    let of = |last: f64| {
        let mut columns = counts.clone();
        columns[2][n - 1] = last;
        let named = ["a", "b", "c"].into_iter().zip(columns);
        let columns = named.map(|(name, values)| Column::numbers(name, values));
        table(columns.chain([Column::numbers("y", y.clone())]).collect())
    };
    let bad = of(-2.0);
    let drop = ColumnOptions { drop: vec!["y".into()], ..of_counts() };
    let points = StreamPoints { columns: drop, reservoir: 10, leaves: 8 };
    let survey = points.survey(&mut TableBlocks::new(&bad, 200), rng).unwrap();
    assert!(survey.sampled().iter().all(|(row, _)| *row as usize != n - 1));
    let error = points.columns(&survey).unwrap_err().to_string();
    assert!(error.contains("\"c\" has the value -2"), "{error}");

    let good = of(2.0);
    let fit = Fit { columns: of_counts(), task: Task::Regression, ..Fit::default() };
    let stream = StreamFit { fit, reservoir: 400, landmarks: 200 };
    let source = &mut TableBlocks::new(&good, 200);
    let survey = stream.survey(source, ["y"], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::MinMax, None), rng).unwrap();
    let recipe = stream.recipe(&survey, model, rng).unwrap();
    let mut sum = recipe.sum().unwrap();
    sum.run(source, &mut |_| Ok(())).unwrap();
    let (model, _) = sum.finish(&[1e-3, 1e-5]).unwrap();
    let predicted = model.predict(&good).unwrap().values;
    let error: f64 = (0..n).map(|i| (predicted[(i, 0)] - y[i]).powi(2)).sum::<f64>() / n as f64;
    assert!(error.sqrt() < 0.5, "{error}");
    // a gap is filled by the median
    let gap = table(["a", "b", "c"].map(|name| Column::numbers(name, vec![f64::NAN])).into());
    assert!(model.predict(&gap).unwrap().values[(0, 0)].is_finite());
    let strict = ColumnOptions { missing: Missing::Refuse, ..of_counts() };
    assert!(Columns::fit(&gap, &strict, &[], Shape::PLAIN).is_err());
}
