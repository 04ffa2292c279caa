//! Decompression of gzip and Zstandard files, which are recognised by their first bytes and not by
//! name.

use std::io::{self, BufReader, Chain, Cursor, Read, Take};

use flate2::bufread::MultiGzDecoder;

use crate::error::{DataError, Place, Problem, Result};
use crate::zstd::{self, Frames};

/// The first bytes of every gzip file (RFC 1952, section 2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The first bytes, which were examined, then the rest.
type Peeked<R> = Chain<Take<Cursor<[u8; 4]>>, R>;

/// A reader of uncompressed bytes from bytes that are gzip, Zstandard or neither.
///
/// Files of several gzip members or Zstandard frames (as `cat a.gz b.gz` makes them) are read to
/// the end of the last one. A truncated gzip file gives [`io::ErrorKind::UnexpectedEof`], a damaged
/// one [`io::ErrorKind::InvalidInput`] or [`io::ErrorKind::InvalidData`]. Any error in a Zstandard
/// file is [`io::ErrorKind::InvalidData`].
///
/// ```
/// use std::io::Read;
/// use nystrom_data::Uncompressed;
///
/// let mut text = String::new();
/// Uncompressed::new("not gzip".as_bytes())?.read_to_string(&mut text)?;
/// assert_eq!(text, "not gzip");
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Uncompressed<R: Read> {
    inner: Inner<R>,
    bytes: u64,
}

#[derive(Debug)]
enum Inner<R: Read> {
    Plain(Peeked<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Peeked<R>>>>),
    Zstd(Frames<Peeked<R>>),
}

impl<R: Read> Uncompressed<R> {
    /// Reads the first four bytes of `reader` to recognise the compression.
    ///
    /// # Errors
    /// Those of the first reads from `reader`.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let mut first = Vec::with_capacity(4);
        reader.by_ref().take(4).read_to_end(&mut first)?;
        let mut start = [0; 4];
        start[..first.len()].copy_from_slice(&first);
        let peeked = Cursor::new(start).take(first.len() as u64).chain(reader);
        let inner = if first.starts_with(&MAGIC) {
            Inner::Gzip(Box::new(MultiGzDecoder::new(BufReader::new(peeked))))
        } else if first == zstd::MAGIC {
            Inner::Zstd(Frames::new(peeked))
        } else {
            Inner::Plain(peeked)
        };
        Ok(Uncompressed { inner, bytes: 0 })
    }

    /// Whether the underlying bytes are gzip.
    pub fn is_gzip(&self) -> bool {
        matches!(self.inner, Inner::Gzip(_))
    }

    /// Whether the underlying bytes are compressed.
    pub(crate) fn is_compressed(&self) -> bool {
        !matches!(self.inner, Inner::Plain(_))
    }

    /// The underlying reader, if the bytes are not compressed and the first four have been read.
    pub(crate) fn plain_mut(&mut self) -> Option<&mut R> {
        match &mut self.inner {
            Inner::Plain(peeked) => Some(peeked.get_mut().1),
            _ => None,
        }
    }

    /// The number of uncompressed bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The error for a failed read at `place`. In a compressed file, these kinds of error come from
    /// the decoder.
    pub(crate) fn failed(&self, error: io::Error, place: Place) -> DataError {
        let bytes = self.bytes;
        match error.kind() {
            io::ErrorKind::UnexpectedEof if self.is_gzip() => {
                Problem::GzipTruncated { bytes }.at(place)
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.is_gzip() => {
                Problem::GzipCorrupt { bytes, reason: error.to_string() }.at(place)
            }
            io::ErrorKind::InvalidData if matches!(self.inner, Inner::Zstd(_)) => {
                Problem::Zstd { bytes, reason: error.to_string() }.at(place)
            }
            _ => DataError::Io { file: place.file, source: error },
        }
    }
}

/// All uncompressed bytes of `reader`, which may be compressed.
pub(crate) fn uncompressed(mut reader: impl Read, name: &str) -> Result<Vec<u8>> {
    let mut source = Uncompressed::new(&mut reader).map_err(DataError::io(name))?;
    let mut bytes = Vec::new();
    match source.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(source.failed(error, Place::new(name))),
    }
}

impl<R: Read> Read for Uncompressed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.inner {
            Inner::Plain(reader) => reader.read(buf),
            Inner::Gzip(reader) => reader.read(buf),
            Inner::Zstd(reader) => reader.read(buf),
        }?;
        self.bytes += n as u64;
        Ok(n)
    }
}
