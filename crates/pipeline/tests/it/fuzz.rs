//! No bytes make the reading of a model file panic, hang or take much memory, nor the use of the
//! model that was read.
//!
//! The head of valid files is changed value by value, still JSON, and numbers of their payload are;
//! lengths and checksum are then made right again. How many cases: see the module `damage`.

use std::sync::OnceLock;

use nystrom::prelude::*;
use nystrom_data::{Categories, Column, Table, Values};
use nystrom_pipeline::{
    AnyKernel, Calibrate, Classes, Columns, Explanation, Family, Fit, Made, Model, Shape, Target,
};
use proptest::prelude::*;
use proptest::sample::select;
use sha2::{Digest, Sha256};

use crate::damage::{File, cases, damaged, guarded};
use crate::damage_json::{Target as Saved, changed, damaged_one_of, target};
use crate::damage_words::{Words, words};
use crate::fit::text;
use crate::sparse;

/// Bytes before the head, and of the checksum.
const FRONT: usize = 28;
const CHECK: usize = 32;

/// Numbers with gaps, a text, a text of many levels, dates, and numbers in a dress.
pub fn mixed(n: usize) -> Table {
    let a = |i: usize| (i * 37 % 100) as f64 / 25.0;
    let b = |i: usize| (i * i % 17) as f64 / 4.0;
    let town = |i: usize| i * 3 % 7;
    let gaps = |i: usize| if i % 9 == 4 { f64::NAN } else { b(i) };
    let colour = |i: usize| (i % 11 != 5).then_some((i % 3) as u32);
    let levels = ["blue", "green", "red"].map(String::from).to_vec();
    let codes = (0..n).map(colour).collect();
    let y = |i: usize| a(i).sin() + b(i) / 4.0 + (town(i) as f64 * 1.7).cos() + (i % 3) as f64;
    let date = |i: usize| format!("{}-{:02}-{:02}", 2015 + i % 4, 1 + i % 12, 1 + i * 5 % 28);
    let columns = vec![
        Column::numbers("a", (0..n).map(a).collect()),
        Column::numbers("b", (0..n).map(gaps).collect()),
        Column { name: "colour".into(), values: Values::Categories(Categories { levels, codes }) },
        text("town", (0..n).map(|i| format!("t{}", town(i)))),
        text("when", (0..n).map(date)),
        text("price", (0..n).map(|i| format!("${},{:03}.5", 1 + i % 5, i * 31 % 1000))),
        Column::numbers("y", (0..n).map(y).collect()),
    ];
    Table::new("t", columns).unwrap()
}

/// The same with classes for the target.
pub fn classes(n: usize, count: usize) -> Table {
    let plain = mixed(n);
    let y = plain.numbers("y").unwrap();
    let kind = |y: f64| ["low", "middle", "high"][(y.max(0.0) as usize).min(count - 1)];
    let kinds = text("kind", y.iter().map(|y| kind(*y).to_owned()));
    let rest = plain.clone().drop_columns(["y"]).unwrap();
    Table::new("t", [rest.columns(), &[kinds]].concat()).unwrap()
}

/// Model files: with each kind of intervals and of classes.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let fitted = |fit: Fit, table: &Table, target: &str| {
            let rng = &mut Pcg64::seed_from_u64(1);
            fit.table(table, [target], rng).unwrap().model.to_bytes().unwrap()
        };
        let quick = || Fit { work: Some(1e5), ..Fit::default() };
        let hows = [Calibrate::Share(0.3), Calibrate::Cross(3), Calibrate::LeaveOneOut];
        let of = |(i, how)| {
            let fit = Fit { calibrate: Some(how), deviations: i < 2, ..quick() };
            fitted(fit, &mixed(36), "y")
        };
        let mut files: Vec<Vec<u8>> = hows.into_iter().enumerate().map(of).collect();
        files.push(fitted(quick(), &classes(36, 2), "kind"));
        files.push(fitted(quick(), &classes(36, 3), "kind"));
        let cross = Fit { calibrate: Some(Calibrate::Share(0.3)), deviations: true, ..quick() };
        files.push(fitted(cross, &sparse::table(36, 1), "y"));
        files
    })
}

/// Head and payload of a file.
fn parts(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let head = u64::from_le_bytes(file[12..20].try_into().unwrap()) as usize;
    let body = &file[FRONT..file.len() - CHECK];
    (body[..head].to_vec(), body[head..].to_vec())
}

/// A file with these, whose lengths and checksum are right.
fn sealed(head: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut file = b"NYSTROM\n\x05\0\0\0".to_vec();
    [head, payload].iter().for_each(|part| file.extend((part.len() as u64).to_le_bytes()));
    file.extend([head, payload].concat());
    let checksum = Sha256::digest(&file);
    file.extend(checksum);
    file
}

/// A model file under a right checksum.
pub fn damaged_model(file: &[u8]) -> impl Strategy<Value = File> + use<> {
    let (head, payload) = parts(file);
    let (same_head, same_payload) = (head.clone(), payload.clone());
    let by_words = move |words: Words| {
        let mut payload = payload.clone();
        words.apply(&mut payload, 0);
        File(sealed(&same_head, &payload))
    };
    let (other_head, other_payload) = (head.clone(), same_payload.clone());
    prop_oneof![
        6 => changed(&head).prop_map(move |head| File(sealed(&head.0, &same_payload))),
        3 => words().prop_map(by_words),
        1 => (damaged(vec![head]), damaged(vec![other_payload.clone()]), 0..3_u8).prop_map(
            move |(head, payload, which)| File(match which {
                0 => sealed(&head.0, &other_payload),
                1 => sealed(&other_head, &payload.0),
                _ => sealed(&head.0, &payload.0),
            })
        ),
    ]
}

fn damaged_files() -> impl Strategy<Value = File> {
    select(files().to_vec()).prop_flat_map(|file| damaged_model(&file))
}

/// What is accepted predicts, explains itself, and can be written again.
pub fn use_model(bytes: &[u8]) {
    if let Ok(model) = Model::from_bytes(bytes) {
        used(&model);
    }
}

fn used(model: &Model) {
    let table = fitting(model, 5);
    if let Ok(found) = model.predict(&table) {
        assert_eq!(found.values.shape(), (5, model.targets().len()));
        if let Some(p) = &found.probabilities {
            assert_eq!(p.ncols(), model.classes().unwrap().names.len());
            let _ = Classes::likeliest(p.as_ref());
        }
        let _: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    }
    for level in [0.5, 0.9] {
        let _ = model.intervals(&table, level);
    }
    let _ = (model.deviations(&table), model.probabilities(&table), model.actual(&table));
    let _ = model.actual(&classes(3, 2));
    let _ = model.explain(&table).map(|explanation| explanation.is_finite());
    let _ = (model.target_names(), model.rows_to_explain(1e6));
    columns(model.columns().clone());
    if let Ok(bytes) = model.to_bytes() {
        assert!(Model::from_bytes(&bytes).is_ok(), "what was read and written is read again");
    }
}

/// Rows of the form that a model has.
fn fitting(model: &Model, n: usize) -> Table {
    if model.columns().sparse().is_some() { sparse::table(n, 2) } else { mixed(n) }
}

fn columns(columns: Columns) {
    if let Ok(applied) = columns.apply(&mixed(4)) {
        assert_eq!(applied.x.shape(), (4, columns.dim()));
    }
    let _ = (columns.complete_rows(&mixed(4)), columns.rare(), columns.fills());
    assert!(columns.sparse().is_some() || columns.features().len() == columns.dim());
    let _: Vec<String> = columns.dropped().iter().map(ToString::to_string).collect();
}

/// The parts of a model that are values of their own.
fn values() -> Vec<Saved> {
    let [model, kinds] = [0, 4].map(|file| Model::from_bytes(&files()[file]).unwrap());
    let explanation = model.explain(&mixed(9)).unwrap();
    vec![
        target!(model.columns() => Columns, columns),
        target!(model.made.clone() => Made, |made: Made| drop(made.clone())),
        target!(model.targets()[0].clone() => Target, |target: Target| drop(target.clone())),
        target!(explanation => Explanation, |explanation: Explanation| {
            let _ = explanation.is_finite();
            let _: Vec<f64> = explanation.columns.iter().map(|of| of.importance()).collect();
        }),
        target!(kinds.classes().unwrap() => Classes, |classes: Classes| {
            let _ = classes.number("low");
            let offsets = classes.calibration.offsets.len();
            let f = Mat::from_fn(2, if offsets == 2 { 1 } else { offsets }, |i, k| (i + k) as f64);
            let p = classes.calibration.probabilities(f.as_ref());
            let _ = Classes::likeliest(p.as_ref());
        }),
        target!(model.regression().kernel() => AnyKernel, |kernel: AnyKernel| {
            let x = Mat::from_fn(2, 3, |i, j| (i + 2 * j) as f64);
            let points = Points::from_cols(x.as_ref());
            if Kernel::<f64>::check_points(&kernel, points).is_ok() {
                let _: Mat<f64> = kernel.gram(points);
            }
        }),
        target!(Family::Gaussian => Family, |family: Family| drop(family.kernel(0.5, 2))),
        target!(Shape { log: true, ..Shape::PLAIN } => Shape, |shape: Shape| {
            assert_eq!(Shape::try_from(String::from(shape)).unwrap(), shape);
        }),
    ]
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    for file in files() {
        let model = Model::from_bytes(file).unwrap();
        let (head, payload) = parts(file);
        assert!(sealed(&head, &payload) == *file && file.len() < 1 << 16);
        used(&model);
        assert!(model.predict(&fitting(&model, 4)).is_ok());
    }
    let [share, cross, loo] = [0, 1, 2].map(|file| Model::from_bytes(&files()[file]).unwrap());
    for model in [&share, &cross, &loo] {
        model.intervals(&mixed(5), 0.5).unwrap();
    }
    share.deviations(&mixed(5)).unwrap();
    values().into_iter().for_each(|(file, load)| load(&file));
}

/// Found by damage: columns of their own, which no model checks, with more means than levels.
#[test]
fn columns_that_no_fit_makes_are_refused() {
    let model = Model::from_bytes(&files()[0]).unwrap();
    let mut columns = serde_json::to_value(model.columns()).unwrap();
    let text = columns["columns"][2]["parts"][0]["treatment"]["text"].as_object_mut().unwrap();
    text["means"].as_array_mut().unwrap().push(serde_json::json!(0.5));
    let refused = serde_json::from_value::<Columns>(columns).unwrap_err().to_string();
    assert!(refused.contains("\"colour\" has no sound scale"), "{refused}");
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_model_file(file in damaged_files()) {
        guarded(file, use_model);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn parts_of_a_model((load, file) in damaged_one_of(values())) {
        guarded(file, load);
    }
}
