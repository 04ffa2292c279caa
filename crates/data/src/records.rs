//! Lines grouped into records: quoted fields may run over several lines.

use std::io::Read;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::delimiter::{Beginning, Split, guess};
use crate::error::{Place, Problem, Result};
use crate::lines::{Lines, MAX_LINE, Spot};

/// Lines that a guess of the delimiter looks at.
const LINES: usize = 8;
/// Lines among which the header of a file is sought, where it is read as it is found.
const BEGINNING: usize = 40;

/// The records of a file, each with the number of its first line.
///
/// Lines are numbered by [`Lines`] and fed to the `csv-core` parser one by one. The line numbers of
/// the `csv` crate are those at which it began to look for a record. So they are too small after
/// `\r\n` and after blank lines.
pub(crate) struct Records<'r> {
    lines: Lines<'r>,
    /// Where fields end; never [`Split::Guess`].
    pub split: Split,
    parser: Reader,
    fields: Fields,
    /// What the beginning of the file looks like, where that was looked at.
    pub shape: Beginning,
    /// Whether the next line is a header behind `#`.
    strip_comment: bool,
    /// What is to be said of the file.
    pub notes: Vec<String>,
}

/// One record.
pub(crate) struct Record<'a> {
    text: &'a str,
    ends: &'a [usize],
    /// The line on which it starts.
    pub number: u64,
    file: &'a str,
}

impl Record<'_> {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Field `i`, counted from 0, without white space around it.
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

    /// Goes on at `spot`, at which `reader` stands.
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

    /// Where the next record starts, if reading could go on there.
    pub fn spot(&self) -> Option<Spot> {
        self.lines.spot()
    }

    /// What is to be said of the file up to here.
    pub fn notes(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(self.lines.notes()).collect()
    }

    /// The next record that is not a blank line, or `None` at the end of the file.
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

/// White space or byte order marks only, unless white space can be a missing field.
///
/// A mark alone on the first line that is not blank would end the parser's input: it strips the
/// mark and is left with nothing.
fn is_blank(line: &str, split: Split) -> bool {
    let nothing = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty();
    match split {
        Split::At(delimiter) => nothing && !line.as_bytes().contains(&delimiter),
        Split::WhiteSpace | Split::Guess => nothing,
    }
}

/// The fields of a record, one after the other in one buffer.
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

    /// Whether the record is complete.
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
        // To the parser an empty input means the end of the file.
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
