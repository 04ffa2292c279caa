//! The declarations before the rows of an ARFF file.

use jiff::fmt::strtime::BrokenDownTime;
use std::collections::HashSet;

use super::fields::{list_fields, split_name, up_to_brace, without_comment};
use crate::builder::ColumnBuilder;
use crate::column::numbered_names;
use crate::error::place::{excerpt, list};
use crate::error::{Place, Problem, Result};
use crate::lines::Lines;

/// The declared attributes, and notes on them.
#[derive(Default)]
pub(super) struct Header {
    pub attributes: Vec<Attribute>,
    pub notes: Vec<String>,
}

pub(super) struct Attribute {
    pub name: String,
    holds: Holds,
}

enum Holds {
    Numbers,
    /// One of these values.
    Nominal(Vec<String>),
    Texts,
    /// Dates in this `strptime` pattern; `None` if none is declared or it cannot be read.
    Dates(Option<String>),
}

impl Header {
    /// Reads the header, up to and including `@data`.
    pub fn read(lines: &mut Lines<'_>) -> Result<Header> {
        let mut header = Header::default();
        let mut anything = false;
        while let Some(line) = lines.next()? {
            let text = line.text.trim();
            if without_comment(text).is_empty() {
                continue;
            }
            anything = true;
            let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            match keyword.to_ascii_lowercase().as_str() {
                // KEEL's lists of inputs and outputs
                "@relation" | "@input" | "@inputs" | "@output" | "@outputs" => {}
                "@attribute" => {
                    let number = header.attributes.len() + 1;
                    header.declare(rest).map_err(|p| p.at(line.place().field(number)))?;
                }
                "@data" if header.attributes.is_empty() => {
                    return Err(Problem::ArffNoAttributes.at(line.place()));
                }
                "@data" => {
                    header.number_names();
                    return Ok(header);
                }
                _ => return Err(Problem::ArffDeclaration { text: excerpt(text) }.at(line.place())),
            }
        }
        let empty = Problem::Empty { expected: "an ARFF header" };
        let problem = if anything { Problem::ArffNoData } else { empty };
        Err(problem.at(Place::new(lines.file())))
    }

    /// Adds the attribute declared by `text`, the `name type` after `@attribute`. A range, a weight
    /// or a comment after the type is ignored.
    fn declare(&mut self, text: &str) -> std::result::Result<(), Problem> {
        let incomplete =
            || Problem::ArffDeclaration { text: excerpt(&format!("@attribute {text}")) };
        let (name, kind) = split_name(text).ok_or_else(incomplete)?;
        let unknown = || Problem::ArffType { text: excerpt(kind) };
        let end = kind.find(|c: char| c.is_whitespace() || "[({%".contains(c));
        let word = &kind[..end.unwrap_or(kind.len())];
        let holds = match word.to_ascii_lowercase().as_str() {
            "numeric" | "real" | "integer" => Holds::Numbers,
            "string" => Holds::Texts,
            "date" => Holds::Dates(pattern(&kind[word.len()..])),
            "" if kind.starts_with('{') => {
                let values = up_to_brace(&kind[1..]).ok_or_else(unknown)?;
                Holds::Nominal(self.values(&name, values)?)
            }
            "" => return Err(incomplete()),
            _ => return Err(unknown()),
        };
        self.attributes.push(Attribute { name, holds });
        Ok(())
    }

    /// The declared values of a nominal attribute, each once.
    fn values(&mut self, name: &str, text: &str) -> std::result::Result<Vec<String>, Problem> {
        let (mut values, mut repeated) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for field in list_fields(text)? {
            let value = field.text.into_owned();
            if value.is_empty() && !field.quoted {
                continue;
            }
            match seen.insert(value.clone()) {
                true => values.push(value),
                false => repeated.push(value),
            }
        }
        if values.is_empty() {
            return Err(Problem::ArffType { text: excerpt(&format!("{{{text}}}")) });
        }
        if !repeated.is_empty() {
            self.notes.push(format!("{name:?}: declared more than once: {}", list(repeated)));
        }
        Ok(values)
    }

    fn number_names(&mut self) {
        let names = self.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let (names, note) = numbered_names(names);
        for (attribute, name) in self.attributes.iter_mut().zip(names) {
            attribute.name = name;
        }
        self.notes.extend(note);
    }
}

impl Attribute {
    /// An empty column for the attribute. `as_texts`: numbers are kept as they are written.
    pub fn column(&self, as_texts: bool) -> ColumnBuilder {
        let name = self.name.clone();
        match &self.holds {
            Holds::Nominal(values) => ColumnBuilder::declared(name, values.clone()),
            Holds::Numbers if !as_texts => ColumnBuilder::numbers(name),
            _ => ColumnBuilder::text(name),
        }
    }

    /// This date in ISO format; `None` unless the attribute holds dates and `text` has their
    /// declared format.
    pub fn date(&self, text: &str) -> Option<String> {
        let Holds::Dates(Some(pattern)) = &self.holds else { return None };
        let parsed = BrokenDownTime::parse(pattern, text.trim()).ok()?;
        let instant = parsed.to_datetime().ok().map(|instant| instant.to_string());
        instant.or_else(|| Some(parsed.to_date().ok()?.to_string()))
    }

    /// The value of a cell that a sparse row leaves out; `None` means missing.
    pub fn left_out(&self) -> Option<&str> {
        match &self.holds {
            Holds::Numbers => Some("0"),
            Holds::Nominal(values) => values.first().map(String::as_str),
            Holds::Texts | Holds::Dates(_) => None,
        }
    }
}

/// The `strptime` pattern for a Java date pattern such as `"yyyy-MM-dd'T'HH:mm:ss"`; `None` if it
/// has a field that is not supported.
fn pattern(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.trim_matches(|c| c == '"' || c == '\'' && text.starts_with('\''));
    let (mut found, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let length = rest.chars().take_while(|c| *c == letter).count();
        let field = match (letter, length) {
            ('y', 3..) => "%Y",
            ('y', _) => "%y",
            ('M', 4..) => "%B",
            ('M', 3) => "%b",
            ('M', _) => "%m",
            ('d', _) => "%d",
            ('H', _) => "%H",
            ('m', _) => "%M",
            ('s', _) => "%S",
            ('\'', _) => "",
            ('T', _) => "T",
            (c, _) if c.is_ascii_alphabetic() => return None,
            _ => {
                found.extend(std::iter::repeat_n(letter, length));
                ""
            }
        };
        found.push_str(field);
        rest = &rest[length * letter.len_utf8()..];
    }
    (!found.is_empty()).then_some(found)
}
