//! Apache Parquet files (feature `parquet`).

use std::collections::HashMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::bad_cells::Survey;
use crate::builder::ColumnBuilder;
use crate::column::Column;
use crate::doubts::Doubts;
use crate::error::{DataError, Place, Problem, Result};
use crate::gzip::uncompressed;
use crate::parquet_type::Holds;
use crate::parquet_values::{Values, are_beyond_exact, read_column};
use crate::table::Table;

/// Reads Parquet files of flat columns, uncompressed or compressed by Snappy, gzip, LZ4 or
/// Zstandard.
///
/// Floats, integers, booleans and decimals become numbers, strings become categories. Dates and
/// times of any unit become texts such as `2021-03-01T00:25:00`. A column of integers of which one
/// is beyond 2⁵³ becomes text, since `f64` cannot tell such numbers apart. A null is a missing
/// value. Columns of lists and structures, and an unnamed index written by pandas, are left out,
/// and [`Table::notes`] says so. In errors, the line is the row, from 1.
///
/// ```no_run
/// let table = nystrom_data::Parquet::new().read_path("houses.parquet")?;
/// println!("{} rows, columns {:?}", table.rows(), table.names().collect::<Vec<_>>());
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parquet {
    _private: (),
}

impl Parquet {
    /// A reader. It has no options, since the file describes itself.
    pub fn new() -> Self {
        Parquet::default()
    }

    /// Reads all of `reader`. Errors call the file `name`. Memory: the file plus the table.
    ///
    /// # Errors
    /// [`DataError::At`](crate::DataError::At) with row and column of a value that is not finite or
    /// not UTF-8, with the column if its type is unsuitable, or for a damaged file.
    /// [`DataError::Io`](crate::DataError::Io).
    pub fn read(&self, reader: impl Read, name: &str) -> Result<Table> {
        self.survey(reader, name)?.finite()
    }

    /// Reads all of `reader` like [`read`](Parquet::read), but lists numbers that are not finite
    /// instead of failing. In the table they are missing.
    ///
    /// # Errors
    /// Those of [`read`](Parquet::read) that do not concern a single value.
    pub fn survey(&self, reader: impl Read, name: &str) -> Result<Survey> {
        let bytes = uncompressed(reader, name)?;
        unless_asserted(name, || read_bytes(bytes.into(), name))
    }
}

/// Runs `read` and turns a panic into an error. The crate `parquet` asserts properties that a
/// damaged file may lack, such as a dictionary before its indices.
pub(crate) fn unless_asserted<T>(name: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(contradiction(name)))
}

pub(crate) fn contradiction(name: &str) -> DataError {
    let reason = "its pages contradict its metadata".to_owned();
    Problem::Parquet { reason }.at(Place::new(name))
}

pub(crate) fn damaged(name: &str) -> impl Fn(ParquetError) -> DataError + Copy {
    move |error| Problem::Parquet { reason: error.to_string() }.at(Place::new(name))
}

fn read_bytes(bytes: Bytes, name: &str) -> Result<Survey> {
    let damaged = damaged(name);
    let file = SerializedFileReader::new(bytes).map_err(damaged)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let (mut columns, mut doubts) = (Vec::with_capacity(schema.num_columns()), Vec::new());
    let (used, notes) = usable(&file, name)?;
    for (j, holds) in used {
        let column = &schema.columns()[j];
        let place = Place::new(name).field(j + 1).column(&column.path().string());
        let mut growing = Growing::new(column, holds, 0);
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(damaged)?;
            let mut reader = group.get_column_reader(j).map_err(damaged)?;
            let values = read_column(&mut reader, (column, holds), usize::MAX).map_err(damaged)?;
            growing.push(values).map_err(|(row, problem)| problem.at(place.clone().line(row)))?;
        }
        let (column, doubtful) = growing.finish(column.path().string());
        columns.push(column);
        doubts.push(doubtful);
    }
    if columns.first().is_none_or(Column::is_empty) {
        return Err(Problem::NoRows.at(Place::new(name)));
    }
    Ok(Survey { table: Table::new(name, columns)?.noted(notes, Vec::new()), doubts })
}

/// The position of a column that is read, and its content.
type Used = (usize, Holds);

/// The columns that can become columns of a table, with their content, and notes on the others.
pub(crate) fn usable<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    name: &str,
) -> Result<(Vec<Used>, Vec<String>)> {
    let metadata = file.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let pandas =
        pairs.iter().find(|pair| pair.key == "pandas").and_then(|pair| pair.value.as_deref());
    let (index, durations) = (index_columns(pandas), durations(pandas));
    let (mut used, mut notes, mut first) = (Vec::new(), Vec::new(), None);
    for (j, column) in metadata.schema_descr_ptr().columns().iter().enumerate() {
        let path = column.path().string();
        match Holds::of(column) {
            Holds::Nothing(what) => {
                notes.push(format!("{path:?} holds {what} and is left out"));
                first.get_or_insert((what, j, path));
            }
            _ if index.contains(&path) => {
                notes.push(format!("{path:?} is the index of a pandas frame and is left out"));
            }
            Holds::Numbers(1.0) if durations.contains_key(&path) => {
                used.push((j, Holds::Numbers(durations[&path])));
                notes.push(format!("{path:?} holds durations, read as seconds"));
            }
            Holds::Numbers(1.0) | Holds::Unsigned | Holds::Decimals(1.0)
                if are_beyond_exact(file, j).map_err(damaged(name))? =>
            {
                let unsigned = Holds::of(column) == Holds::Unsigned;
                used.push((j, Holds::Digits { unsigned }));
            }
            holds => used.push((j, holds)),
        }
    }
    match first {
        Some((what, j, path)) if used.is_empty() => {
            let place = Place::new(name).field(j + 1).column(&path);
            Err(Problem::ParquetType { holds: what.to_owned() }.at(place))
        }
        _ => Ok((used, notes)),
    }
}

/// The columns that pandas wrote for the unnamed index of a frame.
fn index_columns(pandas: Option<&str>) -> Vec<String> {
    let names = pandas.unwrap_or_default().split('"');
    names.filter(|part| part.starts_with("__index_level_")).map(str::to_owned).collect()
}

/// The columns of whole numbers that are durations according to pandas' metadata, and the number of
/// units in a second.
fn durations(pandas: Option<&str>) -> HashMap<String, f64> {
    // {"columns": [{"name": "a", "field_name": "a", …, "numpy_type": "timedelta64[ns]", …}, …]}
    let column = |text: &str| {
        let after = |key: &str| Some(text.split_once(key)?.1.split_once('"')?.1.split_once('"')?.0);
        let unit = match after("\"numpy_type\":")? {
            "timedelta64[s]" => 1.0,
            "timedelta64[ms]" => 1e3,
            "timedelta64[us]" => 1e6,
            "timedelta64[ns]" => 1e9,
            _ => return None,
        };
        Some((after("\"field_name\":")?.to_owned(), unit))
    };
    pandas.unwrap_or_default().split("{\"name\":").filter_map(column).collect()
}

/// A column to which row groups are appended, and the number of its last row, from 1.
pub(crate) enum Growing {
    Numbers { numbers: Vec<f64>, doubts: Doubts, rows: u64 },
    Text { column: ColumnBuilder, rows: u64 },
}

impl Growing {
    /// An empty column, which begins after `rows` rows of the file.
    pub fn new(column: &ColumnDescriptor, holds: Holds, rows: u64) -> Self {
        match holds.is_text() {
            true => Growing::Text { column: ColumnBuilder::text(column.path().string()), rows },
            false => Growing::Numbers { numbers: Vec::new(), doubts: Doubts::default(), rows },
        }
    }

    /// Appends the values of a row group. An error has the row of the wrong value, from 1.
    pub fn push(&mut self, values: Values) -> std::result::Result<(), (u64, Problem)> {
        match (self, values) {
            (Growing::Numbers { numbers, doubts, rows }, Values::Numbers(values)) => {
                for value in values {
                    *rows += 1;
                    numbers.push(value.map_or(f64::NAN, |value| doubts.finite(value, *rows)));
                }
                Ok(())
            }
            (Growing::Text { column, rows }, Values::Text(values)) => {
                for value in values {
                    *rows += 1;
                    let text = value.as_ref().map(ByteArray::as_utf8).transpose();
                    let text = text
                        .map_err(|error| (*rows, Problem::Parquet { reason: error.to_string() }))?;
                    column.push(text).map_err(|problem| (*rows, problem))?;
                }
                Ok(())
            }
            _ => Err((
                1,
                Problem::Parquet { reason: "its type differs between row groups".to_owned() },
            )),
        }
    }

    pub fn finish(self, name: String) -> (Column, Doubts) {
        match self {
            Growing::Numbers { numbers, doubts, .. } => (Column::numbers(name, numbers), doubts),
            Growing::Text { column, .. } => (column.finish(), Doubts::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArrayType, DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    const SCHEMA: &str = "message t { REQUIRED DOUBLE x; OPTIONAL INT32 k; REQUIRED BYTE_ARRAY s \
                          (UTF8); REQUIRED INT32 d (DECIMAL(5, 2)); }";

    /// Two row groups of two rows.
    fn file(x: [f64; 4], compression: Compression) -> Vec<u8> {
        let properties = WriterProperties::builder().set_compression(compression).build();
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        for rows in x.chunks(2) {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(rows, None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[7], Some(&[0, 1]), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<ByteArrayType>()
                .write_batch(&["b".into(), "a".into()], None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[125, -50], None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.into_inner().unwrap()
    }

    #[test]
    fn numbers_nulls_text_and_decimals_are_read() {
        let zstd = Compression::ZSTD(Default::default());
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            zstd,
        ] {
            let table = Parquet::new()
                .read(&file([1.5, 2.5, 3.5, 4.5], compression)[..], "t.parquet")
                .unwrap();
            assert_eq!(table.numbers("x").unwrap(), [1.5, 2.5, 3.5, 4.5]);
            assert_eq!(table.numbers("d").unwrap(), [1.25, -0.5, 1.25, -0.5]);
            let k = table.numbers("k").unwrap();
            assert!(k[0].is_nan() && k[2].is_nan() && (k[1], k[3]) == (7.0, 7.0), "{k:?}");
            assert_eq!(table.categories("s").unwrap().get(2), Some("b"));
            assert_eq!(table.missing(), 2);
        }
    }

    #[test]
    fn whole_numbers_that_floats_would_merge_are_texts() {
        let wide = [(1_i64 << 53) + 1, 1 << 53];
        for (kind, values, texts) in [
            ("", wide, Some(["9007199254740993", "9007199254740992"])),
            (" (UINT_64)", [-1, 5], Some(["18446744073709551615", "5"])),
            ("", [1 << 53, -5], None),
            (" (UINT_64)", [1 << 53, 5], None),
        ] {
            for statistics in [EnabledStatistics::Chunk, EnabledStatistics::None] {
                let schema =
                    parse_message_type(&format!("message t {{ REQUIRED INT64 k{kind}; }}"));
                let properties =
                    WriterProperties::builder().set_statistics_enabled(statistics).build();
                let schema = Arc::new(schema.unwrap());
                let mut writer =
                    SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
                let mut group = writer.next_row_group().unwrap();
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
                column.close().unwrap();
                group.close().unwrap();
                let bytes = writer.into_inner().unwrap();
                let table = Parquet::new().read(&bytes[..], "t.parquet").unwrap();
                match texts {
                    Some(texts) => {
                        let found = table.categories("k").unwrap();
                        assert_eq!([0, 1].map(|i| found.get(i).unwrap()), texts);
                    }
                    None => {
                        let expected = values.map(|v| v as f64);
                        assert_eq!(table.numbers("k").unwrap(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let message =
            |bytes: &[u8]| Parquet::new().read(bytes, "t.parquet").unwrap_err().to_string();
        let nan = message(&file([1.0, 2.0, f64::NAN, 4.0], Compression::SNAPPY));
        assert!(
            nan.starts_with("t.parquet:3, column 1 (\"x\"): \"NaN\" is not a finite number"),
            "{nan}"
        );
        let whole = file([1.0, 2.0, 3.0, 4.0], Compression::SNAPPY);
        for cut in (0..whole.len()).step_by(7) {
            let cut = message(&whole[..cut]);
            assert!(cut.contains("t.parquet: ") && cut.contains("write it again"), "{cut}");
        }
        let schema = Arc::new(parse_message_type("message t { REPEATED DOUBLE x; }").unwrap());
        let lists = SerializedFileWriter::new(Vec::new(), schema, Default::default())
            .unwrap()
            .into_inner()
            .unwrap();
        let lists = message(&lists);
        assert!(lists.contains("column 1 (\"x\")") && lists.contains("holds lists"), "{lists}");
    }
}
