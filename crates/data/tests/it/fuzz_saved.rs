//! No saved value of this crate makes its loading panic, hang or take much memory, nor its use. As
//! `fuzz.rs`, which is about tables.

use std::sync::OnceLock;

use nystrom_data::{DataError, Doubts, Files, FilesRecord, Standardize, Standardizer};
use proptest::prelude::proptest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::damage::{cases, guarded};
use crate::damage_json::{Target, damaged_one_of, target};
use crate::stream::{csv, folder, read};

/// Two files, which stay where they are.
fn files() -> Files {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let rows: String = (0..20).map(|i| format!("{i},{}.5\n", i * i)).collect();
        let [first, second] = ["NA,3", "7,8"].map(|last| format!("a,b\n{rows}{last}\n"));
        folder(&[("1.csv", first.as_bytes()), ("2.csv", second.as_bytes())])
    });
    let mut files = csv(folder);
    files.set_block_rows(8);
    files
}

fn targets() -> Vec<Target> {
    let mut known = files();
    assert_eq!(read(&mut known, 0).unwrap().0.len(), 42);
    let mut record = serde_json::to_value(known.record().unwrap()).unwrap();
    record["strays"] = json!({
        "a": {"cells": 1, "decimal_commas": 0, "texts": [{"text": "x", "cells": 1, "line": 22}]}
    });
    let x = faer::mat![[1.0, 7.0], [3.0, 8.0], [4.0, 9.5]];
    let standardizer = Standardizer::fit(x.as_ref(), &[], Standardize::default()).unwrap();
    vec![
        target!(record => FilesRecord, |record: FilesRecord| {
            let mut files = files();
            if files.restore(record.clone()).is_ok() {
                let _ = (files.rows(), files.rows_by_file(), files.compressed());
                let _ = (read(&mut files, 0), read(&mut files, 13), read(&mut files, 30));
                let _ = files.record();
            }
            let _ = FilesRecord::join([record.clone(), record]);
        }),
        target!(standardizer => Standardizer, |standardizer: Standardizer| {
            let x = faer::mat![[1.0, 7.0], [3.0, 8.0]];
            let z = standardizer.transform(x.as_ref());
            let _ = z.map(|z| standardizer.inverse(z.as_ref()).unwrap());
        }),
        target!(Doubts::default() => Doubts, |doubts: Doubts| drop(doubts.clone())),
    ]
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    targets().into_iter().for_each(|(file, load)| load(&file));
}

/// Found by damage: counts of rows that overflow when they are added.
#[test]
fn a_record_that_no_pass_makes_is_refused() {
    let mut known = files();
    read(&mut known, 0).unwrap();
    let record = serde_json::to_value(known.record().unwrap()).unwrap();
    let refused = |change: fn(&mut Value)| {
        let mut record = record.clone();
        change(&mut record);
        let record: FilesRecord = serde_json::from_value(record).unwrap();
        assert!(matches!(files().restore(record.clone()), Err(DataError::Changed { .. })));
        assert!(matches!(FilesRecord::join([record]), Err(DataError::Changed { .. })));
    };
    refused(|record| record["shards"][0]["marks"][2]["rows"] = json!(u64::MAX));
    refused(|record| record["shards"][1]["marks"][1]["rows"] = json!(0));
    refused(|record| record["shards"][1]["marks"][0]["spot"]["lines"] = json!(u64::MAX));
    let doubts = json!({"cells": u64::MAX, "decimal_commas": 0, "texts": []});
    let mut stray = record.clone();
    stray["strays"] = json!({ "a": doubts });
    let record: FilesRecord = serde_json::from_value(stray).unwrap();
    assert!(matches!(files().restore(record), Err(DataError::Changed { .. })));
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn saved_values((load, file) in damaged_one_of(targets())) {
        guarded(file, load);
    }
}
