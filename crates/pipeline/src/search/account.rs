//! What the chosen candidate gave on validation rows, and what the model makes of its columns.

use super::Search;
use super::candidate::Candidate;
use crate::classes::Classes;
use crate::error::Result;
use crate::model::Model;
use crate::report::Centers;
use crate::split::Split;
use crate::validation::{Compared, Confusion, Validation};

/// The share of the work that may go into explaining the model.
const SHARE: f64 = 0.03;

impl Search<'_> {
    /// The values that were kept, beside what should have been.
    pub(super) fn validation(
        &self,
        chosen: &Candidate,
        centers: Centers,
        classes: Option<&Classes>,
    ) -> Option<Validation> {
        let values = self.validated(chosen, centers)?;
        let (actual, rows) = self.actual();
        let confusion = self.problem.labels.as_ref().zip(classes).map(|(labels, classes)| {
            let truth: Vec<usize> = rows.iter().map(|&row| labels.of[row]).collect();
            let p = classes.probabilities(values.as_ref());
            let weights = self.weights_of(&rows);
            Confusion::of(&classes.names, p.as_ref(), &truth, weights.as_deref())
        });
        let compared = |j: usize| Compared {
            target: self.problem.targets[j].name.clone(),
            actual: actual.col(j).iter().copied().collect(),
            predicted: values.col(j).iter().copied().collect(),
        };
        let numbers = if confusion.is_some() { 0 } else { self.problem.targets.len() };
        Some(Validation {
            rows: rows.len(),
            folds: self.validation.len(),
            split: match &self.fit.split {
                Split::Random => "random".to_owned(),
                Split::Group(column) => format!("group {column}"),
                Split::Time(column) => format!("time {column}"),
            },
            targets: (0..numbers).map(compared).collect(),
            classes: confusion,
        })
    }

    /// Explains the model at some of the rows that were fitted.
    pub(super) fn explain(&self, model: &mut Model) -> Result<()> {
        let rows = model.rows_to_explain(SHARE * self.allowed).min(self.n());
        model.explained(&self.problem.table.select_rows(&self.everything[..rows])?)
    }
}
