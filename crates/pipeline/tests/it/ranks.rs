//! Fits of tables whose parts are read by several processes: here by threads.

use crate::stream::{LAMBDAS, mixed, stream, weighted};
use nystrom::faer::Mat;
use nystrom::krr::{Extras, IterativeOptions, Stop};
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{
    Alone, ColumnOptions, Error, Family, Fit, Missing, Ranks, Recipe, SavedLeaves, StreamFit,
    TableBlocks,
};
use std::cell::Cell;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A thread of a job.
pub struct Thread {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
    /// Bytes that it has sent.
    sent: Cell<usize>,
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        assert_ne!(to, self.rank);
        self.sent.set(self.sent.get() + bytes.len());
        self.to[to].send(bytes.to_vec()).unwrap();
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        self.from[from].recv().unwrap()
    }
}

/// What each of so many threads finds.
pub fn job<T: Send>(size: usize, work: impl Fn(&Thread) -> T + Sync) -> Vec<T> {
    let mut ends: Vec<Vec<(Sender<_>, Option<Receiver<_>>)>> = Vec::new();
    for _ in 0..size {
        ends.push((0..size).map(|_| channel()).map(|(to, from)| (to, Some(from))).collect());
    }
    let threads: Vec<Thread> = (0..size)
        .map(|rank| Thread {
            rank,
            to: ends[rank].iter().map(|(to, _)| to.clone()).collect(),
            from: (0..size).map(|other| ends[other][rank].1.take().unwrap()).collect(),
            sent: Cell::new(0),
        })
        .collect();
    drop(ends);
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |thread| scope.spawn(move || work(&thread));
        let running: Vec<_> = threads.into_iter().map(spawn).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The rows of one of them, some more than others.
pub fn part(n: usize, thread: &Thread) -> Range<usize> {
    let cut = |rank: usize| n * rank * (rank + 1) / (thread.size() * (thread.size() + 1));
    cut(thread.rank)..cut(thread.rank + 1)
}

/// The model, on process 0.
fn fitted(stream: &StreamFit, table: &Table, ranks: &Thread) -> Option<Vec<u8>> {
    let rng = &mut Pcg64::seed_from_u64(3);
    let rows = part(table.rows(), ranks);
    let mine = table.select_rows(&rows.clone().collect::<Vec<_>>()).unwrap();
    let source = (&mut TableBlocks::new(&mine, 700) as _, rows.start as u64);
    let survey = stream.survey_over(ranks, source, vec!["y".into()], rng).unwrap();
    let mut bytes = Vec::new();
    if let Some(survey) = survey {
        let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
        bytes = stream.recipe(&survey, model, rng).unwrap().to_bytes("job").unwrap();
    }
    let recipe = Recipe::from_bytes(&stream.fit, "job", &ranks.broadcast(bytes)).unwrap();
    let mut sum = recipe.sum_after(ranks, &[]).unwrap();
    sum.run(&mut TableBlocks::new(table, 900), &mut |_| Ok(())).unwrap();
    sum.merge_over(ranks).unwrap();
    (ranks.rank == 0).then(|| sum.finish(&LAMBDAS).unwrap().0.to_bytes().unwrap())
}

#[test]
fn any_number_of_processes_gives_the_same_bits() {
    let table = mixed(9000); // five leaves
    let complete = ColumnOptions { missing: Missing::DropRows, ..ColumnOptions::default() };
    for fit in [weighted(), Fit { columns: complete, ..Fit::default() }] {
        let stream = stream(fit);
        let alone = crate::stream::fitted(&stream, &mut TableBlocks::new(&table, 1000));
        let alone = alone.to_bytes().unwrap();
        for size in [1, 2, 3, 4, 7] {
            let models = job(size, |ranks| fitted(&stream, &table, ranks));
            assert!(models[0].as_ref() == Some(&alone), "{size} processes");
            assert!(models[1..].iter().all(Option::is_none));
        }
    }
}

/// With centres that were chosen from the reservoir by another method.
fn pivoted(stream: &StreamFit, table: &Table) -> Recipe {
    let rng = &mut Pcg64::seed_from_u64(3);
    let source = &mut TableBlocks::new(table, 1000);
    let survey = stream.survey(source, ["y"], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
    let x = stream.reservoir(&survey, &model).unwrap();
    let matrix =
        KernelMatrix::new(model.regression().kernel(), Points::from_rows(x.as_ref())).unwrap();
    let chosen = RpCholesky::default().select(&matrix, 30, rng).unwrap();
    let centers = Mat::from_fn(30, x.ncols(), |j, k| x[(chosen.indices()[j], k)]);
    stream.recipe_at(&survey, model, centers.as_ref(), "rpcholesky").unwrap()
}

/// λ by leave-one-out in a third pass, with centres that were chosen from the reservoir.
#[test]
fn a_third_pass_gives_the_same_bits_too() {
    let table = mixed(9000);
    let recipe = pivoted(&stream(weighted()), &table);
    let by_leave_one_out = |ranks: &dyn Ranks| {
        let mut sum = recipe.sum_after(ranks, &[]).unwrap();
        sum.run(&mut TableBlocks::new(&table, 900), &mut |_| Ok(())).unwrap();
        let path = sum.path_over(ranks, &LAMBDAS).unwrap();
        let mut errors = path.errors_over(ranks).unwrap();
        errors.run(&mut TableBlocks::new(&table, 800), &mut |_| Ok(())).unwrap();
        errors.merge_over(ranks).unwrap();
        (ranks.rank() == 0).then(|| path.by_leave_one_out(errors).unwrap())
    };
    let (model, report) = by_leave_one_out(&Alone).unwrap();
    assert_eq!(model.made.centers, "rpcholesky:30");
    // about what generalised cross-validation says of 30 centres and 9000 rows
    let loo = report.leave_one_out.unwrap();
    let (gcv, training) = (report.gcv.unwrap(), report.training.unwrap());
    assert!((loo / gcv - 1.0).abs() < 0.02 && loo > training, "{report:?}");
    let alone = model.to_bytes().unwrap();
    for size in [1, 2, 3, 7] {
        let found = job(size, |ranks| {
            by_leave_one_out(ranks).map(|(model, report)| (model.to_bytes().unwrap(), report))
        });
        assert!(found[0].as_ref() == Some(&(alone.clone(), report.clone())), "{size} processes");
    }
}

/// Falkon and KRILL in passes: the model of the normal equations at the same λ, and the same bits
/// over any number of processes.
#[test]
fn iterations_give_the_same_bits_too() {
    let table = mixed(9000);
    let stream = stream(weighted());
    let uniform = crate::stream::recipe(&stream, &mut TableBlocks::new(&table, 1000));
    for recipe in [uniform, pivoted(&stream, &table)] {
        iterates(&recipe, &table);
    }
}

fn iterates(recipe: &Recipe, table: &Table) {
    let options = IterativeOptions { tolerance: 1e-9, ..IterativeOptions::default() };
    let lambda = LAMBDAS[2];
    let fit = |ranks: &dyn Ranks, table: &Table| {
        let (source, rng) = (&mut TableBlocks::new(table, 900), &mut Pcg64::seed_from_u64(0));
        recipe.iterate_over(ranks, source, (lambda, options), Extras::default(), rng)
    };
    let (model, report, iterations) = fit(&Alone, table).unwrap();
    assert!(iterations.stop == Stop::Converged && iterations.passes > iterations.iterations);
    assert_eq!((report.lambda, report.rows), (lambda, recipe.rows()));
    let mut sum = recipe.sum().unwrap();
    sum.run(&mut TableBlocks::new(table, 1000), &mut |_| Ok(())).unwrap();
    let direct = sum.finish(&[lambda]).unwrap().0;
    let [ours, theirs] = [&model, &direct].map(|model| model.predict(table).unwrap().values);
    assert!((&ours - &theirs).norm_max() < 1e-4 * theirs.norm_max());
    let alone = model.to_bytes().unwrap();
    for size in [2, 3, 7] {
        for (model, ..) in job(size, |ranks| fit(ranks, table).unwrap()) {
            assert!(model.to_bytes().unwrap() == alone, "{size} processes");
        }
    }
    // a source that ends too soon is told as what it is
    let short = table.select_rows(&(0..5000).collect::<Vec<_>>()).unwrap();
    assert!(
        fit(&Alone, &short).unwrap_err().to_string().contains("rows of the source when read again")
    );
}

#[test]
fn everybody_hears_what_all_say() {
    for size in 1..6 {
        let words = |rank: usize| vec![rank as u8; 3 * (rank % 2)];
        let heard = job(size, |ranks| {
            let all = <dyn Ranks>::gather(ranks, words(ranks.rank)).unwrap();
            (all, ranks.broadcast(words(1 + ranks.rank)))
        });
        for (all, of_first) in heard {
            assert_eq!(all, (0..size).map(words).collect::<Vec<_>>());
            assert_eq!(of_first, [1; 3]);
        }
    }
}

/// Stopped anywhere, three processes leave what one, two or four go on from to the same bits.
#[test]
fn sums_continue_with_another_number_of_processes() {
    let table = mixed(20_000); // six leaves
    let stream = stream(weighted());
    let recipe = crate::stream::recipe(&stream, &mut TableBlocks::new(&table, 1000));
    let bytes = recipe.to_bytes("job").unwrap();
    let source = || TableBlocks::new(&table, 900);
    let alone = crate::stream::finished(&recipe, &mut source()).to_bytes().unwrap();
    for stop in [1, 4, 5, 100] {
        let saved = job(3, |ranks| {
            let (mut sum, mut pauses) = (recipe.sum_after(ranks, &[]).unwrap(), 0);
            let mut saved = None;
            let ended = sum.run(&mut source(), &mut |sum| {
                pauses += 1;
                if pauses < stop {
                    return Ok(());
                }
                saved = Some(sum.to_bytes(&bytes)?);
                Err(Error::Checkpoint { problem: "enough".into() })
            });
            assert_eq!(ended.is_ok(), saved.is_none());
            saved.unwrap_or_else(|| sum.to_bytes(&bytes).unwrap())
        });
        let heads: Vec<SavedLeaves> =
            saved.iter().map(|saved| SavedLeaves::of(&bytes, saved).unwrap()).collect();
        for size in [1, 2, 4] {
            let models = job(size, |ranks| {
                let mut sum = recipe.sum_after(ranks, &heads).unwrap();
                for (head, saved) in heads.iter().zip(&saved) {
                    if sum.wants(head) {
                        sum = sum.resume(&bytes, saved).unwrap();
                    }
                }
                sum.run(&mut source(), &mut |_| {
                    assert!(stop < 100, "everything was summed");
                    Ok(())
                })
                .unwrap();
                sum.merge_over(ranks).unwrap();
                (ranks.rank == 0).then(|| sum.finish(&LAMBDAS).unwrap().0.to_bytes().unwrap())
            });
            assert!(models[0].as_ref() == Some(&alone), "{size} processes after {stop} tiles");
        }
    }
}

/// Each edge of the tree between two processes is one message of m(m + 1)/2 + m numbers, and 104
/// bytes: so says docs/scaling.md.
#[test]
fn sums_travel_once_an_edge() {
    let table = mixed(20_000); // six leaves
    let recipe = crate::stream::recipe(&stream(weighted()), &mut TableBlocks::new(&table, 1000));
    let m = recipe.landmarks();
    for (size, edges) in [(1, 0), (2, 1), (3, 4), (4, 3), (7, 5)] {
        let sent = job(size, |ranks| {
            let mut sum = recipe.sum_after(ranks, &[]).unwrap();
            sum.run(&mut TableBlocks::new(&table, 900), &mut |_| Ok(())).unwrap();
            assert_eq!(ranks.sent.get(), 0, "the pass is silent");
            sum.merge_over(ranks).unwrap();
            ranks.sent.get()
        });
        let all: usize = sent.iter().sum();
        assert_eq!(all, edges * (8 * (m * (m + 1) / 2 + m) + 104), "{size} processes");
    }
}

/// The rows of a process may have changed since the first pass: it says so.
#[test]
fn rows_that_went_are_noticed_where_they_were() {
    let table = mixed(9000);
    let stream = stream(Fit::default());
    let recipe = crate::stream::recipe(&stream, &mut TableBlocks::new(&table, 1000));
    let shorter = table.select_rows(&(0..8700).collect::<Vec<_>>()).unwrap();
    let errors = job(3, |ranks| {
        let mut sum = recipe.sum_after(ranks, &[]).unwrap();
        sum.run(&mut TableBlocks::new(&shorter, 900), &mut |_| Ok(())).err()
    });
    assert!(errors[0].is_none() && errors[1].is_none(), "{errors:?}");
    assert!(matches!(&errors[2], Some(Error::Numerics(_))), "{errors:?}");
}
