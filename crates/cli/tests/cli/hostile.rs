//! Files and options as nobody should give them: each gets a status and words that help, in bounded
//! time, without a panic.

use crate::support::{Bench, Run, table};

const USAGE: i32 = 2;
const DATA: i32 = 3;

/// A file, options after `fit FILE`, the status, and what the message must say (nothing of a
/// success).
struct Case<'a>(&'a [u8], &'a str, i32, &'a [&'a str]);

const Y: &str = "--target y";

const FILES: &[Case<'_>] = &[
    // nothing, or next to nothing
    Case(b"", Y, DATA, &["the file is empty"]),
    Case(b"\n\n\r\n", Y, DATA, &["the file is empty"]),
    Case(b"\xef\xbb\xbf", Y, DATA, &["the file is empty"]),
    Case(b"a,y\n", Y, DATA, &["no rows of data after the header"]),
    Case(b"a,y", Y, DATA, &["no rows of data after the header"]),
    Case(b"a,y\n1,2\n", Y, DATA, &["nothing to learn from 1 row", "at least 3"]),
    Case(b"a,y\n1,2\n2,3\n", Y, DATA, &["nothing to learn from 2 rows", "at least 3"]),
    Case(b"a,y\n1,2\n2,3\n3,3\n", Y, 0, &[]),
    Case(b"y\n1\n2\n3\n", Y, DATA, &["no column beside the target", "keep at least one feature"]),
    Case(b"a,y\nred,1\nblue,2\nred,3\n", Y, 0, &[]),
    Case(b"a,b,y\nred,4,1\nblue,5,2\nred,7,3\n", Y, 0, &[]),
    Case(b"a,y\nred,u\nblue,v\nred,w\n", Y, DATA, &["column \"y\"", "\"u\" in line 2"]),
    // names
    Case(b"a,a,y\n1,2,3\n2,1,4\n5,5,1\n", Y, 0, &[]),
    Case(b"a,,y\n1,2,3\n2,1,4\n5,5,1\n", Y, 0, &[]),
    Case(b"a,,y\n1,u,3\n2,v,4\n5,w,1\n", Y, 0, &[]),
    Case(b"1,2\n3,4\n5,6\n", "--target 2", DATA, &["the header holds only numbers", "--no-header"]),
    Case(
        b"a,y\n1,2\n2,3\n3,5\n",
        "--target Y",
        DATA,
        &["there is no column \"Y\"", "\"a\", \"y\""],
    ),
    Case(
        b"a,y\n1,2\n2,3\n3,5\n",
        "--target 3",
        DATA,
        &["there is no column \"3\"", "numbered from 1"],
    ),
    Case(
        b"a,y\n1,2\n2,3\n3,5\n",
        "--target 0",
        DATA,
        &["there is no column \"0\"", "numbered from 1"],
    ),
    Case(b"a,y\n1,2\n2,3\n3,5\n", "--target -9223372036854775808", DATA, &["there is no column"]),
    Case(b"a,y\n1,2\n2,3\n3,5\n", "--target y --drop b", DATA, &["there is no column \"b\""]),
    Case(b"a,y\n1,2\n2,3\n3,5\n", "--target y --drop a", DATA, &["no column beside the target"]),
    Case(b"a,y\n1,2\n2,3\n3,5\n", "--target y --drop y", USAGE, &["among those to --drop"]),
    // ends of lines, marks, quotes
    Case(b"\xef\xbb\xbfa,y\r\n1,2\r\n2,3\r\n3,5\r\n", Y, 0, &[]),
    Case(b"a,y\r1,2\r2,3\r3,5", Y, 0, &[]),
    Case(b"\"a\",\"y\"\n\"1\",\"2\"\n\"2\",\"3\"\n\"3\",\"5\"\n", Y, 0, &[]),
    Case(b"a,y\n1,2\n\"2,3\n3,5\n", Y, DATA, &[":3", "not closed", "closing quote"]),
    Case(b"\xff\xfea\0,\0y\0", Y, DATA, &["no rows"]),
    Case(b"a,y\n1,2\n2,\xe9\n4,5\n6,7\n", Y, DATA, &["\"\u{e9}\" in line 3"]),
    Case(b"a,y\n1,2\n2,3\n3,5\n\0\n", Y, 0, &[]),
    Case(b"\x1f\x8b\x08\x00garbage", Y, DATA, &["gzip data", "fetch the file again"]),
    // numbers
    Case(b"a,y\n1,2\ninf,3\n3,5\n4,7\n", Y, 0, &[]),
    Case(b"a,y\n1,2\n1e400,3\n3,5\n4,7\n", Y, 0, &[]),
    Case(b"a,y\n1,2\n2,-Infinity\n3,5\n4,7\n", Y, 0, &[]),
    Case(b"a,y\n1,2\n0x10,3\n3,5\n4,7\n", Y, 0, &[]),
    Case(b"a,y\n1e300,2\n-1e300,3\n5e299,5\n", Y, 0, &[]),
    Case(b"a,y\n1e-320,2\n2e-320,3\n5e-320,5\n", Y, 0, &[]),
    Case(b"a,y\n1.7e308,2\n-1.7e308,3\n5,5\n", Y, DATA, &["no finite mean", "rescale"]),
    Case(b"a,y\n1,2e300\n2,3\n3,5\n", Y, DATA, &["reaches 2e300", "divide it"]),
    Case(
        b"a,y\n1,2\n2,2\n3,2\n",
        Y,
        DATA,
        &["the target \"y\" is 2 in every row", "another target"],
    ),
    Case(b"a,y\n1,2\n1,3\n1,5\n", Y, DATA, &["no feature is left", "has one value only"]),
    Case(
        b"a,y\n1e200,2\n2,3\n3,5\n",
        "--target y --kernel linear --no-standardize",
        DATA,
        &["the kernel has the value inf", "rescale"],
    ),
    // fields
    Case(b"a,y\n1,2\n2\n3,5\n", Y, DATA, &[":3", "1 fields, expected 2", "--delimiter"]),
    Case(b"a,y\n1,2\n2,3,4\n3,5\n", Y, DATA, &[":3", "3 fields, expected 2"]),
    Case(b"a,y\n1,2\n,\n3,5\n4,7\n5,5\n", Y, 0, &[]),
    Case(b"a;y\n1,5;2\n2,5;3\n3,5;7\n", Y, 0, &[]),
    Case(b"a,y\n1,5,2\n2,5,3\n", Y, DATA, &["nothing to learn from 2 rows"]),
    Case(b"a y\n1 2\n2 3\n3 5\n", Y, 0, &[]),
    Case(b"a|y\n1|2\n2|3\n3|5\n", Y, 0, &[]),
];

/// Options that a sound table cannot follow.
const OPTIONS: &[Case<'_>] = &[
    Case(b"", "--target y --missing", USAGE, &["--missing"]),
    Case(b"", "--target y --delimiter ab", USAGE, &["one ASCII character"]),
    Case(b"", "--target y --format npy", DATA, &["not a complete .npy file", "--format"]),
    Case(b"", "--target y --format arff", DATA, &["not an ARFF declaration"]),
    Case(b"", "--target y --format libsvm", DATA, &["is not a number"]),
    Case(b"", "--target y --format arff --missing XX", USAGE, &["--missing is for CSV"]),
    Case(b"", "--target y --format npy --decimal-comma", USAGE, &["are for CSV"]),
    Case(b"", "--target y --landmarks uniform:0", USAGE, &["not a number of landmarks"]),
    Case(
        b"",
        "--target y --landmarks uniform:99999999999999999999",
        USAGE,
        &["not a number of landmarks"],
    ),
    Case(b"", "--target y --landmarks uniform:31", USAGE, &["only 30 are available"]),
    Case(b"", "--target y --landmarks sa:5 --kernel linear", USAGE, &["stationary"]),
    Case(b"", "--target y --lambda nan", USAGE, &["not a positive number"]),
    Case(b"", "--target y --lambda inf", USAGE, &["not a positive number"]),
    Case(b"", "--target y --lambda 0", USAGE, &["not a positive number"]),
    Case(b"", "--target y --lambda 1e-320 --landmarks uniform:5", 0, &[]),
    Case(b"", "--target y --lambda 1e300 --landmarks uniform:5", 0, &[]),
    Case(b"", "--target y --lambdas 1:1:5", USAGE, &["must differ"]),
    Case(b"", "--target y --lambdas 1e300:1e-300:5", 0, &[]),
    Case(b"", "--target y --bandwidth 1e-150", 0, &[]),
    Case(b"", "--target y --bandwidth 1e300", 0, &[]),
    Case(b"", "--target y --kernel matern --nu 1e300", USAGE, &["nu"]),
    Case(b"", "--target y --kernel matern --nu nan", USAGE, &["nu"]),
    Case(
        b"",
        "--target y --kernel polynomial --degree 4000000000",
        DATA,
        &["the kernel has the value inf", "--degree"],
    ),
    Case(b"", "--target y --hold-out 0", USAGE, &["such as 0.2"]),
    Case(b"", "--target y --hold-out nan", USAGE, &["such as 0.2"]),
    Case(b"", "--target y --hold-out 0.97", DATA, &["nothing to learn from 1 row"]),
    Case(b"", "--target y --certify=0", USAGE, &["--certify"]),
    Case(
        b"",
        "--target y --landmarks bless:5 --leverage-lambda 0",
        USAGE,
        &["--leverage-lambda", "positive"],
    ),
    Case(b"", "--target y --landmarks sa:5", USAGE, &["no density", "recursive or bless"]),
    Case(b"", "--target y --certify=many", USAGE, &["--certify", "passes:5"]),
    Case(b"", "--target y --certify=passes:0", USAGE, &["--certify", "passes:5"]),
    Case(b"", "--target y --certify=passes:", USAGE, &["--certify", "passes:5"]),
    Case(b"", "--target y --lambda 1e-3 --tolerance -1", USAGE, &["--tolerance"]),
    Case(b"", "--target y --memory 0", USAGE, &["positive amount"]),
    Case(b"", "--target y --memory 1e300TB", USAGE, &["no unit of memory"]),
    Case(b"", "--target y --seed -1", USAGE, &["--seed"]),
    Case(b"", "--target y --threads 0", USAGE, &["--threads"]),
];

/// What every run must keep to, whatever it is given.
fn holds(run: &Run, Case(file, options, status, parts): &Case<'_>) {
    let what = format!("{options:?} on {:?}", String::from_utf8_lossy(file));
    assert_eq!(run.code, Some(*status), "{what}: {run:?}");
    assert!(!run.err.contains("panicked") && !run.err.contains("::"), "{what}: {run:?}");
    assert_eq!(run.err.contains("error: "), *status != 0, "{what}: {run:?}");
    for part in *parts {
        assert!(run.err.contains(part), "{what} lacks {part:?}: {}", run.err);
    }
}

#[test]
fn hostile_files() {
    let bench = Bench::new();
    for case in FILES {
        bench.write("t.csv", case.0);
        let run = bench.run(&format!("fit t.csv --lambda auto {} -o m.json", case.1));
        holds(&run, case);
        assert_eq!(bench.files().contains(&"m.json".to_owned()), case.2 == 0, "{:?}", case.1);
        if case.2 == 0 {
            bench.ok("predict m.json t.csv -q");
            std::fs::remove_file(bench.path("m.json")).unwrap();
        }
        // through the other door the same words
        let piped = bench.pipe(&format!("fit - --lambda auto {} -o m.json", case.1), case.0);
        holds(&piped, case);
        let _ = std::fs::remove_file(bench.path("m.json"));
    }
}

#[test]
fn hostile_options() {
    let bench = Bench::new();
    bench.write("t.csv", table(30, 1));
    for case in OPTIONS {
        holds(&bench.run(&format!("fit t.csv -o m.json {}", case.1)), case);
    }
}

#[test]
fn hostile_files_for_commands_without_a_target() {
    let bench = Bench::new();
    let commands = [
        "scores",
        "landmarks --landmarks rpcholesky:1",
        "sample --size 1",
        "scores --method exact",
    ];
    for (file, options, status, parts) in [
        (&b""[..], "", DATA, &["the file is empty"][..]),
        (b"a,b\n", "", DATA, &["no rows"]),
        (b"a,b\n1,2\n", "", DATA, &["one row only", "take more rows"]),
        (b"a,b\n1,2\n2,2\n", "", 0, &[]),
        (b"a,b\n1,2\n1,2\n", "", DATA, &["all rows are alike"]),
        (b"a,b\nu,v\nu,w\n", "", 0, &[]),
        (b"a,b\n1,2\n2,x\n4,4\n", "", 0, &[]),
        (b"a,b\n1,2\n2,3\n", "--drop a,b", USAGE, &["no column is left"]),
        (b"a\n1\n2\n3\n", "", 0, &[]),
    ] {
        bench.write("t.csv", file);
        for command in commands {
            let run = bench.run(&format!("{command} t.csv {options} -o r.csv"));
            holds(&run, &Case(file, options, status, parts));
        }
    }
}

#[test]
fn hostile_options_of_other_commands() {
    let bench = Bench::new();
    bench.write("t.csv", table(30, 1));
    for (line, part) in [
        ("sample t.csv --size 0", "at least one"),
        ("sample t.csv --size 3 --draws 0", "--draws"),
        ("sample t.csv --size 31", "at most 30"),
        ("sample t.csv --size 3 --method exact --steps 4", "--method swap"),
        ("scores t.csv --method fast --columns 0", "at least one"),
        ("scores t.csv --lambda 0", "positive"),
        ("scores t.csv --method sa", "drop features"),
        ("landmarks t.csv --landmarks uniform:31", "at most 30"),
        ("landmarks t.csv --landmarks rpcholesky:5 --weights", "leave out --weights"),
        ("landmarks t.csv --landmarks bless:5 --leverage-lambda -1", "positive"),
        ("completions tcsh", "bash"),
        ("predict", "<MODEL> <DATA>"),
        ("nonsense", "unrecognized subcommand"),
    ] {
        holds(&bench.run(line), &Case(b"", line, USAGE, &[part]));
    }
    bench.ok("sample t.csv --size 30");
    bench.ok("sample t.csv --size 30 --method swap --steps 0");
    for method in ["exact", "recursive", "bless", "squeak"] {
        for lambda in ["1e-300", "1e300"] {
            bench.ok(&format!("scores t.csv --method {method} --lambda {lambda}"));
        }
    }
}

#[test]
fn hostile_paths() {
    let bench = Bench::new();
    bench.write("t.csv", table(30, 1));
    std::fs::create_dir(bench.path("folder.csv")).unwrap();
    std::fs::create_dir(bench.path("folder")).unwrap();
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    for (line, status, part) in [
        ("fit folder.csv --lambda gcv --target y -o n.json", DATA, "no file is there"),
        ("fit folder --lambda gcv --target y -o n.json", DATA, "no file is there"),
        ("fit absent.csv --lambda auto --target y -o n.json", DATA, "no such file"),
        ("fit '' --lambda auto --target y -o n.json", USAGE, "a value is required"),
        ("fit t.csv --lambda auto --target y -o absent/n.json", 1, "check the folder"),
        ("fit t.csv --lambda auto --target y -o folder", USAGE, "this is a folder"),
        ("fit t.csv --lambda auto --target y -o t.csv", USAGE, "would overwrite"),
        ("predict folder t.csv", DATA, "cannot be read"),
        ("predict t.csv m.json", DATA, "not a whole model file"),
        ("predict m.json folder.csv", DATA, "no file is there"),
        ("predict m.json t.parquet", DATA, "Parquet"),
        ("predict m.json m.json", DATA, "the format cannot be told"),
        ("predict absent.json t.csv", DATA, "check the path"),
    ] {
        let run = bench.run(line);
        if cfg!(feature = "parquet") && line.ends_with(".parquet") {
            continue; // where the file is what is missing
        }
        let run = run.ends(status, &[part]);
        assert!(!run.err.contains("panicked") && !run.err.contains("::"), "{line}: {run:?}");
    }
    assert_eq!(bench.files(), ["folder", "folder.csv", "m.json", "t.csv"]);
}

#[test]
fn files_to_predict_that_lack_what_the_model_needs() {
    let bench = Bench::new();
    bench.write("t.csv", table(30, 1));
    bench.ok("fit t.csv --lambda auto --target y -o m.json -q");
    for (text, options, part) in [
        (
            "a,y\n1,2\n",
            "",
            "the model needs \"b\", \"c\", which the file lacks; it has \"a\", \"y\"",
        ),
        ("1,2\n", "--no-header", "the model needs \"a\", \"b\", \"c\""),
    ] {
        bench.write("new.csv", text);
        let run = bench.run(&format!("predict m.json new.csv {options}"));
        assert!(run.ends(DATA, &[part]).out.is_empty(), "{text:?}");
    }
}
