//! Every data set of the catalog from its real files, in the folder that `NYSTROM_DATA` names:
//! `NYSTROM_DATA=… cargo xtask test -p nystrom-data real_data`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nystrom_data::catalog::{self, Located, Verify};
use nystrom_data::{Dataset, Standardize};

fn folder() -> PathBuf {
    std::env::var_os("NYSTROM_DATA").expect("NYSTROM_DATA names the data's folder").into()
}

/// Loads with checksums; the loader itself compares the shape with the catalog.
fn load(name: &str) -> Dataset {
    catalog::load(&folder(), name).unwrap()
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn every_set_has_its_checksum_and_shape() {
    let folder = folder();
    let mut absent = Vec::new();
    for entry in catalog::entries() {
        match catalog::locate_entry(&folder, entry) {
            Located::Missing(missing) => {
                eprintln!("{missing}");
                absent.push(entry.name);
            }
            Located::Found(_) => {
                let start = std::time::Instant::now();
                let data = catalog::load_entry(&folder, entry, Verify::Checksum).unwrap();
                eprintln!(
                    "{}: {} × {}, {:?}",
                    entry.name,
                    data.x.nrows(),
                    data.x.ncols(),
                    start.elapsed()
                );
                assert_eq!(
                    (data.x.nrows(), data.x.ncols(), data.y.len()),
                    (entry.rows, entry.features, entry.rows)
                );
                assert_eq!(
                    Some(catalog::identity(&data).as_str()),
                    entry.identity,
                    "{}",
                    entry.name
                );
                // The set has no constant feature.
                drop(data.standardize(Standardize::default()).unwrap());
            }
        }
    }
    let unknown: Vec<&str> =
        catalog::entries().filter(|e| !e.checksums_known()).map(|e| e.name).collect();
    assert_eq!(absent, unknown, "exactly the sets of which no copy is known are absent");
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn published_ranges_and_counts() {
    let range = |values: &[f64]| {
        values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
    };
    let rqc = load("rqc");
    assert_eq!(range(&rqc.y), (2.0, 695.0));
    assert_eq!(load("htru2").y.iter().sum::<f64>(), 1639.0);
    assert_eq!(range(&load("casp").y), (0.0, 20.999));
    assert_eq!(range(&load("abalone").y), (1.0, 29.0));
    assert_eq!(range(&load("cpu-act").y), (0.0, 99.0));
    assert_eq!(range(&load("ailerons").y), (-0.0036, 0.0));
    assert_eq!(range(&load("elevators").y), (0.012, 0.078));
    assert_eq!(range(&load("california-housing").y), (14_999.0, 500_001.0));
    let skin = load("skin");
    assert_eq!(skin.y.iter().filter(|&&y| y == 1.0).count(), 50_859);
    assert_eq!(skin.y.iter().filter(|&&y| y == -1.0).count(), 194_198);
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn gas_drift_classes() {
    let folder = folder();
    for (name, expected) in [
        ("gas-drift-batch2", vec![164, 334, 100, 109, 532, 5]),
        ("gas-drift-batch3", vec![365, 490, 216, 240, 275]),
    ] {
        let table = catalog::load_table(&folder, name, Verify::Checksum).unwrap();
        let mut counts = BTreeMap::new();
        for class in table.numbers("class").unwrap() {
            *counts.entry(*class as u32).or_insert(0) += 1;
        }
        assert_eq!(counts.into_values().collect::<Vec<_>>(), expected);
    }
    let data = load("gas2");
    assert_eq!(
        (data.target_name.as_str(), data.y[0], data.x[(0, 0)]),
        ("concentration", 10.0, 21749.5635)
    );
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn beijing_missing_values() {
    let folder = folder();
    let table = catalog::load_table(&folder, "beijing-air", Verify::Checksum).unwrap();
    assert_eq!((table.rows(), table.columns().len()), (420_768, 18));
    for (name, expected) in [
        ("PM2.5", 8739),
        ("PM10", 6449),
        ("SO2", 9021),
        ("NO2", 12_116),
        ("CO", 20_701),
        ("O3", 13_277),
        ("TEMP", 398),
        ("PRES", 393),
        ("DEWP", 403),
        ("RAIN", 390),
        ("WSPM", 318),
    ] {
        assert_eq!(
            table.numbers(name).unwrap().iter().filter(|v| v.is_nan()).count(),
            expected,
            "{name}"
        );
    }
    let wind = table.categories("wd").unwrap();
    assert_eq!(
        (wind.levels.len(), wind.codes.iter().filter(|code| code.is_none()).count()),
        (16, 1822)
    );
    assert_eq!(table.categories("station").unwrap().levels.len(), 12);
    assert_eq!(table.drop_missing_rows().rows(), 382_168);
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
#[cfg(feature = "embedded")]
fn the_embedded_tables_are_those_of_the_files() {
    let folder = folder();
    for entry in catalog::embedded::entries() {
        let file = catalog::load_table(&folder, entry.name, Verify::Checksum).unwrap();
        let embedded = catalog::embedded::load_table(entry.name).unwrap().unwrap();
        assert!(
            file.columns() == embedded.columns(),
            "{}: names, text and the bits of numbers",
            entry.name
        );
        let text = file.to_csv();
        let mut own = String::new();
        let mut bytes =
            nystrom_data::Uncompressed::new(catalog::embedded::bytes(entry.name).unwrap()).unwrap();
        std::io::Read::read_to_string(&mut bytes, &mut own).unwrap();
        assert!(text == own, "{}: not what the example `embed` writes", entry.name);
        let data = catalog::embedded::load(entry.name).unwrap().unwrap();
        assert!(data == catalog::load(&folder, entry.name).unwrap(), "{}", entry.name);
    }
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn columns_and_first_rows() {
    let ccpp = load("ccpp");
    assert_eq!(
        (ccpp.feature_names.join(","), ccpp.target_name.as_str()),
        ("AT,V,AP,RH".into(), "EP")
    );
    assert_eq!(ccpp.with_target_as_feature()[(0, 4)], 480.48);
    let turbine = load("gas-turbine");
    assert_eq!(turbine.feature_names.join(","), "AT,AP,AH,AFDP,GTEP,TIT,TAT,TEY,CDP");
    assert_eq!((turbine.x[(0, 0)], turbine.y[0]), (4.5878, 81.952));
    let subset = load("pumadyn-32fm");
    assert_eq!((subset.x[(0, 0)], subset.x[(512, 0)]), (0.498269, 0.485265));
    let abalone = load("abalone");
    assert_eq!(abalone.feature_names[..4], ["Sex=F", "Sex=I", "Sex=M", "Length"]);
    assert_eq!((abalone.x[(0, 2)], abalone.x[(0, 3)], abalone.y[0]), (1.0, 0.455, 15.0));
}
