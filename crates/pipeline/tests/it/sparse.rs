//! Columns of sparse rows: fits are those of the dense rows that they stand for.

use crate::columns::options;
use crate::fit::{check_threads, fitted, numbers, quick, with};
use nystrom::kernels::SparseRows;
use nystrom::prelude::*;
use nystrom_data::{Column, SparseColumn, Table, Values};
use nystrom_pipeline::{
    Calibrate, ColumnOptions, Columns, Error, Family, Fit, Model, Shape, Split, StreamFit,
    TableBlocks, Task,
};

/// The number of places.
const DIM: usize = 60;

pub fn column(rows: &[Vec<(u32, f64)>], dim: usize) -> Column {
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        places.extend(row.iter().map(|(place, _)| *place));
        values.extend(row.iter().map(|(_, value)| *value));
        starts.push(values.len());
    }
    let rows = SparseColumn::new(dim, starts, places, values).unwrap();
    Column { name: "features".into(), values: Values::Sparse(rows) }
}

/// n rows of up to 8 words, common ones first. Row 9 has none.
fn texts(n: usize, seed: u64) -> Vec<Vec<(u32, f64)>> {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut row = |i: usize| {
        let count = if i == 9 { 0 } else { 1 + i % 8 };
        let mut word = |_| 1 + (rng.random::<f64>().powi(2) * (DIM - 1) as f64) as u32;
        let words: std::collections::BTreeSet<u32> = (0..count).map(&mut word).collect();
        words.into_iter().map(|word| (word, 0.5 + rng.random::<f64>())).collect()
    };
    (0..n).map(&mut row).collect()
}

/// Sparse rows, and y = Σ_k x_k sin k.
pub fn table(n: usize, seed: u64) -> Table {
    let rows = texts(n, seed);
    let y = |row: &Vec<(u32, f64)>| row.iter().map(|(k, x)| x * f64::from(*k).sin()).sum();
    let y = Column::numbers("y", rows.iter().map(y).collect());
    Table::new("t", vec![y, column(&rows, DIM)]).unwrap()
}

/// The dense rows, place 1 first, in `dim` dimensions.
fn dense(table: &Table, dim: usize) -> Mat<f64> {
    let Values::Sparse(rows) = &table.column("features").unwrap().values else { panic!() };
    let mut x = Mat::zeros(rows.len(), dim);
    for i in 0..rows.len() {
        let (places, values) = rows.row(i);
        places.iter().zip(values).for_each(|(k, v)| x[(i, *k as usize - 1)] = *v);
    }
    x
}

fn near(found: &Mat<f64>, wanted: &Mat<f64>) {
    let gap = (found - wanted).norm_max();
    assert!(gap < 1e-10 * (1.0 + wanted.norm_max()), "{gap:e}");
}

/// What a model predicts at dense rows, from its kernel, dense centres and coefficients.
fn by_hand(model: &Model, x: &Mat<f64>) -> Mat<f64> {
    let of = model.regression();
    let z = Mat::from_fn(of.centers().len(), x.ncols(), |j, k| match k < of.centers().dim() {
        true => of.centers().coordinate(j, k),
        false => 0.0,
    });
    let k = of.kernel().eval(Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
    let f = k * of.coefficients();
    let target = |j: usize| (model.targets()[j].mean, model.targets()[j].scale);
    Mat::from_fn(f.nrows(), f.ncols(), |i, j| {
        target(j).0 + target(j).1 * (f[(i, j)] + of.intercept()[j])
    })
}

#[test]
fn a_search_finds_the_fit_of_the_dense_rows() {
    let (train, test) = (table(240, 1), table(60, 2));
    let fit = Fit { work: Some(1e9), ..Fit::default() };
    let found = fitted(&fit, &train, "y").unwrap();
    let model = Model::from_bytes(&found.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, found.model);
    assert_eq!(model.columns().sparse(), Some(("features", DIM - 1)));
    assert_eq!(model.columns().features(), ["features: f1 to f59"]);
    assert!(model.regression().centers().is_sparse() && model.made.holds_all_rows);
    let families = found.report.trials.iter().map(|trial| trial.family);
    for family in [Family::Gaussian, Family::Polynomial { degree: 1 }, Family::Matern { nu: 0.5 }] {
        assert!(families.clone().any(|other| other == family), "{family}");
    }
    // the sum of one number for each word
    assert!(found.report.chosen.error < 0.1, "{}", found.report.chosen.error);
    let values = model.predict(&test).unwrap().values;
    near(&values, &by_hand(&model, &dense(&test, DIM - 1)));

    let x = dense(&train, DIM - 1);
    let target = &model.targets()[0];
    let y = train.numbers("y").unwrap();
    let y = Mat::from_fn(240, 1, |i, _| (y[i] - target.mean) / target.scale);
    let (kernel, ridge) = (model.regression().kernel(), model.regression().report().ridge);
    let krr = ExactKrr::new(kernel.clone(), Ridge::Absolute(ridge));
    let wanted = krr.fit((Points::from_rows(x.as_ref()), &y)).unwrap();
    let f = wanted.predict(Points::from_rows(dense(&test, DIM - 1).as_ref())).unwrap();
    let wanted = Mat::from_fn(60, 1, |i, _| target.mean + target.scale * f[(i, 0)]);
    let gap = (&values - &wanted).norm_max();
    assert!(gap < 1e-7 * wanted.norm_max(), "{gap:e}: the systems have rounding errors");
    check_threads(&train, "y");
}

#[test]
fn prepared_rows_are_as_they_are() {
    let train = table(90, 3);
    let prepared = Fit::default().prepare(&train, ["y"]).unwrap();
    let points = prepared.x.points();
    assert!(prepared.x.dense().is_none() && points.is_sparse());
    let x = dense(&train, DIM - 1);
    let kernel = Gaussian::new(2.0).unwrap();
    let landmarks = Landmarks::new(90, (0..90).step_by(3).collect()).unwrap();
    let krr = NystromKrr { intercept: true, ..NystromKrr::new(kernel, Ridge::PerSample(1e-3)) };
    let [sparse, dense] = [points, Points::from_rows(x.as_ref())]
        .map(|x| krr.fit((x, &prepared.y), &landmarks).unwrap().predict(x).unwrap());
    near(&sparse, &dense);
}

#[test]
fn numbers_at_places_without_training_values_count_in_distances() {
    let model = fitted(&quick(), &table(120, 4), "y").unwrap().model;
    let rows = [vec![(3, 1.0), (200, 2.0)], vec![(3, 1.0)], vec![], vec![(999_999, 1.0)]];
    let new = |rows: &[Vec<(u32, f64)>], dim| Table::new("n", vec![column(rows, dim)]).unwrap();
    let found = model.predict(&new(&rows, 1_000_000)).unwrap().values;
    let known = model.predict(&new(&rows[1..3], 4)).unwrap().values;
    assert_eq!((known[(0, 0)], known[(1, 0)]), (found[(1, 0)], found[(2, 0)]));
    let x = dense(&new(&rows[..1], 201), 200);
    near(&found.subrows(0, 1).to_owned(), &by_hand(&model, &x));
    // far from everything in a kernel of distances, as 0 in a linear one
    let linear = model.regression().kernel().family() == Family::Polynomial { degree: 1 };
    assert_eq!(linear, found[(0, 0)] == found[(1, 0)]);
    assert!(model.predict(&new(&[], 4)).is_err(), "no rows, as for dense columns");
}

#[test]
fn classes_have_probabilities() {
    let (train, test) = (table(200, 5), table(50, 6));
    let kind = |table: &Table| {
        let y = table.numbers("y").unwrap();
        let kinds = y.iter().map(|y| if *y > 0.3 { "high" } else { "low" }.to_owned());
        with(&table.clone().drop_columns(["y"]).unwrap(), crate::fit::text("kind", kinds))
    };
    let fit = Fit { work: Some(1e9), ..Fit::default() };
    let model = fitted(&fit, &kind(&train), "kind").unwrap().model;
    let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let p = model.probabilities(&test).unwrap();
    let y = test.numbers("y").unwrap();
    let wrong = (0..50).filter(|&i| (p[(i, 0)] > 0.5) != (y[i] > 0.3)).count();
    assert!((0..50).all(|i| (p[(i, 0)] + p[(i, 1)] - 1.0).abs() < 1e-12) && wrong <= 10, "{wrong}");
    assert!(matches!(model.predict(&train), Ok(found) if found.values.nrows() == 200));
}

#[test]
fn intervals_and_deviations_hold_as_for_dense_rows() {
    let (train, test) = (table(160, 7), table(60, 8));
    let noisy = |table: &Table, seed: u64| {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let y = table.numbers("y").unwrap().iter().map(|y| y + rng.random::<f64>()).collect();
        with(table, Column::numbers("y", y))
    };
    let (train, test) = (noisy(&train, 1), noisy(&test, 2));
    for calibrate in [Calibrate::Share(0.3), Calibrate::Cross(3), Calibrate::LeaveOneOut] {
        let fit = Fit { calibrate: Some(calibrate), deviations: true, ..quick() };
        let model = fitted(&fit, &train, "y").unwrap().model;
        let saved = model.to_bytes().unwrap();
        assert_eq!(Model::from_bytes(&saved).unwrap(), model);
        let found = model.intervals(&test, 0.8).unwrap();
        let y = test.numbers("y").unwrap();
        let inside = |i: &usize| found.lower[(*i, 0)] <= y[*i] && y[*i] <= found.upper[(*i, 0)];
        // 36 of 60 are below 0.8 by 4 deviations of the rows, in the mean over fits
        assert!((0..60).filter(inside).count() >= 36, "{calibrate:?}");
        let deviations = model.deviations(&test).unwrap();
        assert!((0..60).all(|i| deviations.of_value[(i, 0)] > deviations.of_function[(i, 0)]));
        // in more dimensions
        let far = Table::new("far", vec![column(&[vec![(70_000, 9.0)]], 70_001)]).unwrap();
        let interval = model.intervals(&far, 0.8).unwrap();
        assert!(interval.lower[(0, 0)] < interval.upper[(0, 0)]);
        assert!(model.deviations(&far).unwrap().of_function[(0, 0)] > 0.0);
    }
}

#[test]
fn a_million_places_are_not_made() {
    let rng = &mut Pcg64::seed_from_u64(9);
    let n = 400; // 3.2 GB as numbers
    let mut place = || (rng.random::<f64>() * 1e6) as u32;
    let rows: Vec<Vec<(u32, f64)>> = (0..n)
        .map(|i| {
            let far = 1000 + place();
            vec![(1 + (i % 7) as u32, 1.0), (20 + (i % 11) as u32, 2.0), (far, 0.1)]
        })
        .collect();
    let y = (0..n).map(|i| ((i % 7) as f64).sin() + ((i % 11) as f64).cos()).collect();
    let table = vec![Column::numbers("y", y), column(&rows, 1_001_000)];
    let found = fitted(&quick(), &Table::new("t", table).unwrap(), "y").unwrap();
    assert!(found.report.chosen.error < 0.1, "{}", found.report.chosen.error);
    assert_eq!(found.report.features.len(), 1);
    assert!(found.model.to_bytes().unwrap().len() < 100_000);
}

#[test]
fn copies_of_rows_are_one_row() {
    let train = table(80, 10);
    let twice: Vec<usize> = (0..160).map(|i| i / 2).collect();
    let fit = Fit { task: Task::Regression, ..Fit::default() };
    let prepared = fit.prepare(&train.select_rows(&twice).unwrap(), ["y"]).unwrap();
    let once = fit.prepare(&train, ["y"]).unwrap();
    assert!(prepared.notes.iter().any(|note| note.contains("different ones")));
    assert!(prepared.x.points().len() <= once.x.points().len());
}

#[test]
fn what_sparse_rows_cannot_be_is_refused() {
    let train = table(60, 11);
    let refused = |fit: Fit, target: &str| fitted(&fit, &train, target).unwrap_err().to_string();
    assert!(refused(quick(), "features").contains("sparse rows"));
    let split = |split| Fit { split, ..quick() };
    for split in [Split::Group, Split::Time].map(|by| split(by("features".into()))) {
        assert!(refused(split, "y").contains("sparse rows"));
    }
    for columns in [
        ColumnOptions { numeric: vec!["y".into()], ..options() },
        ColumnOptions { scale: vec![("features".into(), 2.0)], ..options() },
    ] {
        let error = refused(Fit { columns, ..quick() }, "y");
        assert!(error.contains("the numbers of \"features\" are the only feature"), "{error}");
    }
    let alone = |rows: &[Vec<(u32, f64)>]| {
        let y = Column::numbers("y", (0..rows.len()).map(|i| i as f64).collect());
        fitted(&quick(), &Table::new("t", vec![y, column(rows, DIM)]).unwrap(), "y").unwrap_err()
    };
    assert!(matches!(alone(&[vec![(1, 1.0)]]), Error::TooFewRows { rows: 1 }));
    assert!(matches!(alone(&[]), Error::TooFewRows { rows: 0 }));
    assert!(matches!(alone(&vec![Vec::new(); 9]), Error::NoFeatures { .. }));

    let model = fitted(&quick(), &train, "y").unwrap().model;
    assert_eq!(model.explanation, None);
    let error = model.explain(&train).unwrap_err();
    assert!(matches!(error, Error::SparseFeatures { features: 59 }), "{error}");
    let of_numbers = numbers(["features", "y"], vec![vec![1.0; 9]; 2]);
    let error = model.predict(&of_numbers).unwrap_err().to_string();
    assert!(error.contains("no sparse rows"), "{error}");
    let columns = Columns::fit(&train, &options(), &["y"], Shape::PLAIN).unwrap();
    assert!(matches!(columns.apply(&train), Err(Error::Values { .. })));
    assert_eq!(columns.complete_rows(&train).unwrap().len(), 60);
    let plain = numbers(["features", "y"], vec![(0..9).map(f64::from).collect(); 2]);
    let other = fitted(&quick(), &plain, "y").unwrap().model;
    assert!(other.predict(&train).unwrap_err().to_string().contains("sparse rows"));
    let (mut blocks, rng) = (TableBlocks::new(&train, 20), &mut Pcg64::seed_from_u64(0));
    let stream = StreamFit { fit: quick(), reservoir: 40, landmarks: 10 };
    let error = stream.survey(&mut blocks, ["y"], rng).unwrap_err().to_string();
    assert!(error.contains("sparse rows"), "{error}");
}

/// Another column beside the rows is no feature, and is told.
#[test]
fn the_numbers_of_the_rows_are_the_only_features() {
    let train = with(&table(60, 12), Column::numbers("qid", (0..60).map(f64::from).collect()));
    let found = fitted(&quick(), &train, "y").unwrap();
    assert_eq!(found.model.columns().names().collect::<Vec<_>>(), ["features"]);
    assert!(found.report.notes.iter().any(|note| note.contains("no other column")));
    let group = Fit { split: Split::Group("qid".into()), ..quick() };
    let found = fitted(&group, &train, "y").unwrap();
    assert!(!found.report.notes.iter().any(|note| note.contains("no other column")));
    // counts must not be negative
    let columns = ColumnOptions { counts: true, ..options() };
    let rows = vec![vec![(1, 2.0)], vec![(2, 1.0), (5, -3.0)], vec![(2, 1.0)]];
    let train = with(&numbers(["y"], vec![vec![1.0, 2.0, 4.0]]), column(&rows, DIM));
    let error = Fit { columns, ..quick() }.prepare(&train, ["y"]).unwrap_err().to_string();
    assert!(error.contains("has 5:-3 in row 2"), "{error}");
}

/// A file whose sparse centres are no rows.
#[test]
fn centres_that_are_no_sparse_rows_are_refused() {
    let model = fitted(&quick(), &table(40, 13), "y").unwrap().model;
    let centers = model.regression().centers();
    let (theta, b) = (model.regression().coefficients(), model.regression().intercept().to_vec());
    let of = |points: nystrom::kernels::PointSet<f64>| {
        let (kernel, report) = (model.regression().kernel(), model.regression().report());
        KrrModel::new(kernel.clone(), points, theta.to_owned(), b.clone(), report.clone()).unwrap()
    };
    let of = |points| {
        let (columns, layout) = (model.columns().clone(), model.layout().to_vec());
        let targets = model.targets().to_vec();
        Model::new(columns, layout, targets, None, of(points), model.made.clone())
    };
    assert!(of(centers.to_owned()).is_ok());
    let x = Mat::from_fn(centers.dim(), centers.len(), |k, i| centers.coordinate(i, k));
    let error = of(x.clone().into()).unwrap_err().to_string();
    assert!(error.contains("different forms"), "{error}");
    let narrow = SparseRows::from_dense(x.subrows(0, 40).transpose()).unwrap();
    assert!(of(narrow.into()).unwrap_err().to_string().contains("features"));
}
