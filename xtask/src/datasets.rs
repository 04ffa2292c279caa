//! The data sets of the papers, through `nystrom_data::catalog`.

use std::path::{Path, PathBuf};

use nystrom::faer::{Mat, MatRef};
use nystrom_data::catalog::{self, Entry, Located, Missing, embedded};
use nystrom_data::{Constant, Dataset, Standardize, Standardizer};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A data set that is absent: the reader learns what to fetch and how to know it is the right file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingData {
    /// Its name in the catalog.
    pub name: String,
    /// What could not be computed without it: `row "Pumadyn-32fh"`; empty for the whole experiment.
    pub needed_for: String,
    /// Where to get it.
    pub where_to_get: String,
    /// Its files, as paths below the data folder.
    pub files: Vec<String>,
    /// Rows and columns it must have.
    pub expected_shape: String,
    /// SHA-256 of the uncompressed files, where known.
    pub checksum: Option<String>,
}

impl std::fmt::Display for MissingData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "data set `{}` is missing; get it from {}", self.name, self.where_to_get)
    }
}

impl std::error::Error for MissingData {}

impl MissingData {
    /// The same, saying which part of the experiment needs it.
    pub fn needed_for(mut self, part: impl Into<String>) -> Self {
        self.needed_for = part.into();
        self
    }
}

/// The data set called `name`: under `dir` or, if its files are not there, as it is embedded in
/// this program.
///
/// # Errors
/// [`MissingData`] if it is nowhere. If there is no such name; if the files are there but are not
/// those of the catalog, or do not parse.
pub fn load(dir: Option<&Path>, name: &str) -> anyhow::Result<Dataset> {
    match locate(dir, name)? {
        Place::Files(dir, _) => Ok(catalog::load(&dir, name)?),
        Place::Embedded(entry) => match embedded::load(entry.name)? {
            Some(data) => Ok(data),
            None => unreachable!("it is embedded"),
        },
        Place::Missing(missing) => Err(missing.into()),
    }
}

/// Where a data set is.
pub enum Place {
    /// In this folder, in these files, which have not been read.
    Files(PathBuf, Vec<PathBuf>),
    /// In this program.
    Embedded(&'static Entry),
    /// Nowhere.
    Missing(MissingData),
}

/// Where the data set called `name` is, or what is missing.
///
/// # Errors
/// If there is no such name.
pub fn locate(dir: Option<&Path>, name: &str) -> anyhow::Result<Place> {
    let entry = catalog::find(name)?;
    let located = match dir {
        Some(dir) => catalog::locate_entry(dir, entry),
        None => Located::Missing(Missing {
            entry,
            files: entry.files.iter().collect(),
            looked_in: PathBuf::new(),
        }),
    };
    if matches!(located, Located::Missing(_))
        && embedded::entries().any(|set| set.name == entry.name)
    {
        return Ok(Place::Embedded(entry));
    }
    Ok(match located {
        Located::Found(found) => Place::Files(dir.unwrap_or(Path::new("")).to_owned(), found.paths),
        Located::Missing(missing) => Place::Missing(MissingData {
            name: name.into(),
            needed_for: String::new(),
            where_to_get: format!(
                "`cargo xtask fetch {}`, or {}",
                entry.name,
                missing.where_to_get()
            ),
            files: missing.files.iter().map(|file| file.path.to_owned()).collect(),
            expected_shape: missing.expected_shape(),
            checksum: missing.checksum(),
        }),
    })
}

/// What the data sets of an experiment are: each name with the SHA-256 of its files as they lie
/// there. What is embedded has its identity, and what is missing is `absent`.
pub fn fingerprint(dir: Option<&Path>, names: &[&str]) -> String {
    let of_file = |path: &PathBuf| match std::fs::read(path) {
        Ok(bytes) => sha256(&bytes),
        Err(error) => error.to_string(), // the experiment will fail on it, and say so
    };
    let of_set = |name: &&str| match locate(dir, name) {
        Ok(Place::Files(_, paths)) => {
            format!("{name}={}", paths.iter().map(of_file).collect::<Vec<String>>().join("+"))
        }
        Ok(Place::Embedded(entry)) => format!("{name}={}", entry.identity.unwrap_or("embedded")),
        _ => format!("{name}=absent"),
    };
    names.iter().map(of_set).collect::<Vec<_>>().join(" ")
}

/// The checksum in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Each column minus its mean, divided by its standard deviation (divisor n); constant columns
/// become 0.
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
            let missing: MissingData = load(dir, "casp").unwrap_err().downcast().unwrap();
            assert_eq!(missing.name, "casp");
            assert!(missing.where_to_get.contains("cargo xtask fetch casp"), "{missing:?}");
            assert!(
                missing.where_to_get.contains("UCI") && missing.expected_shape.contains("45730"),
                "{missing:?}"
            );
            assert!(missing.checksum.is_some() && missing.files.len() == 1, "{missing:?}");
            assert_eq!(fingerprint(dir, &["casp", "skin"]), "casp=absent skin=absent");
        }
    }

    #[test]
    fn an_embedded_set_is_there_without_a_folder() {
        let empty = tempfile::tempdir().unwrap();
        for dir in [None, Some(empty.path())] {
            for name in ["query-analytics", "htru2", "ccpp", "abalone"] {
                let data = load(dir, name).unwrap();
                let identity = catalog::find(name).unwrap().identity.unwrap();
                assert_eq!(catalog::identity(&data), identity);
                assert_eq!(fingerprint(dir, &[name]), format!("{name}={identity}"));
            }
        }
    }

    #[test]
    fn an_unknown_name_and_a_wrong_file_are_errors() {
        assert!(load(None, "no-such-set").is_err_and(|error| !error.is::<MissingData>()));
        let dir = tempfile::tempdir().unwrap();
        // A file that is there goes before what is embedded: the user has put it there.
        for name in ["casp", "htru2"] {
            let path = dir.path().join(catalog::find(name).unwrap().files[0].path);
            crate::atomic::write(&path, b"a,b\n1,2\n").unwrap();
            let wrong = load(Some(dir.path()), name).err().unwrap();
            assert!(!wrong.is::<MissingData>(), "a wrong file for {name} counts as none");
            assert!(fingerprint(Some(dir.path()), &[name]).len() > 64);
        }
    }

    #[test]
    fn standardized_columns_have_mean_0_and_variance_1() {
        let x = Mat::from_fn(4, 2, |i, j| if j == 0 { i as f64 } else { 7.0 });
        let z = standardized(x.as_ref()).unwrap();
        let squares: f64 = (0..4).map(|i| z[(i, 0)] * z[(i, 0)]).sum();
        assert!((squares - 4.0).abs() < 1e-14 && (0..4).all(|i| z[(i, 1)] == 0.0));
    }
}
