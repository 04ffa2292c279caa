//! The error type of the crate.

use nystrom_linalg_core::Error;

/// An error of a device, or of the input for it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The input of a caller.
    #[error(transparent)]
    Input(#[from] Error),
    /// There is no such adapter.
    #[error(
        "no adapter for {wanted}; found: {found}. Install the driver of the card (Vulkan, Metal or \
         D3D12), name one of the adapters found, or compute on the CPU"
    )]
    NoAdapter {
        /// What was looked for.
        wanted: String,
        /// The adapters found, or `"none"`.
        found: String,
    },
    /// The adapter did not give a device, or not one with what is needed.
    #[error("the adapter {adapter} gave no device: {problem}; update its driver, or use the CPU")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// The driver's message.
        problem: String,
    },
    /// Sums on the adapter lose digits, because its compiler reassociates additions.
    #[error(
        "the adapter {adapter} failed the test of compensated sums: {got} in place of {expected}; \
         update its driver, or use the CPU"
    )]
    InexactSums {
        /// Name of the adapter.
        adapter: String,
        /// The sum.
        expected: f64,
        /// What the adapter computed.
        got: f64,
    },
    /// The device cannot evaluate this.
    #[error("the device does not evaluate {what}; {remedy}")]
    Unsupported {
        /// What it does not evaluate.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// Points or right-hand sides do not fit the memory of the device.
    #[error(
        "{rows} points need {needed} bytes on the device, of which {available} are available; \
         {fitting} points fit: take fewer, or compute on the CPU"
    )]
    OutOfMemory {
        /// The number of rows and of centres.
        rows: usize,
        /// Bytes that they need.
        needed: u64,
        /// Bytes that are available: the limit of the caller or of the device, or what was found by
        /// trying.
        available: u64,
        /// How many of these points fit.
        fitting: usize,
    },
    /// The device is lost: it was removed or reset, or a dispatch took longer than the system
    /// allows.
    #[error(
        "the device is lost: {problem}; open it again, with fewer operations per dispatch if the \
         system's watchdog ended it"
    )]
    Lost {
        /// The driver's message.
        problem: String,
    },
    /// The device refused a command, which is a bug of this crate or of a driver.
    #[error("the device refused a command: {problem}")]
    Refused {
        /// The message.
        problem: String,
    },
}

/// `std::result::Result` with [`GpuError`].
pub type Result<T, E = GpuError> = std::result::Result<T, E>;

/// For a library that knows no devices.
impl From<GpuError> for Error {
    fn from(error: GpuError) -> Self {
        match error {
            GpuError::Input(error) => error,
            error => Error::Device { problem: error.to_string() },
        }
    }
}
