//! SHA-256 of uncompressed bytes.

use std::io::{self, BufReader, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Uncompressed;
use crate::error::{DataError, Place, Result};
use crate::open::open;

/// The SHA-256 of the file at `path`, in lower-case hexadecimal. For a compressed file it is that
/// of the uncompressed bytes.
///
/// # Errors
/// [`DataError::NotFound`], [`DataError::Io`], [`DataError::At`] for truncated or damaged
/// compressed files.
///
/// ```
/// let path = std::env::temp_dir().join(format!("nystrom-data-sha-{}", std::process::id()));
/// std::fs::write(&path, "abc")?;
/// let digest = nystrom_data::catalog::sha256_uncompressed(&path)?;
/// // FIPS 180-2, B.1
/// assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sha256_uncompressed(path: impl AsRef<Path>) -> Result<String> {
    let (file, name) = open(path.as_ref())?;
    let mut bytes = Uncompressed::new(BufReader::new(file)).map_err(DataError::io(&name))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match bytes.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => digest.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(bytes.failed(error, Place::new(&name))),
        }
    }
    Ok(hexadecimal(&digest.finalize()))
}

pub(super) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
