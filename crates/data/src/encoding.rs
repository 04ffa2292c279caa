//! Decoding text that is not UTF-8.

use std::io::{self, Read};

use encoding_rs::{Decoder, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Number of bytes from which UTF-16 is recognised.
const PEEKED: usize = 64;

/// A reader that converts UTF-16 to UTF-8 and leaves other bytes unchanged.
pub(crate) struct Transcoded<R> {
    source: R,
    /// The first bytes, once they have been examined.
    peeked: Option<io::Cursor<Vec<u8>>>,
    /// The error of the read that followed them.
    failed: Option<io::Error>,
    decoder: Option<Box<Decoder>>,
    /// Bytes of UTF-16 that are not decoded yet.
    raw: Vec<u8>,
    /// Decoded bytes that were not read yet.
    ready: io::Cursor<Vec<u8>>,
    ended: bool,
}

impl<R: Read> Transcoded<R> {
    /// Reads nothing. The encoding is found at the first read, from the first bytes of `source`.
    pub fn new(source: R) -> Self {
        let (raw, ready) = (Vec::new(), io::Cursor::new(Vec::new()));
        let (peeked, failed, decoder) = (None, None, None);
        Transcoded { source, peeked, failed, decoder, raw, ready, ended: false }
    }

    fn peek(&mut self) {
        let mut first = Vec::new();
        self.failed = self.source.by_ref().take(PEEKED as u64).read_to_end(&mut first).err();
        self.decoder = encoding_of(&first).map(|e| Box::new(e.new_decoder_with_bom_removal()));
        self.peeked = Some(io::Cursor::new(first));
    }

    pub fn get_ref(&self) -> &R {
        &self.source
    }

    /// Whether the bytes are converted.
    pub fn is_transcoded(&self) -> bool {
        self.decoder.is_some()
    }

    fn read_raw(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.peeked.as_mut().map_or(Ok(0), |peeked| peeked.read(out))? {
            0 => match self.failed.take() {
                Some(error) => Err(error),
                None => self.source.read(out),
            },
            read => Ok(read),
        }
    }
}

/// UTF-16 if there is a byte order mark or if every second byte is NUL; `None` for other bytes.
fn encoding_of(first: &[u8]) -> Option<&'static Encoding> {
    match first {
        [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        _ => {}
    }
    let pairs = &first[..first.len() / 2 * 2];
    let all = |nul: usize| {
        pairs.len() >= 4 && pairs.chunks(2).all(|pair| pair[nul] == 0 && pair[1 - nul] != 0)
    };
    match (all(1), all(0)) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        _ => None,
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.peeked.is_none() {
            self.peek();
        }
        if self.decoder.is_none() {
            return self.read_raw(out);
        }
        loop {
            match self.ready.read(out)? {
                0 if self.ended || out.is_empty() => return Ok(0),
                0 => {}
                read => return Ok(read),
            }
            let mut chunk = [0; 1 << 13];
            let read = self.read_raw(&mut chunk)?;
            self.raw.extend_from_slice(&chunk[..read]);
            self.ended = read == 0;
            let Some(decoder) = &mut self.decoder else { return Ok(0) };
            let mut text = String::with_capacity(4 * self.raw.len() + 16);
            let (_, taken, _) = decoder.decode_to_string(&self.raw, &mut text, self.ended);
            self.raw.drain(..taken);
            self.ready = io::Cursor::new(text.into_bytes());
        }
    }
}

/// A line of bytes as text. Bytes that are not UTF-8 are read as Windows-1252.
pub(crate) fn decode_line(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len() + 8);
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        let mut text = String::new();
        Transcoded::new(bytes).read_to_string(&mut text).unwrap();
        text
    }

    fn utf_16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_16_is_told_by_its_mark_or_its_nuls() {
        let long = "name,größe\n".repeat(3000) + "\u{1f600}";
        for big in [false, true] {
            assert_eq!(read(&utf_16(&format!("\u{feff}{long}"), big)), long);
            let plain = "a,b\n1,2\n".repeat(9);
            assert_eq!(read(&utf_16(&plain, big)), plain);
        }
        assert_eq!(read(b"a,b\n1,2\n"), "a,b\n1,2\n");
        assert_eq!(read(b""), "");
        assert_eq!(read(b"ab"), "ab");
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_windows_1252() {
        assert_eq!(decode_line(b"caf\xe9, \xc3\xa9, \x80"), "café, é, €");
        assert_eq!(decode_line(b"plain"), "plain");
    }
}
