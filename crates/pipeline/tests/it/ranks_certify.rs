//! The certificate of rows read by several processes: here by threads.

use crate::ranks::job;
use crate::stream::{Used, finished, mixed, recipe, stream, weighted};
use nystrom::krr::CertificateReport;
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

/// The report has the same bits over any number of processes; its lengths are those of the rows in
/// memory, in units of the target.
#[test]
fn any_number_of_processes_gives_the_same_certificate() {
    let n = 9000; // five leaves
    let table = mixed(n);
    let recipe = recipe(&stream(weighted()), &mut TableBlocks::new(&table, 1000));
    let model = finished(&recipe, &mut TableBlocks::new(&table, 1000));
    let used = Used::of(&model, &table);
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
        let memory = Certificate { rows, ..Certificate::default() }
            .certify(model.regression(), used.problem(), &mut Pcg64::seed_from_u64(0))
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
    let model = finished(&recipe, &mut TableBlocks::new(&table, 1000));
    let short = table.select_rows(&(0..2900).collect::<Vec<_>>()).unwrap();
    let failed = certify((&recipe, &short), Some(&model), 100, &Alone).unwrap_err();
    assert!(failed.to_string().contains("rows of the source when read again"), "{failed}");
}
