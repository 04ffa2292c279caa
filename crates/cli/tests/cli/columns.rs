//! Tables as people have them: the same decisions in memory and block by block, and the predictions
//! of the same numbers written plainly.

use crate::support::Bench;

/// Rows of a table.
const ROWS: usize = 90;
const FIT: &str =
    "--kernel gaussian --bandwidth 2 --landmarks uniform:30 --lambda 1e-4 --seed 3 -q";

/// A table that differs from the plain one in one way.
struct Kind {
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    /// Of `fit`, and of `predict` up to a `|`.
    options: &'static str,
    /// Features, if they are not those of the plain table; then predictions differ, too.
    features: Option<usize>,
}

/// a, b and y of a row: a of two decimals, b whole.
fn row(i: usize) -> (f64, usize, f64) {
    let (a, b) = ((i * 37 % 91) as f64 / 4.0 + 1000.0, i * i % 13 + 2);
    (a, b, (a / 9.0).sin() + b as f64 / 5.0)
}

/// A text of lines behind a header, each made of a, b and y.
fn csv(header: &str, line: impl Fn(usize, f64, usize, f64) -> String) -> String {
    let lines = (0..ROWS).map(|i| {
        let (a, b, y) = row(i);
        line(i, a, b, y) + "\n"
    });
    format!("{header}\n{}", lines.collect::<String>())
}

/// The plain table with another cell for a.
fn dressed(name: &'static str, cell: impl Fn(usize, f64) -> String) -> Kind {
    let text = csv("a,b,y", |i, a, b, y| format!("{},{b},{y}", cell(i, a)));
    kind(name, "t.csv", text, "--target y", None)
}

/// The plain table with one more column.
fn beside(name: &'static str, features: Option<usize>, cell: impl Fn(usize) -> String) -> Kind {
    let text = csv("a,b,more,y", |i, a, b, y| format!("{a},{b},{},{y}", cell(i)));
    kind(name, "t.csv", text, "--target y", features)
}

fn kind(
    name: &'static str,
    file: &'static str,
    text: impl Into<Vec<u8>>,
    options: &'static str,
    features: Option<usize>,
) -> Kind {
    Kind { name, file, bytes: text.into(), options, features }
}

fn plain() -> String {
    csv("a,b,y", |_, a, b, y| format!("{a},{b},{y}"))
}

/// `1,000.25` for 1000.25.
fn grouped(a: f64) -> String {
    format!("{},{:06.2}", (a / 1000.0) as usize, a % 1000.0)
}

fn numbers_in_a_dress() -> Vec<Kind> {
    vec![
        dressed("thousands", |_, a| format!("\"{}\"", grouped(a))),
        dressed("dollars", |_, a| format!("\"${}\"", grouped(a))),
        dressed("euros behind", |_, a| format!("{a:.2} €")),
        dressed("per cent", |_, a| format!("{a:.2} %")),
        dressed("Fortran exponents", |_, a| format!("{:.7}D+03", a / 1000.0)),
        dressed("quotes", |_, a| format!("'{a:.2}'")),
        dressed("a unit", |_, a| format!("{a:.2} kg")),
        dressed("a sign", |_, a| format!("+{a:.2}")),
        dressed("zeros before", |_, a| format!("00{a:.2}")),
        dressed("double quotes", |_, a| format!("\"{a:.2}\"")),
        dressed("blanks", |_, a| format!("  {a:.2} ")),
        dressed("texts of a spreadsheet", |_, a| format!("\"=\"\"{a:.2}\"\"\"")),
        dressed("an apostrophe before", |_, a| format!("'{a:.2}")),
        dressed("durations of pandas", |_, a| {
            format!("0 days 00:{:02}:{:05.2}", (a / 60.0) as usize, a % 60.0)
        }),
        dressed("durations with units", |_, a| {
            format!("{}m {:.2}s", (a / 60.0) as usize, a % 60.0)
        }),
        dressed("ISO durations", |_, a| format!("PT{}M{:.2}S", (a / 60.0) as usize, a % 60.0)),
    ]
}

fn more_columns() -> Vec<Kind> {
    let day = |i: usize| (i * 7 % 28 + 1, i % 12 + 1, 2019 + i % 2);
    vec![
        beside("one value", None, |_| "7".into()),
        beside("no value", None, |_| String::new()),
        beside("a name for each row", None, |i| format!("name {i}x")),
        beside("numbers of the rows", None, |i| (i + 1).to_string()),
        beside("categories", Some(5), |i| ["red", "green", "blue"][i % 3].into()),
        beside("gaps", Some(4), |i| match i % 10 {
            0 => "NA".into(),
            _ => (i * i % 17).to_string(),
        }),
        beside("gaps by question marks", Some(4), |i| match i % 10 {
            0 => "?".into(),
            _ => (i * i % 17).to_string(),
        }),
        beside("sizes", Some(2 + 6), |i| ["2", "3", "4", "5more", "XL", "M"][i % 6].into()),
        beside("whole numbers beyond 2⁵³", Some(5), |i| {
            ["9007199254740993", "9007199254740992", "9007199254740994"][i % 3].into()
        }),
        kind(
            "an index without a name",
            "t.csv",
            csv(",a,b,y", |i, a, b, y| format!("{i},{a},{b},{y}")),
            "--target y",
            None,
        ),
        kind(
            "years that are categories",
            "t.csv",
            csv("a,b,year,y", |i, a, b, y| format!("{a},{b},{},{y}", 2019 + i % 3)),
            "--target y --categorical year|",
            Some(5),
        ),
        beside("ISO dates", Some(0), |i| {
            let (d, m, y) = day(i);
            format!("{y}-{m:02}-{d:02}")
        }),
        beside("German dates", Some(0), |i| {
            let (d, m, y) = day(i);
            format!("{d}.{m}.{y}")
        }),
        beside("years of two digits", Some(0), |i| {
            let (d, m, y) = day(i);
            format!("{}-{m:02}-{d:02}", y - 2000)
        }),
        kind(
            "the index of two frames",
            "t.csv",
            csv(",a,b,y", |i, a, b, y| format!("{},{a},{b},{y}", i % 50)),
            "--target y",
            None,
        ),
        beside("tickets", Some(0), |i| match i % 3 {
            0 => format!("A/5 {i}"),
            _ => (i * 113 + 7).to_string(),
        }),
        beside("ranges", Some(3), |i| match i % 9 {
            0 => format!("{} - {}", 100 * i, 100 * i + 50),
            _ => format!("{}", i * i % 1009),
        }),
    ]
}

fn files() -> Vec<Kind> {
    let (text, y) = (plain(), "--target y");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let arff = |rest: &str, line: &dyn Fn(usize, f64, usize, f64) -> String| {
        csv(&format!("@relation t\n@attribute a numeric\n@attribute b {rest}\n@data"), line)
    };
    let comma = |a: f64| a.to_string().replace('.', ",");
    let named = |i: usize| ["über", "naïve"][i % 2];
    let latin = csv("a,b,more,y", |i, a, b, y| format!("{a},{b},{},{y}", named(i)));
    let latin: Vec<u8> = latin.chars().map(|c| c as u8).collect();
    vec![
        kind("a mark of the order of bytes", "t.csv", format!("\u{feff}{text}"), y, None),
        kind("lines of Windows", "t.csv", text.replace('\n', "\r\n"), y, None),
        kind("UTF-16", "t.csv", [vec![0xff, 0xfe], utf16].concat(), y, None),
        kind("Windows-1252", "t.csv", latin, y, Some(4)),
        kind("a separator", "t.csv", format!("sep=;\n{}", text.replace(',', ";")), y, None),
        kind("semicolons", "t.csv", text.replace(',', ";"), y, None),
        kind("comments", "t.csv", format!("# made by hand\n# in May\n{text}"), y, None),
        kind("titles", "t.csv", format!("Sales of the year\n\n{text}"), y, None),
        kind("empty fields at the end", "t.csv", text.replace('\n', ",,\n"), y, None),
        kind(
            "decimal commas",
            "t.csv",
            csv("a;b;y", |_, a, b, y| format!("{};{b};{}", comma(a), comma(y))),
            "--target y --decimal-comma",
            None,
        ),
        kind(
            "a target in euros",
            "t.csv",
            csv("a,b,y", |_, a, b, y| format!("{a},{b},€{y}")),
            y,
            None,
        ),
        kind("equal names", "t.csv", csv("a,a,y", |_, a, b, y| format!("{a},{b},{y}")), y, None),
        kind(
            "sparse rows",
            "t.libsvm",
            csv("", |_, a, b, y| format!("{y} 1:{a} 2:{b}")).trim_start().to_owned(),
            "",
            None,
        ),
        kind(
            "ARFF",
            "t.arff",
            arff("INTEGER\n@attribute y real", &|_, a, b, y| format!("{a},{b},{y}")),
            y,
            None,
        ),
        kind(
            "ARFF of names",
            "t.arff",
            arff("numeric\n@attribute more {low,high}\n@attribute y real", &|i, a, b, y| {
                format!("{a},{b},{},{y}", ["low", "high"][i % 2])
            }),
            y,
            Some(4),
        ),
    ]
}

/// Features, columns that were left out, and predictions.
type Fitted = (Vec<String>, Vec<String>, Vec<f64>);

fn fitted(bench: &Bench, Kind { file, options, .. }: &Kind, more: &str) -> Fitted {
    let reading = options.split_once('|').map_or(*options, |(_, reading)| reading);
    let reading: Vec<&str> = reading.split(' ').filter(|word| *word == "--decimal-comma").collect();
    let options = options.replace('|', "");
    bench.ok(&format!("fit {file} {options} {FIT} {more} -o m.bin"));
    bench.ok(&format!("predict m.bin {file} {} -o p.csv -q", reading.join(" ")));
    let found = bench.json("inspect m.bin --json");
    let texts = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let features = found["features"].as_array().unwrap().iter().map(texts).collect();
    let dropped = found["dropped"].as_array().unwrap();
    let dropped = dropped.iter().map(|dropped| texts(&dropped["column"])).collect();
    (features, dropped, bench.column("p.csv", "prediction"))
}

fn check(kinds: Vec<Kind>) {
    let bench = Bench::new();
    bench.write("plain.csv", plain());
    let of_plain = kind("plain", "plain.csv", "", "--target y", None);
    let (_, _, expected) = fitted(&bench, &of_plain, "");
    for kind in kinds {
        let name = kind.name;
        bench.write(kind.file, &kind.bytes);
        let memory = fitted(&bench, &kind, "");
        // ARFF files are read as a whole
        let in_blocks = if kind.file.ends_with(".arff") { "" } else { "--stream" };
        let blocks = fitted(&bench, &kind, in_blocks);
        assert_eq!((&memory.0, &memory.1), (&blocks.0, &blocks.1), "{name}");
        for predictions in [&memory.2, &blocks.2] {
            assert_eq!(predictions.len(), ROWS, "{name}");
            assert!(predictions.iter().all(|value| value.is_finite()), "{name}");
        }
        match kind.features {
            // dates and mixed columns: as many as the table covers
            Some(0) => assert!(memory.0.len() > 2, "{name}: {:?}", memory.0),
            Some(count) => assert_eq!(memory.0.len(), count, "{name}: {:?}", memory.0),
            None => {
                assert_eq!(memory.0.len(), 2, "{name}: {:?}", memory.0);
                for (i, (value, plain)) in memory.2.iter().zip(&expected).enumerate() {
                    assert!((value - plain).abs() < 1e-9, "{name}, row {i}: {value} {plain}");
                }
            }
        }
    }
}

#[test]
fn numbers_in_any_dress_are_the_plain_numbers() {
    check(numbers_in_a_dress());
}

#[test]
fn columns_beside_numbers_are_features_or_left_out() {
    check(more_columns());
}

#[test]
fn files_of_any_making_are_the_plain_file() {
    check(files());
}

#[test]
fn groups_and_times_are_never_ignored_where_the_fit_is_told() {
    let bench = Bench::new();
    let text = csv("a,b,g,y", |i, a, b, y| format!("{a},{b},{},{y}", i % 9));
    bench.write("t.csv", text);
    let fit = "fit t.csv --target y --group g -o m.bin -q";
    bench.run(&format!("{fit} --kernel gaussian --hold-out 0.2")).ends(2, &["--lambda a number"]);
    bench.run(&format!("{fit} --lambda 1e-3")).ends(2, &["add --hold-out 0.2"]);
    bench.ok(&format!("{fit} --lambda 1e-3 --hold-out 0.2"));
}

#[test]
fn columns_are_copied_beside_predictions_as_they_stand() {
    let bench = Bench::new();
    let text = csv("code,a,b,y", |i, a, b, y| format!("0{i}0,\"{}\",{b},{y}", grouped(a)));
    bench.write("t.csv", text);
    bench.ok(&format!("fit t.csv --target y --drop code {FIT} -o m.bin"));
    bench.ok("predict m.bin t.csv -o plain.csv -q");
    for more in ["", "--stream"] {
        bench.ok(&format!("predict m.bin t.csv --keep code,2 -o p.csv -q {more}"));
        let text = bench.text("p.csv");
        assert!(text.starts_with("code,a,prediction\n000,\"1,000.00\","), "{text}");
        assert_eq!(bench.column("plain.csv", "prediction").len(), text.lines().count() - 1);
    }
    bench.run("predict m.bin t.csv --keep code -o p.npy").ends(2, &["leave out --keep"]);
}
