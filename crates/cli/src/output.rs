//! Writing results: files that are replaced as a whole, devices and pipes.

use crate::args::Output;
use crate::failure::{Failure, Result};
use crate::session::Session;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One column of results.
pub enum Values<'a> {
    Numbers(&'a [f64]),
    Counts(&'a [usize]),
    Texts(&'a [String]),
}

/// Columns of results with their names. A `.npy` file leaves out the column `line`, and stores
/// texts as the numbers that they spell (else NaN).
pub struct Columns<'a>(pub Vec<(&'a str, Values<'a>)>);

/// The name of the column with line numbers of the file that was read.
pub const LINE: &str = "line";

impl Columns<'_> {
    /// Writes the columns to a file in the format of its extension, or as CSV to standard output;
    /// with --json not to standard output.
    pub fn write(&self, output: &Output, session: &Session) -> Result<()> {
        match output.file() {
            None if session.json => Ok(()),
            Some(path) if output.is_npy() => write(path, &self.npy()),
            Some(path) => write(path, self.csv().as_bytes()),
            None => print(self.csv()),
        }
    }

    fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, values)| match values {
            Values::Numbers(values) => values.len(),
            Values::Counts(values) => values.len(),
            Values::Texts(values) => values.len(),
        })
    }

    fn csv(&self) -> String {
        self.rows_of_csv(true)
    }

    /// The header line with the names.
    pub fn header_of_csv(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|(name, _)| quoted(name)).collect();
        names.join(",") + "\n"
    }

    /// The lines of the rows, with or without the header. A number is the shortest text that reads
    /// back as the same number.
    pub fn rows_of_csv(&self, header: bool) -> String {
        let mut text = if header { self.header_of_csv() } else { String::new() };
        for row in 0..self.rows() {
            for (j, (_, values)) in self.0.iter().enumerate() {
                let field = match values {
                    Values::Numbers(values) => format!("{:?}", values[row]),
                    Values::Counts(values) => values[row].to_string(),
                    Values::Texts(values) => quoted(&values[row]),
                };
                text += if j > 0 { "," } else { "" };
                text += &field;
            }
            text.push('\n');
        }
        text
    }

    /// The bytes of a `.npy` file with these columns: a matrix, or a vector if there is one column.
    fn npy(&self) -> Vec<u8> {
        let number = |row: usize, values: &Values<'_>| match values {
            Values::Numbers(values) => values[row],
            Values::Counts(values) => values[row] as f64,
            Values::Texts(values) => values[row].parse().unwrap_or(f64::NAN),
        };
        let columns: Vec<&Values<'_>> =
            self.0.iter().filter(|(name, _)| *name != LINE).map(|(_, values)| values).collect();
        let entries =
            columns.iter().flat_map(|values| (0..self.rows()).map(move |row| number(row, values)));
        nystrom_data::npy_bytes(self.rows(), columns.len(), entries)
    }
}

/// A field of CSV, in quotes if it needs them.
fn quoted(text: &str) -> String {
    let special = text.contains(['"', ',', '\n', '\r']) || text.trim() != text;
    if special { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Writes to standard output.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    Ok(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()).map_err(Failure::Stdout)?)
}

/// Refuses to write both a model and JSON to standard output.
pub fn check_stdout(output: &Output, json: bool) -> Result<()> {
    if json && output.is_stdout() {
        let text = "standard output cannot take both the model and --json; name a file for the \
                    model";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(())
}

/// The prefix of the names of temporary files.
pub const TEMPORARY: &str = ".nystrom-";

/// Refuses an output that cannot be written or that would overwrite an input, before any work is
/// done. A pipe is not opened, because that would wait for a reader.
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
    if !is_pipe(path) {
        Part::of(path).map_err(failed(path))?; // the temporary file is removed at once
    }
    Ok(())
}

/// The error of a file that cannot be written.
pub fn failed(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |source| Failure::Output { file: path.display().to_string(), source }
}

/// Writes a file through a temporary one in the same folder: write, fsync, rename, fsync the
/// folder.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut part = Part::of(path)?;
        part.write_all(bytes)?;
        part.finish()
    };
    Ok(write().map_err(failed(path))?)
}

/// An output that is being written.
enum Part {
    /// A temporary file in the folder of the output file, and the output file, with links resolved.
    Beside(tempfile::NamedTempFile, PathBuf),
    /// A device, a pipe or an open file, which no other file may replace.
    Itself(File),
}

impl Part {
    fn of(path: &Path) -> io::Result<Part> {
        if is_device(path) || is_open(path) {
            return Ok(Part::Itself(File::options().append(true).open(path)?));
        }
        // the target of a link, even if the target does not exist
        let target = std::fs::read_link(path).map(|target| folder(path).join(target));
        let path = std::fs::canonicalize(path).or(target).unwrap_or_else(|_| path.to_owned());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)] // temporary files are private by default; results are readable by all
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        Ok(Part::Beside(builder.prefix(TEMPORARY).tempfile_in(folder(&path))?, path))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Part::Beside(file, _) => file.write_all(bytes),
            Part::Itself(file) => file.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        let Part::Beside(file, path) = self else { return Ok(()) };
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|failed| failed.error)?;
        #[cfg(unix)]
        File::open(folder(&path))?.sync_all()?;
        Ok(())
    }
}

/// Whether the path exists and is neither a file nor a folder.
fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Whether the path names an open file of a process, such as `/dev/stderr`.
fn is_open(path: &Path) -> bool {
    path == "/dev/stderr" || path.starts_with("/dev/fd") || path.starts_with("/proc")
}

fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    let is_pipe =
        |there: &std::fs::Metadata| std::os::unix::fs::FileTypeExt::is_fifo(&there.file_type());
    #[cfg(not(unix))]
    let is_pipe = |_: &std::fs::Metadata| false;
    path.metadata().is_ok_and(|there| is_pipe(&there))
}

/// An output that is written piece by piece: a file that appears when it is complete, or standard
/// output.
pub struct Sink(Option<(Part, PathBuf)>);

impl Sink {
    pub fn open(output: &Output) -> Result<Sink> {
        let Some(path) = output.file() else { return Ok(Sink(None)) };
        Ok(Sink(Some((Part::of(path).map_err(failed(path))?, path.to_owned()))))
    }

    pub fn write(&mut self, text: &str) -> Result<()> {
        let Some((part, path)) = &mut self.0 else { return print(text) };
        Ok(part.write_all(text.as_bytes()).map_err(failed(path))?)
    }

    pub fn finish(self) -> Result<()> {
        let Some((part, path)) = self.0 else { return Ok(()) };
        Ok(part.finish().map_err(failed(&path))?)
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
