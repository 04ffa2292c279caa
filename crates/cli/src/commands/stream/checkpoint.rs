//! The folder of `--checkpoint`: a record of the data files, the recipe of the fit, and the sums or
//! iterations so far.

use crate::args::{FitArgs, Output};
use crate::console::Console;
use crate::failure::{Result, data};
use crate::output::{TEMPORARY, failed, write};
use crate::session::{Session, words_without};
use nystrom::krr::RowSums;
use nystrom::linalg_core::SavedSolve;
use nystrom_data::{Files, FilesRecord};
use nystrom_pipeline::{Recipe, SavedLeaves, Summing, iterations_from_bytes, iterations_to_bytes};
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file with the rows and blocks of the data files, as the first pass found them.
const FILES: &str = "files.json";
/// The file with the recipe: the model without its coefficients.
const RECIPE: &str = "recipe";
/// The file with the normal equations over the rows so far. With several processes there is a file
/// for each, whose name has the run and the rank after this prefix.
const SUMS: &str = "sums";

/// The file with the vectors of conjugate gradients of an iterative fit.
const SOLVE: &str = "solve";

/// A folder for checkpoints, shared by the processes of a job. Each file in it is replaced as a
/// whole.
pub struct Folder<'a> {
    path: PathBuf,
    session: &'a Session<'a>,
    every: Duration,
}

/// Saves checkpoints during a pass.
pub struct Saver<'a> {
    folder: &'a Path,
    console: &'a Console,
    /// The time between checkpoints.
    every: Duration,
    /// The time of the last checkpoint, or of the start of the pass.
    last: Instant,
}

/// The default time between checkpoints, in seconds.
const EVERY: f64 = 60.0;

/// The files of sums in the folder.
pub struct SavedSums {
    /// The name of each file, and the leaves that it holds.
    pub files: Vec<(String, SavedLeaves)>,
    /// The name of the file of this process.
    ours: String,
}

impl SavedSums {
    /// The leaves in each file.
    pub fn leaves(&self) -> Vec<SavedLeaves> {
        self.files.iter().map(|(_, leaves)| leaves.clone()).collect()
    }
}

impl<'a> Folder<'a> {
    /// The folder of `--checkpoint`, which is created if it does not exist.
    pub fn of(args: &FitArgs, session: &'a Session<'a>) -> Result<Option<Folder<'a>>> {
        let Some(path) = args.stream.checkpoint.clone() else { return Ok(None) };
        std::fs::create_dir_all(&path).map_err(failed(&path))?;
        let every = Duration::from_secs_f64(args.stream.checkpoint_every.unwrap_or(EVERY));
        Ok(Some(Folder { path, session, every }))
    }

    /// What saves checkpoints during the pass that starts now.
    pub fn saver(&self) -> Saver<'_> {
        let Folder { path, session, every } = self;
        Saver { folder: path, console: session, every: *every, last: Instant::now() }
    }

    /// The bytes of a file, which process 0 reads for all; none if there is no such file.
    fn read_for_all(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let bytes = if self.session.is_first() { self.read(name)? } else { None };
        Ok(self.session.ranks.share(Some(bytes))?)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        match std::fs::read(self.path.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.wrong(name, format!("cannot be read ({error})"))),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write(&Output::File(self.path.join(name)), bytes)
    }

    fn wrong(&self, name: &str, problem: impl Display) -> anyhow::Error {
        data(format!("{}: {problem}", self.path.join(name).display()))
    }

    /// The record of the data files, and the recipe with its bytes, if they are saved. Process 0
    /// reads them for all.
    pub fn recipe(
        &self,
        fit: &nystrom_pipeline::Fit,
        identity: &str,
    ) -> Result<Option<(FilesRecord, Recipe, Vec<u8>)>> {
        let saved = self.read_for_all(FILES)?.zip(self.read_for_all(RECIPE)?);
        let Some((files, recipe)) = saved else { return Ok(None) };
        let found = Recipe::from_bytes(fit, identity, &recipe)
            .map_err(|error| self.wrong(RECIPE, error))?;
        let files = serde_json::from_slice(&files).map_err(|error| {
            self.wrong(FILES, format!("is damaged ({error}); delete the folder"))
        })?;
        Ok(Some((files, found, recipe)))
    }

    /// Saves the record of the data files and the recipe.
    pub fn save_recipe(&self, files: &Files, recipe: &[u8]) -> Result<()> {
        let json = serde_json::to_vec(&files.record()).unwrap_or_default();
        // remove sums and iterations of another recipe
        let solve = self.path.join(SOLVE).exists().then(|| SOLVE.to_owned());
        for name in self.names()?.into_iter().chain(solve) {
            std::fs::remove_file(self.path.join(&name)).map_err(failed(name.as_ref()))?;
        }
        self.write(FILES, &json)?;
        self.write(RECIPE, recipe)
    }

    /// The names of the files of sums, sorted.
    fn names(&self) -> Result<Vec<String>> {
        let entries = std::fs::read_dir(&self.path)
            .map_err(|error| self.wrong("", format!("cannot be read ({error})")))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(SUMS)).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The leaves that earlier runs summed, with any number of processes. Process 0 reads them for
    /// all.
    pub fn sums(&self, recipe: &[u8]) -> Result<SavedSums> {
        let (mut files, ranks) = (Vec::new(), self.session.ranks);
        for name in if self.session.is_first() { self.names()? } else { Vec::new() } {
            let bytes = self.read(&name)?.unwrap_or_default();
            let leaves =
                SavedLeaves::of(recipe, &bytes).map_err(|error| self.wrong(&name, error))?;
            files.push((name, leaves));
        }
        let files: Vec<(String, SavedLeaves)> = self.session.ranks.share(Some(files))?;
        let run = |name: &str| name.split('-').nth(1)?.parse::<usize>().ok();
        let last = files.iter().filter_map(|(name, _)| run(name)).max().unwrap_or(0);
        let ours = match (ranks.rank(), ranks.size()) {
            (_, 1) => SUMS.to_owned(),
            // the files of killed runs are kept
            (rank, size) => format!("{SUMS}-{}-{rank}-of-{size}", last + 1),
        };
        Ok(SavedSums { files, ours })
    }

    /// Continues from the saved sums, if there are any; `bytes` is the recipe as bytes.
    pub fn resume<'s, S: RowSums<f64>>(
        &self,
        saved: &SavedSums,
        bytes: &[u8],
        mut sum: Summing<'s, S>,
    ) -> Result<Summing<'s, S>> {
        for (name, leaves) in &saved.files {
            if sum.wants(leaves) {
                let saved = self.read(name)?.unwrap_or_default();
                sum = sum.resume(bytes, &saved).map_err(|error| self.wrong(name, error))?;
            }
        }
        Ok(sum)
    }

    /// The saved state of the iterations, if there is one. Process 0 reads it for all.
    pub fn solve(&self, recipe: &[u8]) -> Result<Option<SavedSolve>> {
        let saved = self.read_for_all(SOLVE)?.filter(|bytes| !bytes.is_empty());
        let Some(bytes) = saved else { return Ok(None) };
        let saved = iterations_from_bytes(recipe, &bytes).map_err(|error| {
            self.wrong(SOLVE, format!("{error}; remove it to restart the iterations"))
        })?;
        Ok(Some(saved))
    }

    /// Removes all checkpoints after the model is written, and the temporary files of runs that
    /// were killed.
    pub fn clear(&self) {
        for entry in std::fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let ours = [RECIPE, FILES, SOLVE].iter().any(|ours| name == *ours)
                || [SUMS, TEMPORARY].iter().any(|start| name.to_string_lossy().starts_with(start));
            if ours {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let _ = std::fs::remove_dir(&self.path); // fails if it holds other files, which are kept
    }
}

impl Saver<'_> {
    /// Whether it is time for a checkpoint.
    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    /// Saves the sums so far.
    pub fn save_sums<S: RowSums<f64>>(
        &mut self,
        sum: &Summing<'_, S>,
        recipe: &[u8],
        saved: &SavedSums,
    ) {
        let bytes = sum.to_bytes(recipe).map_err(Into::into);
        self.save(&saved.ours, bytes, &format!("row {}", sum.row()));
    }

    /// Saves the state of the iterations.
    pub fn save_solve(&mut self, recipe: &[u8], solve: &SavedSolve, iteration: usize) {
        let bytes = iterations_to_bytes(recipe, solve);
        self.save(SOLVE, Ok(bytes), &format!("iteration {iteration}"));
    }

    /// Writes a file, or warns that there is no checkpoint at `place`; the previous one is kept.
    fn save(&mut self, name: &str, bytes: Result<Vec<u8>>, place: &str) {
        let file = Output::File(self.folder.join(name));
        if let Err(error) = bytes.and_then(|bytes| write(&file, &bytes)) {
            self.console.warn(&format!("warning: no checkpoint at {place}: {error:#}"));
        }
        self.last = Instant::now();
    }
}

/// The identity of a fit in its checkpoint: the version, and all options that determine the model.
pub fn identity() -> String {
    let free = ["--checkpoint", "--checkpoint-every", "--threads", "-o", "--output"];
    let words = words_without(&free, &["--json", "-q", "--quiet"]);
    [vec![env!("CARGO_PKG_VERSION").to_owned()], words].concat().join(" ")
}
