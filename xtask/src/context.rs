//! What an experiment is given: its scale, its random numbers, its data, and a way to report
//! progress.

use std::any::Any;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::sync::Mutex;

use nystrom_data::Dataset;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::progress::Progress;

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Seconds: the same code on tiny sizes, so that no experiment rots.
    Smoke,
    /// Minutes on two cores: a run without data sets. Sizes are smaller where no verdict of a paper
    /// depends on it.
    Short,
    /// Minutes on two cores, with data sets.
    Default,
    /// The paper's own sizes.
    Full,
}

/// The word used in `run.json` and on the command line.
impl Display for Scale {
    fn fmt(&self, to: &mut Formatter) -> fmt::Result {
        self.serialize(to)
    }
}

/// Handed to [`Experiment::run`](crate::experiment::Experiment::run).
pub struct Context<'a> {
    /// How large the run is.
    pub scale: Scale,
    /// `ctx.progress.begin("what", total)` opens a stage; `.inc(1)` on it moves it on; dropping it
    /// ends it.
    pub progress: &'a Progress,
    /// The folder given as `--data`.
    pub data_dir: Option<PathBuf>,
    /// The Python of the peers, if they are to be run.
    pub peers: Option<PathBuf>,
    /// This experiment's own seed, from [`experiment_seed`].
    pub seed: u64,
    /// At the smoke scale, what its grids have measured.
    pub tape: Mutex<Tape>,
}

/// What the grids of an experiment have measured, in the order in which they ran; `lab` knows the
/// type.
#[derive(Default)]
pub struct Tape {
    /// The results of each grid.
    pub grids: Vec<Box<dyn Any + Send>>,
    /// While other values stand in: their seed, and the next grid.
    pub playing: Option<(u64, usize)>,
}

impl Context<'_> {
    /// One of three values, by scale: `ctx.pick(50, 500, 500)`. A short run has the default's.
    pub fn pick<T>(&self, smoke: T, default: T, full: T) -> T {
        match self.scale {
            Scale::Smoke => smoke,
            Scale::Short | Scale::Default => default,
            Scale::Full => full,
        }
    }

    /// The first value in a short run, else the second.
    pub fn short<T>(&self, short: T, other: T) -> T {
        if self.scale == Scale::Short { short } else { other }
    }

    /// A generator for the part of the experiment called `part`: the same bits whatever else is
    /// run, in whatever order.
    ///
    /// Number repetitions in the name, `ctx.rng(&format!("uniform, repetition {r}"))`, and they may
    /// run in parallel.
    pub fn rng(&self, part: &str) -> Pcg64 {
        Pcg64::seed_from_u64(experiment_seed(self.seed, part))
    }

    /// The data set of that name. In a grid its absence ends the setting, and is reported.
    ///
    /// # Errors
    /// [`MissingData`](crate::datasets::MissingData) if it is absent. If the file is there but
    /// cannot be read, does not parse, or is not the file that the catalog knows.
    pub fn dataset(&self, name: &str) -> anyhow::Result<Dataset> {
        crate::datasets::load(self.data_dir.as_deref(), name)
    }
}

/// The first eight bytes (little endian) of SHA-256(seed ‖ name): fixed for ever, and unlike any
/// neighbour's.
pub fn experiment_seed(seed: u64, name: &str) -> u64 {
    let digest =
        Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name.as_bytes()).finalize();
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_pinned_and_distinct() {
        // python3: int.from_bytes(hashlib.sha256((0).to_bytes(8,'little') +
        // b'self-check').digest()[:8], 'little')
        assert_eq!(experiment_seed(0, "self-check"), 12668353484774922953);
        assert_ne!(experiment_seed(0, "self-check"), experiment_seed(1, "self-check"));
        assert_ne!(experiment_seed(0, "self-check"), experiment_seed(0, "self-check2"));
    }
}
