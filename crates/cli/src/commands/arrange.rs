//! Where a model finds its columns in a file.

use crate::failure::{Failure, Result};
use crate::input::Input;
use nystrom_pipeline::Model;

/// The columns with the features in the order of the model, and those with the targets that are
/// there.
///
/// By name. A file without names goes by position. It must have as many columns as the file that
/// was fitted, with or without the targets, or as many as the model needs.
pub fn arrange(input: &Input, model: &Model) -> Result<(Vec<usize>, Vec<Option<usize>>)> {
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
    let absent: Vec<String> =
        needed.iter().filter(|name| find(name).is_none()).map(|name| format!("{name:?}")).collect();
    if !absent.is_empty() {
        let names: Vec<String> =
            input.names().into_iter().map(|name| format!("{name:?}")).collect();
        let text = format!(
            "{}: the model needs {}, which the file lacks; it has {}",
            input.source(),
            some(&absent),
            some(&names)
        );
        return Err(Failure::Data(text).into());
    }
    let targets = model.target_names().into_iter().map(find).collect();
    Ok((needed.iter().filter_map(|name| find(name)).collect(), targets))
}

/// The first of these names, and how many more there are.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// How many features a libsvm file has to show, for a model fitted to one: its last ones may not
/// occur in other files.
pub fn libsvm_features(columns: &[String]) -> usize {
    let index = |name: &String| name.strip_prefix('f')?.parse::<usize>().ok();
    columns.iter().filter_map(index).max().unwrap_or(0)
}
