//! Regression on all the data, and folds, of rows read by several processes: here by threads.

use crate::ranks::job;
use crate::stream::{LAMBDAS, Used, mixed, stream, weighted};
use nystrom::krr::{Extras, FullKrr, IterativeOptions, Stop};
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{Alone, Error, Family, Model, Ranks, Recipe, SavedLeaves, TableBlocks};

const LAMBDA: f64 = 1e-5;

fn recipe(table: &Table) -> Recipe {
    let (stream, rng) = (stream(weighted()), &mut Pcg64::seed_from_u64(3));
    let source = &mut TableBlocks::new(table, 1000);
    let survey = stream.survey(source, ["y"], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
    stream.recipe_of_all(&survey, model).unwrap()
}

fn fit(
    recipe: &Recipe,
    table: &Table,
    memory: Option<u64>,
    ranks: &dyn Ranks,
) -> Result<Model, Error> {
    let options = IterativeOptions { tolerance: 1e-8, max_iterations: 300, memory };
    let (source, rng) = (&mut TableBlocks::new(table, 900), &mut Pcg64::seed_from_u64(0));
    let (model, report, iterations) =
        recipe.iterate_over(ranks, source, (LAMBDA, options), Extras::default(), rng)?;
    assert!(iterations.stop == Stop::Converged && iterations.passes > iterations.iterations);
    assert_eq!((report.rows, report.landmarks as u64), (recipe.rows(), recipe.rows()));
    Ok(model)
}

/// Streamed it is the fit in memory, with gaps and weights, and over any number of processes it has
/// the same bits.
#[test]
fn any_number_of_processes_gives_the_same_bits() {
    let table = mixed(4300); // four leaves
    let recipe = recipe(&table);
    let recipe = Recipe::from_bytes(&weighted(), "job", &recipe.to_bytes("job").unwrap()).unwrap();
    let model = fit(&recipe, &table, None, &Alone).unwrap();
    assert!(model.made.holds_all_rows && model.made.centers == "all rows");
    let alone = model.to_bytes().unwrap();
    for size in 1..=4 {
        for model in job(size, |ranks| fit(&recipe, &table, None, ranks).unwrap()) {
            assert!(model.to_bytes().unwrap() == alone, "{size} processes");
        }
    }

    let used = Used::of(&model, &table);
    let problem = used.problem();
    let krr = FullKrr::new(model.regression().kernel().clone(), Ridge::PerSample(LAMBDA));
    let options = IterativeOptions { tolerance: 1e-8, max_iterations: 300, memory: None };
    let krr = FullKrr { options, ..krr };
    let memory = krr.fit(problem, &mut Pcg64::seed_from_u64(0)).unwrap().into_model().unwrap();
    let [ours, theirs] = [model.regression(), &memory].map(|f| f.predict(problem.x).unwrap());
    assert_eq!(ours.nrows() as u64, recipe.rows());
    assert!((&ours - &theirs).norm_max() < 1e-5 * theirs.norm_max());
}

/// Folds belong to the rows, whoever reads them, also behind a checkpoint.
#[test]
fn folds_are_those_of_one_process() {
    let table = mixed(9000); // five leaves
    let stream = stream(weighted());
    let recipe = crate::stream::recipe(&stream, &mut TableBlocks::new(&table, 1000));
    let bytes = recipe.to_bytes("job").unwrap();
    let begin = |ranks: &dyn Ranks, saved: &[SavedLeaves]| {
        recipe.folds_after(ranks, saved, 4, &mut Pcg64::seed_from_u64(7)).unwrap()
    };
    let source = || TableBlocks::new(&table, 900);
    let mut saved = None;
    let mut sum = begin(&Alone, &[]);
    sum.run(&mut source(), &mut |sum| {
        if saved.is_none() && sum.row() > 5000 {
            saved = Some(sum.to_bytes(&bytes)?);
        }
        Ok(())
    })
    .unwrap();
    let (model, report) = sum.by_folds(&LAMBDAS).unwrap();
    let (cv, gcv) = (report.cross_validation.unwrap(), report.gcv.unwrap());
    assert!((cv / gcv - 1.0).abs() < 0.02 && report.training.unwrap() < cv, "{report:?}");
    let (alone, saved) = (model.to_bytes().unwrap(), saved.unwrap());
    let head = SavedLeaves::of(&bytes, &saved).unwrap();
    for (size, resumes) in [(1, true), (2, false), (3, true), (4, false)] {
        let found = job(size, |ranks| {
            let mut sum = begin(ranks, if resumes { std::slice::from_ref(&head) } else { &[] });
            if resumes && sum.wants(&head) {
                sum = sum.resume(&bytes, &saved).unwrap();
            }
            sum.run(&mut source(), &mut |_| Ok(())).unwrap();
            sum.merge_over(ranks).unwrap();
            (ranks.rank() == 0).then(|| sum.by_folds(&LAMBDAS).unwrap())
        });
        let (model, again) = found.into_iter().next().unwrap().unwrap();
        assert!(model.to_bytes().unwrap() == alone && again == report, "{size} processes");
    }
    let other = recipe.folds_after(&Alone, &[], 5, &mut Pcg64::seed_from_u64(7)).unwrap();
    assert!(other.resume(&bytes, &saved).is_err(), "other folds");
}

#[test]
fn what_is_wrong_is_told_on_every_process() {
    let table = mixed(3000);
    let recipe = recipe(&table);
    // before a pass
    let refused = fit(&recipe, &table, Some(100_000), &Alone).unwrap_err();
    assert!(matches!(refused, Error::Numerics(nystrom::Error::OutOfBudget { .. })), "{refused}");
    // sums with landmarks are another recipe's
    assert!(recipe.sum().is_err());
    // rows that went
    let short = table.select_rows(&(0..2900).collect::<Vec<_>>()).unwrap();
    let failed = fit(&recipe, &short, None, &Alone).unwrap_err();
    assert!(failed.to_string().contains("rows of the source when read again"), "{failed}");
}
