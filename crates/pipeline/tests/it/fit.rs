//! Fits end to end.

use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Effort, Fit, Model};

/// n rows of three features and y = sin 3a + b·c + noise.
pub fn table(n: usize, seed: u64) -> Table {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..n {
        let [a, b, c, noise] = std::array::from_fn(|_| rng.random::<f64>() * 2.0 - 1.0);
        let y = (3.0 * a).sin() + b * c + 0.1 * noise;
        columns.iter_mut().zip([a, b, c, y]).for_each(|(column, v)| column.push(v));
    }
    let named = ["a", "b", "c", "y"].into_iter().zip(columns);
    Table::new("t", named.map(|(name, values)| Column::numbers(name, values)).collect()).unwrap()
}

#[test]
fn a_smooth_function_is_found_and_survives_its_file() {
    let (train, test) = (table(400, 1), table(200, 2));
    let fit = Fit { effort: Effort::Quick, ..Fit::default() };
    let fit = fit.table(&train, ["y"], &mut Pcg64::seed_from_u64(0)).unwrap();
    let model = Model::from_bytes(&fit.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, fit.model);
    let f = model.predict(&test).unwrap().values;
    let y = test.numbers("y").unwrap();
    let square: f64 = (0..200).map(|i| (f[(i, 0)] - y[i]).powi(2)).sum::<f64>() / 200.0;
    assert!(square.sqrt() < 0.08, "{}: the noise has 0.058", square.sqrt());
    assert!(fit.report.chosen.error <= fit.report.plain_error);
}
