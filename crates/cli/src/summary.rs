//! The result of a command: aligned lines for people, or one JSON object for programs.

use crate::args::Output;
use crate::failure::Result;
use crate::json::json;
use crate::session::Session;
use serde::Serialize;
use serde_json::{Map, Value};

/// Version of the layout of the JSON, raised whenever a key changes its meaning or is removed.
const SCHEMA: u32 = 1;

pub struct Summary {
    lines: Vec<(&'static str, String)>,
    values: Map<String, Value>,
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
        self.lines.push((label, text.into()));
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
        let lines = self.lines.iter().map(|(label, text)| format!("{label}: {text}"));
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

/// The lines with their labels in an aligned column.
fn aligned(lines: &[(&'static str, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(label, text)| format!("{label:width$}  {text}\n")).collect()
}
