//! Rows of bits as points: many bits to a coordinate.

use crate::Points;
use nystrom_linalg_core::{Error, Result, Scalar, validate};

/// Rows of bits, such as molecular fingerprints, as points for the kernel
/// [`Tanimoto`](crate::Tanimoto).
///
/// A coordinate holds 52 bits if it is an `f64`, 23 if it is an `f32`: it is a number in [1, 2) and
/// the bits are its mantissa, the first bit of the row being the last of the mantissa. A row of
/// 2048 bits takes 40 `f64`, 320 bytes. Every algorithm of the library selects, copies and saves
/// such points like any others.
///
/// Coordinates must not be computed with. Means, distances and length scales of them have no
/// meaning: do not pass these points to other kernels than Tanimoto and its combinations, to
/// [`KMeans`](crate::KMeans), or to functions that standardise. A conversion from `f32` to `f64`
/// keeps the bits, one from `f64` to `f32` does not.
///
/// ```
/// use nystrom_kernels::{Bits, Kernel, Tanimoto};
/// let bits = Bits::<f64>::from_hex(["ff00", "f000", "0000"], 16)?; // 3 rows of 16 bits
/// assert_eq!((bits.len(), bits.points().dim()), (3, 1));
/// assert_eq!(bits.positions(1), [4, 5, 6, 7]);
/// assert_eq!(Tanimoto.gram(bits.points())[(0, 1)], 0.5); // 4 common bits of 8
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bits<T> {
    bits: usize,
    rows: usize,
    /// The coordinates of one row after the other.
    coordinates: Vec<T>,
}

impl<T: Scalar> Bits<T> {
    /// Rows of `bits` bits, ⌈bits/8⌉ bytes each, one row after the other. Bit i of a row is bit
    /// i mod 8 of its byte ⌊i/8⌋, the least significant bit being bit 0. This is the order of FPS
    /// files and of RDKit's `BitVectToBinaryText`, and of `numpy.packbits` with
    /// `bitorder="little"`; any other order has the same kernel values, if it is the same for all
    /// rows. O(n·bits).
    ///
    /// ```
    /// use nystrom_kernels::Bits;
    /// let bits = Bits::<f64>::from_bytes(&[0b0000_0101, 0b10, 0, 0], 10)?; // two rows of 10 bits
    /// assert_eq!((bits.positions(0), bits.positions(1)), (vec![0, 2, 9], vec![]));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Empty` without bits or rows, `Shape` if the bytes are no whole number of rows, and
    /// [`Error::Bits`] if a bit beyond the last of a row is set.
    pub fn from_bytes(bytes: &[u8], bits: usize) -> Result<Self> {
        let mut packer = Packer::new(bits, bytes.len() / bits.div_ceil(8).max(1))?;
        let whole = bytes.len().div_ceil(packer.row_bytes) * packer.row_bytes;
        validate::same_size("bytes of rows of bits (n·⌈bits/8⌉)", whole, bytes.len())?;
        for row in bytes.chunks_exact(packer.row_bytes) {
            packer.push(row)?;
        }
        packer.finish()
    }

    /// Rows of `bits` bits, each given by the positions of its ones, from 0, in any order; a
    /// position that is repeated counts once.
    ///
    /// ```
    /// use nystrom_kernels::Bits;
    /// let bits = Bits::<f32>::from_positions([vec![0, 80, 2047], vec![]], 2048)?;
    /// assert_eq!(bits.positions(0), [0, 80, 2047]);
    /// assert!(Bits::<f32>::from_positions([[2048]], 2048).is_err());
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Empty` without bits or rows, [`Error::Bits`] for a position that is not below `bits`.
    pub fn from_positions<R: IntoIterator<Item = usize>>(
        rows: impl IntoIterator<Item = R>,
        bits: usize,
    ) -> Result<Self> {
        let rows = rows.into_iter();
        let mut packer = Packer::new(bits, rows.size_hint().0)?;
        let mut bytes = vec![0; packer.row_bytes];
        for ones in rows {
            bytes.fill(0);
            for one in ones {
                if one >= bits {
                    return Err(packer.refuse(format!(
                        "position {one} is not below {bits}, the number of bits; positions start \
                         at 0"
                    )));
                }
                bytes[one / 8] |= 1 << (one % 8);
            }
            packer.push(&bytes)?;
        }
        packer.finish()
    }

    /// Rows of `bits` bits in hexadecimal, two digits for each byte of
    /// [`from_bytes`](Self::from_bytes), as in FPS files. A row has 2⌈bits/8⌉ digits, of either
    /// case.
    ///
    /// # Errors
    /// `Empty` without bits or rows. [`Error::Bits`] for a row of another length, a character that
    /// is no hexadecimal digit, or a bit that is set beyond the last.
    pub fn from_hex<S: AsRef<str>>(rows: impl IntoIterator<Item = S>, bits: usize) -> Result<Self> {
        let rows = rows.into_iter();
        let mut packer = Packer::new(bits, rows.size_hint().0)?;
        let mut bytes = Vec::with_capacity(packer.row_bytes);
        for row in rows {
            let row = row.as_ref();
            if let Some((place, bad)) = row.chars().enumerate().find(|c| !c.1.is_ascii_hexdigit()) {
                return Err(packer.refuse(format!(
                    "character {bad:?} at position {place} is no hexadecimal digit; take digits \
                     0-9 and a-f without prefix or spaces"
                )));
            }
            let (digits, expected) = (row.len(), 2 * packer.row_bytes);
            if digits != expected {
                return Err(packer.refuse(format!(
                    "{digits} hexadecimal digits, but {bits} bits are {expected}; all rows need \
                     the same number of bits"
                )));
            }
            bytes.clear();
            bytes.extend(
                row.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])),
            );
            packer.push(&bytes)?;
        }
        packer.finish()
    }

    /// The number of coordinates of a row of `bits` bits, ⌈bits/52⌉ in `f64`, ⌈bits/23⌉ in `f32`.
    ///
    /// ```
    /// use nystrom_kernels::Bits;
    /// assert_eq!((Bits::<f64>::coordinates(2048), Bits::<f32>::coordinates(2048)), (40, 90));
    /// ```
    pub fn coordinates(bits: usize) -> usize {
        bits.div_ceil(capacity::<T>())
    }

    /// n, the number of rows; at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one row")]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The number of bits of a row.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The rows as points, with ⌈bits/52⌉ coordinates in `f64`, ⌈bits/23⌉ in `f32`. No copy.
    pub fn points(&self) -> Points<'_, T> {
        Points::from_row_major(&self.coordinates, Self::coordinates(self.bits))
    }

    /// The positions of the ones of row `i`, ascending.
    ///
    /// # Panics
    /// If `i >= len()`.
    pub fn positions(&self, i: usize) -> Vec<usize> {
        let (points, capacity) = (self.points(), capacity::<T>());
        let is_one =
            |&at: &usize| mantissa(points.coordinate(i, at / capacity)) >> (at % capacity) & 1 == 1;
        (0..self.bits).filter(is_one).collect()
    }
}

/// The number of bits in a coordinate, those of its mantissa.
pub(crate) fn capacity<T: Scalar>() -> usize {
    if size_of::<T>() == size_of::<f64>() { 52 } else { 23 }
}

/// The bits of a coordinate, in the last [`capacity`] places.
#[inline(always)]
pub(crate) fn mantissa<T: Scalar>(x: T) -> u64 {
    (x.f64().to_bits() & MANTISSA) >> (52 - capacity::<T>())
}

/// The places of the mantissa in an `f64`.
const MANTISSA: u64 = (1 << 52) - 1;

/// The coordinate with these bits.
fn coordinate<T: Scalar>(bits: u64) -> T {
    T::lit(f64::from_bits(1.0_f64.to_bits() | bits << (52 - capacity::<T>())))
}

/// The value of a hexadecimal digit.
fn digit(character: u8) -> u8 {
    match character {
        b'0'..=b'9' => character - b'0',
        _ => (character | 32) - b'a' + 10, // lower case
    }
}

/// Turns rows of bytes into coordinates.
struct Packer<T> {
    bits: usize,
    row_bytes: usize,
    rows: usize,
    coordinates: Vec<T>,
}

impl<T: Scalar> Packer<T> {
    /// With room for `rows` rows.
    fn new(bits: usize, rows: usize) -> Result<Self> {
        validate::not_empty("bits of a row", bits)?;
        let coordinates = Vec::with_capacity(rows * bits.div_ceil(capacity::<T>()));
        Ok(Packer { bits, row_bytes: bits.div_ceil(8), rows: 0, coordinates })
    }

    /// The error about the row that would be next.
    fn refuse(&self, problem: String) -> Error {
        Error::Bits { row: self.rows, problem }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let last = bytes[self.row_bytes - 1];
        let beyond = last.checked_shr((self.bits - 8 * (self.row_bytes - 1)) as u32).unwrap_or(0);
        if beyond != 0 {
            let (place, bits) = (self.bits + beyond.trailing_zeros() as usize, self.bits);
            return Err(self.refuse(format!(
                "bit {place} is set, but there are {bits} bits; raise the number of bits, or \
                 clear those beyond"
            )));
        }
        let (capacity, mut waiting, mut filled) = (capacity::<T>(), 0_u64, 0);
        for &byte in bytes {
            waiting |= u64::from(byte) << filled;
            filled += 8;
            if filled >= capacity {
                self.coordinates.push(coordinate(waiting & !(!0 << capacity)));
                waiting >>= capacity;
                filled -= capacity;
            }
        }
        let full = self.bits.div_ceil(capacity) * (self.rows + 1);
        if self.coordinates.len() < full {
            self.coordinates.push(coordinate(waiting));
        }
        self.rows += 1;
        Ok(())
    }

    fn finish(self) -> Result<Bits<T>> {
        validate::not_empty("rows of bits", self.rows)?;
        Ok(Bits { bits: self.bits, rows: self.rows, coordinates: self.coordinates })
    }
}
