//! Options about the columns of a table.

use crate::error::{Error, Result, first_names};
use nystrom_data::{Column, Table};

/// The treatment of missing values of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// A missing number becomes the median, and one more feature marks the rows where it was
    /// missing; a missing category belongs to no level.
    #[default]
    Fill,
    /// Rows in which a feature is missing are left out.
    DropRows,
    /// A missing value is an error, which names the first one.
    Refuse,
}

/// The columns that are features, and how they become numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnOptions {
    /// The names of the feature columns; if empty, all columns but the target, weight, group and
    /// time columns.
    pub features: Vec<String>,
    /// The names of columns to leave out.
    pub drop: Vec<String>,
    /// The names of columns whose cells are categories, even if they look like numbers.
    pub categorical: Vec<String>,
    /// The names of columns whose cells are numbers; a cell that is not a number counts as missing.
    pub numeric: Vec<String>,
    /// Texts that are values, although they usually mark a missing value, such as `NA`.
    pub not_missing: Vec<String>,
    /// Whether a date such as 03/04/2019 is read as 3 April if the other cells of its column do not
    /// decide.
    pub day_first: bool,
    /// The name of a column whose cells are fingerprints: rows of bits in hexadecimal digits, two
    /// for each byte. It is then the only feature, for the kernel
    /// [`Tanimoto`](nystrom::kernels::Tanimoto), and a missing cell is an error or, with
    /// [`Missing::DropRows`], leaves its row out.
    pub fingerprint: Option<String>,
    /// Factors by which the features of a column are multiplied after standardisation. A factor
    /// above 1 makes the column more important.
    pub scale: Vec<(String, f64)>,
    /// The treatment of missing values.
    pub missing: Missing,
    /// Whether features are standardised to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// The largest number of levels of a category that have a feature each; all other levels share
    /// one feature.
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
            fingerprint: None,
            scale: Vec::new(),
            missing: Missing::Fill,
            standardize: true,
            most_levels: 32,
        }
    }
}

/// The words for the use of a column that is no feature.
pub(crate) const TAKEN: &str = "as a target, weight, group or time column";

impl ColumnOptions {
    /// The positions of the columns that may be features; `taken` are the columns with another use.
    pub(crate) fn candidates<S: AsRef<str>>(
        &self,
        table: &Table,
        taken: &[S],
    ) -> Result<Vec<usize>> {
        let is_taken = |name: &str| taken.iter().any(|other| other.as_ref() == name);
        let is = |list: &[String], name: &str| list.iter().any(|other| other == name);
        let scaled = self.scale.iter().map(|(name, _)| name);
        let named = [&self.drop, &self.features, &self.categorical, &self.numeric];
        for name in scaled.chain(named.into_iter().flatten()) {
            position(table, name)?;
        }
        if let Some(name) = self.categorical.iter().find(|name| is(&self.numeric, name)) {
            let first = "as a categorical column";
            return Err(Error::used_twice(name, first, "as a numeric column"));
        }
        if let Some(name) = self.features.iter().find(|name| is(&self.drop, name)) {
            return Err(Error::used_twice(name, "as a feature", "as a column to drop"));
        }
        if let Some(name) = self.features.iter().find(|name| is_taken(name)) {
            return Err(Error::used_twice(name, "as a feature", TAKEN));
        }
        if let Some((name, factor)) = self.scale.iter().find(|(_, f)| !(f.is_finite() && *f > 0.0))
        {
            let problem = format!("{name:?} has the factor {factor}, which is not positive");
            return Err(Error::Option { option: "scale", problem });
        }
        if let Some(name) = &self.fingerprint {
            return self.only_fingerprint(table, name, is_taken(name));
        }
        let wanted = |name: &str| {
            !is_taken(name)
                && !is(&self.drop, name)
                && (self.features.is_empty() || is(&self.features, name))
        };
        Ok(table.names().enumerate().filter(|(_, name)| wanted(name)).map(|(j, _)| j).collect())
    }

    /// The position of the column of fingerprints, which is the only feature.
    fn only_fingerprint(&self, table: &Table, name: &String, taken: bool) -> Result<Vec<usize>> {
        let place = position(table, name)?;
        let first = "as a fingerprint";
        if taken {
            return Err(Error::used_twice(name, first, TAKEN));
        }
        if self.drop.contains(name) {
            return Err(Error::used_twice(name, first, "as a column to drop"));
        }
        let scaled = self.scale.iter().map(|(name, _)| name);
        let mut others = self.categorical.iter().chain(&self.numeric).chain(scaled);
        let other = self.features.iter().find(|feature| *feature != name).or(others.next());
        match other {
            Some(other) => {
                let problem = format!(
                    "the bits of {name:?} are the only feature; leave out the options \
                     about the feature {other:?}"
                );
                Err(Error::Option { option: "fingerprint", problem })
            }
            None => Ok(vec![place]),
        }
    }

    /// These moments, or 0 and 1 if features are not standardised.
    pub(crate) fn standard(&self, (mean, deviation): (f64, f64)) -> (f64, f64) {
        if self.standardize { (mean, deviation) } else { (0.0, 1.0) }
    }

    /// The factor by which the features of a column are multiplied.
    pub(crate) fn factor(&self, name: &str) -> f64 {
        self.scale.iter().filter(|(other, _)| other == name).map(|(_, factor)| factor).product()
    }
}

/// The column of this name.
pub(crate) fn column_of<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    Ok(&table.columns()[position(table, name)?])
}

/// The position of a column.
pub(crate) fn position(table: &Table, name: &str) -> Result<usize> {
    table.names().position(|other| other == name).ok_or_else(|| Error::NoColumn {
        table: table.source().to_owned(),
        column: name.to_owned(),
        available: first_names(table.names()),
    })
}
