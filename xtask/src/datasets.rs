//! The data sets of the papers, through `nystrom_data::catalog`.

use std::path::{Path, PathBuf};

use nystrom::faer::{Mat, MatRef};
use nystrom_data::catalog::{self, Located, Missing};
use nystrom_data::{Constant, Dataset, Standardize, Standardizer};
use sha2::{Digest, Sha256};

use crate::experiment::MissingData;

/// A data set, or the news that it is absent.
pub enum Lookup {
    /// It is there, was read, and has the checksum and the shape that the catalog knows.
    Found(Dataset),
    /// It is not there.
    Missing(MissingData),
}

/// The data set called `name` under `dir`.
///
/// # Errors
/// If there is no such name; if the files are there but are not those of the catalog, or do not parse.
pub fn lookup(dir: Option<&Path>, name: &str) -> anyhow::Result<Lookup> {
    match (dir, locate(dir, name)?) {
        (Some(dir), Ok(_)) => Ok(Lookup::Found(catalog::load(dir, name)?)),
        (_, Err(missing)) => Ok(Lookup::Missing(missing)),
        (None, Ok(_)) => unreachable!("nothing is found without a folder"),
    }
}

/// Where the files of the data set are, or what is missing.
///
/// # Errors
/// If there is no such name.
pub fn locate(dir: Option<&Path>, name: &str) -> anyhow::Result<Result<Vec<PathBuf>, MissingData>> {
    let entry = catalog::find(name)?;
    let located = match dir {
        Some(dir) => catalog::locate_entry(dir, entry),
        None => Located::Missing(Missing { entry, files: entry.files.iter().collect(), looked_in: PathBuf::new() }),
    };
    Ok(match located {
        Located::Found(found) => Ok(found.paths),
        Located::Missing(missing) => Err(MissingData {
            name: name.into(),
            needed_for: String::new(),
            where_to_get: missing.where_to_get().into(),
            files: missing.files.iter().map(|file| file.path.to_owned()).collect(),
            expected_shape: missing.expected_shape(),
            checksum: missing.checksum(),
        }),
    })
}

/// What the data sets of an experiment are: each name with the SHA-256 of its files as they lie there, or `absent`.
pub fn fingerprint(dir: Option<&Path>, names: &[&str]) -> String {
    let of_file = |path: &PathBuf| match std::fs::read(path) {
        Ok(bytes) => Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(error) => error.to_string(), // the experiment will fail on it, and say so
    };
    let of_set = |name: &&str| match locate(dir, name) {
        Ok(Ok(paths)) => format!("{name}={}", paths.iter().map(of_file).collect::<Vec<String>>().join("+")),
        _ => format!("{name}=absent"),
    };
    names.iter().map(of_set).collect::<Vec<_>>().join(" ")
}

/// Each column minus its mean, divided by its standard deviation (divisor n); constant columns become 0.
pub fn standardized(x: MatRef<'_, f64>) -> anyhow::Result<Mat<f64>> {
    let options = Standardize { constant: Constant::ScaleByOne, ..Standardize::default() };
    Ok(Standardizer::fit(x, &[], options)?.transform(x)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_set_says_all_that_is_needed_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        for dir in [None, Some(empty.path())] {
            let Lookup::Missing(missing) = lookup(dir, "htru2").unwrap() else { panic!("found") };
            assert_eq!(missing.name, "htru2");
            assert!(missing.where_to_get.contains("UCI") && missing.expected_shape.contains("17898"), "{missing:?}");
            assert!(missing.checksum.is_some() && missing.files.len() == 1, "{missing:?}");
            assert_eq!(fingerprint(dir, &["htru2", "ccpp"]), "htru2=absent ccpp=absent");
        }
    }

    #[test]
    fn an_unknown_name_and_a_wrong_file_are_errors() {
        assert!(lookup(None, "no-such-set").is_err());
        let dir = tempfile::tempdir().unwrap();
        let Err(missing) = locate(Some(dir.path()), "htru2").unwrap() else { panic!("found") };
        crate::atomic::write(&dir.path().join(&missing.files[0]), b"1,2,3\n").unwrap();
        let error = lookup(Some(dir.path()), "htru2").err().expect("a wrong file was taken");
        assert!(error.to_string().contains("SHA-256"), "{error}");
        assert!(fingerprint(Some(dir.path()), &["htru2"]).len() > 64);
    }

    #[test]
    fn standardized_columns_have_mean_0_and_variance_1() {
        let x = Mat::from_fn(4, 2, |i, j| if j == 0 { i as f64 } else { 7.0 });
        let z = standardized(x.as_ref()).unwrap();
        let squares: f64 = (0..4).map(|i| z[(i, 0)] * z[(i, 0)]).sum();
        assert!((squares - 4.0).abs() < 1e-14 && (0..4).all(|i| z[(i, 1)] == 0.0));
    }
}
