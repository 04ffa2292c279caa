//! Writing results: files that are replaced as a whole, devices and pipes.

use crate::args::Output;
use crate::failure::{Failure, Result, usage};
use crate::session::Session;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// One column of results.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum ResultValues {
    Numbers(Vec<f64>),
    Counts(Vec<usize>),
    Texts(Vec<String>),
}

/// Columns of results with their names. A `.npy` file leaves out the column `line`, and stores
/// texts as the numbers that they spell (else NaN).
#[derive(Debug, Clone, Default)]
pub struct ResultColumns(pub Vec<(String, ResultValues)>);

/// The name of the column with line numbers of the file that was read.
const LINE: &str = "line";

impl ResultColumns {
    /// The columns `row` and `line`.
    pub fn of_rows(rows: Vec<usize>, lines: Vec<usize>) -> ResultColumns {
        let columns = [("row", rows), (LINE, lines)];
        ResultColumns(
            columns.map(|(name, values)| (name.to_owned(), ResultValues::Counts(values))).into(),
        )
    }

    /// The columns `row` and `line` of rows that are read block by block.
    pub fn of_blocks(rows: &[u64], lines: &[u64]) -> ResultColumns {
        let [rows, lines] = [rows, lines].map(|all| all.iter().map(|&i| i as usize).collect());
        ResultColumns::of_rows(rows, lines)
    }

    pub fn push(&mut self, name: impl Into<String>, values: ResultValues) {
        self.0.push((name.into(), values));
    }

    /// Writes the columns to a file in the format of its extension, or as CSV to standard output;
    /// with --json not to standard output.
    pub fn write(&self, output: &Output, session: &Session<'_>) -> Result<()> {
        match output {
            Output::Stdout if session.json => Ok(()),
            _ if output.is_npy() => write(output, &self.npy()),
            _ => write(output, self.csv(true).as_bytes()),
        }
    }

    fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, values)| match values {
            ResultValues::Numbers(values) => values.len(),
            ResultValues::Counts(values) => values.len(),
            ResultValues::Texts(values) => values.len(),
        })
    }

    /// The header line with the names.
    pub fn header(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|(name, _)| quoted(name)).collect();
        names.join(",") + "\n"
    }

    /// The lines of the rows as CSV, with or without the header. A number is the shortest text that
    /// reads back as the same number.
    pub fn csv(&self, header: bool) -> String {
        let mut text = if header { self.header() } else { String::new() };
        for row in 0..self.rows() {
            for (j, (_, values)) in self.0.iter().enumerate() {
                let field = match values {
                    ResultValues::Numbers(values) => format!("{:?}", values[row]),
                    ResultValues::Counts(values) => values[row].to_string(),
                    ResultValues::Texts(values) => quoted(&values[row]),
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
        let number = |row: usize, values: &ResultValues| match values {
            ResultValues::Numbers(values) => values[row],
            ResultValues::Counts(values) => values[row] as f64,
            ResultValues::Texts(values) => values[row].parse().unwrap_or(f64::NAN),
        };
        let columns = self.0.iter().filter(|(name, _)| *name != LINE);
        let columns: Vec<&ResultValues> = columns.map(|(_, values)| values).collect();
        let entries =
            columns.iter().flat_map(|values| (0..self.rows()).map(move |row| number(row, values)));
        nystrom_data::npy_bytes(self.rows(), columns.len(), entries)
    }
}

/// A field of CSV or of a list, in quotes if it needs them.
pub fn quoted(text: &str) -> String {
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
        return Err(usage(
            "standard output cannot take both the model and --json; name a file for the model",
        ));
    }
    Ok(())
}

/// The prefix of the names of temporary files.
pub const TEMPORARY: &str = ".nystrom-";

/// Refuses an output that cannot be written or that would overwrite an input, before any work is
/// done. A pipe is not opened, because that would wait for a reader. Only process 0 writes.
pub fn check_writable(output: &Output, inputs: &[&Path], session: &Session<'_>) -> Result<()> {
    let Some(path) = output.file().filter(|_| session.is_first()) else { return Ok(()) };
    let same = |input: &&&Path| path.exists() && place(input) == place(path);
    if let Some(input) = inputs.iter().find(same) {
        return Err(usage(format!(
            "{}: the output would overwrite {}; name another file",
            path.display(),
            input.display()
        )));
    }
    if path.is_dir() {
        return Err(usage(format!("{}: this is a folder; name a file", path.display())));
    }
    if !is_pipe(path) {
        Sink::open(output)?; // the temporary file is removed at once
    }
    Ok(())
}

/// The error of a file that cannot be written.
pub fn failed(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |source| Failure::Output { file: path.display().to_string(), source }
}

/// Writes to a file, which then has all bytes or is as it was, or to standard output.
pub fn write(output: &Output, bytes: &[u8]) -> Result<()> {
    let mut sink = Sink::open(output)?;
    sink.write(bytes)?;
    sink.finish()
}

/// An output that is written piece by piece: a file that appears when it is complete, or standard
/// output.
pub enum Sink {
    Stdout,
    /// A temporary file in the folder of the output file, the output file with links resolved, and
    /// its path as given.
    Beside(tempfile::NamedTempFile, PathBuf, PathBuf),
    /// A device, a pipe or an open file, which no other file may replace.
    Itself(File, PathBuf),
}

impl Sink {
    pub fn open(output: &Output) -> Result<Sink> {
        let Some(path) = output.file() else { return Ok(Sink::Stdout) };
        Ok(Sink::of(path).map_err(failed(path))?)
    }

    fn of(path: &Path) -> io::Result<Sink> {
        if is_device(path) || is_open(path) {
            return Ok(Sink::Itself(File::options().append(true).open(path)?, path.to_owned()));
        }
        // the target of a link, even if the target does not exist
        let target = std::fs::read_link(path).map(|target| folder(path).join(target));
        let target = std::fs::canonicalize(path).or(target).unwrap_or_else(|_| path.to_owned());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)] // temporary files are private by default; results are readable by all
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let file = builder.prefix(TEMPORARY).tempfile_in(folder(&target))?;
        Ok(Sink::Beside(file, target, path.to_owned()))
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let (written, path) = match self {
            Sink::Stdout => return print(bytes),
            Sink::Beside(file, _, path) => (file.write_all(bytes), path),
            Sink::Itself(file, path) => (file.write_all(bytes), path),
        };
        Ok(written.map_err(failed(path))?)
    }

    /// Makes the file appear: fsync, rename, fsync the folder.
    pub fn finish(self) -> Result<()> {
        let Sink::Beside(file, target, path) = self else { return Ok(()) };
        let appear = || {
            file.as_file().sync_all()?;
            file.persist(&target).map_err(|failed| failed.error)?;
            #[cfg(unix)]
            File::open(folder(&target))?.sync_all()?;
            Ok(())
        };
        Ok(appear().map_err(failed(&path))?)
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

/// The canonical path of a file, which need not exist.
pub fn place(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let beside = || folder(path).canonicalize().map(|folder| folder.join(name));
    path.canonicalize().or_else(|_| beside()).unwrap_or_else(|_| path.to_owned())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
