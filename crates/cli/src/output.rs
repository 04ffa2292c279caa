//! Files that are either the old ones or the new ones, never half of each.

use crate::failure::{Failure, Result};
use crate::session::Session;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One column of results.
pub enum Values<'a> {
    Numbers(&'a [f64]),
    Counts(&'a [usize]),
}

/// Columns of results with their names.
pub struct Columns<'a>(pub Vec<(&'static str, Values<'a>)>);

impl Columns<'_> {
    /// To `path`, as its extension says, or as CSV to standard output, unless that is for JSON.
    pub fn write(&self, path: Option<&Path>, session: &Session) -> Result<()> {
        match path {
            None if session.json => Ok(()),
            Some(path) if is_npy(path) => write(path, &self.npy()),
            Some(path) => write(path, self.csv().as_bytes()),
            None => print(&self.csv()),
        }
    }

    fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, values)| match values {
            Values::Numbers(values) => values.len(),
            Values::Counts(values) => values.len(),
        })
    }

    /// Numbers as the shortest text that reads back as the same number.
    fn csv(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.rows() {
            for (j, (_, values)) in self.0.iter().enumerate() {
                let field = match values {
                    Values::Numbers(values) => format!("{:?}", values[row]),
                    Values::Counts(values) => values[row].to_string(),
                };
                text += if j > 0 { "," } else { "" };
                text += &field;
            }
            text.push('\n');
        }
        text
    }

    /// A matrix of numbers with these columns; a vector if there is one column.
    fn npy(&self) -> Vec<u8> {
        let number = |row: usize, values: &Values<'_>| match values {
            Values::Numbers(values) => values[row],
            Values::Counts(values) => values[row] as f64,
        };
        let columns = self.0.iter().flat_map(|(_, values)| (0..self.rows()).map(move |row| number(row, values)));
        nystrom_data::npy_bytes(self.rows(), self.0.len(), columns)
    }
}

/// To standard output.
pub fn print(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes()).map_err(Failure::Stdout)?)
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Refuses what cannot be written before any work is done.
pub fn check_writable(path: Option<&PathBuf>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    if path.is_dir() {
        return Err(Failure::Usage(format!("{}: this is a folder; name a file", path.display())).into());
    }
    let in_folder = tempfile::Builder::new().prefix(".nystrom-").tempfile_in(folder(path));
    in_folder.map_err(|source| Failure::Output { file: path.display().to_string(), source })?;
    Ok(())
}

/// Writes a file through a temporary one in the same folder: write, fsync, rename, fsync the folder.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    try_write(path, bytes).map_err(|source| Failure::Output { file: path.display().to_string(), source }.into())
}

fn try_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)] // temporary files are private; a result need not be
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.prefix(".nystrom-").tempfile_in(folder(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    #[cfg(unix)]
    std::fs::File::open(folder(path))?.sync_all()?;
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
