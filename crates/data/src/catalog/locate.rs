//! Finding the files of a data set.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Entry, File, find};
use crate::error::Result;

/// The files of a data set, or those that are missing.
#[derive(Debug, Clone)]
pub enum Located<'a> {
    /// Every file exists. The files have not been read.
    Found(Found<'a>),
    /// At least one file is missing.
    Missing(Missing<'a>),
}

/// A data set whose files all exist.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found<'a> {
    /// The catalog's entry of the data set.
    pub entry: &'a Entry,
    /// The paths of its files, in the order of [`Entry::files`]; for the canonical form, the path
    /// of its one file.
    pub paths: Vec<PathBuf>,
    /// The form in which the data set is stored.
    pub form: Form,
}

/// The form in which a data set is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The files of the catalog.
    Files,
    /// One CSV file of all columns, at [`Entry::canonical_path`], converted from another format.
    Canonical,
}

/// A data set of which a file is missing. `Display` says in one line what is missing and where to
/// get it.
#[derive(Debug, Clone)]
pub struct Missing<'a> {
    /// The catalog's entry of the data set.
    pub entry: &'a Entry,
    /// The missing files.
    pub files: Vec<&'a File>,
    /// The folder in which they were looked for.
    pub looked_in: PathBuf,
}

/// Looks for the files of the data set `name` in `data_dir`.
///
/// A file may be at its path in the catalog or, if its checksum is known, directly in `data_dir`,
/// in both cases with or without `.gz`. If files are missing, the canonical form is looked for, at
/// [`Entry::canonical_path`].
///
/// # Errors
/// [`DataError::UnknownDataset`](crate::DataError::UnknownDataset).
///
/// ```
/// use nystrom_data::catalog::{Located, locate};
///
/// let Located::Missing(missing) = locate("no/such/folder".as_ref(), "gas-turbine")? else {
///     panic!()
/// };
/// assert_eq!(missing.files.len(), 5);
/// println!("{missing}");
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
pub fn locate(data_dir: &Path, name: &str) -> Result<Located<'static>> {
    find(name).map(|entry| locate_entry(data_dir, entry))
}

/// Like [`locate`], for an entry, e.g. one of the caller's own.
#[expect(clippy::disallowed_methods, reason = "looks for files")]
pub fn locate_entry<'a>(data_dir: &Path, entry: &'a Entry) -> Located<'a> {
    let (mut paths, mut missing) = (Vec::new(), Vec::new());
    for file in entry.files {
        match candidates(data_dir, file).into_iter().find(|path| path.is_file()) {
            Some(path) => paths.push(path),
            None => missing.push(file),
        }
    }
    if missing.is_empty() {
        return Located::Found(Found { entry, paths, form: Form::Files });
    }
    let canonical = data_dir.join(entry.canonical_path());
    if let Some(path) =
        [canonical.with_extension(""), canonical].into_iter().find(|path| path.is_file())
    {
        return Located::Found(Found { entry, paths: vec![path], form: Form::Canonical });
    }
    Located::Missing(Missing { entry, files: missing, looked_in: data_dir.to_owned() })
}

fn candidates(data_dir: &Path, file: &File) -> Vec<PathBuf> {
    let base = file.path.rsplit('/').next().unwrap_or(file.path);
    // without a checksum, only its folder tells to which data set a file such as `Dataset.data`
    // belongs
    let places =
        if file.sha256_uncompressed.is_some() { vec![file.path, base] } else { vec![file.path] };
    let forms = |path: &str| match path.strip_suffix(".gz") {
        Some(plain) => [path.to_owned(), plain.to_owned()],
        None => [path.to_owned(), format!("{path}.gz")],
    };
    places.into_iter().flat_map(forms).map(|path| data_dir.join(path)).collect()
}

impl Missing<'_> {
    /// The name of the public source.
    pub fn where_to_get(&self) -> &str {
        self.entry.source
    }

    /// The shape that the loaded data set will have, in words.
    pub fn expected_shape(&self) -> String {
        format!("{} rows × {} features", self.entry.rows, self.entry.features)
    }

    /// The SHA-256 of the uncompressed bytes of each missing file, in words; `None` if none is
    /// known.
    pub fn checksum(&self) -> Option<String> {
        let known = |file: &&File| {
            Some(format!("{} {}", file.path.trim_end_matches(".gz"), file.sha256_uncompressed?))
        };
        let sums: Vec<String> = self.files.iter().filter_map(known).collect();
        (!sums.is_empty()).then(|| sums.join(", "))
    }
}

impl fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<&str> = self.files.iter().map(|file| file.path).collect();
        write!(
            f,
            "data set {:?}: {} not found in {}; get it from {}; expected {}; SHA-256 of the \
             uncompressed bytes: {}",
            self.entry.name,
            files.join(", "),
            self.looked_in.display(),
            self.where_to_get(),
            self.expected_shape(),
            self.checksum().unwrap_or_else(|| "not known".to_owned()),
        )
    }
}
