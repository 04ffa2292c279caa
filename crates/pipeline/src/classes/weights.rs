//! Weights of classes.

use super::Labels;
use crate::error::{Error, Result};

/// The weights of the rows of each class, in the fit and in its probabilities. The probabilities
/// are then those for a population with the weighted shares of the classes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ClassWeights {
    /// Every row has the same weight.
    #[default]
    Equal,
    /// Every class has the same total weight: a row of a class with c rows has weight 1/c.
    Balanced,
    /// Rows of a named class have this weight, rows of other classes weight 1.
    Given(Vec<(String, f64)>),
}

impl ClassWeights {
    /// The weights of rows, with mean 1: those of their classes times their own. `None` if all are
    /// equal.
    pub(crate) fn of(&self, labels: &Labels, own: Option<Vec<f64>>) -> Result<Option<Vec<f64>>> {
        let factors: Vec<f64> = match self {
            ClassWeights::Equal => return Ok(own),
            ClassWeights::Balanced => labels.counts().iter().map(|&c| 1.0 / c as f64).collect(),
            ClassWeights::Given(given) => given_factors(given, &labels.names)?,
        };
        let weight =
            |(i, &class): (usize, &usize)| own.as_ref().map_or(1.0, |w| w[i]) * factors[class];
        let weights: Vec<f64> = labels.of.iter().enumerate().map(weight).collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        Ok(Some(weights.into_iter().map(|w| w / mean).collect()))
    }
}

fn given_factors(given: &[(String, f64)], names: &[String]) -> Result<Vec<f64>> {
    let wrong = |problem| Err(Error::Option { option: "class-weights", problem });
    let mut factors = vec![1.0; names.len()];
    for (class, factor) in given {
        let Some(k) = names.iter().position(|name| name == class) else {
            let classes = crate::error::first_names(names.iter().map(String::as_str));
            return wrong(format!("there is no class {class:?}; there are {classes}"));
        };
        if !(factor.is_finite() && *factor > 0.0) {
            return wrong(format!("{class:?} has the weight {factor}, which is not positive"));
        }
        factors[k] = *factor;
    }
    Ok(factors)
}
