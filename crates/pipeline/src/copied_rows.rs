//! Rows that occur several times.

use crate::counts::bits_of;
use crate::error::Result;
use nystrom_data::{Column, Table, Values};
use std::cmp::Ordering;

/// The different rows of a table that has copies of rows: for each the positions of its copies,
/// itself first. Rows are equal if they agree in the columns `compared`. `None` if no row is
/// repeated, or only by chance ([`are_copies`]).
///
/// A sum of squares over equal rows is that of one row with their number as weight. So a fit to the
/// different rows with these weights is the fit to all rows. A row must be left out together with
/// its copies, which would reveal its target.
///
/// # Cost
/// That of [`are_copies`], and O(n log n) comparisons of rows.
pub(crate) fn copies<S: AsRef<str>>(
    table: &Table,
    compared: &[S],
) -> Result<Option<Vec<Vec<usize>>>> {
    Ok(if are_copies(table, compared)? { Some(distinct(table, compared)?) } else { None })
}

fn distinct<S: AsRef<str>>(table: &Table, compared: &[S]) -> Result<Vec<Vec<usize>>> {
    let columns = named(table, compared)?;
    let compared = |a: usize, b: usize| {
        let mut orders = columns.iter().map(|column| by_column(column, a, b));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    rows.sort_by(|&a, &b| compared(a, b)); //                        equal rows stay in their order
    let groups = rows.chunk_by(|&a, &b| compared(a, b).is_eq());
    let mut groups: Vec<Vec<usize>> = groups.map(<[usize]>::to_vec).collect();
    groups.sort_by_key(|same| same[0]);
    Ok(groups)
}

fn named<'a, S: AsRef<str>>(table: &'a Table, columns: &[S]) -> Result<Vec<&'a Column>> {
    let columns = columns.iter().map(|name| table.column(name.as_ref()));
    Ok(columns.collect::<std::result::Result<_, _>>()?)
}

/// The odds by which equal rows must beat chance, in every column, to be copies.
const COPIES: f64 = 10.0;
/// Fewer different rows than this, each repeated [`OFTEN`] times on average, are the values of a
/// table that has no others.
const FEW: usize = 50;
const OFTEN: usize = 10;

/// Whether equal rows are copies of one another. Otherwise there are none, or they are equal
/// because their columns have few values: other rows of the same kind would equal them, too.
///
/// Take the pairs of rows that agree in all columns but perhaps one. Of these pairs, copies agree
/// in that column as well; other pairs do so by chance. So rows are copies if in every column the
/// odds of agreeing are at least ten times the odds among the pairs that are not equal.
///
/// # Cost
/// O(dn log n) for d columns; O(dn + n log n) where no row is repeated.
pub(crate) fn are_copies<S: AsRef<str>>(table: &Table, compared: &[S]) -> Result<bool> {
    let columns = named(table, compared)?;
    let mut all = vec![0_u64; table.rows()];
    for (j, column) in columns.iter().enumerate() {
        all.iter_mut().enumerate().for_each(|(i, sum)| *sum = sum.wrapping_add(key(column, j, i)));
    }
    let (equal, different) = pairs_and_values(all.clone());
    if columns.len() < 2 || equal == 0.0 || (different < FEW && all.len() >= OFTEN * different) {
        return Ok(false);
    }
    let pairs = all.len() as f64 * (all.len() as f64 - 1.0) / 2.0;
    let beats_chance = |(j, column): (usize, &&Column)| {
        let own: Vec<u64> = (0..all.len()).map(|i| key(column, j, i)).collect();
        let others = all.iter().zip(&own).map(|(sum, own)| sum.wrapping_sub(*own)).collect();
        let (others, _) = pairs_and_values(others);
        let (agreeing, _) = pairs_and_values(own);
        equal * (pairs - agreeing) >= COPIES * (others - equal) * (agreeing - equal)
    };
    Ok(columns.iter().enumerate().all(beats_chance))
}

/// The pairs of equal keys, and how many keys differ.
fn pairs_and_values(mut keys: Vec<u64>) -> (f64, usize) {
    keys.sort_unstable();
    let groups = keys.chunk_by(|a, b| a == b).map(|same| same.len() as f64);
    groups.fold((0.0, 0), |(pairs, count), k| (pairs + k * (k - 1.0) / 2.0, count + 1))
}

/// A pseudo-random number that equal cells of column `j` share.
fn key(column: &Column, j: usize, row: usize) -> u64 {
    mixed(mixed(j as u64) ^ bits_of(&column.values, row))
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): a bijection whose values look
/// random.
pub(crate) fn mixed(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn by_column(column: &Column, a: usize, b: usize) -> Ordering {
    match &column.values {
        // 0 and −0 are equal
        Values::Numbers(values) => (values[a] + 0.0).total_cmp(&(values[b] + 0.0)),
        Values::Categories(text) => text.codes[a].cmp(&text.codes[b]),
        Values::Sparse(rows) => {
            let (a, b) = (rows.row(a), rows.row(b));
            let [x, y] = [a.1, b.1].map(|values| values.iter().map(|value| value.to_bits()));
            a.0.cmp(b.0).then_with(|| x.cmp(y))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: Vec<Vec<f64>>) -> Table {
        let named = columns.into_iter().zip(["a", "b", "c", "d"]);
        Table::new("t", named.map(|(values, name)| Column::numbers(name, values)).collect())
            .unwrap()
    }

    #[test]
    fn equal_rows_are_one_with_their_equals() {
        let found = |y: [f64; 5], names: &[&str]| {
            let a = vec![0.0, 2.0, -0.0, f64::NAN, 0.0];
            distinct(&table(vec![a, y.to_vec()]), names).unwrap()
        };
        let same = vec![vec![0, 2, 4], vec![1], vec![3]];
        assert_eq!(found([0.0; 5], &["a", "b"]), same);
        assert_eq!(found([0.0, 0.0, 1.0, 0.0, 2.0], &["a", "b"]).len(), 5);
        assert_eq!(found([0.0, 0.0, 1.0, 0.0, 2.0], &["a"]), same);
    }

    /// Whether rows given by a function of a number, each several times, are copies.
    fn copied(rows: usize, times: usize, columns: &[fn(u64) -> f64]) -> bool {
        let of = |f: &fn(u64) -> f64| (0..rows * times).map(|i| f((i % rows) as u64)).collect();
        let table = table(columns.iter().map(of).collect());
        are_copies(&table, &["a", "b", "c", "d"][..columns.len()]).unwrap()
    }

    /// As good as random and the same for the same row: of so many values, in a column.
    fn draw(row: u64, column: u64, values: u64) -> f64 {
        (mixed(mixed(row) ^ column) % values) as f64
    }

    #[test]
    fn copies_of_rows_with_many_values_are_found() {
        const MANY: u64 = 1 << 40;
        for (rows, times) in [(60, 2), (400, 50), (1000, 3)] {
            // a number and a class; four columns of five levels; rounded numbers
            assert!(copied(rows, times, &[|r| draw(r, 0, MANY), |r| draw(r, 1, 2)]));
            assert!(copied(rows, times, &[|r| draw(r, 0, MANY), |r| draw(r, 1, MANY)]));
        }
        let five = [|r| draw(r, 0, 9), |r| draw(r, 1, 9), |r| draw(r, 2, 9), |r| draw(r, 3, MANY)];
        assert!(copied(500, 3, &five));
        assert!(copied(120, 3, &[|r| draw(r, 0, 60), |r| draw(r, 1, 40)]));
        assert!(!copied(1000, 1, &five));
    }

    /// Independent columns of few values, and logic: the truth table of "exactly one".
    #[test]
    fn rows_that_are_equal_by_chance_are_no_copies() {
        assert!(!copied(2000, 1, &[|r| draw(r, 0, 4), |r| draw(r, 1, 2), |r| draw(r, 2, 3)]));
        assert!(!copied(2000, 2, &[|r| draw(r, 0, 4), |r| draw(r, 1, 2), |r| draw(r, 2, 3)]));
        assert!(!copied(500, 1, &[|r| draw(r, 0, 12), |r| draw(r, 1, 10)]));
        assert!(!copied(4, 250, &[|r| (r % 2) as f64, |r| (r / 2) as f64, |r| (r % 3 % 2) as f64]));
    }

    /// Class, sex, age and fate of the 2201 aboard the Titanic: 24 different rows, and the columns
    /// depend on one another. Dead and alive, as R's `Titanic` counts them.
    #[test]
    fn people_of_one_kind_are_no_copies() {
        let counts: [([u8; 3], [usize; 2]); 14] = [
            ([1, 0, 0], [0, 5]),
            ([2, 0, 0], [0, 11]),
            ([3, 0, 0], [35, 13]),
            ([1, 1, 0], [0, 1]),
            ([2, 1, 0], [0, 13]),
            ([3, 1, 0], [17, 14]),
            ([1, 0, 1], [118, 57]),
            ([2, 0, 1], [154, 14]),
            ([3, 0, 1], [387, 75]),
            ([0, 0, 1], [670, 192]),
            ([1, 1, 1], [4, 140]),
            ([2, 1, 1], [13, 80]),
            ([3, 1, 1], [89, 76]),
            ([0, 1, 1], [3, 20]),
        ];
        let mut columns = vec![Vec::new(); 4];
        for ([class, sex, age], fates) in counts {
            for (fate, count) in fates.into_iter().enumerate() {
                for (column, value) in columns.iter_mut().zip([class, sex, age, fate as u8]) {
                    column.extend(std::iter::repeat_n(f64::from(value), count));
                }
            }
        }
        let names = ["a", "b", "c", "d"];
        assert!(!are_copies(&table(columns.clone()), &names).unwrap());
        assert!(!are_copies(&table(columns), &names[1..]).unwrap());
    }
}
