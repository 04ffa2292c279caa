//! The folder of `--checkpoint`: a record of the data files, the recipe of the fit, and the sums or
//! iterations so far.

use super::agree::share;
use crate::args::Fit;
use crate::failure::{Failure, Result, of_pipeline};
use nystrom::krr::RowSums;
use nystrom::linalg_core::SavedSolve;
use nystrom_data::{Files, FilesRecord};
use nystrom_pipeline::{
    Ranks, Recipe, SavedLeaves, Summing, iterations_from_bytes, iterations_to_bytes,
};
use std::io::ErrorKind;
use std::path::PathBuf;

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
pub struct Folder(PathBuf);

/// The files of sums in the folder.
pub struct SavedSums {
    /// The name of each file, and the leaves that it holds.
    files: Vec<(String, SavedLeaves)>,
    /// The name of the file of this process.
    ours: String,
}

impl SavedSums {
    /// Whether there are no saved sums.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The leaves in each file.
    pub fn leaves(&self) -> Vec<SavedLeaves> {
        self.files.iter().map(|(_, leaves)| leaves.clone()).collect()
    }
}

impl Folder {
    /// The folder of `--checkpoint`, which is created if it does not exist.
    pub fn of(args: &Fit) -> Result<Option<Folder>> {
        let Some(path) = &args.stream.checkpoint else { return Ok(None) };
        std::fs::create_dir_all(path).map_err(crate::output::failed(path))?;
        Ok(Some(Folder(path.clone())))
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.0.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.wrong(name, &format!("cannot be read ({error})"))),
        }
    }

    fn wrong(&self, name: &str, problem: &str) -> anyhow::Error {
        Failure::Data(format!("{}: {problem}", self.0.join(name).display())).into()
    }

    /// The record of the data files, and the recipe with its bytes, if they are saved. Process 0
    /// reads them for all.
    pub fn recipe(
        &self,
        fit: &nystrom_pipeline::Fit,
        identity: &str,
        ranks: &dyn Ranks,
    ) -> Result<Option<(FilesRecord, Recipe, Vec<u8>)>> {
        let (files, recipe) = match ranks.rank() {
            0 => (self.read(FILES)?, self.read(RECIPE)?),
            _ => (None, None),
        };
        let is_there = share(ranks, Some(files.is_some() && recipe.is_some()))?;
        if !is_there {
            return Ok(None);
        }
        let files = ranks.broadcast(files.unwrap_or_default());
        let recipe = ranks.broadcast(recipe.unwrap_or_default());
        let found = Recipe::from_bytes(fit, identity, &recipe)
            .map_err(|error| self.wrong(RECIPE, &error.to_string()))?;
        let files = serde_json::from_slice(&files).map_err(|error| {
            self.wrong(FILES, &format!("is damaged ({error}); delete the folder"))
        })?;
        Ok(Some((files, found, recipe)))
    }

    /// Saves the record of the data files and the recipe.
    pub fn save_recipe(&self, files: &Files, recipe: &[u8]) -> Result<()> {
        let json = serde_json::to_vec(&files.record()).unwrap_or_default();
        // remove sums and iterations of another recipe
        let solve = self.0.join(SOLVE).exists().then(|| SOLVE.to_owned());
        for name in self.names()?.into_iter().chain(solve) {
            std::fs::remove_file(self.0.join(&name))
                .map_err(|source| Failure::Output { file: name, source })?;
        }
        crate::output::write(&self.0.join(FILES), &json)?;
        crate::output::write(&self.0.join(RECIPE), recipe)
    }

    /// The names of the files of sums, sorted.
    fn names(&self) -> Result<Vec<String>> {
        let entries = std::fs::read_dir(&self.0)
            .map_err(|error| self.wrong("", &format!("cannot be read ({error})")))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(SUMS)).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The leaves that earlier runs summed, with any number of processes. Process 0 reads them for
    /// all.
    pub fn sums(&self, recipe: &[u8], ranks: &dyn Ranks) -> Result<SavedSums> {
        let mut files = Vec::new();
        for name in if ranks.rank() == 0 { self.names()? } else { Vec::new() } {
            let bytes = self.read(&name)?.unwrap_or_default();
            let leaves = SavedLeaves::of(recipe, &bytes)
                .map_err(|error| self.wrong(&name, &error.to_string()))?;
            files.push((name, leaves));
        }
        let files: Vec<(String, SavedLeaves)> = share(ranks, Some(files))?;
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
    pub fn resume<'a, S: RowSums<f64>>(
        &self,
        saved: &SavedSums,
        bytes: &[u8],
        mut sum: Summing<'a, S>,
    ) -> Result<Summing<'a, S>> {
        for (name, leaves) in &saved.files {
            if sum.wants(leaves) {
                let saved = self.read(name)?.unwrap_or_default();
                sum = sum
                    .resume(bytes, &saved)
                    .map_err(|error| self.wrong(name, &error.to_string()))?;
            }
        }
        Ok(sum)
    }

    /// Saves the sums so far.
    pub fn save_sums<S: RowSums<f64>>(
        &self,
        sum: &mut Summing<'_, S>,
        recipe: &[u8],
        saved: &SavedSums,
    ) -> Result<()> {
        let bytes = sum.to_bytes(recipe).map_err(of_pipeline)?;
        crate::output::write(&self.0.join(&saved.ours), &bytes)
    }

    /// The saved state of the iterations, if there is one. Process 0 reads it for all.
    pub fn solve(&self, recipe: &[u8], ranks: &dyn Ranks) -> Result<Option<SavedSolve<f64>>> {
        let bytes = if ranks.rank() == 0 { self.read(SOLVE)? } else { None };
        let bytes = ranks.broadcast(bytes.unwrap_or_default());
        if bytes.is_empty() {
            return Ok(None);
        }
        let saved = iterations_from_bytes(recipe, &bytes).map_err(|error| {
            self.wrong(SOLVE, &format!("{error}; remove it to restart the iterations"))
        })?;
        Ok(Some(saved))
    }

    /// Saves the state of the iterations.
    pub fn save_solve(&self, recipe: &[u8], solve: &SavedSolve<f64>) -> Result<()> {
        crate::output::write(&self.0.join(SOLVE), &iterations_to_bytes(recipe, solve))
    }

    /// Removes all checkpoints after the model is written, and the temporary files of runs that
    /// were killed.
    pub fn clear(&self) {
        for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let ours = [RECIPE, FILES, SOLVE].iter().any(|ours| name == *ours)
                || [SUMS, crate::output::TEMPORARY]
                    .iter()
                    .any(|start| name.to_string_lossy().starts_with(start));
            if ours {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let _ = std::fs::remove_dir(&self.0); // fails if it holds other files, which are kept
    }
}

/// The identity of a fit in its checkpoint: the version, and all options that determine the model.
pub fn identity() -> String {
    let free = ["--checkpoint", "--checkpoint-every", "--threads", "-o", "--output"];
    let flags = ["--json", "-q", "--quiet"];
    let (mut words, mut skip) = (vec![env!("CARGO_PKG_VERSION").to_owned()], false);
    for word in std::env::args().skip(1) {
        let named = |option: &&&str| {
            word == **option
                || (option.starts_with("--") && word.starts_with(&format!("{option}=")))
                || (**option == "-o" && word.starts_with("-o") && !word.starts_with("--"))
        };
        match free.iter().find(named) {
            Some(option) => skip = word == **option,
            None if skip => skip = false,
            None if flags.contains(&word.as_str()) => {}
            None => words.push(word),
        }
    }
    words.join(" ")
}
