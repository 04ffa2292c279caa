//! No file makes a reader panic, hang or take much memory: random bytes, text of meaningful pieces,
//! and damaged valid files.

use nystrom_data::{
    Arff, Csv, Encoding, Format, Libsvm, Npy, Origin, Result, Standardize, Table, Values, npy_bytes,
};
use proptest::prelude::*;

use crate::common::{gzip, read_fann};
use crate::damage::{File, cases, damaged, guarded};

/// Every format, with options that change how it reads.
fn readers() -> Vec<Format> {
    // Sparse text may stand for a gigabyte of zeros unless it is told not to.
    let libsvm = || Libsvm::new().max_zeros(1 << 16);
    let arff = Arff::new().max_zeros(1 << 16);
    let mut readers = vec![
        Format::Csv(Csv::new()),
        Format::Csv(Csv::new().header(false).infer_text().missing(["", "NA"])),
        Format::Csv(Csv::new().names(["a", "b"]).delimiter(b' ').skip_lines(1)),
        Format::Csv(Csv::new().white_space().header(false)),
        Format::Csv(Csv::new().delimiter(b';').infer_text().missing(["NA"])),
        Format::Csv(Csv::new().guess_delimiter().decimal_comma()),
        Format::Arff(arff),
        Format::Libsvm(libsvm()),
        Format::Libsvm(libsvm().label_parts(';', ["a", "b"]).features(3)),
        Format::Npy(Npy::new()),
    ];
    readers.extend(Format::of("t.parquet")); // with the feature of that name
    readers
}

/// Reads the file in every way.
fn read_all(file: &File) {
    for format in readers() {
        read(format, file.clone());
    }
    read_by(|bytes| read_fann(bytes, "fuzz"), true, file.clone());
}

fn read(format: Format, file: File) {
    let surveyed = format.clone();
    guarded(file.clone(), move |bytes| survey(&surveyed, bytes));
    let text = matches!(format, Format::Csv(_) | Format::Arff(_) | Format::Libsvm(_));
    let found = format.clone();
    let as_found = move |bytes: &[u8]| found.found(Origin::Bytes { bytes, name: "fuzz" }, &[]);
    read_by(as_found, text, file.clone());
    read_by(move |bytes| format.read(bytes, "fuzz"), text, file);
}

/// What is accepted must be a sound table that survives every further step; an error names a line
/// of the file, if that is text.
fn read_by(read: impl Fn(&[u8]) -> Result<Table> + Send + 'static, text: bool, file: File) {
    guarded(file, move |bytes| match read(bytes) {
        Ok(table) => use_table(table),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            // Packed bytes do not tell how many lines they hold.
            if text && !bytes.starts_with(&[0x1f, 0x8b]) {
                let lines = bytes.iter().filter(|&&b| b == b'\n' || b == b'\r').count() as u64 + 1;
                let line = error.place().and_then(|place| place.line).unwrap_or(1);
                assert!((1..=lines).contains(&line), "{error}");
            }
        }
    });
}

/// A survey accepts no less than reading does, and has no doubt where that found numbers only.
fn survey(format: &Format, bytes: &[u8]) {
    match (format.survey(bytes, "fuzz"), format.read(bytes, "fuzz")) {
        (Ok(survey), Ok(table)) => {
            let numeric =
                table.columns().iter().all(|column| matches!(column.values, Values::Numbers(_)));
            let doubts: usize = survey.doubts.iter().map(|doubts| doubts.cells).sum();
            assert!(!numeric || (doubts == 0 && survey.table.missing() == table.missing()));
        }
        (Ok(survey), Err(_)) => assert!(survey.doubts.iter().any(|doubts| doubts.cells > 0)),
        (Err(error), result) => assert!(result.is_err(), "{error}"),
    }
}

fn use_table(table: Table) {
    assert!(table.rows() > 0);
    for column in table.columns() {
        assert_eq!(column.len(), table.rows());
        match &column.values {
            Values::Numbers(values) => assert!(values.iter().all(|v| !v.is_infinite())),
            Values::Categories(text) => {
                assert!(
                    text.codes.iter().flatten().all(|&code| (code as usize) < text.levels.len())
                );
            }
            Values::Sparse(rows) => assert!(rows.dim() > 0),
        }
    }
    if table.rows() * table.columns().len() > 1000 {
        return; // one column per category is what the caller asks for
    }
    let names: Vec<String> = table.names().map(str::to_owned).collect();
    for name in names {
        let _ = table.clone().encode(name.as_str(), Encoding::OneHot);
        if let Ok(data) = table.clone().drop_missing_rows().into_dataset(name.as_str()) {
            let _ = data.standardize(Standardize::default());
        }
    }
}

/// Text made of the pieces that formats give a meaning to.
fn near_tables() -> impl Strategy<Value = File> {
    const PIECES: &str = "1|-2.5|3e4|NA|?||nan|inf|a|é|,|;| \
                          |\t|:|1:2|2:1|0:1|#|\n|\r\n|\r|\"|'|\\|{|}|%|@relation r\n|@attribute x \
                          real\n\
        |@attribute y {a,b}\n|@attribute 'z' string\n|@attribute d date 'y'\n|{0 1}|{1 a, \
                          2 b}\n|@DATA\n|2 1 1\n|1 2 1\n|\u{feff}|\0";
    let pieces = prop::sample::select(PIECES.split('|').collect::<Vec<_>>());
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| File(pieces.concat().into_bytes()))
}

/// The files as they are, and packed.
fn and_packed(files: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let packed: Vec<_> = files.iter().map(|file| gzip(file)).collect();
    [files, packed].concat()
}

fn texts(files: &[&str]) -> Vec<Vec<u8>> {
    and_packed(files.iter().map(|text| text.as_bytes().to_vec()).collect())
}

fn csv_files() -> Vec<Vec<u8>> {
    texts(&[
        "a,b,c\n1,2.5,-3e4\n4,5,6\n",
        "\u{feff}sex;length;rings\r\nM;0.455;15\r\n\"F\";NA;9\r\n",
        "\"a, b\",\"c \"\"d\"\"\"\r1,2\r3,4\r",
        "  0.1   2\n 0.30  4\n",
        "a b\n1 2\n\"3\" 4\n",
    ])
}

fn arff_files() -> Vec<Vec<u8>> {
    texts(&[
        "% c\n@RELATION t\n@attribute x real\n@attribute 'wind dir' {N, 'S S'}\n@attribute s \
         string\n@data\n1.5, N, \"a\\'b\"\n?, 'S S', ?\n",
        "@attribute x INTEGER [0,9]\n@attribute x {a b a}\n@attribute d date \"yyyy\"\n@data % c\n\
         {0 7, 2 '1999'}\n{1 c}\n1\tb\t?\n2,a,2000,\n{}\n",
    ])
}

fn libsvm_files() -> Vec<Vec<u8>> {
    texts(&[
        "+1 1:0.5 3:2\n-1 2:1 # second\n",
        "1;50.5 1:15596.2 2:1.868\n2;7 3:1\n",
        "1,3 qid:7 2:0.5 0:2\nspam 2:1\n",
    ])
}

/// A file of f64 as one of another type of eight bytes.
pub fn with_type(file: &[u8], descr: &[u8; 7]) -> Vec<u8> {
    let start = file.windows(3).position(|bytes| bytes == b"<f8").unwrap();
    let end = start + file[start..].iter().position(|&b| b == b'\n').unwrap();
    // the header ends in blanks
    let rest = &file[start + 3..end - 4];
    [&file[..start], descr, rest, &file[end..]].concat()
}

fn npy_files() -> Vec<Vec<u8>> {
    let header = b"\x93NUMPY\x02\x00\x3d\x00\x00\x00{'descr': '>i2', 'fortran_order': False, \
                   'shape': (2, 3), } \n";
    let integers = [&header[..], &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 255, 255]].concat();
    assert!(Npy::new().read(&integers[..], "valid").is_ok());
    let times = npy_bytes(3, 1, [0, i64::MIN, 99].map(|count| f64::from_bits(count as u64)));
    let times = with_type(&times, b"<M8[us]");
    and_packed(vec![
        times,
        npy_bytes(2, 3, (0..6).map(f64::from)),
        npy_bytes(4, 1, [1.0, -2.0, 3e-300, 4.0]),
        integers,
    ])
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    let read = |format: Format, file: &[u8]| format.read(file, "valid").map(|table| table.rows());
    for (format, files) in [
        (Format::Csv(Csv::new()), &csv_files()[..1]),
        (Format::Arff(Arff::new()), &arff_files()),
        (Format::Libsvm(Libsvm::new()), &libsvm_files()[..1]),
        (Format::Npy(Npy::new()), &npy_files()),
    ] {
        for file in files {
            assert!(read(format.clone(), file).unwrap() >= 2, "{format:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&File(bytes));
    }

    #[test]
    fn near_tables_in_every_format(file in near_tables()) {
        read_all(&file);
    }

    #[test]
    fn csv(file in damaged(csv_files())) {
        readers().into_iter().filter(|format| matches!(format,
            Format::Csv(_))).for_each(|format| read(format, file.clone()));
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn arff(file in damaged(arff_files())) {
        read(Format::Arff(Arff::new().max_zeros(1 << 16)), file);
    }

    #[test]
    fn libsvm(file in damaged(libsvm_files()), parts: bool) {
        let reader = Libsvm::new().max_zeros(1 << 16);
        read(Format::Libsvm(if parts { reader.label_parts(';', ["a",
            "b"]).features(3) } else { reader }), file);
    }

    #[test]
    fn fann(file in damaged(texts(&["2 2 1\n0.1 0.2\n1\n0.3 0.4\n-1\n"]))) {
        read_by(|bytes| read_fann(bytes, "fuzz"), true, file);
    }

    #[test]
    fn npy(file in damaged(npy_files())) {
        read(Format::Npy(Npy::new()), file);
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::sync::Arc;

    use super::*;
    use nystrom_data::Parquet;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArrayType, DoubleType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    fn file(compression: Compression, dictionary: bool) -> Vec<u8> {
        let schema =
            "message t { REQUIRED DOUBLE x; OPTIONAL INT32 k; REQUIRED BYTE_ARRAY s (UTF8); }";
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_enabled(dictionary)
            .build();
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[1.5, 2.5, 1.5, 1.5], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[7, 8], Some(&[0, 1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let text = ["b", "a", "b", "b"].map(Into::into);
        column.typed::<ByteArrayType>().write_batch(&text, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    fn files() -> Vec<Vec<u8>> {
        let files = vec![
            file(Compression::UNCOMPRESSED, true),
            file(Compression::UNCOMPRESSED, false),
            file(Compression::SNAPPY, true),
            file(Compression::GZIP(Default::default()), false),
            file(Compression::LZ4, true),
            file(Compression::LZ4_RAW, true),
        ];
        files.iter().for_each(|file| {
            assert_eq!(Parquet::new().read(&file[..], "valid").unwrap().rows(), 4)
        });
        and_packed(files)
    }

    proptest! {
        #![proptest_config(cases(4000))]

        #[test]
        fn parquet(file in damaged(files())) {
            read(Format::Parquet(Parquet::new()), file);
        }
    }
}
