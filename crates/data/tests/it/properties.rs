//! Properties: what is written is read back bit for bit, and errors point at the right field.

use crate::common::{gzip, read_fann};
use nystrom_data::{Arff, Csv, Format, Libsvm, Standardize, Table, Values};
use proptest::prelude::*;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A matrix of finite numbers, by rows.
fn matrices() -> impl Strategy<Value = Vec<Vec<f64>>> {
    let finite = any::<f64>().prop_filter("finite", |v| v.is_finite());
    (1..6usize).prop_flat_map(move |d| {
        prop::collection::vec(prop::collection::vec(finite.clone(), d), 1..12)
    })
}

fn line_ends() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["\n", "\r\n", "\r"])
}

/// The numbers of `table`, by rows, as bits.
fn bits(table: &Table) -> Vec<Vec<u64>> {
    let x = table.matrix().unwrap();
    (0..x.nrows()).map(|i| (0..x.ncols()).map(|j| x[(i, j)].to_bits()).collect()).collect()
}

fn joined(row: &[f64], separator: &str) -> String {
    row.iter().map(|v| format!("{v:e}")).collect::<Vec<_>>().join(separator)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn written_numbers_are_read_back_bit_for_bit(rows in matrices(), end in line_ends(),
    compress in any::<bool>()) {
        let expected: Vec<Vec<u64>> =
            rows.iter().map(|row| row.iter().map(|v| v.to_bits()).collect()).collect();
        let d = rows[0].len();
        let lines = |line: &dyn Fn(&[f64]) -> String| -> String {
            rows.iter().map(|row| format!("{}{end}", line(row))).collect()
        };
        let attributes: String = (0..d).map(|j| format!("@attribute x{j} real{end}")).collect();
        let (inputs, outputs) = (d.div_ceil(2), d - d.div_ceil(2));
        let packed = |text: String| {
            if compress { gzip(text.as_bytes()) } else { text.into_bytes() }
        };
        let files = vec![
            (Format::Csv(Csv::new().header(false)), lines(&|row| joined(row, ","))),
            (Format::Csv(Csv::new().header(false).delimiter(b'\t')), lines(&|row| joined(row,
                "\t"))),
            (Format::Csv(Csv::new().header(false).white_space()), lines(&|row| joined(row, "  "))),
            (Format::Csv(Csv::new().header(false)), lines(&|row| format!("\"{}\"", joined(row,
                "\",\"")))),
            (Format::Arff(Arff::new()), format!("{attributes}@data{end}{}",
                lines(&|row| joined(row, ", ")))),
            (Format::Libsvm(Libsvm::new().features(d - 1)), lines(&|row| {
                row.iter().enumerate().map(|(j,
                    v)| if j == 0 { format!("{v:e}") } else { format!(" {j}:{v:e}") }).collect()
            })),
        ];
        if outputs > 0 {
            let pair = |row: &[f64]| format!("{}{end}{}", joined(&row[..inputs], " "),
                joined(&row[inputs..], " "));
            let text = format!("{} {inputs} {outputs}{end}{}", rows.len(), lines(&pair));
            prop_assert_eq!(&bits(&read_fann(&packed(text), "t").unwrap()), &expected);
        }
        for (format, text) in files {
            prop_assert_eq!(&bits(&format.read(&packed(text)[..], "t").unwrap()), &expected);
        }
    }

    #[test]
    fn the_canonical_form_reads_back_to_the_bit(
        rows in matrices(),
        gaps in prop::collection::vec(any::<bool>(), 64),
        words in prop::collection::vec(prop::sample::select(vec!["NW", "a, b", "say \"no\"",
        "é\nü", "#x"]), 64),
    ) {
        let gap = &|i: usize, j: usize| i > 0 && gaps[(7 * i + j) % gaps.len()];
        let column = |j: usize| rows.iter().enumerate().map(move |(i, row)| if gap(i,
            j) { f64::NAN } else { row[j] });
        let mut columns: Vec<nystrom_data::Column> =
            (0..rows[0].len()).map(|j| nystrom_data::Column::numbers(format!("x,{j}"),
                column(j).collect())).collect();
        let mut levels: Vec<String> =
            (0..rows.len()).map(|i| words[i % words.len()].to_owned()).collect();
        let text = levels.clone();
        levels.sort();
        levels.dedup();
        let codes = text.iter().enumerate().map(|(i, word)| {
            (!gap(i, 99)).then(|| levels.binary_search(word).unwrap() as u32)
        });
        let mut codes: Vec<Option<u32>> = codes.collect();
        // A level that no row has is not in the file.
        let used: Vec<u32> =
            (0..levels.len() as u32).filter(|level| codes.contains(&Some(*level))).collect();
        for code in codes.iter_mut().flatten() {
            *code = used.binary_search(code).unwrap() as u32;
        }
        let levels = used.iter().map(|&level| levels[level as usize].clone()).collect();
        let values = Values::Categories(nystrom_data::Categories { levels, codes });
        columns.push(nystrom_data::Column { name: "wind \"of\" day".to_owned(), values });
        let table = Table::new("t", columns).unwrap();
        let back = Csv::new().missing([""]).infer_text().read(table.to_csv().as_bytes(),
            "t").unwrap();
        // NaN, which marks what is missing, is unlike itself: compare what is printed, in which
        // every bit shows.
        prop_assert_eq!(format!("{:?}", back.columns()), format!("{:?}", table.columns()));
    }

    #[test]
    fn errors_point_at_the_wrong_field(
        rows in 1..20usize,
        columns in 1..8usize,
        bad in any::<(prop::sample::Index, prop::sample::Index)>(),
        blanks in prop::collection::vec(0..3usize, 20),
        end in line_ends(),
    ) {
        let (bad_row, bad_column) = (bad.0.index(rows), bad.1.index(columns));
        let mut text = (0..columns).map(|j| format!("name{j}")).collect::<Vec<_>>().join(",") + end;
        let mut line = 1;
        let mut bad_line = 0;
        for (i, blank) in blanks.iter().take(rows).enumerate() {
            text += &end.repeat(*blank);
            line += *blank as u64 + 1;
            if i == bad_row {
                bad_line = line;
            }
            let field = |j: usize| if (i, j) == (bad_row,
                bad_column) { "oops".to_owned() } else { format!("{i}.{j}") };
            text += &((0..columns).map(field).collect::<Vec<_>>().join(",") + end);
        }
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
            let error = Csv::new().read(&bytes[..], "t").unwrap_err();
            let place = error.place().unwrap();
            prop_assert_eq!(place.line, Some(bad_line));
            prop_assert_eq!(place.field, Some(bad_column + 1));
            prop_assert_eq!(place.column.clone(), Some(format!("name{bad_column}")));
        }
    }

    #[test]
    fn standardised_features_have_mean_0_and_variance_1(rows in matrices()) {
        let table = Table::new("t", (0..rows[0].len()).map(|j| {
            // Within 1e±100, so that differences neither overflow nor vanish.
            let squash = |v: f64| v.signum() * v.abs().clamp(1e-100, 1e100);
            nystrom_data::Column::numbers(format!("x{j}"),
                rows.iter().map(|row| squash(row[j])).collect())
        }).collect()).unwrap();
        let x = table.matrix().unwrap();
        let options = Standardize { constant: nystrom_data::Constant::ScaleByOne,
            ..Standardize::default() };
        let map = nystrom_data::Standardizer::fit(x.as_ref(), &[], options).unwrap();
        let z = map.transform(x.as_ref()).unwrap();
        let n = x.nrows() as f64;
        for j in 0..x.ncols() {
            let mean = (0..x.nrows()).map(|i| z[(i, j)]).sum::<f64>() / n;
            let square = (0..x.nrows()).map(|i| z[(i, j)].powi(2)).sum::<f64>() / n;
            let constant = (0..x.nrows()).all(|i| x[(i, j)] == x[(0, j)]);
            prop_assert!(mean.abs() < 1e-12, "mean {mean}");
            prop_assert!((square - if constant { 0.0 } else { 1.0 }).abs() < 1e-12,
                "mean square {square}");
        }
    }
}
