//! Reading the values of a column of a Parquet file.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use crate::number::LARGEST_EXACT;
use crate::parquet_type::{Holds, whole};

/// The values of a column; `None` is a null.
pub(crate) enum Values {
    Numbers(Vec<Option<f64>>),
    Text(Vec<Option<ByteArray>>),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }
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
    let optional = (descriptor.max_def_level(), usize::MAX);
    for group in 0..file.num_row_groups() {
        let found = match file.metadata().row_group(group).column(column).statistics() {
            Some(Statistics::Int64(known)) => known.min_opt().zip(known.max_opt()),
            _ => None,
        };
        let beyond = match found {
            Some((min, max)) => is_beyond(min) || is_beyond(max),
            None => match file.get_row_group(group)?.get_column_reader(column)? {
                ColumnReader::Int64ColumnReader(mut reader) => {
                    values(&mut reader, optional, is_beyond)?.contains(&Some(true))
                }
                ColumnReader::FixedLenByteArrayColumnReader(mut reader) => {
                    values(&mut reader, optional, |v| bytes(v.data()))?.contains(&Some(true))
                }
                ColumnReader::ByteArrayColumnReader(mut reader) => {
                    values(&mut reader, optional, |v| bytes(v.data()))?.contains(&Some(true))
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

/// The next values of a column of a row group, at most `records`.
pub(crate) fn read_column(
    reader: &mut ColumnReader,
    (column, holds): (&ColumnDescriptor, Holds),
    records: usize,
) -> Result<Values, ParquetError> {
    let optional = (column.max_def_level(), records);
    let some = |texts: Vec<Option<Option<ByteArray>>>| {
        Values::Text(texts.into_iter().map(Option::flatten).collect())
    };
    let digits = matches!(holds, Holds::Digits { .. });
    Ok(match reader {
        ColumnReader::Int32ColumnReader(reader) if holds.is_text() => {
            some(values(reader, optional, |v| holds.text(i128::from(*v)))?)
        }
        ColumnReader::Int64ColumnReader(reader) if holds.is_text() => {
            let unsigned = holds == Holds::Digits { unsigned: true };
            let whole = |v: i64| if unsigned { i128::from(v as u64) } else { i128::from(v) };
            some(values(reader, optional, |v| holds.text(whole(*v)))?)
        }
        ColumnReader::Int96ColumnReader(reader) => {
            some(values(reader, optional, |v| holds.julian(v))?)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) if digits => {
            some(values(reader, optional, |v| holds.text(whole(v.data())?))?)
        }
        ColumnReader::ByteArrayColumnReader(reader) if digits => {
            some(values(reader, optional, |v| holds.text(whole(v.data())?))?)
        }
        ColumnReader::ByteArrayColumnReader(reader) if holds.is_text() => {
            Values::Text(values(reader, optional, ByteArray::clone)?)
        }
        numbers => Values::Numbers(read_numbers(numbers, holds, optional)?),
    })
}

/// Like [`read_column`], for a column of numbers.
fn read_numbers(
    reader: &mut ColumnReader,
    holds: Holds,
    optional: (i16, usize),
) -> Result<Vec<Option<f64>>, ParquetError> {
    let unit = if let Holds::Numbers(unit) = holds { unit } else { 1.0 };
    let unsigned = holds == Holds::Unsigned;
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            values(reader, optional, |v| f64::from(u8::from(*v)))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            let number =
                |v: &i32| if unsigned { f64::from(*v as u32) } else { f64::from(*v) / unit };
            values(reader, optional, number)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let number = |v: &i64| if unsigned { *v as u64 as f64 } else { *v as f64 / unit };
            values(reader, optional, number)
        }
        ColumnReader::FloatColumnReader(reader) => values(reader, optional, |v| f64::from(*v)),
        ColumnReader::DoubleColumnReader(reader) => values(reader, optional, |v| *v),
        ColumnReader::ByteArrayColumnReader(reader) => {
            values(reader, optional, |v| holds.number(v.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            values(reader, optional, |v| holds.number(v.data()))
        }
        // instants, which are read as text
        ColumnReader::Int96ColumnReader(_) => Ok(Vec::new()),
    }
}

/// The next values of a column of a row group, at most `records`. A value is present if its
/// definition level is `highest`; otherwise it is null.
fn values<T: DataType, V>(
    reader: &mut ColumnReaderImpl<T>,
    (highest, records): (i16, usize),
    value: impl Fn(&T::T) -> V,
) -> Result<Vec<Option<V>>, ParquetError> {
    const RECORDS: usize = 1 << 16;
    let (mut levels, mut stored) = (Vec::new(), Vec::new());
    let mut left = records;
    while left > 0 {
        let step = RECORDS.min(left);
        match reader.read_records(step, Some(&mut levels), None, &mut stored)?.0 {
            0 => break,
            read => left -= read.min(left),
        }
    }
    let mut stored = stored.iter().map(value);
    match highest {
        0 => Ok(stored.map(Some).collect()),
        _ => Ok(levels
            .iter()
            .map(|level| if *level == highest { stored.next() } else { None })
            .collect()),
    }
}
