//! The binary layout of a sum: little-endian numbers and a checksum at the end.

use nystrom_linalg_core::{Error, Result, Scalar};

/// The first bytes of every file.
const MAGIC: &[u8; 8] = b"NYSTSTAT";
/// Raised whenever the layout changes.
const VERSION: u32 = 3;
/// Bytes before the numbers.
const HEAD: usize = MAGIC.len() + 8;
/// Bytes of the checksum.
const CHECK: usize = size_of::<u64>();

/// FNV-1a, 64 bits: any one damaged byte changes it. It is no defence against forgery.
#[derive(Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    pub fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    pub fn integer(self, x: u64) -> Self {
        self.bytes(&x.to_le_bytes())
    }

    pub fn numbers<'a, T: Scalar>(self, numbers: impl IntoIterator<Item = &'a T>) -> Self {
        numbers.into_iter().fold(self, |hash, x| hash.integer(x.f64().to_bits()))
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

/// The bytes of a file of this kind, with their checksum. `write` passes the bits of its numbers to
/// its argument; it is called twice.
pub(crate) fn to_bytes(kind: u8, write: impl Fn(&mut dyn FnMut(u64))) -> Vec<u8> {
    let mut count = 0;
    write(&mut |_| count += 1);
    let mut bytes = Vec::with_capacity(HEAD + 8 * count + CHECK);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&[kind, 0, 0, 0]);
    write(&mut |bits| bytes.extend_from_slice(&bits.to_le_bytes()));
    let check = Hash::new().bytes(&bytes).value();
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes
}

/// Reads the numbers of a file, one after another, or 0 after its end;
/// [`finish`](Self::finish) returns an error for missing numbers.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    numbers: std::slice::ChunksExact<'a, u8>,
    /// Numbers read.
    count: usize,
    /// The first number that is NaN or ∞.
    not_finite: Option<f64>,
}

impl<'a> Reader<'a> {
    /// # Errors
    /// [`Error::Incompatible`] for bytes that do not begin as a file of this kind.
    pub fn new(bytes: &'a [u8], kind: u8) -> Result<Self> {
        if !bytes.starts_with(MAGIC) {
            return Err(wrong("these bytes do not begin as a state does".into()));
        }
        let head =
            bytes.get(MAGIC.len()..HEAD).ok_or_else(|| wrong("the head is cut off".into()))?;
        let version = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        if version != VERSION {
            let problem = format!("layout {version}, where this version reads {VERSION}");
            return Err(wrong(problem));
        }
        if head[4] != kind {
            return Err(wrong("normal equations, QR factors and errors do not mix".into()));
        }
        let numbers = bytes[HEAD..bytes.len().saturating_sub(CHECK).max(HEAD)].chunks_exact(8);
        Ok(Reader { bytes, numbers, count: 0, not_finite: None })
    }

    pub fn integer(&mut self) -> u64 {
        self.count += 1;
        let bytes = self.numbers.next().unwrap_or(&[0; 8]);
        u64::from_le_bytes(std::array::from_fn(|i| bytes[i]))
    }

    pub fn number(&mut self) -> f64 {
        let x = f64::from_bits(self.integer());
        if !x.is_finite() {
            self.not_finite.get_or_insert(x);
        }
        x
    }

    /// How many numbers are left.
    pub fn left(&self) -> usize {
        self.numbers.len()
    }

    /// Checks that the file has as many numbers as were read, all of them finite, and its checksum.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if not.
    pub fn finish(&self) -> Result<()> {
        let (length, expected) = (self.bytes.len(), HEAD + 8 * self.count + CHECK);
        if length != expected {
            return Err(wrong(format!(
                "{length} bytes, where a state of these centres and targets has {expected}: cut \
                 off, or of another problem"
            )));
        }
        let (content, check) = self.bytes.split_at(length - CHECK);
        if Hash::new().bytes(content).value().to_le_bytes() != check {
            return Err(wrong("the checksum does not fit: the bytes are damaged".into()));
        }
        match self.not_finite {
            None => Ok(()),
            Some(number) => Err(wrong(format!("one of its numbers is {number}"))),
        }
    }
}

/// The error of a state with this problem.
pub(crate) fn wrong(problem: String) -> Error {
    Error::Incompatible { what: "state", problem }
}
