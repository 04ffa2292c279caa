//! Sparse ARFF rows, which list only some cells: `{index value, index value, …}`.

use super::fields::{Field, split_words};
use crate::error::{Problem, place::excerpt};

/// The cells of a sparse row with their indices, which count from 0, increase, and are below
/// `width`.
pub(super) fn cells(row: &str, width: usize) -> Result<Vec<(usize, Field<'_>)>, Problem> {
    let not_sparse = || Problem::ArffSparse { text: excerpt(row) };
    let inside = row.strip_prefix('{').and_then(|row| row.strip_suffix('}'));
    let mut words = split_words(inside.ok_or_else(not_sparse)?)?.into_iter();
    let mut cells: Vec<(usize, Field<'_>)> = Vec::new();
    while let Some(index) = words.next() {
        let value = words.next().ok_or_else(not_sparse)?;
        if index.quoted || !index.text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(not_sparse());
        }
        let Some(index) = index.text.parse().ok().filter(|index| *index < width) else {
            return Err(Problem::ArffIndex { text: excerpt(&index.text), attributes: width });
        };
        match cells.last().map(|(last, _)| *last) {
            Some(last) if last == index => {
                return Err(Problem::IndexDuplicate { index: index as u64 });
            }
            Some(last) if last > index => {
                let (index, previous) = (index as u64, last as u64);
                return Err(Problem::IndexNotIncreasing { index, previous });
            }
            _ => cells.push((index, value)),
        }
    }
    Ok(cells)
}
