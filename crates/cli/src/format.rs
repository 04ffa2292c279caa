//! The reader of a file, by the options and the name of the file.

use crate::args::{DataArgs, Delimiter, FileFormat, lists};
use crate::failure::{Result, data, usage};
use nystrom_data::{Arff, Csv, DataError, Format, Libsvm, Npy, is_number_marker};
use std::path::Path;

/// The reader of DATA; `libsvm` is returned if DATA is a libsvm file.
pub fn format(args: &DataArgs, libsvm: Libsvm) -> Result<Format> {
    let format = match args.format {
        Some(FileFormat::Csv) => Format::Csv(csv(args, None)),
        Some(FileFormat::Tsv) => Format::Csv(csv(args, Some(b'\t'))),
        Some(FileFormat::Arff) => Format::Arff(Arff::new()),
        Some(FileFormat::Libsvm) => Format::Libsvm(libsvm),
        Some(FileFormat::Npy) => Format::Npy(Npy::new()),
        #[cfg(feature = "parquet")]
        Some(FileFormat::Parquet) => Format::Parquet(nystrom_data::Parquet::new()),
        None if args.data == Path::new("-") => Format::Csv(csv(args, None)),
        None => match Format::of(&args.data).map_err(|error| unknown(error, &args.data))? {
            Format::Csv(_) => Format::Csv(csv(args, None)),
            Format::Libsvm(_) => Format::Libsvm(libsvm),
            other => other,
        },
    };
    let csv_only = args.no_header || args.delimiter.is_some() || args.decimal_comma;
    if csv_only && !matches!(format, Format::Csv(_)) {
        let text = "--no-header, --delimiter and --decimal-comma are for CSV; leave them out, or \
                    add --format csv";
        return Err(usage(text));
    }
    let texts = [lists(&args.missing), lists(&args.not_missing)].concat();
    if !(texts.iter().all(|text| is_number_marker(text)) || matches!(format, Format::Csv(_))) {
        let text = "--missing is for CSV: other formats have marks of their own for missing \
                    values; leave it out";
        return Err(usage(text));
    }
    Ok(format)
}

/// A reader of delimited text. The delimiter is that of `--delimiter`, else `usual`, else guessed.
fn csv(args: &DataArgs, usual: Option<u8>) -> Csv {
    let csv = Csv::new().header(!args.no_header).missing(lists(&args.missing));
    let csv = csv.not_missing(lists(&args.not_missing));
    let csv = if args.decimal_comma { csv.decimal_comma() } else { csv };
    match (args.delimiter, usual) {
        (Some(Delimiter::At(byte)), _) | (None, Some(byte)) => csv.delimiter(byte),
        (Some(Delimiter::WhiteSpace), _) => csv.white_space(),
        (None, None) => csv.guess_delimiter(),
    }
}

/// The error for a file name that determines no format, with options as remedies.
fn unknown(error: DataError, path: &Path) -> anyhow::Error {
    match error {
        DataError::UnknownFormat { file } if path.is_dir() => {
            data(format!("{file}: this is a folder; name a file"))
        }
        DataError::UnknownFormat { file } if has_extension(path, ".parquet") => {
            let text = "this program was installed without Parquet: install it with `--features \
                 parquet`, or convert the file";
            data(format!("{file}: {text}"))
        }
        DataError::UnknownFormat { file } => data(format!(
            "{file}: the format cannot be told from the name; name it with --format, such as \
             --format csv, or rename the file to .csv, .tsv, .txt, .arff, .libsvm or .npy (.gz or \
             .zst may follow)"
        )),
        other => other.into(),
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.trim_end_matches(".gz").trim_end_matches(".zst").ends_with(extension)
}
