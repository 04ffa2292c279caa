//! Damage to JSON that stays JSON, and what is done with the values that are loaded from it. The
//! tests of several crates use it, beside `damage.rs`.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::damage::{File, damaged};

/// A valid file, and what a program does with one: load it and use it.
pub type Target = (Vec<u8>, fn(&[u8]));

/// `target!(value => Type, |loaded| use)`
macro_rules! target {
    ($value:expr => $type:ty, $use:expr) => {{
        let load: fn(&[u8]) = |bytes| {
            if let Ok(loaded) = serde_json::from_slice::<$type>(bytes) {
                let () = ($use)(loaded);
            }
        };
        (serde_json::to_vec(&$value).unwrap(), load)
    }};
}
pub(crate) use target;

/// A change of one value of a file that stays JSON.
#[derive(Debug, Clone)]
enum Change {
    Set(Value),
    /// A list or an object loses or repeats one of its members.
    Drop(Index),
    Repeat(Index),
}

fn change() -> impl Strategy<Value = (Index, Change)> {
    let values = vec![
        json!(0),
        json!(-1),
        json!(1),
        json!(2),
        json!(1.5),
        json!(1e308),
        json!(-1e308),
        json!(1e-320),
        json!(u64::MAX),
        json!(1_u64 << 32),
        json!(i64::MIN),
        json!(255),
        json!(null),
        json!(""),
        json!("f32"),
        json!([]),
        json!([0.0]),
        json!({}),
        json!(true),
    ];
    let change = prop_oneof![
        3 => select(values).prop_map(Change::Set),
        1 => any::<Index>().prop_map(Change::Drop),
        1 => any::<Index>().prop_map(Change::Repeat),
    ];
    (any::<Index>(), change)
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Value number `n` of a tree, counted from its root.
fn nth(value: &mut Value, mut n: usize) -> &mut Value {
    if n == 0 {
        return value;
    }
    n -= 1;
    let inside: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => unreachable!("a leaf has no member"),
    };
    for member in inside {
        match size(member) {
            size if n < size => return nth(member, n),
            size => n -= size,
        }
    }
    unreachable!("n is below the size of the tree")
}

impl Change {
    fn apply(self, at: Index, root: &mut Value) {
        let place = nth(root, at.index(size(root)));
        match (self, place) {
            (Change::Set(value), place) => *place = value,
            (Change::Drop(which), Value::Array(items)) if !items.is_empty() => {
                drop(items.remove(which.index(items.len())))
            }
            (Change::Repeat(which), Value::Array(items)) if !items.is_empty() => {
                let item = items[which.index(items.len())].clone();
                items.push(item);
            }
            (Change::Drop(which), Value::Object(fields)) if !fields.is_empty() => {
                let key = fields.keys().nth(which.index(fields.len())).unwrap().clone();
                fields.remove(&key);
            }
            _ => {}
        }
    }
}

/// A value, changed in up to four places.
pub fn changed_value(root: Value) -> impl Strategy<Value = Value> {
    (Just(root), prop::collection::vec(change(), 0..5)).prop_map(|(mut root, changes)| {
        changes.into_iter().for_each(|(at, change)| change.apply(at, &mut root));
        root
    })
}

/// A file in JSON, changed in up to four values.
pub fn changed(file: &[u8]) -> impl Strategy<Value = File> + use<> {
    let root: Value = serde_json::from_slice(file).unwrap();
    changed_value(root).prop_map(|root| File(serde_json::to_vec(&root).unwrap()))
}

/// One of the targets with a damaged file of its own, or of another: a file of another type is a
/// damaged file too.
pub fn damaged_one_of(targets: Vec<Target>) -> impl Strategy<Value = (fn(&[u8]), File)> {
    let files: Vec<Vec<u8>> = targets.iter().map(|(file, _)| file.clone()).collect();
    select(targets).prop_flat_map(move |(file, load)| {
        let file =
            prop_oneof![6 => changed(&file), 3 => damaged(vec![file]), 1 => damaged(files.clone())];
        (Just(load), file)
    })
}
