//! The data sets of the papers, through `nystrom_data::catalog`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use nystrom::faer::{Mat, MatRef};
use nystrom_data::catalog::{self, Located, Missing, embedded};
use nystrom_data::{Constant, Dataset, Standardize, Standardizer};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where the data sets are.
#[derive(Args)]
pub struct Folder {
    /// Folder with the data sets; without it, those that are not embedded are reported as missing
    #[arg(long, value_name = "DIR", env = "NYSTROM_DATA")]
    data: Option<PathBuf>,
}

impl Folder {
    /// The folder, known to exist if one was named.
    pub fn path(&self) -> anyhow::Result<Option<&Path>> {
        match self.data.as_deref() {
            Some(dir) if !dir.is_dir() => bail!("--data {}: no such folder", dir.display()),
            dir => Ok(dir),
        }
    }
}

/// A data set that is absent: the reader learns what to fetch and how to know it is the right file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("data set `{name}` is missing; get it from {where_to_get}")]
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

impl MissingData {
    /// The same, saying which part of the experiment needs it.
    pub fn needed_for(mut self, part: impl Into<String>) -> Self {
        self.needed_for = part.into();
        self
    }
}

/// Where a data set is.
pub enum Place {
    /// In these files.
    Files(Vec<PathBuf>),
    /// In this program.
    Embedded,
    /// Nowhere.
    Missing(MissingData),
}

/// Where the data set called `name` is: under `dir` or, if its files are not there, embedded in
/// this program.
///
/// # Errors
/// If there is no such name.
pub fn locate(dir: Option<&Path>, name: &str) -> anyhow::Result<Place> {
    let entry = catalog::find(name)?;
    let missing = match dir.map(|dir| catalog::locate_entry(dir, entry)) {
        Some(Located::Found(found)) => return Ok(Place::Files(found.paths)),
        _ if embedded::bytes(name).is_some() => return Ok(Place::Embedded),
        Some(Located::Missing(missing)) => missing,
        None => Missing { entry, files: entry.files.iter().collect(), looked_in: PathBuf::new() },
    };
    Ok(Place::Missing(MissingData {
        name: name.into(),
        needed_for: String::new(),
        where_to_get: format!("`cargo xtask fetch {name}`, or {}", missing.where_to_get()),
        files: missing.files.iter().map(|file| file.path.to_owned()).collect(),
        expected_shape: missing.expected_shape(),
        checksum: missing.checksum(),
    }))
}

/// The data set called `name`.
///
/// # Errors
/// [`MissingData`] if it is nowhere. If there is no such name; if the files are there but are not
/// those of the catalog, or do not parse.
pub fn load(dir: Option<&Path>, name: &str) -> anyhow::Result<Dataset> {
    match locate(dir, name)? {
        Place::Files(_) => Ok(catalog::load(dir.unwrap_or(Path::new("")), name)?),
        Place::Embedded => embedded::load(name)?.context("it is embedded"),
        Place::Missing(missing) => Err(missing.into()),
    }
}

/// What the data sets of an experiment are: each name with the SHA-256 of its files as they lie
/// there. What is embedded has its identity, and what is missing is `absent`.
pub fn fingerprint(dir: Option<&Path>, names: &[&str]) -> String {
    let of_file = |path: &PathBuf| match std::fs::read(path) {
        Ok(bytes) => sha256(&bytes),
        Err(error) => error.to_string(), // the experiment will fail on it, and say so
    };
    let of_set = |name: &&str| match locate(dir, name) {
        Ok(Place::Files(paths)) => paths.iter().map(of_file).collect::<Vec<String>>().join("+"),
        Ok(Place::Embedded) => {
            let identity = catalog::find(name).ok().and_then(|entry| entry.identity);
            identity.unwrap_or("embedded").to_owned()
        }
        _ => "absent".to_owned(),
    };
    let sets: Vec<String> = names.iter().map(|name| format!("{name}={}", of_set(name))).collect();
    sets.join(" ")
}

/// Paths for people.
pub fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The checksum in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Each column minus its mean, divided by its standard deviation (divisor n); constant columns
/// become 0.
pub fn standardizer(x: MatRef<'_, f64>) -> anyhow::Result<Standardizer> {
    let options = Standardize { constant: Constant::ScaleByOne, ..Standardize::default() };
    Ok(Standardizer::fit(x, &[], options)?)
}

/// The same, done.
pub fn standardized(x: MatRef<'_, f64>) -> anyhow::Result<Mat<f64>> {
    Ok(standardizer(x)?.transform(x)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_set_says_how_to_get_it_and_an_embedded_one_needs_no_folder() {
        let empty = tempfile::tempdir().unwrap();
        for dir in [None, Some(empty.path())] {
            let missing: MissingData = load(dir, "casp").unwrap_err().downcast().unwrap();
            let MissingData { name, where_to_get, files, expected_shape, checksum, .. } = &missing;
            assert_eq!((name.as_str(), files.len(), checksum.is_some()), ("casp", 1, true));
            assert!(where_to_get.contains("cargo xtask fetch casp"), "{missing}");
            assert!(where_to_get.contains("UCI") && expected_shape.contains("45730"), "{missing}");
            assert_eq!(fingerprint(dir, &["casp", "skin"]), "casp=absent skin=absent");
            for name in ["query-analytics", "htru2", "ccpp", "abalone"] {
                let identity = catalog::find(name).unwrap().identity.unwrap();
                assert_eq!(catalog::identity(&load(dir, name).unwrap()), identity);
                assert_eq!(fingerprint(dir, &[name]), format!("{name}={identity}"));
            }
        }
    }

    #[test]
    fn an_unknown_folder_or_name_and_a_wrong_file_are_errors() {
        let folder = Folder { data: Some("/no/such/folder".into()) };
        assert!(folder.path().unwrap_err().to_string().contains("/no/such/folder"));
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
