//! Apache Parquet files (feature `parquet`).

use std::collections::HashMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use crate::bad_cells::Survey;
use crate::column::Column;
use crate::error::{DataError, Place, Problem, Result};
use crate::gzip::uncompressed;
use crate::parquet_columns::Growing;
use crate::parquet_type::Holds;
use crate::parquet_values::{are_beyond_exact, read_column};
use crate::table::Table;

/// Reads Parquet files of flat columns, uncompressed or compressed by Snappy, gzip, LZ4 or
/// Zstandard.
///
/// Floats, integers, booleans and decimals become numbers, strings become categories. Dates and
/// times of any unit become texts such as `2021-03-01T00:25:00`. A column of integers of which one
/// is beyond 2⁵³ becomes text, since `f64` cannot tell such numbers apart. A null is a missing
/// value. A column `a` of lists of numbers, such as embeddings, becomes the columns `a[0]`, `a[1]`,
/// … if all lists have the same length. Columns of other lists, structures, and an unnamed index
/// written by pandas are left out, and [`Table::notes`] says so. In errors, the line is the row,
/// from 1.
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
    for (j, holds, list) in used {
        let column = &schema.columns()[j];
        let place = Place::new(name).field(j + 1).column(&column.path().string());
        let mut growing = Growing::new((column, holds, list), 0);
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(damaged)?;
            let mut reader = group.get_column_reader(j).map_err(damaged)?;
            let values =
                read_column(&mut reader, (column, holds, list), usize::MAX).map_err(damaged)?;
            growing.push(values).map_err(|(row, problem)| problem.at(place.clone().line(row)))?;
        }
        for (column, doubtful) in growing.finish(column) {
            columns.push(column);
            doubts.push(doubtful);
        }
    }
    if columns.first().is_none_or(Column::is_empty) {
        return Err(Problem::NoRows.at(Place::new(name)));
    }
    Ok(Survey { table: Table::new(name, columns)?.noted(notes, Vec::new()), doubts })
}

/// The position of a column that is read, its content, and the length of its lists.
type Used = (usize, Holds, Option<usize>);

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
    let schema = metadata.schema_descr_ptr();
    for (j, column) in schema.columns().iter().enumerate() {
        let path = column.path().string();
        match Holds::of(column) {
            Holds::Nothing(what) => {
                notes.push(format!("{path:?} holds {what} and is left out"));
                first.get_or_insert((what, j, path));
            }
            holds if column.max_rep_level() > 0 => match list_length(file, j, name)? {
                Ok(length) => used.push((j, holds, Some(length))),
                Err(what) => {
                    notes.push(format!("{path:?} holds {what} and is left out"));
                    first.get_or_insert((what, j, path));
                }
            },
            _ if index.contains(&path) => {
                notes.push(format!("{path:?} is the index of a pandas frame and is left out"));
            }
            Holds::Numbers(1.0) if durations.contains_key(&path) => {
                used.push((j, Holds::Numbers(durations[&path]), None));
                notes.push(format!("{path:?} holds durations, read as seconds"));
            }
            Holds::Numbers(1.0) | Holds::Unsigned | Holds::Decimals(1.0)
                if are_beyond_exact(file, j).map_err(damaged(name))? =>
            {
                let unsigned = Holds::of(column) == Holds::Unsigned;
                used.push((j, Holds::Digits { unsigned }, None));
            }
            holds => used.push((j, holds, None)),
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

/// The length of the lists of a column, by the numbers of values and rows of each row group; or
/// what the column holds instead of lists of one length.
fn list_length<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    column: usize,
    name: &str,
) -> Result<std::result::Result<usize, &'static str>> {
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let root = |column: &ColumnDescPtr| column.path().parts()[0].clone();
    let is_part = |other: &&ColumnDescPtr| root(other) == root(&schema.columns()[column]);
    if schema.columns().iter().filter(is_part).count() > 1 {
        return Ok(Err("maps or lists of structures"));
    }
    let mut length = None;
    for group in file.metadata().row_groups().iter().filter(|group| group.num_rows() > 0) {
        let (rows, values) = (group.num_rows(), group.column(column).num_values());
        let each = usize::try_from(values / rows).unwrap_or(0);
        if each == 0 || values % rows != 0 || *length.get_or_insert(each) != each {
            return Ok(Err("lists of different lengths"));
        }
    }
    if are_beyond_exact(file, column).map_err(damaged(name))? {
        return Ok(Err("lists of numbers beyond 2^53"));
    }
    Ok(length.ok_or("lists of different lengths"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
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

    /// A file with a column of lists of floats, in groups of rows.
    fn lists(groups: &[&[&[f32]]]) -> Vec<u8> {
        let schema = "message t { REQUIRED group e (LIST) { REPEATED group list { OPTIONAL FLOAT \
                      element; } } REQUIRED INT32 k; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
        for rows in groups {
            let mut group = writer.next_row_group().unwrap();
            let (mut values, mut levels, mut repeated) = (vec![], vec![], vec![]);
            for row in *rows {
                for (i, value) in row.iter().enumerate() {
                    values.extend((!value.is_nan()).then_some(*value));
                    levels.push(if value.is_nan() { 1 } else { 2 });
                    repeated.push(i16::from(i > 0));
                }
                if row.is_empty() {
                    levels.push(0);
                    repeated.push(0);
                }
            }
            let mut column = group.next_column().unwrap().unwrap();
            let levels = (Some(&levels[..]), Some(&repeated[..]));
            column.typed::<FloatType>().write_batch(&values, levels.0, levels.1).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&vec![7; rows.len()], None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.into_inner().unwrap()
    }

    #[test]
    fn lists_of_one_length_are_columns() {
        let read = |groups: &[&[&[f32]]]| Parquet::new().read(&lists(groups)[..], "t.parquet");
        let table = read(&[&[&[1.0, 2.5], &[3.0, f32::NAN]], &[&[5.0, 6.0]]]).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["e[0]", "e[1]", "k"]);
        assert_eq!(table.numbers("e[0]").unwrap(), [1.0, 3.0, 5.0]);
        let second = table.numbers("e[1]").unwrap();
        assert!(second[1].is_nan() && (second[0], second[2]) == (2.5, 6.0));
        // lengths that differ, in ways that sums do and do not show
        for groups in [&[&[&[1.0_f32][..], &[2.0, 3.0]][..]][..], &[&[&[1.0]], &[&[1.0, 2.0]]]] {
            let table = read(groups).unwrap();
            assert_eq!(table.names().collect::<Vec<_>>(), ["k"]);
            assert!(table.notes()[0].contains("lists of different lengths"), "{:?}", table.notes());
        }
        let error = read(&[&[&[1.0], &[2.0, 3.0, 4.0]]]).map(|table| table.names().count());
        let told = error.unwrap_err().to_string();
        assert!(told.contains("t.parquet:1,") && told.contains("different lengths"), "{told}");
        // an empty list of at most one number misses it
        let single = read(&[&[&[], &[2.0]]]).unwrap();
        assert!(single.numbers("e[0]").unwrap()[0].is_nan() && single.missing() == 1);
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
