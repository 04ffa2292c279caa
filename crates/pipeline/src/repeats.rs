//! Rows that occur several times.

use crate::columns::{ColumnOptions, position};
use crate::error::Result;
use nystrom_data::{Column, Table, Values};
use std::cmp::Ordering;

/// Repeats are taken together where at least one row in so many is one.
const WORTHWHILE: usize = 10;

/// The first of all rows that agree in targets and features, in their order, and how many they
/// are; none if few rows are repeated.
///
/// A sum of squares over equal rows is one row's with their number as weight. So a fit to the
/// different rows with these weights is the fit to all rows.
///
/// # Cost
/// O(n log n) comparisons of rows.
pub(crate) fn distinct(
    table: &Table,
    targets: &[String],
    options: &ColumnOptions,
) -> Result<Option<(Vec<usize>, Vec<f64>)>> {
    let names: Vec<&str> = targets.iter().map(String::as_str).collect();
    let mut columns = options.candidates(table, &names)?;
    columns.extend(targets.iter().map(|name| position(table, name)).collect::<Result<Vec<_>>>()?);
    let columns: Vec<&Column> = columns.into_iter().map(|c| &table.columns()[c]).collect();
    let compared = |a: usize, b: usize| {
        let mut orders = columns.iter().map(|column| by_column(column, a, b));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    rows.sort_by(|&a, &b| compared(a, b)); //                        equal rows stay in their order
    let groups = rows.chunk_by(|&a, &b| compared(a, b).is_eq());
    let mut first: Vec<(usize, f64)> = groups.map(|same| (same[0], same.len() as f64)).collect();
    if (rows.len() - first.len()) * WORTHWHILE < rows.len() {
        return Ok(None);
    }
    first.sort_by_key(|(row, _)| *row);
    Ok(Some(first.into_iter().unzip()))
}

fn by_column(column: &Column, a: usize, b: usize) -> Ordering {
    match &column.values {
        Values::Numbers(values) => values[a].total_cmp(&values[b]),
        Values::Categories(text) => text.codes[a].cmp(&text.codes[b]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_one_with_their_number() {
        let columns = |y: [f64; 5]| {
            let a = vec![1.0, 2.0, 1.0, f64::NAN, 1.0];
            vec![Column::numbers("a", a), Column::numbers("y", y.to_vec())]
        };
        let found = |y| {
            let table = Table::new("t", columns(y)).unwrap();
            distinct(&table, &["y".into()], &ColumnOptions::default()).unwrap()
        };
        assert_eq!(found([0.0; 5]), Some((vec![0, 1, 3], vec![3.0, 1.0, 1.0])));
        assert_eq!(found([0.0, 0.0, 1.0, 0.0, 2.0]), None);
    }
}
