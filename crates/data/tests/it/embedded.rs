//! The data sets inside the library: always the catalog's, whether or not its files are here.

use nystrom_data::catalog::{self, embedded};

#[test]
fn the_numbers_are_the_catalogs() {
    let mut rows = 0;
    for entry in embedded::entries() {
        let data = embedded::load(entry.name).unwrap().unwrap();
        assert_eq!(Some(catalog::identity(&data).as_str()), entry.identity, "{}", entry.name);
        assert_eq!((data.name.as_str(), data.note.as_str()), (entry.name, entry.note));
        assert!(entry.licence.starts_with("CC BY 4.0"), "{}: {}", entry.name, entry.licence);
        rows += data.y.len();
    }
    assert_eq!(rows, 10_000 + 17_898 + 9568 + 4177);
}

#[test]
fn other_names_are_understood_and_other_sets_are_not_embedded() {
    assert_eq!(embedded::load("RQC").unwrap().unwrap().name, "query-analytics");
    assert!(
        embedded::load("casp").unwrap().is_none()
            && embedded::load_table("casp").unwrap().is_none()
    );
    assert!(embedded::load("iris").is_err() && embedded::load_table("iris").is_err());
}

#[test]
fn together_they_are_small() {
    let bytes: usize =
        embedded::entries().map(|entry| embedded::bytes(entry.name).unwrap().len()).sum();
    assert!(bytes < 1_260_000, "{bytes} bytes");
}
