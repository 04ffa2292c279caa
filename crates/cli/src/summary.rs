//! The outcome of a command: aligned lines for people, or one JSON object for programs.

use crate::failure::Result;
use crate::session::Session;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

#[derive(Default)]
pub struct Summary {
    lines: Vec<(&'static str, String)>,
    values: Map<String, Value>,
}

impl Summary {
    pub fn line(&mut self, label: &'static str, text: impl Into<String>) {
        self.lines.push((label, text.into()));
    }

    /// A value for programs. NaN and ∞ become `null`.
    pub fn value(&mut self, key: &str, value: impl Serialize) {
        self.values.insert(key.into(), serde_json::to_value(value).unwrap_or(Value::Null));
    }

    /// Where a table went, if not to standard output.
    pub fn written(&mut self, output: Option<&PathBuf>) {
        if let Some(output) = output {
            self.line("written", output.display().to_string());
            self.value("output", output);
        }
    }

    /// To standard output; lines for people to standard error where that is taken by a table.
    pub fn print(self, session: &Session, output_is_taken: bool) -> Result<()> {
        session.progress.clear();
        match (session.json, output_is_taken) {
            (true, _) => crate::output::print(&format!("{}\n", Value::Object(self.values))),
            (false, false) => crate::output::print(&aligned(&self.lines)),
            (false, true) => {
                session.say(aligned(&self.lines).trim_end());
                Ok(())
            }
        }
    }
}

/// Labels in a column of their own.
fn aligned(lines: &[(&'static str, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    lines.iter().map(|(label, text)| format!("{label:width$}  {text}\n")).collect()
}
