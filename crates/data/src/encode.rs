//! Encodings of text columns as numbers.

use crate::column::{Categories, Column, ColumnRef, Values};
use crate::error::{DataError, Result};
use crate::table::Table;

/// An encoding of text as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encoding {
    /// For each value a column `column=value` of zeros and ones; in each row the column of its
    /// value is 1. No order is implied.
    OneHot,
    /// One column with 0, 1, 2, … in the order of
    /// [`Categories::levels`](crate::Categories::levels).
    Ordinal,
    /// One column with 0, 1, 2, … in this order, which must list every value once.
    OrdinalIn(Vec<String>),
}

impl Table {
    /// The table with a column of text replaced, at its position, by one or more columns of
    /// numbers. Missing values stay missing.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`]; [`DataError::NumericColumn`] if the column holds numbers;
    /// [`DataError::BadOrder`]; that of [`Table::new`] if a new name exists already.
    ///
    /// ```
    /// use nystrom_data::{Csv, Encoding};
    ///
    /// let table = Csv::new().text(["size"]).read("size\nS\nL\nM\n".as_bytes(), "t.csv")?;
    /// let order = ["S", "M", "L"].map(String::from).to_vec();
    /// assert_eq!(
    ///     table.clone().encode("size", Encoding::OrdinalIn(order))?.numbers("size")?,
    ///     [0.0, 2.0, 1.0]
    /// );
    /// assert_eq!(table.encode("size", Encoding::OneHot)?.numbers("size=M")?, [0.0, 0.0, 1.0]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn encode(mut self, column: impl Into<ColumnRef>, encoding: Encoding) -> Result<Table> {
        let position = self.position(column)?;
        let text = self.categories(position)?;
        let name = &self.columns[position].name;
        let encoded = match &encoding {
            Encoding::OneHot => one_hot(name, text),
            Encoding::Ordinal => vec![ordinal(name, text, f64::from)],
            Encoding::OrdinalIn(order) => {
                let ranks = ranks(text, order).map_err(|value| DataError::BadOrder {
                    table: self.source().to_owned(),
                    column: name.clone(),
                    value,
                })?;
                vec![ordinal(name, text, |code| ranks[code as usize])]
            }
        };
        let mut columns = std::mem::take(&mut self.columns);
        columns.splice(position..=position, encoded);
        self.with_columns(columns)
    }
}

fn one_hot(name: &str, text: &Categories) -> Vec<Column> {
    let column = |(level, value): (usize, &String)| {
        let is_level = |code: u32| f64::from(u8::from(code as usize == level));
        ordinal(&format!("{name}={value}"), text, is_level)
    };
    text.levels.iter().enumerate().map(column).collect()
}

fn ordinal(name: &str, text: &Categories, rank: impl Fn(u32) -> f64) -> Column {
    let values = text.codes.iter().map(|code| code.map_or(f64::NAN, &rank)).collect();
    Column { name: name.to_owned(), values: Values::Numbers(values) }
}

/// The rank of each level in `order`. The error is a value that `order` lists twice or not at all.
fn ranks(text: &Categories, order: &[String]) -> std::result::Result<Vec<f64>, String> {
    if let Some((_, twice)) =
        order.iter().enumerate().find(|(i, value)| order[..*i].contains(value))
    {
        return Err(twice.clone());
    }
    let rank =
        |level: &String| order.iter().position(|value| value == level).map(|rank| rank as f64);
    text.levels.iter().map(|level| rank(level).ok_or_else(|| level.clone())).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Csv, DataError, Encoding, Table};

    fn table() -> Table {
        let text = "a,s,b\n1,x,2\n3,NA,4\n5,w,6\n";
        Csv::new().missing(["NA"]).text(["s"]).read(text.as_bytes(), "t").unwrap()
    }

    #[test]
    fn one_hot_keeps_the_place_and_missing_values() {
        let table = table().encode("s", Encoding::OneHot).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["a", "s=w", "s=x", "b"]);
        assert_eq!(table.missing(), 2);
        assert_eq!(table.drop_missing_rows().numbers("s=x").unwrap(), [1.0, 0.0]);
    }

    #[test]
    fn ordinal_codes_follow_sorted_levels() {
        assert_eq!(
            table().encode(1, Encoding::Ordinal).unwrap().drop_missing_rows().numbers("s").unwrap(),
            [1.0, 0.0]
        );
    }

    #[test]
    fn orders_must_be_complete_and_distinct() {
        for (order, offending) in [(vec!["x"], "w"), (vec!["x", "w", "x"], "x")] {
            let order = order.into_iter().map(String::from).collect();
            match table().encode("s", Encoding::OrdinalIn(order)) {
                Err(DataError::BadOrder { value, .. }) => assert_eq!(value, offending),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn numbers_and_clashing_names_are_refused() {
        assert!(matches!(
            table().encode("a", Encoding::OneHot),
            Err(DataError::NumericColumn { .. })
        ));
        let clash = table().rename_column("b", "s=x").unwrap().encode("s", Encoding::OneHot);
        assert!(clash.unwrap_err().to_string().contains("s=x"));
    }
}
