//! Numbered UTF-8 lines of a plain or compressed file, on which all readers of text are built.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use crate::Uncompressed;
use crate::encoding::{Transcoded, decode_line};
use crate::error::{DataError, Place, Problem, Result};

/// The longest line that is read, in bytes. It has room for a million columns, and bounds the
/// memory for files that are not tables.
pub(crate) const MAX_LINE: usize = 16 << 20;

/// One line without its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub text: &'a str,
    /// The number of the line, from 1.
    pub number: u64,
    pub file: &'a str,
}

impl Line<'_> {
    pub fn place(&self) -> Place {
        Place::new(self.file).line(self.number)
    }
}

/// The start of a line of uncompressed text, at which reading can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Spot {
    /// Bytes before it.
    pub byte: u64,
    /// Lines before it.
    pub lines: u64,
    /// Whether a `\n` at this place belongs to the line before.
    after_cr: bool,
}

/// Splits at `\n`, `\r\n` or a lone `\r`, and drops a UTF-8 byte order mark.
pub(crate) struct Lines<'r> {
    source: BufReader<Transcoded<Uncompressed<&'r mut dyn Read>>>,
    file: String,
    number: u64,
    /// Bytes of the lines read so far.
    bytes: u64,
    /// Whether the last line ended in `\r`, so that a `\n` that follows belongs to it.
    after_cr: bool,
    line: String,
    /// Lines that were read by [`look_ahead`](Lines::look_ahead), or the errors of reading them.
    ahead: VecDeque<Result<String>>,
    /// The first line with bytes that are not UTF-8, and the number of such lines.
    not_utf8: Option<(u64, u64)>,
    /// The first line with NUL characters.
    nul: Option<u64>,
}

impl<'r> Lines<'r> {
    pub fn new(reader: &'r mut dyn Read, file: &str) -> Result<Self> {
        let source = Uncompressed::new(reader).map_err(DataError::io(file))?;
        let source = BufReader::with_capacity(1 << 16, Transcoded::new(source));
        Ok(Lines {
            source,
            file: file.to_owned(),
            number: 0,
            bytes: 0,
            after_cr: false,
            line: String::new(),
            ahead: VecDeque::new(),
            not_utf8: None,
            nul: None,
        })
    }

    /// Resumes at `spot`, to which `reader` was moved.
    pub fn resume(reader: &'r mut dyn Read, file: &str, spot: Spot) -> Result<Self> {
        let lines = Lines::new(reader, file)?;
        Ok(Lines { number: spot.lines, bytes: spot.byte, after_cr: spot.after_cr, ..lines })
    }

    /// Where the next line starts; `None` in compressed and UTF-16 files, which cannot be read from
    /// the middle.
    pub fn spot(&self) -> Option<Spot> {
        let source = self.source.get_ref();
        let whole = source.is_transcoded() || source.get_ref().is_compressed();
        let known = self.ahead.is_empty() && !whole;
        known.then_some(Spot { byte: self.bytes, lines: self.number, after_cr: self.after_cr })
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    /// The next line, or `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Line<'_>>> {
        self.number += 1;
        match self.ahead.pop_front() {
            Some(line) => self.line = line?,
            None if !self.read_line()? => return Ok(None),
            None => {}
        }
        let text = &*self.line;
        let text =
            if self.number == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        Ok(Some(Line { text, number: self.number, file: &self.file }))
    }

    /// Up to `count` of the next lines, without consuming them: [`next`](Lines::next) still returns
    /// them.
    pub fn look_ahead(&mut self, count: usize) -> Vec<&str> {
        let start = self.number;
        while self.ahead.len() < count && self.ahead.back().is_none_or(Result::is_ok) {
            self.number += 1; // for the place of an error
            match self.read_line() {
                Ok(true) => self.ahead.push_back(Ok(std::mem::take(&mut self.line))),
                Ok(false) => break,
                Err(error) => self.ahead.push_back(Err(error)),
            }
        }
        self.number = start;
        self.ahead.iter().filter_map(|line| line.as_deref().ok()).collect()
    }

    /// Notes on the lines so far.
    pub fn notes(&self) -> Vec<String> {
        let not_utf8 = self.not_utf8.map(|(first, count)| {
            let more = match count {
                1 => String::new(),
                more => format!(" and {} more lines", more - 1),
            };
            format!(
                "line {first}{more} of {} hold bytes that are not UTF-8: they are read as \
                 Windows-1252",
                self.file
            )
        });
        let nul = self.nul.map(|first| {
            format!("NUL characters are left out, the first in line {first} of {}", self.file)
        });
        not_utf8.into_iter().chain(nul).collect()
    }

    /// Fills `self.line` with the next line, as UTF-8; false at the end of the file.
    fn read_line(&mut self) -> Result<bool> {
        let mut line = std::mem::take(&mut self.line).into_bytes();
        let any = self.read_bytes(&mut line)?;
        if line.contains(&0) {
            line.retain(|byte| *byte != 0);
            self.nul.get_or_insert(self.number);
        }
        self.line = String::from_utf8(line).unwrap_or_else(|error| {
            let (first, count) = self.not_utf8.unwrap_or((self.number, 0));
            self.not_utf8 = Some((first, count + 1));
            decode_line(error.as_bytes())
        });
        Ok(any)
    }

    /// Fills `line` with the bytes of the next line; false at the end of the file.
    fn read_bytes(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        line.clear();
        let mut any = false;
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let source = self.source.get_ref().get_ref();
                    return Err(source.failed(error, self.place()));
                }
            };
            if chunk.is_empty() {
                return Ok(any);
            }
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                self.source.consume(1);
                self.bytes += 1;
                continue;
            }
            any = true;
            let end = memchr::memchr2(b'\n', b'\r', chunk);
            let (taken, consumed) = end.map_or((chunk.len(), chunk.len()), |i| (i, i + 1));
            self.after_cr = end.is_some_and(|i| chunk[i] == b'\r');
            line.extend_from_slice(&chunk[..taken]);
            self.source.consume(consumed);
            self.bytes += consumed as u64;
            if line.len() > MAX_LINE {
                return Err(Problem::LineTooLong { limit: MAX_LINE }.at(self.place()));
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn place(&self) -> Place {
        Place::new(&self.file).line(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut bytes: &[u8]) -> Vec<(u64, String)> {
        let mut lines = Lines::new(&mut bytes, "t").unwrap();
        std::iter::from_fn(|| lines.next().unwrap().map(|line| (line.number, line.text.to_owned())))
            .collect()
    }

    #[test]
    fn every_line_end_counts_once() {
        let expected: Vec<(u64, String)> =
            [(1, "a"), (2, ""), (3, "b"), (4, "c")].map(|(i, s)| (i, s.to_owned())).into();
        for text in ["a\n\nb\nc", "a\r\n\r\nb\r\nc\r\n", "a\r\rb\rc\r", "\u{feff}a\r\n\nb\rc\n"] {
            assert_eq!(lines(text.as_bytes()), expected, "{text:?}");
        }
        assert!(lines(b"").is_empty());
        assert_eq!(lines(b"\n").len(), 1);
    }

    #[test]
    fn line_ends_across_buffers() {
        let long = "x".repeat((1 << 16) - 1);
        let text = format!("{long}\r\n{long}\r\nend");
        let numbers: Vec<u64> = lines(text.as_bytes()).iter().map(|(i, _)| *i).collect();
        assert_eq!(numbers, [1, 2, 3]);
    }

    #[test]
    fn reading_goes_on_at_any_spot() {
        for text in ["a\nb\n\nc", "a\r\nb\r\n\r\nc\r\n", "a\rb\r\rc"] {
            for taken in 0..4 {
                let mut bytes = text.as_bytes();
                let mut whole = Lines::new(&mut bytes, "t").unwrap();
                (0..taken).for_each(|_| assert!(whole.next().unwrap().is_some()));
                let spot = whole.spot().unwrap();
                let mut rest = &text.as_bytes()[spot.byte as usize..];
                let mut rest = Lines::resume(&mut rest, "t", spot).unwrap();
                loop {
                    let line = |line: Option<Line<'_>>| line.map(|l| (l.number, l.text.to_owned()));
                    let expected = line(whole.next().unwrap());
                    assert_eq!(line(rest.next().unwrap()), expected, "{text:?} after {taken}");
                    if expected.is_none() {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn looking_ahead_changes_nothing() {
        let mut bytes = &b"\xef\xbb\xbfa\r\n\nb\n\xe9\nlast"[..];
        let mut lines = Lines::new(&mut bytes, "t").unwrap();
        assert_eq!(lines.look_ahead(4), ["\u{feff}a", "", "b", "é"]);
        for expected in [(1, "a"), (2, ""), (3, "b"), (4, "é"), (5, "last")] {
            let line = lines.next().unwrap().unwrap();
            assert_eq!((line.number, line.text), expected);
        }
        assert!(lines.next().unwrap().is_none());
        assert_eq!(lines.notes().len(), 1);
        assert!(lines.notes()[0].starts_with("line 4 of t hold bytes that are not UTF-8"));
    }

    #[test]
    fn nul_characters_are_left_out() {
        let mut bytes = &b"a,b\n1\0,2\n"[..];
        let mut lines = Lines::new(&mut bytes, "t").unwrap();
        assert!(lines.next().unwrap().is_some());
        assert_eq!(lines.next().unwrap().unwrap().text, "1,2");
        assert!(lines.notes()[0].contains("line 2"));
    }

    #[test]
    fn endless_lines_are_refused_early() {
        let mut endless = std::io::repeat(b'7');
        let error = Lines::new(&mut endless, "t").unwrap().next().unwrap_err();
        assert_eq!(error.problem(), Some(&Problem::LineTooLong { limit: MAX_LINE }));
    }
}
