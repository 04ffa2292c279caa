//! Saves and resumes a stream between two blocks (feature `serde`).

use super::{Squeak, SqueakParams, StreamDictionary, incompatible};
use nystrom_kernels::{Kernel, LoadedKernel, SavedKernel};
use nystrom_linalg_core::{Error, Result, Scalar};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Version of the layout of [`SavedSqueak`], raised with every change of the layout.
pub const FORMAT: u32 = 2;

/// The saved form of a [`Squeak`]: its state, kernel, parameters, scalar type and format version.
///
/// `Squeak` itself implements `Serialize` and `Deserialize` through this type. A resumed stream
/// continues with the same bits, if the caller also saves and restores the state of the random
/// generator, and if the file format keeps numbers exactly (`serde_json` does with its feature
/// `float_roundtrip`). The kernel is saved with its name, and loading a kernel of another name is
/// an error ([`SavedKernel`]). Deserialise a `SavedSqueak` and convert it to get the typed
/// [`Error::Incompatible`].
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{Squeak, SqueakParams};
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let mut squeak = Squeak::new(Gaussian::new(0.2)?, 1, 0.5, SqueakParams::new(5))?;
/// squeak.push(Points::from_slice(&[0.0, 0.3, 0.9]), &mut rng)?;
/// let text = serde_json::to_string(&squeak).unwrap();
/// let resumed: Squeak<Gaussian, f64> = serde_json::from_str(&text).unwrap();
/// assert_eq!(resumed, squeak);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: SavedKernel, T: Scalar + Serialize",
    deserialize = "K: SavedKernel, T: Scalar + DeserializeOwned"
))]
pub struct SavedSqueak<K, T> {
    format: u32,
    scalar: String,
    kernel: LoadedKernel<K>,
    gamma: T,
    params: SqueakParams,
    first: u64,
    next: u64,
    pending: usize,
    dictionary: StreamDictionary<T>,
}

impl<K: Clone, T: Scalar> From<&Squeak<K, T>> for SavedSqueak<K, T> {
    fn from(squeak: &Squeak<K, T>) -> Self {
        SavedSqueak {
            format: FORMAT,
            scalar: T::NAME.into(),
            kernel: LoadedKernel(Ok(squeak.kernel.clone())),
            gamma: squeak.gamma,
            params: squeak.params,
            first: squeak.first,
            next: squeak.next,
            pending: squeak.pending,
            dictionary: squeak.dictionary.clone(),
        }
    }
}

impl<K: Kernel<T>, T: Scalar> TryFrom<SavedSqueak<K, T>> for Squeak<K, T> {
    type Error = Error;

    /// # Errors
    /// [`Error::Incompatible`] for another format version, scalar type or kernel, or for
    /// inconsistent numbers. Those of [`Squeak::new`] for the parameters, of
    /// [`Kernel::check_points`] for the points.
    fn try_from(saved: SavedSqueak<K, T>) -> Result<Self> {
        if saved.format != FORMAT {
            let problem =
                format!("format version {}, this build reads version {FORMAT}", saved.format);
            return Err(incompatible(problem + "; resume with the version that saved it"));
        }
        if saved.scalar != T::NAME {
            let (has, wants) = (&saved.scalar, T::NAME);
            return Err(incompatible(format!(
                "it was saved with {has} numbers; load it as {has}, not as {wants}"
            )));
        }
        let (I, first, next) = (saved.dictionary, saved.first, saved.next);
        let mut squeak = Squeak::new(saved.kernel.0?, I.dim, saved.gamma, saved.params)?;
        squeak.resume(SqueakState { first, next, pending: saved.pending, dictionary: I })?;
        Ok(squeak)
    }
}

/// The state of a stream without kernel, γ and parameters, which the resuming program must supply.
/// For kernels that cannot be saved by name.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{Squeak, SqueakParams, SqueakState};
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let empty = Squeak::new(Gaussian::new(0.2)?, 1, 0.5, SqueakParams::new(5))?;
/// let mut squeak = empty.clone();
/// squeak.push(Points::from_slice(&[0.0, 0.3, 0.9]), &mut rng)?;
/// let text = serde_json::to_string(&squeak.state()).unwrap();
/// let state: SqueakState<f64> = serde_json::from_str(&text).unwrap();
/// let mut resumed = empty;
/// resumed.resume(state)?;
/// assert_eq!(resumed, squeak);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Scalar + serde::Deserialize<'de>"))]
pub struct SqueakState<T> {
    first: u64,
    next: u64,
    pending: usize,
    dictionary: StreamDictionary<T>,
}

impl<K: Kernel<T>, T: Scalar> Squeak<K, T> {
    /// The state of the stream, without kernel, γ and parameters.
    pub fn state(&self) -> SqueakState<T> {
        let Squeak { first, next, pending, .. } = *self;
        SqueakState { first, next, pending, dictionary: self.dictionary.clone() }
    }

    /// Replaces the state of this stream by a saved one. Kernel and γ must be those of the saved
    /// stream; this cannot be checked here.
    ///
    /// # Errors
    /// After an error this stream is unchanged. [`Error::Incompatible`] for another dimension or
    /// q̄, or for inconsistent numbers; those of [`Kernel::check_points`] for the points.
    pub fn resume(&mut self, state: SqueakState<T>) -> Result<()> {
        let SqueakState { first, next, pending, dictionary: I } = state;
        // a position from `next` on would be given to a later point again
        let given = |position: &u64| (first..next).contains(position);
        let numbered = next.checked_sub(first).is_some_and(|given| given >= I.seen);
        if !(numbered
            && I.dim == self.dictionary.dim
            && I.positions.iter().all(given)
            && pending <= I.len()
            && I.copies_per_point == self.params.copies)
        {
            let problem = "its numbers do not fit one another, or not this stream; resume an \
                           undamaged file with the dimension and copies that it was saved with";
            return Err(incompatible(problem.into()));
        }
        if !I.is_empty() {
            self.kernel.check_points(I.points())?;
        }
        (self.first, self.next, self.pending, self.dictionary) = (first, next, pending, I);
        Ok(())
    }
}

impl<K: Clone + SavedKernel, T: Scalar + Serialize> Serialize for Squeak<K, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        SavedSqueak::from(self).serialize(serializer)
    }
}

impl<'de, K: Kernel<T> + SavedKernel, T: Scalar + DeserializeOwned> Deserialize<'de>
    for Squeak<K, T>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let saved = SavedSqueak::<K, T>::deserialize(deserializer)?;
        Squeak::try_from(saved).map_err(serde::de::Error::custom)
    }
}
