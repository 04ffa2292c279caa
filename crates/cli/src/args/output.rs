//! The file or stream that results are written to.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The paths that name standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// A file, or standard output, written `-` on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Stdout,
    File(PathBuf),
}

/// The path of the file, or "standard output".
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Stdout => f.write_str("standard output"),
            Output::File(path) => path.display().fmt(f),
        }
    }
}

impl From<OsString> for Output {
    fn from(text: OsString) -> Self {
        if STDOUT.iter().any(|name| text == *name) {
            Output::Stdout
        } else {
            Output::File(text.into())
        }
    }
}

impl Output {
    pub fn is_stdout(&self) -> bool {
        *self == Output::Stdout
    }

    /// The path of the file; none for standard output.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Output::Stdout => None,
            Output::File(path) => Some(path),
        }
    }

    /// Whether the output is a `.npy` file.
    pub fn is_npy(&self) -> bool {
        let extension = self.file().and_then(Path::extension);
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
    }
}
