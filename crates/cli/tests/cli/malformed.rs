//! Wrong input, and what the program says: where, what, and what to do; never a panic, never a
//! file.

use crate::support::{Bench, table};

const USAGE: i32 = 2;
const DATA: i32 = 3;

/// A file, the command line that reads it, the status, and what the message must name.
struct Case(&'static str, &'static str, i32, &'static [&'static str]);

const FIT: &str = "fit FILE --lambda auto --target y -o out.json";

const CASES: &[Case] = &[
    // text tables
    Case("empty.csv|", FIT, DATA, &["empty.csv", "the file is empty"]),
    Case("header.csv|a,y\n", FIT, DATA, &["header.csv", "no rows", "complete?"]),
    Case(
        "ragged.csv|a,y\n1,2\n3\n",
        FIT,
        DATA,
        &["ragged.csv:3", "1 fields, expected 2", "--delimiter"],
    ),
    Case("wide.csv|a,y\n1,2\n3,4,5\n", FIT, DATA, &["wide.csv:3", "3 fields, expected 2"]),
    Case("word.csv|a,y\n1,2\n3,x\n", FIT, DATA, &["column \"y\"", "\"x\" in line 3", "--numeric"]),
    Case(
        "numeric.csv|1,2\n3,4\n",
        "fit FILE --lambda auto --target 1 -o out.json",
        DATA,
        &["numeric.csv:1", "header", "--no-header"],
    ),
    Case("quote.csv|a,y\n1,2\n\"3,4\n", FIT, DATA, &["quote.csv:3", "not closed", "closing quote"]),
    Case(
        "odd.csv|a#y\n1#2\n",
        FIT,
        DATA,
        &["odd.csv", "no column \"y\"", "there are 1", "--delimiter"],
    ),
    Case(
        "notarget.csv|a,b\n1,2\n",
        FIT,
        DATA,
        &["notarget.csv", "no column \"y\"", "\"a\", \"b\""],
    ),
    Case("alone.csv|y\n1\n2\n", FIT, DATA, &["alone.csv", "no column beside the target"]),
    Case(
        "constant.csv|a,y\n1,3\n1,6\n1,7\n",
        FIT,
        DATA,
        &["no feature is left", "has one value only"],
    ),
    Case(
        "level.csv|a,y\n1,3\n2,3\n4,3\n",
        FIT,
        DATA,
        &["the target \"y\" is 3 in every row", "take another target"],
    ),
    Case("two.csv|a,y\n1,3\n2,4\n", FIT, DATA, &["nothing to learn from 2 rows", "at least 3"]),
    Case("beyond.csv|a,y\n1,3\n2,4\n3,1e300\n", FIT, DATA, &["\"y\" reaches 1e300", "divide it"]),
    Case(
        "notgzip.csv.gz|garbage",
        FIT,
        DATA,
        &["notgzip.csv.gz", "gzip data", "fetch the file again"],
    ),
    Case("unknown.xyz|1 2 3\n", FIT, DATA, &["unknown.xyz", "format cannot be told", "--format"]),
    Case(
        "|",
        "fit absent.csv --lambda auto --target y -o out.json",
        DATA,
        &["absent.csv", "no such file", "check the path"],
    ),
    // other formats
    Case(
        "nodata.arff|@relation t\n@attribute a numeric\n",
        FIT,
        DATA,
        &["nodata.arff", "no @data line"],
    ),
    Case(
        "type.arff|@relation t\n@attribute a relational\n@data\n1\n",
        FIT,
        DATA,
        &["type.arff:2", "not supported", "leave relational attributes out"],
    ),
    Case(
        "pair.libsvm|1 1:2\n2 x\n",
        "fit FILE --lambda auto -o out.json",
        DATA,
        &["pair.libsvm:2, column 2", "index:value"],
    ),
    Case(
        "twice.libsvm|1 3:2 3:1\n",
        "fit FILE --lambda auto -o out.json",
        DATA,
        &["twice.libsvm:1, column 3", "occurs twice"],
    ),
    Case(
        "text.npy|a,y\n1,2\n",
        "fit FILE --lambda auto --target 1 -o out.json",
        DATA,
        &["text.npy", "not a complete .npy file", "numpy.save"],
    ),
    // models
    Case("t.csv|a,y\n1,2\n", "predict FILE FILE", DATA, &["t.csv", "not a whole model file"]),
    Case(
        "cut.json|{\"program\":\"nystrom\",\"format\":1",
        "predict FILE t.csv",
        DATA,
        &["cut.json", "fit the model again"],
    ),
    Case(
        "other.json|{\"a\":1}",
        "predict FILE t.csv",
        DATA,
        &["other.json", "no model of `nystrom fit`"],
    ),
    Case(
        "future.json|{\"program\":\"nystrom\",\"format\":9}",
        "predict FILE t.csv",
        DATA,
        &["future.json", "layout 9"],
    ),
    Case(
        "old.json|{\"program\":\"nystrom\",\"format\":1}",
        "predict FILE t.csv",
        DATA,
        &["old.json", "layout 1", "fit the model again"],
    ),
    // command lines
    Case("|", "fit good.csv --lambda auto -o out.json", USAGE, &["which column", "--target NAME"]),
    Case(
        "|",
        "fit good.csv --target y --landmarks magic:10 -o out.json",
        USAGE,
        &["no method \"magic\"", "rpcholesky"],
    ),
    Case("|", "fit good.csv --target y --landmarks uniform -o out.json", USAGE, &["METHOD:COUNT"]),
    Case(
        "|",
        "fit good.csv --target y --landmarks uniform:1000 -o out.json",
        USAGE,
        &["1000 landmarks", "at most 30"],
    ),
    Case("|", "fit good.csv --target y --lambda -1 -o out.json", USAGE, &["--lambda"]),
    Case("|", "fit good.csv --lambda auto --target y --memory lots -o out.json", USAGE, &["2GB"]),
    Case(
        "|",
        "fit good.csv --target y --kernel gaussian --nu 2 -o out.json",
        USAGE,
        &["--nu has no effect", "matern"],
    ),
    Case(
        "|",
        "fit good.csv --lambda auto --target y --hold-out 1.5 -o out.json",
        USAGE,
        &["hold-out: 1.5", "such as 0.2"],
    ),
    Case(
        "|",
        "scores good.csv --method exact --columns 5",
        USAGE,
        &["--columns has no effect", "--method fast"],
    ),
    Case("|", "scores good.csv --method sa --kernel linear", USAGE, &["stationary", "gaussian"]),
    Case("|", "sample good.csv --size 31", USAGE, &["31 rows in a subset", "at most 30"]),
];

#[test]
fn wrong_input_is_answered_with_place_and_remedy() {
    for Case(file, line, status, parts) in CASES {
        let bench = Bench::new();
        let (name, text) = file.split_once('|').unwrap();
        bench.write("good.csv", table(30, 1));
        if !name.is_empty() {
            // what a &str cannot hold
            let start: &[u8] = if name.ends_with(".gz") { &[0x1f, 0x8b, 8, 0] } else { &[] };
            bench.write(name, [start, text.as_bytes()].concat());
        }
        let before = bench.files();
        let run = bench.run(&line.replace("FILE", name));
        assert_eq!(run.code, Some(*status), "{line} on {file:?}: {run:?}");
        assert!(
            run.err.contains("error: ") && !run.err.contains("panicked"),
            "{line} on {file:?}: {run:?}"
        );
        assert!(!run.err.contains("::"), "a Rust name: {run:?}");
        for part in *parts {
            assert!(run.err.contains(part), "{line} on {file:?} lacks {part:?}: {}", run.err);
        }
        assert_eq!(bench.files(), before, "{line} on {file:?}");
        assert_eq!(run.out, "", "{line} on {file:?}");
    }
}

/// A model file cut anywhere, or with any one digit changed, is refused or is a model; it never
/// panics.
#[test]
fn damaged_models_never_panic() {
    let bench = Bench::new();
    bench.write("good.csv", table(30, 1));
    bench.ok("fit good.csv --target y --landmarks uniform:3 -o m.json -q");
    let whole = bench.read("m.json");
    for cut in (0..whole.len()).step_by(whole.len() / 12) {
        bench.write("cut.json", &whole[..cut]);
        bench.run("predict cut.json good.csv").ends(DATA, &["cut.json"]);
    }
    for place in (8..whole.len()).step_by(whole.len() / 12) {
        let mut bad = whole.clone();
        bad[place] ^= 1;
        bench.write("bad.json", bad);
        let run = bench.run("predict bad.json good.csv");
        let told = run.err.contains("damaged") || run.err.contains("has layout");
        assert!(run.code == Some(DATA) && told, "{place}: {run:?}");
    }
}
