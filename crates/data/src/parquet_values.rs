//! Reading the values of a column of a Parquet file.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use crate::number::LARGEST_EXACT;
use crate::parquet_type::{Holds, whole};

/// The values of a column; `None` is a null. Lists follow one another.
pub(crate) enum Values {
    Numbers(Vec<Option<f64>>),
    Text(Vec<Option<ByteArray>>),
    /// The first row, from 0, whose list has another length than the others.
    Ragged(usize),
}

/// The rows of a column that are read, and how their values are stored.
#[derive(Clone, Copy)]
struct Stored {
    /// The definition level of a value; one of less is null.
    highest: i16,
    /// The number of values of a list; `None` if the column has no lists.
    list: Option<usize>,
    /// Most rows.
    records: usize,
}

/// Whether a column holds a whole number beyond 2⁵³, from its statistics if the file has them, else
/// from its values.
pub(crate) fn are_beyond_exact<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    column: usize,
) -> Result<bool, ParquetError> {
    let descriptor = file.metadata().file_metadata().schema_descr().column(column);
    let unsigned = Holds::of(&descriptor) == Holds::Unsigned;
    let size = |v: &i64| if unsigned { *v as u64 } else { v.unsigned_abs() };
    let is_beyond = |v: &i64| size(v) > LARGEST_EXACT;
    let bytes =
        |bytes: &[u8]| whole(bytes).is_some_and(|v| v.unsigned_abs() > u128::from(LARGEST_EXACT));
    let list = (descriptor.max_rep_level() > 0).then_some(1);
    let all = Stored { highest: descriptor.max_def_level(), list, records: usize::MAX };
    for group in 0..file.num_row_groups() {
        let found = match file.metadata().row_group(group).column(column).statistics() {
            Some(Statistics::Int64(known)) => known.min_opt().zip(known.max_opt()),
            _ => None,
        };
        let beyond = match found {
            Some((min, max)) => is_beyond(min) || is_beyond(max),
            None => match file.get_row_group(group)?.get_column_reader(column)? {
                ColumnReader::Int64ColumnReader(mut reader) => {
                    values(&mut reader, all, is_beyond)?.0.contains(&Some(true))
                }
                ColumnReader::FixedLenByteArrayColumnReader(mut reader) => {
                    values(&mut reader, all, |v| bytes(v.data()))?.0.contains(&Some(true))
                }
                ColumnReader::ByteArrayColumnReader(mut reader) => {
                    values(&mut reader, all, |v| bytes(v.data()))?.0.contains(&Some(true))
                }
                _ => false,
            },
        };
        if beyond {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The next values of a column of a row group, of at most `records` rows; `list` is the number of
/// values of a row of a column of lists.
pub(crate) fn read_column(
    reader: &mut ColumnReader,
    (column, holds, list): (&ColumnDescriptor, Holds, Option<usize>),
    records: usize,
) -> Result<Values, ParquetError> {
    let stored = Stored { highest: column.max_def_level(), list, records };
    let some = |texts: Found<Option<ByteArray>>| {
        Values::Text(texts.0.into_iter().map(Option::flatten).collect())
    };
    let digits = matches!(holds, Holds::Digits { .. });
    Ok(match reader {
        ColumnReader::Int32ColumnReader(reader) if holds.is_text() => {
            some(values(reader, stored, |v| holds.text(i128::from(*v)))?)
        }
        ColumnReader::Int64ColumnReader(reader) if holds.is_text() => {
            let unsigned = holds == Holds::Digits { unsigned: true };
            let whole = |v: i64| if unsigned { i128::from(v as u64) } else { i128::from(v) };
            some(values(reader, stored, |v| holds.text(whole(*v)))?)
        }
        ColumnReader::Int96ColumnReader(reader) => {
            some(values(reader, stored, |v| holds.julian(v))?)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) if digits => {
            some(values(reader, stored, |v| holds.text(whole(v.data())?))?)
        }
        ColumnReader::ByteArrayColumnReader(reader) if digits => {
            some(values(reader, stored, |v| holds.text(whole(v.data())?))?)
        }
        ColumnReader::ByteArrayColumnReader(reader) if holds.is_text() => {
            Values::Text(values(reader, stored, ByteArray::clone)?.0)
        }
        numbers => match read_numbers(numbers, holds, stored)? {
            (_, Some(row)) => Values::Ragged(row),
            (numbers, None) => Values::Numbers(numbers),
        },
    })
}

/// Like [`read_column`], for a column of numbers.
fn read_numbers(
    reader: &mut ColumnReader,
    holds: Holds,
    stored: Stored,
) -> Result<Found<f64>, ParquetError> {
    let unit = if let Holds::Numbers(unit) = holds { unit } else { 1.0 };
    let unsigned = holds == Holds::Unsigned;
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            values(reader, stored, |v| f64::from(u8::from(*v)))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            let number =
                |v: &i32| if unsigned { f64::from(*v as u32) } else { f64::from(*v) / unit };
            values(reader, stored, number)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let number = |v: &i64| if unsigned { *v as u64 as f64 } else { *v as f64 / unit };
            values(reader, stored, number)
        }
        ColumnReader::FloatColumnReader(reader) => values(reader, stored, |v| f64::from(*v)),
        ColumnReader::DoubleColumnReader(reader) => values(reader, stored, |v| *v),
        ColumnReader::ByteArrayColumnReader(reader) => {
            values(reader, stored, |v| holds.number(v.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            values(reader, stored, |v| holds.number(v.data()))
        }
        // instants, which are read as text
        ColumnReader::Int96ColumnReader(_) => Ok((Vec::new(), None)),
    }
}

/// Values, and the first row whose list has another length than asked for.
type Found<V> = (Vec<Option<V>>, Option<usize>);

/// The next values of a column of a row group.
fn values<T: DataType, V>(
    reader: &mut ColumnReaderImpl<T>,
    Stored { highest, list, records }: Stored,
    value: impl Fn(&T::T) -> V,
) -> Result<Found<V>, ParquetError> {
    const RECORDS: usize = 1 << 16;
    let (mut levels, mut repeated, mut stored) = (Vec::new(), Vec::new(), Vec::new());
    let (mut left, mut rows) = (records, 0);
    while left > 0 {
        let step = RECORDS.min(left);
        let repeated = Some(&mut repeated);
        match reader.read_records(step, Some(&mut levels), repeated, &mut stored)?.0 {
            0 => break,
            read => (left, rows) = (left - read.min(left), rows + read),
        }
    }
    let mut stored = stored.iter().map(value);
    let found = match highest {
        0 => stored.map(Some).collect(),
        _ => levels
            .iter()
            .map(|level| if *level == highest { stored.next() } else { None })
            .collect(),
    };
    Ok((found, list.and_then(|length| ragged(&repeated, rows, length))))
}

/// The first of `rows` rows whose list has not this length: a repetition level of 0 begins a list.
fn ragged(repeated: &[i16], rows: usize, length: usize) -> Option<usize> {
    let begins = |at: usize| repeated.get(at).is_none_or(|level| *level == 0);
    let is_whole = |row: &usize| {
        let inner = row * length + 1..(row + 1) * length;
        begins(row * length) && !inner.into_iter().any(begins)
    };
    let wrong = (0..rows).find(|row| !is_whole(row));
    wrong.or((repeated.len() > rows * length).then(|| rows.saturating_sub(1)))
}
