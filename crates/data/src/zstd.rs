//! Decompression of Zstandard files, frame by frame.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// The first bytes of every frame (RFC 8878, section 3.1.1).
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A reader of the content of all frames. Any error in a frame is [`io::ErrorKind::InvalidData`].
pub(crate) struct Frames<R: Read>(State<R>);

enum State<R: Read> {
    Between(BufReader<R>),
    Inside(Box<StreamingDecoder<BufReader<R>, FrameDecoder>>),
    /// After an error.
    Broken,
}

impl<R: Read> Frames<R> {
    pub fn new(reader: R) -> Self {
        Frames(State::Between(BufReader::with_capacity(1 << 16, reader)))
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.0, State::Broken) {
                State::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        self.0 = State::Between(source);
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(source).map_err(wrong)?;
                    self.0 = State::Inside(Box::new(decoder));
                }
                State::Inside(mut decoder) => {
                    let read = decoder.read(buf).map_err(wrong)?;
                    if read > 0 || buf.is_empty() {
                        self.0 = State::Inside(decoder);
                        return Ok(read);
                    }
                    let (source, frame) = decoder.into_parts();
                    let stated = frame.get_checksum_from_data();
                    if stated.is_some() && stated != frame.get_calculated_checksum() {
                        return Err(wrong("the checksum is wrong"));
                    }
                    self.0 = State::Between(source);
                }
                State::Broken => return Err(wrong("an earlier part is damaged")),
            }
        }
    }
}

fn wrong(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

impl<R: Read> std::fmt::Debug for Frames<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}
