//! Options about the columns of a table.

use crate::error::{Error, Result, first_names};
use nystrom_data::{Column, Table, Values};

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
    /// Whether features are counts, or other numbers that are not negative, for the kernel
    /// [`MinMax`](nystrom::kernels::MinMax). They keep their units, also if their column is
    /// constant; a negative number and a column of dates are errors.
    pub counts: bool,
    /// Factors by which the features of a column are multiplied after standardisation. A factor
    /// above 1 makes the column more important.
    pub scale: Vec<(String, f64)>,
    /// The treatment of missing values.
    pub missing: Missing,
    /// Whether features are standardised to mean 0 and standard deviation 1, unless they are
    /// counts.
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
            counts: false,
            scale: Vec::new(),
            missing: Missing::Fill,
            standardize: true,
            most_levels: 32,
        }
    }
}

/// The remedy for numbers that are no counts.
pub(super) const NOT_COUNTS: &str = "the kernel min-max needs counts, which are at least 0: \
                                     correct it, leave the column out (--drop), or take another \
                                     kernel";
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
        let named = table.names().enumerate().filter(|(_, name)| wanted(name));
        let places: Vec<usize> = named.map(|(place, _)| place).collect();
        let columns = table.columns();
        let is_sparse = |place: &usize| matches!(columns[*place].values, Values::Sparse(_));
        match places.iter().copied().find(is_sparse) {
            Some(place) => {
                self.only(&columns[place].name, ("numbers", "features"))?;
                Ok(vec![place])
            }
            None => Ok(places),
        }
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
        self.only(name, ("bits", "fingerprint"))?;
        Ok(vec![place])
    }

    /// Refuses options about other features than this column, whose bits or numbers are all
    /// features as they are.
    fn only(&self, name: &str, (what, option): (&str, &'static str)) -> Result<()> {
        let scaled = self.scale.iter().map(|(name, _)| name);
        let mut others = self.categorical.iter().chain(&self.numeric).chain(scaled);
        let other = self.features.iter().find(|feature| *feature != name).or(others.next());
        let problem = |other: &String| {
            format!(
                "the {what} of {name:?} are the only feature; leave out the options about the \
                 feature {other:?}"
            )
        };
        match other {
            Some(other) => Err(Error::Option { option, problem: problem(other) }),
            None => Ok(()),
        }
    }

    /// Whether features get mean 0 and standard deviation 1.
    pub(super) fn standardizes(&self) -> bool {
        self.standardize && !self.counts
    }

    /// These moments, or 0 and 1 if features are not standardised.
    pub(crate) fn standard(&self, (mean, deviation): (f64, f64)) -> (f64, f64) {
        if self.standardizes() { (mean, deviation) } else { (0.0, 1.0) }
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
