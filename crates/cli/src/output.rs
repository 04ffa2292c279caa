//! Files that are either the old ones or the new ones, never half of each.

use crate::args::Output;
use crate::failure::{Failure, Result};
use crate::session::Session;
use std::io::{self, Write};
use std::path::Path;

/// One column of results.
pub enum Values<'a> {
    Numbers(&'a [f64]),
    Counts(&'a [usize]),
}

/// Columns of results with their names. `.npy` files hold those of numbers that a program counts
/// with, so not `line`.
pub struct Columns<'a>(pub Vec<(&'a str, Values<'a>)>);

/// The name of the column with lines of the file that was read, for people.
pub const LINE: &str = "line";

impl Columns<'_> {
    /// To a file, as its extension says, or as CSV to standard output, unless that is for JSON.
    pub fn write(&self, output: &Output, session: &Session) -> Result<()> {
        match output.file() {
            None if session.json => Ok(()),
            Some(path) if is_npy(path) => write(path, &self.npy()),
            Some(path) => write(path, self.csv().as_bytes()),
            None => print(self.csv()),
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
        let columns: Vec<&Values<'_>> =
            self.0.iter().filter(|(name, _)| *name != LINE).map(|(_, values)| values).collect();
        let entries =
            columns.iter().flat_map(|values| (0..self.rows()).map(move |row| number(row, values)));
        nystrom_data::npy_bytes(self.rows(), columns.len(), entries)
    }
}

/// To standard output.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    Ok(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()).map_err(Failure::Stdout)?)
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Refuses what cannot be written, or would overwrite what is read, before any work is done.
pub fn check_writable(output: &Output, inputs: &[&Path]) -> Result<()> {
    let Some(path) = output.file() else { return Ok(()) };
    let same = |input: &&&Path| {
        std::fs::canonicalize(path)
            .is_ok_and(|file| std::fs::canonicalize(input).is_ok_and(|input| input == file))
    };
    if let Some(input) = inputs.iter().find(same) {
        let text = format!(
            "{}: the output would overwrite {}; name another file",
            path.display(),
            input.display()
        );
        return Err(Failure::Usage(text).into());
    }
    if path.is_dir() {
        return Err(
            Failure::Usage(format!("{}: this is a folder; name a file", path.display())).into()
        );
    }
    let in_folder = tempfile::Builder::new().prefix(".nystrom-").tempfile_in(folder(path));
    in_folder.map_err(|source| Failure::Output { file: path.display().to_string(), source })?;
    Ok(())
}

/// Writes a file through a temporary one in the same folder: write, fsync, rename, fsync the
/// folder.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    try_write(path, bytes)
        .map_err(|source| Failure::Output { file: path.display().to_string(), source }.into())
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
