//! The folder of `--checkpoint`: what files were found, what is fitted to them, the sums so far.

use crate::args::Fit;
use crate::failure::{Failure, Result, of_pipeline};
use nystrom_data::{Files, FilesRecord};
use nystrom_pipeline::{Recipe, Summing};
use std::io::ErrorKind;
use std::path::PathBuf;

/// Rows and blocks of the files, as the first pass found them.
const FILES: &str = "files.json";
/// Everything but the coefficients.
const RECIPE: &str = "recipe";
/// The normal equations over the rows so far.
const SUMS: &str = "sums";

/// A folder for checkpoints, each of which is written whole or not at all.
pub struct Folder(PathBuf);

impl Folder {
    /// Made if it is not there.
    pub fn of(args: &Fit) -> Result<Option<Folder>> {
        let Some(path) = &args.stream.checkpoint else { return Ok(None) };
        let failed = |source| Failure::Output { file: path.display().to_string(), source };
        std::fs::create_dir_all(path).map_err(failed)?;
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

    /// The files as they were found, and the recipe with its bytes, if it has come so far.
    pub fn recipe(
        &self,
        fit: &nystrom_pipeline::Fit,
        identity: &str,
    ) -> Result<Option<(FilesRecord, Recipe, Vec<u8>)>> {
        let (Some(files), Some(recipe)) = (self.read(FILES)?, self.read(RECIPE)?) else {
            return Ok(None);
        };
        let found = Recipe::from_bytes(fit, identity, &recipe)
            .map_err(|error| self.wrong(RECIPE, &error.to_string()))?;
        let files = serde_json::from_slice(&files).map_err(|error| {
            self.wrong(FILES, &format!("is damaged ({error}); remove the folder"))
        })?;
        Ok(Some((files, found, recipe)))
    }

    /// Saves both.
    pub fn save_recipe(&self, files: &Files, recipe: &[u8]) -> Result<()> {
        let json = serde_json::to_vec(&files.record()).unwrap_or_default();
        // sums of another recipe would be refused
        match std::fs::remove_file(self.0.join(SUMS)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let file = self.0.join(SUMS).display().to_string();
                return Err(Failure::Output { file, source: error }.into());
            }
            _ => {}
        }
        crate::output::write(&self.0.join(FILES), &json)?;
        crate::output::write(&self.0.join(RECIPE), recipe)
    }

    /// Goes on from the sums that were saved, if there are any.
    pub fn resume<'a>(&self, sum: Summing<'a>, recipe: &[u8]) -> Result<Summing<'a>> {
        match self.read(SUMS)? {
            Some(bytes) => {
                sum.resume(recipe, &bytes).map_err(|error| self.wrong(SUMS, &error.to_string()))
            }
            None => Ok(sum),
        }
    }

    /// Saves the sums so far.
    pub fn save_sums(&self, sum: &mut Summing<'_>, recipe: &[u8]) -> Result<()> {
        let bytes = sum.to_bytes(recipe).map_err(of_pipeline)?;
        crate::output::write(&self.0.join(SUMS), &bytes)
    }

    /// Once the model is written there is nothing to go on from, nor the parts of files that a
    /// run was killed in.
    pub fn clear(&self) {
        for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let ours = [SUMS, RECIPE, FILES].iter().any(|ours| name == *ours)
                || name.to_string_lossy().starts_with(crate::output::TEMPORARY);
            if ours {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let _ = std::fs::remove_dir(&self.0); // unless something else is there
    }
}

/// What a checkpoint is of: the version, and all options that decide the model.
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
