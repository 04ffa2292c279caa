//! No bytes make the reading of a checkpoint panic, hang or take much memory, nor the pass that
//! goes on from it.
//!
//! The sections of valid ones are damaged, each as what it holds, and lengths and checksums are
//! made right again. How many cases: see the module `damage`.

use std::sync::OnceLock;

use nystrom::krr::{Extras, Iteration, IterativeOptions};
use nystrom::linalg_core::SavedSolve;
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{
    Alone, AnyKernel, DrawnRows, Error, ExactSum, Family, Fit, PointRecipe, Recipe, SavedLeaves,
    StreamFit, StreamPoints, Summing, TableBlocks, WeightedRows, iterations_from_bytes,
    iterations_to_bytes,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::damage::{File, cases, damaged, guarded};
use crate::damage_json::{Target, changed, changed_value, damaged_one_of, target};
use crate::damage_words::{with_fnv, words};
use crate::fit::numbers;
use crate::fuzz::{classes, damaged_model};
use crate::stream::LAMBDAS;

/// Bytes before the sections, and of the checksum.
const FRONT: usize = 16;
const CHECK: usize = 32;
pub const IDENTITY: &str = "data and options";

/// What a valid recipe is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Of {
    Landmarks,
    Span,
    AllRows,
    Classes,
}

const ALL: [Of; 4] = [Of::Landmarks, Of::Span, Of::AllRows, Of::Classes];

/// Recipes with their rows and bytes.
pub struct Valid {
    table: Table,
    pub recipe: Vec<u8>,
    /// Of a pass.
    pub sums: Vec<Vec<u8>>,
    /// Of iterations.
    solves: Vec<Vec<u8>>,
}

/// Rows of which some lack their target: of two leaves, or a few.
fn table(of: Of) -> Table {
    if of == Of::Classes {
        return classes(150, 3);
    }
    let n = if of == Of::Landmarks { 2300 } else { 150 };
    let a: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 101) / 25.0).collect();
    let b: Vec<f64> = (0..n).map(|i| f64::from(i * i % 17) / 4.0).collect();
    let y = |i: usize| if i % 31 == 7 { f64::NAN } else { a[i].sin() + b[i] / 4.0 };
    let y = (0..a.len()).map(y).collect();
    numbers(["a", "b", "y"], vec![a, b, y])
}

pub fn stream() -> StreamFit {
    StreamFit { fit: Fit::default(), reservoir: 60, landmarks: 6 }
}

pub fn valid(of: Of) -> &'static Valid {
    static VALID: OnceLock<Vec<Valid>> = OnceLock::new();
    &VALID.get_or_init(|| ALL.map(made).into())[of as usize]
}

fn made(of: Of) -> Valid {
    let (table, stream, rng) = (table(of), stream(), &mut Pcg64::seed_from_u64(3));
    let target = if of == Of::Classes { "kind" } else { "y" };
    let source = &mut TableBlocks::new(&table, 300);
    let survey = stream.survey(source, [target], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
    let recipe = match of {
        Of::AllRows => stream.recipe_of_all(&survey, model),
        Of::Span => {
            let rows = stream.reservoir(&survey, &model).unwrap().nrows();
            let sketch = Accumulation::uniform(2).sample(rows, 5, rng).unwrap();
            stream.recipe_in_span(&survey, model, &sketch, "5 sums")
        }
        _ => stream.recipe(&survey, model, rng),
    };
    let recipe = recipe.unwrap();
    let bytes = recipe.to_bytes(IDENTITY).unwrap();
    let mut sums = Vec::new();
    if of != Of::AllRows {
        let mut sum = recipe.sum().unwrap();
        let mut pause = |sum: &mut Summing<'_>| {
            sums.push(sum.to_bytes(&bytes)?);
            Ok(())
        };
        sum.run(source, &mut pause).unwrap();
        sums.push(sum.to_bytes(&bytes).unwrap());
    }
    let mut solves = Vec::new();
    let mut keep = |iteration: &Iteration<'_, AnyKernel, f64>| {
        solves.push(iterations_to_bytes(&bytes, &iteration.state()));
        Ok(std::ops::ControlFlow::Continue(()))
    };
    let extras = Extras { monitor: Some(&mut keep), ..Extras::default() };
    let _ = recipe.iterate_over(&Alone, source, iterations(), extras, rng).unwrap();
    solves.truncate(2);
    Valid { table, recipe: bytes, sums, solves }
}

fn iterations() -> (f64, IterativeOptions) {
    (1e-3, IterativeOptions { max_iterations: 5, ..IterativeOptions::default() })
}

/// The sections of a checkpoint.
pub fn sections(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut sections) = (&bytes[FRONT..bytes.len() - CHECK], Vec::new());
    while let Some((length, behind)) = rest.split_at_checked(8) {
        let length = u64::from_le_bytes(length.try_into().unwrap()) as usize;
        let (section, behind) = behind.split_at(length);
        sections.push(section.to_vec());
        rest = behind;
    }
    sections
}

/// A checkpoint with other sections, of the kind that these bytes are of.
pub fn sealed(like: &[u8], sections: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = like[..FRONT].to_vec();
    for section in sections {
        bytes.extend((section.len() as u64).to_le_bytes());
        bytes.extend(section);
    }
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// A section, damaged as what it holds.
fn damaged_section(section: Vec<u8>) -> BoxedStrategy<Vec<u8>> {
    let whole = section.clone();
    let kind = if section.starts_with(b"{") {
        changed(&section).prop_map(|file| file.0).boxed()
    } else if section.starts_with(b"NYSTROM\n") {
        damaged_model(&section).prop_map(|file| file.0).boxed()
    } else if section.starts_with(b"NYSTSTAT") {
        let words = words().prop_map(move |words| {
            let mut content = whole[..whole.len() - 8].to_vec();
            words.apply(&mut content, 16);
            with_fnv(&content)
        });
        words.boxed()
    } else if let Ok(value) = ciborium::from_reader::<Value, _>(&section[..]) {
        changed_cbor(value).boxed()
    } else {
        let words = words().prop_map(move |words| {
            let mut whole = whole.clone();
            words.apply(&mut whole, 0);
            whole
        });
        words.boxed()
    };
    prop_oneof![5 => kind, 1 => damaged(vec![section]).prop_map(|file| file.0)].boxed()
}

fn changed_cbor(value: Value) -> impl Strategy<Value = Vec<u8>> {
    changed_value(value).prop_map(|value| cbor(&value))
}

pub fn cbor(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

/// One of its sections damaged, dropped or taken twice.
fn damaged_sections(bytes: Vec<u8>) -> impl Strategy<Value = File> {
    let all = sections(&bytes);
    let one = (0..all.len()).prop_flat_map(move |which| {
        let (all, section) = (all.clone(), damaged_section(all[which].clone()));
        (section, 0..20_u8).prop_map(move |(section, how)| {
            let mut all = all.clone();
            match how {
                0 => drop(all.remove(which)),
                1 => all.insert(which, section),
                _ => all[which] = section,
            }
            all
        })
    });
    one.prop_map(move |sections| File(sealed(&bytes, &sections)))
}

/// A pass of what was read, to its end.
fn finish(mut sum: Summing<'_>, table: &Table) {
    let mut pause = |sum: &mut Summing<'_>| sum.to_bytes(b"recipe").map(drop);
    if sum.run(&mut TableBlocks::new(table, 700), &mut pause).is_ok()
        && let Ok((model, _)) = sum.finish(&LAMBDAS)
    {
        let _ = model.predict(&table.select_rows(&[0, 1]).unwrap());
    }
}

fn recipe(of: Of, bytes: &[u8]) {
    let Ok(recipe) = Recipe::from_bytes(&stream().fit, IDENTITY, bytes) else { return };
    let table = &valid(of).table;
    let _ = (recipe.landmarks(), recipe.dimensions(), recipe.rows(), recipe.different_rows());
    if let Ok(bytes) = recipe.to_bytes(IDENTITY) {
        Recipe::from_bytes(&stream().fit, IDENTITY, &bytes).expect("what was written is read");
    }
    let _ = recipe.sum().map(|sum| finish(sum, table));
    let (source, rng) = (&mut TableBlocks::new(table, 500), &mut Pcg64::seed_from_u64(0));
    if let Ok((model, ..)) =
        recipe.iterate_over(&Alone, source, iterations(), Extras::default(), rng)
    {
        let _ = model.predict(&table.select_rows(&[0, 1]).unwrap());
    }
}

fn sums(of: Of, bytes: &[u8]) {
    let Valid { table, recipe, .. } = valid(of);
    let saved = SavedLeaves::of(recipe, bytes);
    let loaded = Recipe::from_bytes(&stream().fit, IDENTITY, recipe).unwrap();
    for saved in [vec![], saved.into_iter().collect()] {
        let sum = loaded.sum_after(&Alone, &saved).unwrap();
        let _: Vec<bool> = saved.iter().map(|saved| sum.wants(saved)).collect();
        let _ = sum.resume(recipe, bytes).map(|sum| finish(sum, table));
    }
}

fn solve(of: Of, bytes: &[u8]) {
    let Valid { table, recipe, .. } = valid(of);
    let Ok(solve) = iterations_from_bytes(recipe, bytes) else { return };
    let _: SavedSolve =
        iterations_from_bytes(recipe, &iterations_to_bytes(recipe, &solve)).unwrap();
    let loaded = Recipe::from_bytes(&stream().fit, IDENTITY, recipe).unwrap();
    let (source, rng) = (&mut TableBlocks::new(table, 500), &mut Pcg64::seed_from_u64(3));
    let extras = Extras { resume: Some(&solve), ..Extras::default() };
    let _ = loaded.iterate_over(&Alone, source, iterations(), extras, rng);
}

pub fn stream_of_points() -> StreamPoints {
    StreamPoints { reservoir: 60, ..StreamPoints::default() }
}

fn points() -> Table {
    table(Of::Span).drop_columns(["y"]).unwrap()
}

/// How rows become points, for another process.
pub fn point_recipe() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let (stream, table) = (stream_of_points(), points());
        let (source, rng) = (&mut TableBlocks::new(&table, 70), &mut Pcg64::seed_from_u64(3));
        let survey = stream.survey(source, rng).unwrap();
        let columns = stream.columns(&survey).unwrap();
        let kernel = Family::Gaussian.kernel(0.7, columns.dim()).unwrap();
        stream.recipe(&survey, columns, kernel).to_bytes().unwrap()
    })
}

fn scores(bytes: &[u8]) {
    let Ok(recipe) = PointRecipe::from_bytes(&stream_of_points(), bytes) else { return };
    let _ = (recipe.rows(), recipe.dim(), recipe.kernel(), recipe.to_bytes().unwrap());
    let table = points();
    let (source, rng) = (&mut TableBlocks::new(&table, 70), &mut Pcg64::seed_from_u64(0));
    if let Ok(dictionary) = recipe.disqueak_over(&Alone, source, (1e-2, SqueakParams::new(3)), rng)
    {
        let take = |_: &_, _: &[f64]| Ok::<(), Error>(());
        let _ = recipe.scores_over(&Alone, source, (&dictionary, 1e-2), take);
    }
}

fn damaged_points() -> impl Strategy<Value = File> {
    let value: Value = ciborium::from_reader(point_recipe()).unwrap();
    let valid = point_recipe().to_vec();
    prop_oneof![3 => changed_cbor(value).prop_map(File), 1 => damaged(vec![valid])]
}

/// What processes send one another.
fn sent() -> Vec<Target> {
    let recipe = || PointRecipe::from_bytes(&stream_of_points(), point_recipe()).unwrap();
    let (table, rng) = (points(), &mut Pcg64::seed_from_u64(0));
    let source = &mut TableBlocks::new(&table, 70);
    let dictionary =
        recipe().disqueak_over(&Alone, source, (1e-2, SqueakParams::new(3)), rng).unwrap();
    let mut drawn = DrawnRows::new(4, rng);
    let offer = |rows: &_, scores: &[f64]| {
        drawn.offer(rows, scores);
        Ok::<(), Error>(())
    };
    recipe().scores_over(&Alone, source, (&dictionary, 1e-2), offer).unwrap();
    let saved = &valid(Of::Landmarks).sums[0];
    let saved = SavedLeaves::of(&valid(Of::Landmarks).recipe, saved).unwrap();
    let mut sum = ExactSum::default();
    [1e300, -0.1, 5e-324].into_iter().for_each(|value| sum.add(value));
    vec![
        target!(sum => ExactSum, |mut sum: ExactSum| {
            sum.merge(&sum.clone());
            sum.add(1.0);
            let _ = (sum.value(), sum.squares_about(1.0, &sum, &sum));
        }),
        target!(dictionary => WeightedRows, |dictionary: WeightedRows| {
            assert_eq!(dictionary.points().len(), dictionary.len());
            let recipe = PointRecipe::from_bytes(&stream_of_points(), point_recipe()).unwrap();
            let (table, rng) = (points(), &mut Pcg64::seed_from_u64(0));
            let mut drawn = DrawnRows::new(3, rng);
            let offer = |rows: &_, scores: &[f64]| {
                drawn.offer(rows, scores);
                Ok::<(), Error>(())
            };
            let mut rows = TableBlocks::new(&table, 70);
            let _ = recipe.scores_over(&Alone, &mut rows, (&dictionary, 1e-2), offer);
            let _ = drawn.merge_over(&Alone);
        }),
        target!(drawn => DrawnRows, |drawn: DrawnRows| {
            if let Ok(Some(rows)) = drawn.merge_over(&Alone) {
                assert!(rows.is_sorted());
            }
        }),
        target!(saved => SavedLeaves, |saved: SavedLeaves| {
            let Valid { recipe, sums, .. } = valid(Of::Landmarks);
            let loaded = Recipe::from_bytes(&stream().fit, IDENTITY, recipe).unwrap();
            let sum = loaded.sum_after(&Alone, &[saved.clone(), saved]).unwrap();
            let _ = sum.resume(recipe, &sums[0]);
        }),
    ]
}

#[test]
fn the_checkpoints_to_be_damaged_are_valid() {
    for of in ALL {
        let Valid { recipe: bytes, sums: passes, solves, .. } = valid(of);
        recipe(of, bytes);
        assert!(sealed(bytes, &sections(bytes)) == *bytes && bytes.len() < 1 << 16);
        passes.iter().for_each(|bytes| sums(of, bytes));
        solves.iter().for_each(|bytes| solve(of, bytes));
        assert!(of == Of::AllRows || passes.len() > 1 || of != Of::Landmarks);
        assert!(!solves.is_empty());
    }
    scores(point_recipe());
    sent().into_iter().for_each(|(file, load)| load(&file));
}

/// Damaged bytes of one kind of checkpoint.
fn of_each(bytes: fn(&'static Valid) -> &'static [Vec<u8>]) -> impl Strategy<Value = (Of, File)> {
    let each = ALL.into_iter().flat_map(|of| bytes(valid(of)).iter().map(move |file| (of, file)));
    select(each.collect::<Vec<_>>())
        .prop_flat_map(|(of, file)| (Just(of), damaged_sections(file.clone())))
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_recipe((of, file) in of_each(|valid| std::slice::from_ref(&valid.recipe))) {
        guarded(file, move |bytes| recipe(of, bytes));
    }

    #[test]
    fn sums_of_leaves((of, file) in of_each(|valid| &valid.sums)) {
        guarded(file, move |bytes| sums(of, bytes));
    }

    #[test]
    fn iterations_under_way((of, file) in of_each(|valid| &valid.solves)) {
        guarded(file, move |bytes| solve(of, bytes));
    }

    #[test]
    fn a_recipe_of_points(file in damaged_points()) {
        guarded(file, scores);
    }

    #[test]
    fn what_processes_send((load, file) in damaged_one_of(sent())) {
        guarded(file, load);
    }
}
