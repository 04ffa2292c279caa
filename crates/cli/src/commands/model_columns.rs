//! Matching the columns of a file to those of a model.

use crate::args::DataArgs;
use crate::failure::{Result, data};
use crate::input::Input;
use crate::output::quoted;
use crate::text::first_names;
use nystrom_data::{Libsvm, Table, is_number_marker};
use nystrom_pipeline::Model;
use std::collections::HashMap;

/// The positions in a file of the columns of a model.
pub struct ModelColumns {
    /// The position of each feature column, in the order of the model.
    pub features: Vec<usize>,
    /// The position of each target; none if the file lacks it.
    pub targets: Vec<Option<usize>>,
}

impl ModelColumns {
    /// Finds the columns of a model in a file by name, or by position if the file has no names. A
    /// file without names must have as many columns as the table that was fitted, with or without
    /// its targets, or as many as the model needs.
    pub fn of(input: &Input, model: &Model) -> Result<ModelColumns> {
        let needed: Vec<String> = model.columns().names().map(str::to_owned).collect();
        let is_target = |name: &String| model.target_names().contains(&name.as_str());
        let without_targets: Vec<String> =
            model.layout().iter().filter(|name| !is_target(name)).cloned().collect();
        let names = input.names();
        let layouts = [model.layout(), &without_targets, &needed];
        let layout = layouts.into_iter().find(|l| !input.named && l.len() == names.len());
        let known: Vec<&str> = match layout {
            Some(layout) => layout.iter().map(String::as_str).collect(),
            None => names.clone(),
        };
        let known: HashMap<&str, usize> =
            known.into_iter().zip(input.kept.iter().copied()).collect();
        let find = |name: &str| known.get(name).copied();
        let absent: Vec<&String> = needed.iter().filter(|name| find(name).is_none()).collect();
        if !absent.is_empty() {
            return Err(data(format!(
                "{}: the model needs {}, which the file lacks; it has {}",
                input.table.source(),
                first_names(absent.into_iter().map(String::as_str)),
                first_names(names.iter().copied())
            )));
        }
        Ok(ModelColumns {
            features: needed.iter().filter_map(|name| find(name)).collect(),
            targets: model.target_names().into_iter().map(find).collect(),
        })
    }

    /// The columns to read as texts even if they look like numbers: those that the model reads as
    /// texts, and the columns `keep` to copy.
    pub fn texts(&self, model: &Model, keep: &[usize]) -> Vec<usize> {
        let features = model.columns().names().zip(&self.features);
        let features = features.filter(|(name, _)| model.columns().reads_text(name));
        let names = model.target_names();
        let targets = names.iter().zip(&self.targets);
        let of_text =
            |name: &str| model.classes().is_some() || model.columns().reads_target_text(name);
        let class =
            targets.filter(|(name, _)| of_text(name)).filter_map(|(_, place)| place.as_ref());
        features.map(|(_, column)| column).chain(class).chain(keep).copied().collect()
    }

    /// The table of the columns of the model, under the names that the model has for them.
    pub fn table(&self, table: Table, model: &Model) -> Result<Table> {
        let names = model.target_names();
        let targets = names.iter().zip(&self.targets);
        let targets = targets.filter_map(|(name, column)| Some((*name, (*column)?)));
        let features = model.columns().names().zip(self.features.iter().copied());
        let (names, columns): (Vec<&str>, Vec<usize>) = features.chain(targets).unzip();
        Ok(table.select_columns(columns)?.with_names(names)?)
    }
}

/// `args` with more texts that do not mark a missing value: the names of classes, and the texts
/// that were values in the table that was fitted.
pub fn with_class_names(args: &DataArgs, model: &Model) -> DataArgs {
    let names = model.classes().map_or(&[][..], |classes| &classes.names);
    let marked = names.iter().filter(|name| is_number_marker(name));
    let marked = marked.chain(model.columns().not_missing()).map(|name| quoted(name));
    DataArgs {
        not_missing: args.not_missing.iter().cloned().chain(marked).collect(),
        ..args.clone()
    }
}

/// The reader of libsvm files for a model that was fitted to a libsvm file. It sets the first and
/// last index, which need not occur in the new file.
pub fn libsvm(columns: &[String]) -> Libsvm {
    let index = |name: &String| name.strip_prefix('f')?.parse::<usize>().ok();
    let indices = columns.iter().filter_map(index);
    let reader = Libsvm::new().at_least(indices.clone().max().unwrap_or(0));
    if indices.min() == Some(0) { reader.zero_based() } else { reader }
}
