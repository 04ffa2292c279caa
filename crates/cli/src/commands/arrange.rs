//! Where a model finds its columns in a file.

use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::mixed::Wanted;
use crate::text;
use nystrom_pipeline::Model;
use std::fmt::Debug;

/// Which columns of a file are those of a model.
pub struct Places {
    /// In the order of the model.
    pub features: Vec<usize>,
    /// Those that are there.
    pub targets: Vec<Option<usize>>,
    /// The one target, if it is there and its classes are text.
    pub text: Option<usize>,
}

/// Finds the columns of a model in a file.
///
/// By name. A file without names goes by position. It must have as many columns as the file that
/// was fitted, with or without the targets, or as many as the model needs.
pub fn arrange(input: &Input, model: &Model) -> Result<Places> {
    let needed: Vec<String> = model.columns().names().map(str::to_owned).collect();
    let is_target = |name: &String| model.target_names().contains(&name.as_str());
    let without_targets: Vec<String> =
        model.layout().iter().filter(|name| !is_target(name)).cloned().collect();
    let count = input.names().len();
    let layouts = [model.layout(), &without_targets, &needed];
    let layout = layouts.into_iter().find(|layout| !input.named && layout.len() == count);
    let find = |name: &str| match layout {
        Some(layout) => {
            layout.iter().position(|other| other == name).and_then(|place| input.at(place))
        }
        None => input.find(name),
    };
    let absent: Vec<&String> = needed.iter().filter(|name| find(name).is_none()).collect();
    if !absent.is_empty() {
        let text = format!(
            "{}: the model needs {}, which the file lacks; it has {}",
            input.source(),
            some(&absent),
            some(&input.names())
        );
        return Err(Failure::Data(text).into());
    }
    let targets: Vec<Option<usize>> = model.target_names().into_iter().map(find).collect();
    let of_text = model.classes().is_some_and(|classes| !classes.numbers);
    let text = targets.first().copied().flatten().filter(|_| of_text);
    Ok(Places { features: needed.iter().filter_map(|name| find(name)).collect(), targets, text })
}

impl Places {
    /// What to read there, with these targets that are numbers.
    pub fn wanted(&self, model: &Model, targets: &[usize]) -> Wanted {
        let of = |wanted: bool| {
            let columns = model.columns().names().zip(&self.features);
            let columns = columns.filter(move |(name, _)| model.columns().is_text(name) == wanted);
            columns.map(|(_, &column)| column)
        };
        Wanted {
            columns: self.features.iter().chain(targets).copied().chain(self.text).collect(),
            numbers: of(false).chain(targets.iter().copied()).collect(),
            texts: of(true).chain(self.text).collect(),
            instead: "the model was fitted to them, so correct the file",
            fills: model.columns().fills(),
        }
    }
}

/// The first of these names, and how many more there are.
fn some(names: &[impl Debug]) -> String {
    const SHOWN: usize = 12;
    let shown = text::names(&names[..names.len().min(SHOWN)]);
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// How many features a libsvm file has to show, for a model fitted to one: its last ones may not
/// occur in other files.
pub fn libsvm_features(columns: &[String]) -> usize {
    let index = |name: &String| name.strip_prefix('f')?.parse::<usize>().ok();
    columns.iter().filter_map(index).max().unwrap_or(0)
}
