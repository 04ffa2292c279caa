//! Rows that occur several times.

use crate::error::Result;
use nystrom_data::{Column, Table, Values};
use std::cmp::Ordering;

/// The first of all rows that agree in the columns `compared`, in their order, and the places of
/// its equals, itself first. Nothing if no row is repeated.
///
/// A sum of squares over equal rows is one row's with their number as weight. So a fit to the
/// different rows with these weights is the fit to all rows. Where a row is left out, its equals
/// must be left out with it: they would give its target away.
///
/// # Cost
/// O(n log n) comparisons of rows.
pub(crate) fn distinct<S: AsRef<str>>(
    table: &Table,
    compared: &[S],
) -> Result<Option<Vec<Vec<usize>>>> {
    let columns = compared.iter().map(|name| table.column(name.as_ref()));
    let columns = columns.collect::<std::result::Result<Vec<&Column>, _>>()?;
    let compared = |a: usize, b: usize| {
        let mut orders = columns.iter().map(|column| by_column(column, a, b));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    rows.sort_by(|&a, &b| compared(a, b)); //                        equal rows stay in their order
    let groups = rows.chunk_by(|&a, &b| compared(a, b).is_eq());
    let mut groups: Vec<Vec<usize>> = groups.map(<[usize]>::to_vec).collect();
    groups.sort_by_key(|same| same[0]);
    Ok((groups.len() < rows.len()).then_some(groups))
}

/// Times as often as by chance that rows agree where some are copies of others.
const COPIES: f64 = 10.0;

/// Whether rows agree in all of these columns far more often than columns without a relation would
/// have it, so that there are copies: the share of pairs of rows that agree in all is at least
/// ten times the product of the shares that agree in each.
///
/// # Cost
/// That of [`distinct`], for each column.
pub(crate) fn are_copied(table: &Table, columns: &[&str]) -> Result<bool> {
    let rows = table.rows() as f64;
    let agreeing = |columns: &[&str]| {
        let pairs = |same: &Vec<usize>| same.len() as f64 * (same.len() as f64 - 1.0);
        let groups = distinct(table, columns)?.unwrap_or_default();
        Ok(groups.iter().map(pairs).sum::<f64>() / (rows * (rows - 1.0)))
    };
    let all: f64 = agreeing(columns)?;
    if all.is_nan() || all == 0.0 {
        return Ok(false);
    }
    let each = columns.iter().map(|column| agreeing(&[column]));
    let chance: f64 = each.collect::<Result<Vec<f64>>>()?.iter().product();
    Ok(all >= COPIES * chance)
}

fn by_column(column: &Column, a: usize, b: usize) -> Ordering {
    match &column.values {
        // 0 and −0 are equal
        Values::Numbers(values) => (values[a] + 0.0).total_cmp(&(values[b] + 0.0)),
        Values::Categories(text) => text.codes[a].cmp(&text.codes[b]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_one_with_their_equals() {
        let columns = |y: [f64; 5]| {
            let a = vec![0.0, 2.0, -0.0, f64::NAN, 0.0];
            vec![Column::numbers("a", a), Column::numbers("y", y.to_vec())]
        };
        let found = |y, names: &[&str]| {
            let table = Table::new("t", columns(y)).unwrap();
            distinct(&table, names).unwrap()
        };
        let same = Some(vec![vec![0, 2, 4], vec![1], vec![3]]);
        assert_eq!(found([0.0; 5], &["a", "y"]), same);
        assert_eq!(found([0.0, 0.0, 1.0, 0.0, 2.0], &["a", "y"]), None);
        assert_eq!(found([0.0, 0.0, 1.0, 0.0, 2.0], &["a"]), same);
    }

    /// 60 rows of two columns without a relation agree as often as chance has it; 20 rows three
    /// times agree more often.
    #[test]
    fn copies_are_told_from_chance() {
        let copied = |a: fn(usize) -> f64, b: fn(usize) -> f64| {
            let of = |f: fn(usize) -> f64| (0..60).map(f).collect();
            let table =
                Table::new("t", vec![Column::numbers("a", of(a)), Column::numbers("b", of(b))]);
            are_copied(&table.unwrap(), &["a", "b"]).unwrap()
        };
        assert!(!copied(|i| (i % 3) as f64, |i| (i % 5) as f64));
        assert!(!copied(|i| i as f64, |i| (i % 5) as f64));
        assert!(copied(|i| (i % 20) as f64, |i| (i % 20 * 7) as f64));
    }
}
