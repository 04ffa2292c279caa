//! Categories as means of the target by level, and targets that are texts, block by block.

use crate::fit::{text, with};
use crate::ranks::{job, part};
use crate::stream::{LAMBDAS, fitted, stream};
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Alone, Error, Fit, Model, Ranks, Readings, Recipe, StreamFit, TableBlocks};

const ROWS: usize = 4000;
const SHOPS: usize = 200;

/// Shops with an effect each, and a feature that says nothing. `y` misses some values.
fn shops(n: usize, seed: u64) -> Table {
    let effects = &mut Pcg64::seed_from_u64(1);
    let effects: Vec<f64> = (0..SHOPS).map(|_| effects.random::<f64>() * 4.0).collect();
    let rng = &mut Pcg64::seed_from_u64(seed);
    let shop: Vec<usize> = (0..n).map(|_| rng.random_range(0..SHOPS)).collect();
    let [x, noise] = [(); 2].map(|()| (0..n).map(|_| rng.random()).collect::<Vec<f64>>());
    let y = |i: usize| match i % 41 {
        3 => f64::NAN,
        _ => effects[shop[i]] + 0.5 * noise[i],
    };
    let columns = vec![
        text("shop", shop.iter().map(|shop| format!("s{shop}"))),
        Column::numbers("x", x),
        Column::numbers("w", (0..n).map(|i| 1.0 + (i % 3) as f64).collect()),
        Column::numbers("y", (0..n).map(y).collect()),
    ];
    Table::new("shops", columns).unwrap()
}

fn shop_stream() -> StreamFit {
    let fit = Fit { work: Some(3e8), weights: Some("w".into()), ..Fit::default() };
    StreamFit { fit, reservoir: 1000, landmarks: 60 }
}

/// The model on process 0, and that of the sample.
fn searched(stream: &StreamFit, table: &Table, ranks: &dyn Ranks, rows: &[usize]) -> Option<Model> {
    let rng = &mut Pcg64::seed_from_u64(3);
    let mine = table.select_rows(rows).unwrap();
    let source = (&mut TableBlocks::new(&mine, 700) as _, rows[0] as u64);
    let survey = stream.survey_over(ranks, source, vec!["y".into()], rng).unwrap();
    let model = survey.as_ref().map(|survey| {
        let found = stream.search(survey, &mut (), rng).unwrap().model;
        assert!(found.columns().features().iter().any(|name| name.starts_with("shop: mean")));
        // the means of the sample are no means of all rows
        let refused = stream.recipe(survey, found.clone(), rng).unwrap_err();
        assert!(matches!(refused, Error::Option { option: "recipe", .. }), "{refused}");
        found
    });
    let all = &mut TableBlocks::new(table, 900);
    let model = stream.level_means_over(ranks, all, survey.as_ref().zip(model)).unwrap();
    let bytes = survey.zip(model).map_or(Vec::new(), |(survey, model)| {
        stream.recipe(&survey, model, rng).unwrap().to_bytes("job").unwrap()
    });
    let recipe = Recipe::from_bytes(&stream.fit, "job", &ranks.broadcast(bytes)).unwrap();
    let mut sum = recipe.sum_after(ranks, &[]).unwrap();
    sum.run(&mut TableBlocks::new(table, 800), &mut |_| Ok(())).unwrap();
    sum.merge_over(ranks).unwrap();
    (ranks.rank() == 0).then(|| sum.finish(&LAMBDAS).unwrap().0)
}

/// Of numbers and of classes, at any number of processes the same bits.
#[test]
fn means_by_level_are_those_of_all_rows() {
    let table = shops(ROWS, 2);
    let middle = |y: &f64| if y.is_nan() { "" } else { ["low", "high"][usize::from(*y > 2.2)] };
    let classes = table.numbers("y").unwrap().iter().map(|y| middle(y).to_owned());
    let classes = with(&table, text("y", classes.collect::<Vec<_>>()));
    let stream = shop_stream();
    for table in [&table, &classes] {
        let all: Vec<usize> = (0..ROWS).collect();
        let alone = searched(&stream, table, &Alone, &all).unwrap();
        for size in [2, 3] {
            let models = job(size, |ranks| {
                let rows: Vec<usize> = part(ROWS, ranks).collect();
                searched(&stream, table, ranks, &rows).map(|model| model.to_bytes().unwrap())
            });
            assert!(models[0].as_ref() == Some(&alone.to_bytes().unwrap()), "{size} processes");
        }
        if std::ptr::eq(table, &classes) {
            continue;
        }
        let new = shops(2000, 9);
        let f = alone.predict(&new).unwrap().values;
        let y = new.numbers("y").unwrap();
        let known: Vec<usize> = (0..2000).filter(|i| !y[*i].is_nan()).collect();
        let square = |i: &usize| (f[(*i, 0)] - y[*i]).powi(2);
        let error = (known.iter().map(square).sum::<f64>() / known.len() as f64).sqrt();
        // the noise has a deviation of 0.144, the mean of the 19 other rows of a shop 0.033
        assert!(error < 0.165, "{error}");
    }
}

/// Texts that turn out to be no classes are numbers, and so are those in a dress.
#[test]
fn targets_that_are_texts_are_numbers() {
    let n = 3000;
    let x: Vec<f64> = (0..n).map(|i| (i * 7 % n) as f64 / 300.0).collect();
    let count = |i: usize| (20.0 + 15.0 * x[i].sin()).round();
    let of = |y: Column| Table::new("t", vec![Column::numbers("x", x.clone()), y]).unwrap();
    let plain = of(Column::numbers("y", (0..n).map(count).collect()));
    let texts = of(text("y", (0..n).map(|i| count(i).to_string())));
    let euros = of(text("y", (0..n).map(|i| format!("€{:.2}", count(i)))));
    let stream = stream(Fit::default());
    let values = |model: &Model| model.predict(&plain).unwrap().values;
    let wanted = values(&fitted(&stream, &mut TableBlocks::new(&plain, 500)));
    assert!(values(&fitted(&stream, &mut TableBlocks::new(&texts, 500))) == wanted);
    let names = ["y".to_owned()];
    let readings = Readings::of(&stream.fit, &euros, &names).unwrap();
    let read = readings.read(euros.clone()).unwrap();
    assert_eq!(read.numbers("y").unwrap(), plain.numbers("y").unwrap());
    let model = readings.known_to(fitted(&stream, &mut TableBlocks::new(&read, 500)));
    assert!(values(&model) == wanted && model.columns().reads_target_text("y"));
    let names = of(text("y", (0..n).map(|i| ["yes", "no"][i % 2].to_owned())));
    assert_eq!(
        Readings::of(&stream.fit, &names, &["y".into()]).unwrap().read(names.clone()).unwrap(),
        names
    );
}
