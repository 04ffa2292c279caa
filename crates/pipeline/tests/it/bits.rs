//! Columns of fingerprints, for the kernel of bits.

use crate::columns::{options, random, table};
use crate::fit::{quick, text};
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::Why;
use nystrom_pipeline::{AnyKernel, ColumnOptions, Columns, Error, Family, Fit, Model, Shape};

/// Rows of 64 bits in hexadecimal.
pub fn hex(n: usize) -> Vec<String> {
    let rng = &mut Pcg64::seed_from_u64(1);
    (0..n).map(|_| format!("{:016X}", rng.random::<u64>())).collect()
}

pub fn molecules(n: usize) -> Table {
    let fp = hex(n);
    let y = fp.iter().map(|row| f64::from(u64::from_str_radix(row, 16).unwrap().count_ones()));
    let y = Column::numbers("y", y.collect());
    table(vec![Column::numbers("x", random(n, 2)), text("fp", fp.iter().cloned()), y])
}

pub fn of_bits() -> ColumnOptions {
    ColumnOptions { fingerprint: Some("fp".into()), ..options() }
}

#[test]
fn features_are_the_packed_bits() {
    let table = molecules(30);
    let columns = Columns::fit(&table, &of_bits(), &["y"], Shape::PLAIN).unwrap();
    assert_eq!(columns.names().collect::<Vec<_>>(), ["fp"]);
    assert_eq!((columns.fingerprint(), columns.dim()), (Some(("fp", 64)), 2));
    assert_eq!(columns.features().len(), 2);
    assert!(columns.reads_text("fp") && !columns.fills());
    let saved = serde_json::to_string(&columns).unwrap();
    assert_eq!(serde_json::from_str::<Columns>(&saved).unwrap(), columns);
    let (x, bits) = (columns.apply(&table).unwrap().x, Bits::<f64>::from_hex(hex(30), 64).unwrap());
    for i in 0..30 {
        (0..2).for_each(|k| assert_eq!(x[(i, k)], bits.points().coordinate(i, k)));
    }
    assert!(saved.replace("\"bits\":64", "\"bits\":0") != saved);
    assert!(serde_json::from_str::<Columns>(&saved.replace("\"bits\":64", "\"bits\":0")).is_err());
}

#[test]
fn a_model_of_bits_is_saved_and_has_no_derivatives() {
    let table = molecules(80);
    let fit = Fit { columns: of_bits(), ..quick() };
    let found = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0)).unwrap();
    assert!(found.report.notes.iter().any(|note| note.contains("only feature")));
    let kernels = found.report.trials.iter().map(|trial| trial.family);
    assert!(kernels.into_iter().all(Family::takes_bits));
    let model = Model::from_bytes(&found.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, found.model);
    assert_eq!(model.explanation, None);
    assert!(matches!(model.explain(&table), Err(Error::NoDerivatives { .. })));
    let kernel: &AnyKernel = model.regression().kernel();
    assert!(!kernel.is_differentiable() && kernel.bandwidth().is_none());
    assert!(Family::Gaussian.kernel(1.0, 1).unwrap().is_differentiable());
}

#[test]
fn cells_that_are_no_fingerprints_are_errors_with_their_place() {
    let fit = |cells: [&str; 4]| {
        let table = table(vec![text("fp", cells.map(str::to_owned))]);
        Columns::fit(&table, &of_bits(), &[], Shape::PLAIN)
            .and_then(|columns| columns.apply(&table))
            .unwrap_err()
    };
    let place = |cells| match fit(cells) {
        Error::Fingerprint { column, place, problem } => {
            assert_eq!(column, "fp");
            format!("{place}: {problem}")
        }
        other => panic!("{other}"),
    };
    assert!(place(["00", "ff", "0f0", "f0"]).starts_with("row 3: 3 hexadecimal digits"));
    assert!(place(["00", "ff", "0f", "xy"]).starts_with("row 4: character 'x'"));
    assert!(place(["000", "ff", "0f", "f0"]).contains("two digits for each byte"));
    let error = fit(["00", "", "0f", "f0"]).to_string();
    assert!(error.contains("row 2") && error.contains("--drop-missing"), "{error}");

    let numbers = table(vec![Column::numbers("fp", vec![1.0, 10.0, 11.0])]);
    let error = Columns::fit(&numbers, &of_bits(), &[], Shape::PLAIN).unwrap_err();
    assert!(error.to_string().contains("read the column as text"), "{error}");
    let good = molecules(10);
    let columns = Columns::fit(&good, &of_bits(), &["y"], Shape::PLAIN).unwrap();
    let error = columns.apply(&numbers).unwrap_err();
    assert!(error.to_string().contains("read the column as text"), "{error}");
    let alike = table(vec![text("fp", ["00", "00"].map(str::to_owned))]);
    let error = Columns::fit(&alike, &of_bits(), &[], Shape::PLAIN).unwrap_err();
    assert!(matches!(error, Error::NoFeatures { .. }));
    assert!(matches!(columns.dropped(), []) || columns.dropped()[0].why != Why::Identifier);
}

#[test]
fn other_uses_are_refused() {
    let table = molecules(10);
    let refused = |options: ColumnOptions, taken: &[&str]| {
        Columns::fit(&table, &options, taken, Shape::PLAIN).unwrap_err()
    };
    assert!(matches!(refused(of_bits(), &["fp"]), Error::UsedTwice { .. }));
    let names = || vec!["x".to_owned()];
    let fp = || vec!["fp".to_owned()];
    assert!(matches!(
        refused(ColumnOptions { drop: fp(), ..of_bits() }, &[]),
        Error::UsedTwice { .. }
    ));
    for options in [
        ColumnOptions { features: names(), ..of_bits() },
        ColumnOptions { numeric: names(), ..of_bits() },
        ColumnOptions { categorical: fp(), ..of_bits() },
        ColumnOptions { scale: vec![("x".into(), 2.0)], ..of_bits() },
    ] {
        let error = refused(options, &[]);
        assert!(matches!(error, Error::Option { option: "fingerprint", .. }), "{error}");
    }
    let named = ColumnOptions { features: fp(), ..of_bits() };
    assert!(Columns::fit(&table, &named, &[], Shape::PLAIN).is_ok());
}
