//! The certificate of rows read by several processes: here by threads.

use crate::ranks::job;
use crate::stream::{LAMBDAS, mixed, recipe, stream, weighted};
use nystrom::faer::Mat;
use nystrom::krr::{CertificateReport, Problem};
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{Alone, Error, Model, Ranks, Recipe, TableBlocks};

fn certify(
    (recipe, table): (&Recipe, &Table),
    model: Option<&Model>,
    rows: usize,
    ranks: &dyn Ranks,
) -> Result<CertificateReport, Error> {
    let (source, rng) = (&mut TableBlocks::new(table, 900), &mut Pcg64::seed_from_u64(5));
    let certificate = Certificate { rows, ..Certificate::default() };
    recipe.certify_over((ranks, source), model, certificate, rng)
}

fn fitted(recipe: &Recipe, table: &Table) -> Model {
    let mut sum = recipe.sum().unwrap();
    sum.run(&mut TableBlocks::new(table, 1000), &mut |_| Ok(())).unwrap();
    sum.finish(&LAMBDAS).unwrap().0
}

/// The report has the same bits over any number of processes; its lengths are those of the rows in
/// memory, in units of the target.
#[test]
fn any_number_of_processes_gives_the_same_certificate() {
    let n = 9000; // five leaves
    let table = mixed(n);
    let recipe = recipe(&stream(weighted()), &mut TableBlocks::new(&table, 1000));
    let model = fitted(&recipe, &table);
    for rows in [300, 20_000] {
        let alone = certify((&recipe, &table), Some(&model), rows, &Alone).unwrap();
        for size in 1..=4 {
            let found = job(size, |ranks| {
                let model = (ranks.rank() == 0).then_some(&model);
                certify((&recipe, &table), model, rows, ranks).unwrap()
            });
            assert!(found.iter().all(|report| *report == alone), "{size} processes");
        }
        let target = &model.targets()[0];
        let used: Vec<usize> = (0..n).filter(|i| !i.is_multiple_of(17) && i % 37 != 2).collect();
        let used = table.select_rows(&used).unwrap();
        let y = used.numbers("y").unwrap();
        let y = Mat::from_fn(y.len(), 1, |i, _| (y[i] - target.mean) / target.scale);
        let w = used.numbers("w").unwrap();
        let mean = w.iter().sum::<f64>() / w.len() as f64;
        let w: Vec<f64> = w.iter().map(|w| w / mean).collect();
        let x = model.columns().apply(&used).unwrap().x;
        let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let memory = Certificate { rows, ..Certificate::default() }
            .certify(model.regression(), problem, &mut Pcg64::seed_from_u64(0))
            .unwrap();
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-7;
        assert!(near(alone.trace_error, memory.trace_error) && alone.rows == memory.rows);
        let (ours, theirs) = (&alone.targets[0], &memory.targets[0]);
        assert!(near(ours.residual, target.scale * theirs.residual), "{ours:?} {theirs:?}");
        assert!(near(ours.trace_bound, target.scale * theirs.trace_bound));
        assert!(rows < n || near(ours.bound, target.scale * theirs.bound));
        assert!(ours.bound < ours.trace_bound);
    }
}

#[test]
fn rows_that_went_are_missed() {
    let table = mixed(3000);
    let recipe = recipe(&stream(weighted()), &mut TableBlocks::new(&table, 1000));
    let model = fitted(&recipe, &table);
    let short = table.select_rows(&(0..2900).collect::<Vec<_>>()).unwrap();
    let failed = certify((&recipe, &short), Some(&model), 100, &Alone).unwrap_err();
    assert!(failed.to_string().contains("rows of the source when read again"), "{failed}");
}
