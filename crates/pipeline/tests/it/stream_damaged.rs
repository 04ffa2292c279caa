//! Checkpoints that contradict themselves, found by damage or by what it found: each is refused
//! before a pass begins.

use crate::fuzz_stream::{
    IDENTITY, Of, Valid, cbor, point_recipe, sealed, sections, stream, stream_of_points, valid,
};
use nystrom_pipeline::{Error, PointRecipe, Recipe, WeightedRows};
use serde_json::{Value, json};

/// A checkpoint with one section in JSON or CBOR changed.
fn with(bytes: &[u8], section: usize, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut all = sections(bytes);
    if [b'{', b'['].contains(&all[section][0]) {
        let mut value = serde_json::from_slice(&all[section]).unwrap();
        change(&mut value);
        all[section] = serde_json::to_vec(&value).unwrap();
    } else {
        all[section] = cbor_with(&all[section], change);
    }
    sealed(bytes, &all)
}

fn cbor_with(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = ciborium::from_reader(bytes).unwrap();
    change(&mut value);
    cbor(&value)
}

fn is_damaged<X: std::fmt::Debug>(found: Result<X, Error>, what: &str) {
    match found {
        Err(Error::Checkpoint { problem }) => assert!(problem.contains("damaged"), "{problem}"),
        other => panic!("{other:?} with {what}"),
    }
}

/// Numbers that no survey gives, of which a pass would overflow or end in a panic.
#[test]
fn recipes_that_contradict_themselves_are_refused() {
    let read = |bytes: &[u8]| Recipe::from_bytes(&stream().fit, IDENTITY, bytes);
    let bytes = &valid(Of::Landmarks).recipe;
    for (field, value) in [
        ("rows", json!(u64::MAX)),
        ("rows", json!(0)),
        ("places", json!([[500, 400], [300, 410]])),
        ("places", json!([[500, 600]])),
        ("leaves", json!(0)),
        ("mean_weight", json!(0.0)),
        ("targets", json!([])),
        ("chosen_by", json!("all rows")),
    ] {
        is_damaged(read(&with(bytes, 0, |head| head[2][field] = value.clone())), field);
    }
    let huge = |head: &mut Value| head[1] = json!(i64::MAX);
    is_damaged(read(&with(&valid(Of::AllRows).recipe, 0, huge)), "dim");
    let bytes = &valid(Of::Classes).recipe;
    for (field, value) in [
        ("labels", json!([])),
        ("labels", json!(vec![3; 60])),
        ("dim", json!(1)),
        ("of_class", json!([1])),
        ("rows", json!(vec![u64::MAX >> 1; 60])),
    ] {
        is_damaged(read(&with(bytes, 4, |sample| sample[field] = value.clone())), field);
    }
    let points = |change: fn(&mut Value)| {
        PointRecipe::from_bytes(&stream_of_points(), &cbor_with(point_recipe(), change))
    };
    is_damaged(points(|sent| sent["rows"] = json!(u64::MAX)), "rows");
    is_damaged(points(|sent| sent["places"] = json!([[9, 3], [5, 4]])), "places");
    let rows = json!({"dim": 2, "coordinates": [1.0, 2.0], "weights": [1.0, 1.0]});
    assert!(serde_json::from_value::<WeightedRows>(rows).is_err());
}

/// Nodes that the tree does not have, of which the search for one did not end, and sums of other
/// rows than they say.
#[test]
fn sums_of_other_leaves_are_refused() {
    let Valid { recipe, sums, .. } = valid(Of::Landmarks);
    let loaded = Recipe::from_bytes(&stream().fit, IDENTITY, recipe).unwrap();
    let resumed = |change: &dyn Fn(&mut Value)| {
        let bytes = with(&sums[1], 0, |head| change(head));
        loaded.sum().unwrap().resume(recipe, &bytes).map(|sum| sum.row())
    };
    assert!(resumed(&|_| ()).is_ok());
    assert!(resumed(&|head| head["leaf"] = json!(u64::MAX)).is_ok()); // none of the leaves
    for (start, end) in [(0, 0), (2, 1), (1, 3), (0, 9), (7, 8)] {
        is_damaged(resumed(&|head| head["done"][0] = json!({"start": start, "end": end})), "node");
    }
    is_damaged(resumed(&|head| head["done"][0] = json!({"start": 1, "end": 2})), "rows");
    for used in [0, 5000, u64::MAX] {
        is_damaged(resumed(&|head| head["used"] = json!(used)), "used");
    }
}
