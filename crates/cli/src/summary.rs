//! The result of a command: aligned lines for people, or one JSON object for programs.

use crate::args::Output;
use crate::failure::Result;
use crate::json::json;
use crate::session::Session;
use crate::text::{wrapped, wrapped_command};
use serde::Serialize;
use serde_json::{Map, Value};

/// Version of the layout of the JSON, raised whenever a key changes its meaning or is removed.
const SCHEMA: u32 = 1;

/// The number of columns that lines for people take, unless a word is longer.
const COLUMNS: usize = 80;

pub struct Summary {
    lines: Vec<Line>,
    values: Map<String, Value>,
}

/// A label and its text.
struct Line {
    label: &'static str,
    text: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    /// An item of a list, whose further lines are indented.
    Item,
    /// A command, which a shell can read.
    Command,
}

impl Summary {
    /// The summary of the command `command`, with the keys `schema`, `version` and `command`.
    pub fn of(command: &str) -> Self {
        let mut summary = Summary { lines: Vec::new(), values: Map::new() };
        summary.value("schema", SCHEMA);
        summary.value("version", env!("CARGO_PKG_VERSION"));
        summary.value("command", command);
        summary
    }

    pub fn line(&mut self, label: &'static str, text: impl Into<String>) {
        self.lines.push(Line { label, text: text.into(), kind: Kind::Text });
    }

    /// Adds an item of the list that the line before it begins.
    pub fn item(&mut self, text: impl Into<String>) {
        self.lines.push(Line { label: "", text: text.into(), kind: Kind::Item });
    }

    /// Adds a command that can be copied to a shell.
    pub fn command(&mut self, label: &'static str, command: &str) {
        self.lines.push(Line { label, text: command.to_owned(), kind: Kind::Command });
    }

    /// Moves the lines that `add` adds before all others.
    pub fn lead<T>(&mut self, add: impl FnOnce(&mut Summary) -> T) -> T {
        let before = self.lines.len();
        let result = add(self);
        let added = self.lines.len() - before;
        self.lines.rotate_right(added);
        result
    }

    /// Adds a key of the JSON.
    pub fn value(&mut self, key: &str, value: impl Serialize) {
        self.values.insert(key.into(), json(value));
    }

    /// Adds the names of the targets.
    pub fn targets(&mut self, names: &[&str]) {
        match names {
            [one] => self.value("target", one),
            _ => self.value("targets", names),
        }
    }

    /// Adds the file that a table was written to; nothing for standard output.
    pub fn written(&mut self, output: &Output) {
        if let Some(file) = output.file() {
            self.line("written", file.display().to_string());
            self.value("output", file.display().to_string());
        }
    }

    /// The lines, each with its label and a colon.
    pub fn said(&self) -> String {
        let lines = self.lines.iter().map(|Line { label, text, .. }| format!("{label}: {text}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Prints the summary to standard output, as JSON with `--json`. If results were already
    /// written to standard output (`output_is_taken`), lines for people go to standard error.
    pub fn print(self, session: &Session<'_>, output_is_taken: bool) -> Result<()> {
        session.clear();
        match (session.json, output_is_taken) {
            (true, _) => crate::output::print(format!("{}\n", Value::Object(self.values))),
            (false, false) => crate::output::print(aligned(&self.lines)),
            (false, true) => {
                session.say(aligned(&self.lines).trim_end());
                Ok(())
            }
        }
    }
}

/// The lines with their labels in an aligned column, wrapped so that further lines of a text begin
/// below its first.
fn aligned(lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
    let mut all = String::new();
    for Line { label, text, kind } in lines {
        let indent = if *kind == Kind::Item { "  " } else { "" };
        let wrap = if *kind == Kind::Command { wrapped_command } else { wrapped };
        let columns = COLUMNS.saturating_sub(width + 2 + indent.len());
        for (i, part) in wrap(text, columns).into_iter().enumerate() {
            let (label, indent) = if i == 0 { (*label, "") } else { ("", indent) };
            all += format!("{label:width$}  {indent}{part}").trim_end();
            all.push('\n');
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped_below_their_beginning() {
        let mut summary = Summary::of("fit");
        summary.line("note", "word ".repeat(40));
        summary.command("to repeat", &format!("nystrom fit{}", " --drop 'a b'".repeat(9)));
        summary.item("word ".repeat(20));
        summary.lead(|summary| {
            summary.line("error", "1");
            summary.line("", "2");
        });
        let text = aligned(&summary.lines);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["error      1", "           2"]);
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(lines[2].starts_with("note       word word") && lines[2].len() > 70, "{text}");
        assert!(lines[3].starts_with("           word"), "{text}");
        assert!(lines.last().unwrap().starts_with("             word"), "{text}");
        let command = text.split_once("to repeat").unwrap().1.split("\n           word").next();
        // a shell first takes away a backslash before the end of a line
        let command = command.unwrap().replace("\\\n", "");
        assert_eq!(shlex::split(&command).unwrap().len(), 2 + 2 * 9, "{command:?}");
    }
}
