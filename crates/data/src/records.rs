//! Records, each of one or more lines: quoted fields may contain line ends.

use std::io::Read;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::delimiter::{Beginning, Split, guess};
use crate::error::{Place, Problem, Result};
use crate::lines::{Lines, MAX_LINE, Spot};

/// Number of lines from which the delimiter is guessed.
const LINES: usize = 8;
/// Number of lines among which the header is sought in a file that is read as it is found.
const BEGINNING: usize = 40;

/// The records of a file, each with the number of its first line.
///
/// [`Lines`] numbers the lines, which are given to the `csv-core` parser one by one. The `csv`
/// crate is not used because its line numbers are those at which it starts to look for a record,
/// and so are too small after `\r\n` and after blank lines.
pub(crate) struct Records<'r> {
    lines: Lines<'r>,
    /// The delimiter; never [`Split::Guess`].
    pub split: Split,
    parser: Reader,
    fields: Fields,
    /// The structure of the beginning of the file, if it was examined.
    pub shape: Beginning,
    /// Whether the next line is a header after `#`.
    strip_comment: bool,
    /// Notes on the file.
    pub notes: Vec<String>,
}

/// One record.
pub(crate) struct Record<'a> {
    text: &'a str,
    ends: &'a [usize],
    /// The line on which the record starts.
    pub number: u64,
    file: &'a str,
}

impl Record<'_> {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Field `i`, from 0, without surrounding white space.
    pub fn field(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        self.text.get(start..self.ends[i]).unwrap_or_default().trim()
    }

    pub fn place(&self) -> Place {
        Place::new(self.file).line(self.number)
    }
}

impl<'r> Records<'r> {
    pub fn new(
        reader: &'r mut dyn Read,
        file: &str,
        split: Split,
        (skip_lines, found): (u64, bool),
    ) -> Result<Self> {
        let mut lines = Lines::new(reader, file)?;
        let shape = match found {
            true => Beginning::of(&lines.look_ahead(BEGINNING), split),
            false => Beginning::default(),
        };
        for _ in 0..skip_lines.max(shape.skipped) {
            if lines.next()?.is_none() {
                break;
            }
        }
        let split = shape.split.unwrap_or(split);
        let mut records = Records::of(lines, split);
        if shape.skipped > 0 {
            let (count, verb) = if shape.skipped == 1 { ("line", "is") } else { ("lines", "are") };
            let note = format!("{} {count} before the header {verb} skipped", shape.skipped);
            records.notes.push(note);
        }
        records.strip_comment = shape.commented;
        records.shape = shape;
        Ok(records)
    }

    /// Resumes at `spot`, to which `reader` was moved.
    pub fn resume(reader: &'r mut dyn Read, file: &str, split: Split, spot: Spot) -> Result<Self> {
        Ok(Records::of(Lines::resume(reader, file, spot)?, split))
    }

    fn of(mut lines: Lines<'r>, split: Split) -> Self {
        let split = if split == Split::Guess { guess(&lines.look_ahead(LINES)) } else { split };
        let delimiter = if let Split::At(delimiter) = split { delimiter } else { b',' };
        let parser = ReaderBuilder::new().delimiter(delimiter).build();
        let (fields, shape) = (Fields::default(), Beginning::default());
        let (strip_comment, notes) = (false, Vec::new());
        Records { lines, split, parser, fields, shape, strip_comment, notes }
    }

    /// Where the next record starts, if reading can be resumed there.
    pub fn spot(&self) -> Option<Spot> {
        self.lines.spot()
    }

    /// Notes on the file up to here.
    pub fn notes(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(self.lines.notes()).collect()
    }

    /// The next record, without blank lines; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        self.fields.clear();
        let mut start = None;
        loop {
            let Some(line) = self.lines.next()? else {
                let Some(number) = start else { return Ok(None) };
                return Err(Problem::UnclosedQuote.at(Place::new(self.lines.file()).line(number)));
            };
            if start.is_none() && is_blank(line.text, self.split) {
                continue;
            }
            let number = *start.get_or_insert(line.number);
            let text = match std::mem::take(&mut self.strip_comment) {
                true => line.text.trim_start().trim_start_matches('#').trim_start(),
                false => line.text,
            };
            if self.fields.add_line(text, self.split, &mut self.parser) {
                let place = || Place::new(self.lines.file()).line(number);
                let text = std::str::from_utf8(self.fields.text()).map_err(|error| {
                    let byte = error.valid_up_to();
                    Problem::BadUtf8 { byte: byte + 1, value: self.fields.text()[byte] }.at(place())
                })?;
                return Ok(Some(Record {
                    text,
                    ends: self.fields.ends(),
                    number,
                    file: self.lines.file(),
                }));
            }
            if self.fields.text().len() > MAX_LINE {
                return Err(Problem::UnclosedQuote.at(Place::new(self.lines.file()).line(number)));
            }
        }
    }
}

/// Whether a line has only white space and byte order marks. A line with a delimiter is not blank,
/// even if that is white space.
///
/// A byte order mark counts as blank because the parser would strip a mark alone on a line, and
/// take the empty rest for the end of the file.
fn is_blank(line: &str, split: Split) -> bool {
    let nothing = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty();
    match split {
        Split::At(delimiter) => nothing && !line.as_bytes().contains(&delimiter),
        Split::WhiteSpace | Split::Guess => nothing,
    }
}

/// The fields of a record, concatenated in one buffer.
#[derive(Default)]
struct Fields {
    text: Vec<u8>,
    text_len: usize,
    ends: Vec<usize>,
    ends_len: usize,
}

impl Fields {
    fn clear(&mut self) {
        (self.text_len, self.ends_len) = (0, 0);
    }

    fn text(&self) -> &[u8] {
        &self.text[..self.text_len]
    }

    fn ends(&self) -> &[usize] {
        &self.ends[..self.ends_len]
    }

    /// Adds a line to the record. Returns whether the record is complete.
    fn add_line(&mut self, line: &str, split: Split, parser: &mut Reader) -> bool {
        match split {
            Split::At(_) => self.parse(line.as_bytes(), parser) || self.parse(b"\n", parser),
            Split::WhiteSpace | Split::Guess => {
                self.text.clear();
                self.ends.clear();
                for field in line.split_whitespace() {
                    self.text.extend_from_slice(field.as_bytes());
                    self.ends.push(self.text.len());
                }
                (self.text_len, self.ends_len) = (self.text.len(), self.ends.len());
                true
            }
        }
    }

    fn parse(&mut self, mut input: &[u8], parser: &mut Reader) -> bool {
        // the parser takes an empty input for the end of the file
        while !input.is_empty() {
            let (text, ends) = (&mut self.text[self.text_len..], &mut self.ends[self.ends_len..]);
            let (result, read, written, ended) = parser.read_record(input, text, ends);
            input = &input[read..];
            self.text_len += written;
            self.ends_len += ended;
            match result {
                ReadRecordResult::InputEmpty => return false,
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len().max(128), 0),
                ReadRecordResult::OutputEndsFull => {
                    self.ends.resize(2 * self.ends.len().max(16), 0)
                }
                ReadRecordResult::Record | ReadRecordResult::End => return true,
            }
        }
        false
    }
}
