//! The errors of predicted classes, and the likeliest classes.

use crate::failure::Result;
use crate::summary::Summary;
use crate::text::{count, number};
use nystrom::faer::{Mat, MatRef};
use nystrom_data::{Table, Values};
use nystrom_pipeline::{ClassErrors, Classes};

/// The class that a file has for each row, if it has one.
pub struct NamedClasses(pub Vec<Option<String>>);

impl NamedClasses {
    /// The classes in a column of texts or numbers.
    pub fn of(table: &Table, column: &str) -> Result<NamedClasses> {
        let values = &table.column(column)?.values;
        let name = |row: usize| match values {
            Values::Numbers(values) => {
                (!values[row].is_nan()).then(|| Classes::name_of(values[row]))
            }
            Values::Categories(text) => text.get(row).map(str::to_owned),
        };
        Ok(NamedClasses((0..table.rows()).map(name).collect()))
    }

    /// The errors on the rows that have a class, weighted if rows have weights; none without such
    /// rows. An error for a class that no fitted row had.
    pub fn errors(
        &self,
        classes: &Classes,
        probabilities: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) -> nystrom_pipeline::Result<Option<ClassErrors>> {
        let known: Vec<(usize, &String)> =
            self.0.iter().enumerate().filter_map(|(i, name)| Some((i, name.as_ref()?))).collect();
        let labels = known.iter().map(|(_, name)| classes.number(name));
        let labels = labels.collect::<nystrom_pipeline::Result<Vec<usize>>>()?;
        let p =
            Mat::from_fn(known.len(), probabilities.ncols(), |i, k| probabilities[(known[i].0, k)]);
        let weights = weights.map(|w| known.iter().map(|(i, _)| w[*i]).collect::<Vec<f64>>());
        let errors = || ClassErrors::weighted(p.as_ref(), &labels, weights.as_deref());
        Ok((!known.is_empty()).then(errors))
    }
}

/// Adds the errors as a line and as the JSON key `key`; or a note if a class was in no fitted row.
pub fn report(
    errors: nystrom_pipeline::Result<Option<ClassErrors>>,
    label: &'static str,
    key: &str,
    summary: &mut Summary,
) {
    match errors {
        Ok(None) => {}
        Ok(Some(errors)) => {
            summary.line(label, describe(&errors));
            summary.value(key, errors);
        }
        Err(error) => summary.line("note", error.to_string()),
    }
}

pub fn describe(errors: &ClassErrors) -> String {
    let ClassErrors { rows, error_rate, log_loss, auc, calibration_error, .. } = *errors;
    let auc = auc.map_or_else(String::new, |auc| format!(", AUC {}", number(auc)));
    format!(
        "{} of {} wrong, log-loss {}{auc}, calibration error {}",
        number(error_rate),
        count(rows, "row"),
        number(log_loss),
        number(calibration_error)
    )
}

/// The name of the likeliest class of each row.
pub fn likeliest(classes: &Classes, probabilities: MatRef<'_, f64>) -> Vec<String> {
    let numbers = Classes::likeliest(probabilities);
    numbers.into_iter().map(|class| classes.names[class].clone()).collect()
}
