//! What can be said of the columns of a table.

use crate::error::{Error, Result, some};
use nystrom_data::Table;

/// What is done with missing values of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// Numbers become the median and one more feature says where; a missing text is no level.
    #[default]
    Fill,
    /// Rows in which a feature is missing are left out.
    DropRows,
    /// An error that names the first.
    Refuse,
}

/// Which columns are features, and how they become numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnOptions {
    /// The features, by name; none given: all columns that have no other use.
    pub features: Vec<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Columns whose cells are categories, whatever they look like.
    pub categorical: Vec<String>,
    /// Columns whose cells are numbers; a cell that is none is missing.
    pub numeric: Vec<String>,
    /// Texts that are values, though they usually mark a missing one, such as `NA`.
    pub not_missing: Vec<String>,
    /// Whether a date such as 03/04/2019 has the day before the month where its column leaves that
    /// open.
    pub day_first: bool,
    /// Columns whose features are multiplied after standardisation: more than 1 says that a
    /// column matters more.
    pub scale: Vec<(String, f64)>,
    /// What is done with missing values.
    pub missing: Missing,
    /// Whether features get mean 0 and standard deviation 1.
    pub standardize: bool,
    /// The most levels of a text that get a feature each; the others share one.
    pub most_levels: usize,
}

impl Default for ColumnOptions {
    /// All columns, standardised, missing values filled in, at most 32 levels.
    fn default() -> Self {
        ColumnOptions {
            features: Vec::new(),
            drop: Vec::new(),
            categorical: Vec::new(),
            numeric: Vec::new(),
            not_missing: Vec::new(),
            day_first: false,
            scale: Vec::new(),
            missing: Missing::Fill,
            standardize: true,
            most_levels: 32,
        }
    }
}

impl ColumnOptions {
    /// The positions of the columns that may be features, `taken` being those with another use.
    pub(crate) fn candidates(&self, table: &Table, taken: &[&str]) -> Result<Vec<usize>> {
        let is = |list: &[String], name: &str| list.iter().any(|other| other == name);
        for (name, _) in &self.scale {
            position(table, name)?;
        }
        let named = [&self.drop, &self.features, &self.categorical, &self.numeric];
        for name in named.into_iter().flatten() {
            position(table, name)?;
        }
        if let Some(name) = self.categorical.iter().find(|name| is(&self.numeric, name)) {
            let (first, second) = ("among the categorical columns", "among the numeric ones");
            return Err(Error::UsedTwice { column: name.clone(), first, second });
        }
        if let Some(name) = self.features.iter().find(|name| is(&self.drop, name)) {
            let (first, second) = ("among the features", "among those to drop");
            return Err(Error::UsedTwice { column: name.clone(), first, second });
        }
        if let Some(name) = self.features.iter().find(|name| taken.contains(&name.as_str())) {
            let (first, second) = ("among the features", "a target, weight, group or time");
            return Err(Error::UsedTwice { column: name.clone(), first, second });
        }
        if let Some((name, factor)) = self.scale.iter().find(|(_, f)| !(f.is_finite() && *f > 0.0))
        {
            let problem = format!("{name:?} has the factor {factor}, which is not positive");
            return Err(Error::Option { option: "scale", problem });
        }
        let wanted = |name: &str| {
            !taken.contains(&name)
                && !is(&self.drop, name)
                && (self.features.is_empty() || is(&self.features, name))
        };
        Ok(table.names().enumerate().filter(|(_, name)| wanted(name)).map(|(j, _)| j).collect())
    }

    /// The factor of a column's features.
    pub(crate) fn factor(&self, name: &str) -> f64 {
        self.scale.iter().filter(|(other, _)| other == name).map(|(_, factor)| factor).product()
    }
}

/// The position of a column.
pub(crate) fn position(table: &Table, name: &str) -> Result<usize> {
    table.names().position(|other| other == name).ok_or_else(|| Error::NoColumn {
        table: table.source().to_owned(),
        column: name.to_owned(),
        available: some(table.names()),
    })
}
