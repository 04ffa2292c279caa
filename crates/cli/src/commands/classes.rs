//! The errors of predicted classes, and the likeliest classes.

use crate::failure::Result;
use crate::summary::Summary;
use crate::text::{compared, number, rows_of};
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
            Values::Sparse(_) => None,
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
        let errors = || ClassErrors::of(p.as_ref(), &labels, weights.as_deref());
        Ok((!known.is_empty()).then(errors))
    }
}

/// Adds the errors as lines and as the JSON key `key`; or a note if a class was in no fitted row.
pub fn report(
    errors: nystrom_pipeline::Result<Option<ClassErrors>>,
    rows: &str,
    key: &str,
    summary: &mut Summary,
) {
    match errors {
        Ok(None) => {}
        Ok(Some(errors)) => {
            describe(&errors, "error", &rows_of(errors.rows, rows), summary);
            summary.value(key, errors);
        }
        Err(error) => summary.line("note", error.to_string()),
    }
}

/// Adds the errors in three lines, the first with the label `label`: error rate and log-loss, each
/// compared with constant predictions, then `on` which rows, and the other errors.
pub fn describe(errors: &ClassErrors, label: &'static str, on: &str, summary: &mut Summary) {
    let ClassErrors { error_rate, log_loss, auc, calibration_error, .. } = *errors;
    let against = |value: f64, constant: f64, how: &str, said: &dyn Fn(f64) -> String| {
        let than = compared(value, constant);
        than.map_or_else(String::new, |than| format!(", {than} {how} ({})", said(constant)))
    };
    let percent = |share: f64| format!("{} %", number(100.0 * share));
    let than = "predicting the majority class";
    let rate = against(error_rate, errors.constant_error_rate, than, &percent);
    summary.line(label, format!("{} wrong{rate}", percent(error_rate)));
    let than = "predicting the class shares";
    let loss = against(log_loss, errors.constant_log_loss, than, &number);
    summary.line("", format!("log-loss {}{loss}", number(log_loss)));
    let auc = auc.map_or_else(String::new, |auc| format!(", AUC {}", number(auc)));
    summary.line("", format!("on {on}{auc}, calibration error {}", number(calibration_error)));
}

/// The name of the likeliest class of each row.
pub fn likeliest(classes: &Classes, probabilities: MatRef<'_, f64>) -> Vec<String> {
    let numbers = Classes::likeliest(probabilities);
    numbers.into_iter().map(|class| classes.names[class].clone()).collect()
}
