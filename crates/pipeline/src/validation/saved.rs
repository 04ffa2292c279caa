//! What a saved report holds, before its parts are known to fit together.

use super::Bin;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Compared {
    target: String,
    actual: Vec<f64>,
    predicted: Vec<f64>,
}

#[derive(Deserialize)]
pub(super) struct Confusion {
    names: Vec<String>,
    counts: Vec<Vec<usize>>,
    bins: Vec<Bin>,
}

impl TryFrom<Compared> for super::Compared {
    type Error = &'static str;

    fn try_from(Compared { target, actual, predicted }: Compared) -> Result<Self, &'static str> {
        if actual.len() != predicted.len() {
            return Err("the predicted values of a report are not as many as the true ones");
        }
        Ok(Self { target, actual, predicted })
    }
}

impl TryFrom<Confusion> for super::Confusion {
    type Error = &'static str;

    fn try_from(Confusion { names, counts, bins }: Confusion) -> Result<Self, &'static str> {
        let square = counts.len() == names.len() && counts.iter().all(|k| k.len() == names.len());
        let sum = |sum: usize, &count: &usize| sum.checked_add(count);
        if !square || counts.iter().flatten().try_fold(0, sum).is_none() {
            return Err("the confusion matrix of a report is not one of its classes");
        }
        Ok(Self { names, counts, bins })
    }
}
