//! The binary layout of a state: little-endian numbers and a checksum at the end.

use faer::MatRef;
use nystrom_linalg_core::{Error, Result, Scalar};

/// What every file begins with.
const MAGIC: &[u8; 8] = b"NYSTSTAT";
/// Raised whenever the layout changes.
const VERSION: u32 = 2;
/// Bytes of the checksum.
const CHECK: usize = size_of::<u64>();
/// More rows than any pass sees. Counts below it do not overflow, nor do those of kernel values.
pub(super) const MOST_ROWS: u64 = 1 << 40;

/// FNV-1a, 64 bits: any one damaged byte changes it. It is no defence against forgery.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

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

    pub fn number(self, x: f64) -> Self {
        self.integer(x.to_bits())
    }

    /// Column by column.
    pub fn matrix<T: Scalar>(self, a: MatRef<'_, T>) -> Self {
        a.col_iter().flat_map(|col| col.iter()).fold(self, |hash, x| hash.number(x.f64()))
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

/// Bytes under way.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// For a state of this kind and `numbers` numbers after the head.
    pub fn new(kind: u8, numbers: usize) -> Self {
        let mut out = Writer(Vec::with_capacity(Self::len(numbers)));
        out.0.extend_from_slice(MAGIC);
        out.0.extend_from_slice(&VERSION.to_le_bytes());
        out.0.extend_from_slice(&[kind, 0, 0, 0]);
        out
    }

    /// Bytes of a whole file.
    fn len(numbers: usize) -> usize {
        MAGIC.len() + 8 + 8 * numbers + CHECK
    }

    pub fn integer(&mut self, x: u64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    pub fn number(&mut self, x: f64) {
        self.integer(x.to_bits());
    }

    pub fn numbers(&mut self, xs: &[f64]) {
        xs.iter().for_each(|&x| self.number(x));
    }

    /// The bytes, with their checksum.
    pub fn finish(mut self) -> Vec<u8> {
        let check = Hash::new().bytes(&self.0).value();
        self.integer(check);
        self.0
    }
}

/// The numbers of a file whose head and checksum are as they should be.
pub(crate) struct Reader<'a>(std::slice::ChunksExact<'a, u8>);

impl<'a> Reader<'a> {
    /// # Errors
    /// [`Error::Incompatible`] for bytes that are no whole file of this kind with so many numbers.
    pub fn new(bytes: &'a [u8], kind: u8, numbers: usize) -> Result<Self> {
        if !bytes.starts_with(MAGIC) {
            return Err(wrong("these bytes do not begin as a state does".into()));
        }
        let head = bytes.get(8..16).ok_or_else(|| wrong("the head is cut off".into()))?;
        let version = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        if version != VERSION {
            let problem = format!("layout {version}, where this version reads {VERSION}");
            return Err(wrong(problem));
        }
        if head[4] != kind {
            return Err(wrong("normal equations, QR factors and errors do not mix".into()));
        }
        if bytes.len() != Writer::len(numbers) {
            let problem = format!(
                "{} bytes, where a state of these centres and targets has {}: cut off, or of \
                 another problem",
                bytes.len(),
                Writer::len(numbers)
            );
            return Err(wrong(problem));
        }
        let (content, check) = bytes.split_at(bytes.len() - CHECK);
        if Hash::new().bytes(content).value().to_le_bytes() != check {
            return Err(wrong("the checksum does not fit: the bytes are damaged".into()));
        }
        Ok(Reader(content[16..].chunks_exact(8)))
    }

    /// How many numbers there would be in a file of so many bytes.
    pub fn numbers_in(bytes: &[u8]) -> usize {
        bytes.len().saturating_sub(Writer::len(0)) / 8
    }

    /// One of these numbers, as an integer.
    pub fn number_at(bytes: &[u8], place: usize) -> Option<u64> {
        let number = bytes.get(Writer::len(place) - CHECK..)?.first_chunk()?;
        Some(u64::from_le_bytes(*number))
    }

    pub fn integer(&mut self) -> u64 {
        let bytes = self.0.next().unwrap_or(&[0; 8]);
        u64::from_le_bytes(std::array::from_fn(|i| bytes[i]))
    }

    /// How many rows there are, or the number of one.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for more than any pass sees.
    pub fn rows(&mut self) -> Result<u64> {
        match self.integer() {
            rows if rows <= MOST_ROWS => Ok(rows),
            rows => Err(wrong(format!("{rows} rows, more than any pass sees"))),
        }
    }

    pub fn number(&mut self) -> f64 {
        f64::from_bits(self.integer())
    }

    pub fn numbers(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.number()).collect()
    }

    /// All that are left.
    pub fn rest(&mut self) -> Vec<f64> {
        self.numbers(self.0.len())
    }
}

/// Refuses numbers that no sums over rows come to.
///
/// # Errors
/// [`Error::Incompatible`].
pub(super) fn finite<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Result<()> {
    match numbers.into_iter().find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(number) => Err(wrong(format!("one of its numbers is {number}"))),
    }
}

/// What is wrong with a state.
pub(super) fn wrong(problem: String) -> Error {
    Error::Incompatible { what: "state", problem }
}
