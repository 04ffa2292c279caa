//! Fits in the span of a sketch, by several processes: here by threads.

use crate::ranks::job;
use crate::stream::{LAMBDAS, Used, mixed, stream, weighted};
use nystrom::faer::Mat;
use nystrom::krr::{Extras, IterativeOptions, NormalEquations, RowSums, Stop};
use nystrom::prelude::*;
use nystrom::sketch::SparseSketch;
use nystrom_data::Table;
use nystrom_pipeline::{Alone, Error, Family, Model, Ranks, Recipe, TableBlocks};

/// A recipe for 40 sums of 3 rows of the reservoir each, read back from its bytes; the sketch and
/// the reservoir.
fn recipe(table: &Table) -> (Recipe, SparseSketch<f64>, Mat<f64>) {
    let (stream, rng) = (stream(weighted()), &mut Pcg64::seed_from_u64(3));
    let survey = stream.survey(&mut TableBlocks::new(table, 900), ["y"], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
    let reservoir = stream.reservoir(&survey, &model).unwrap();
    let rows = reservoir.nrows();
    let sketch = Accumulation::uniform(3).sample(rows, 40, rng).unwrap();
    let less = Accumulation::uniform(3).sample(rows - 1, 40, rng).unwrap();
    let other = stream.recipe_in_span(&survey, model.clone(), &less, "sums");
    assert!(matches!(other, Err(Error::Numerics(nystrom::Error::Shape { .. }))));
    let recipe = stream.recipe_in_span(&survey, model, &sketch, "40 sums").unwrap();
    assert_eq!((recipe.landmarks(), recipe.dimensions()), (sketch.support().len(), 40));
    assert!(recipe.landmarks() > 80, "{} rows", recipe.landmarks());
    let bytes = recipe.to_bytes("job").unwrap();
    (Recipe::from_bytes(&stream.fit, "job", &bytes).unwrap(), sketch, reservoir)
}

/// By generalised cross-validation, by leave-one-out in a third pass, and by folds.
fn fitted(recipe: &Recipe, table: &Table, block: usize, ranks: &dyn Ranks) -> Option<Vec<Vec<u8>>> {
    let source = || TableBlocks::new(table, block);
    let mut sum = recipe.sum_after(ranks, &[]).unwrap();
    sum.run(&mut source(), &mut |_| Ok(())).unwrap();
    let path = sum.path_over(ranks, &LAMBDAS).unwrap();
    let mut errors = path.errors_over(ranks).unwrap();
    errors.run(&mut source(), &mut |_| Ok(())).unwrap();
    errors.merge_over(ranks).unwrap();
    let mut folds = recipe.folds_after(ranks, &[], 3, &mut Pcg64::seed_from_u64(8)).unwrap();
    folds.run(&mut source(), &mut |_| Ok(())).unwrap();
    folds.merge_over(ranks).unwrap();
    (ranks.rank() == 0).then(|| {
        let models = [path.by_gcv(), path.by_leave_one_out(errors), folds.by_folds(&LAMBDAS)];
        models.into_iter().map(|found| found.unwrap().0.to_bytes().unwrap()).collect()
    })
}

#[test]
fn any_number_of_processes_gives_the_same_bits() {
    let table = mixed(9000); // five leaves
    let (recipe, ..) = recipe(&table);
    let alone = fitted(&recipe, &table, 1000, &Alone);
    for size in 1..=4 {
        let models = job(size, |ranks| fitted(&recipe, &table, 700, ranks));
        assert!(models[0] == alone, "{size} processes");
    }
}

/// With the same sketch, features, targets and weights the fit in memory gives the same function.
#[test]
fn it_is_the_fit_in_memory() {
    let all = mixed(9000);
    let (recipe, sketch, reservoir) = recipe(&all);
    let bytes = &fitted(&recipe, &all, 1000, &Alone).unwrap()[0];
    let model = Model::from_bytes(bytes).unwrap();
    assert_eq!(model.made.centers, "40 sums");
    let used = Used::of(&model, &all);
    let problem = used.problem();
    let (kernel, points) = (model.regression().kernel(), Points::from_rows(reservoir.as_ref()));
    let mut state = NormalEquations::sketched(kernel.clone(), points, &sketch, 1, None).unwrap();
    state.accumulate(problem).unwrap();
    let memory = state.solve(Ridge::PerSample(model.made.lambda)).unwrap();
    let [f, g] = [model.regression(), &memory].map(|model| model.predict(problem.x).unwrap());
    assert!((&f - &g).norm_max() < 1e-7 * g.norm_max());
}

/// As the direct fit at its λ, to the same bits on any number of processes.
#[test]
fn iterations_in_a_span_end_at_its_fit() {
    let table = mixed(9000);
    let (recipe, ..) = recipe(&table);
    let lambda = 1e-4;
    let iterated = |block, ranks: &dyn Ranks| {
        let (source, rng) = (&mut TableBlocks::new(&table, block), &mut Pcg64::seed_from_u64(0));
        let how = (lambda, IterativeOptions { tolerance: 1e-9, ..IterativeOptions::default() });
        let found = recipe.iterate_over(ranks, source, how, Extras::default(), rng).unwrap();
        assert!(found.2.stop == Stop::Converged && found.2.iterations < 40, "{:?}", found.2);
        found.0
    };
    let alone = iterated(1000, &Alone);
    let mut sum = recipe.sum().unwrap();
    sum.run(&mut TableBlocks::new(&table, 900), &mut |_| Ok(())).unwrap();
    let direct = sum.path_over(&Alone, &[lambda]).unwrap().by_gcv().unwrap().0;
    let x = direct.columns().apply(&table).unwrap().x;
    let [f, g] = [&alone, &direct]
        .map(|model| model.regression().predict(Points::from_rows(x.as_ref())).unwrap());
    assert!((&f - &g).norm_max() < 1e-5 * g.norm_max());
    let bytes = alone.to_bytes().unwrap();
    for size in 1..=4 {
        let models = job(size, |ranks| iterated(700, ranks).to_bytes().unwrap());
        assert!(models.iter().all(|model| *model == bytes), "{size} processes");
    }
}
