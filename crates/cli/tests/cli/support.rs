//! Running the program, and small tables.

use nystrom::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A folder of its own for each test, and the program in it.
pub struct Bench {
    dir: tempfile::TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    line: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    /// It must have ended with this status, and all this on standard error.
    #[track_caller]
    pub fn ends(self, code: i32, parts: &[&str]) -> Run {
        assert_eq!(self.code, Some(code), "nystrom {}: {self:?}", self.line);
        parts.iter().for_each(|part| assert!(self.err.contains(part), "{part}: {self:?}"));
        self
    }
}

impl Run {
    /// The summary without the breaks of its lines.
    pub fn said(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The arguments of the command that repeats the run, as a shell reads it.
    #[track_caller]
    pub fn to_repeat(&self) -> Vec<String> {
        let command = self.out.split_once("to repeat").unwrap().1;
        let mut words = words(&command.replace("\\\n", "").trim().replace('\n', " "));
        assert_eq!(words.remove(0), "nystrom");
        words
    }

    /// No line of standard output takes more than 80 columns.
    #[track_caller]
    pub fn fits_80_columns(&self) {
        for line in self.out.lines() {
            assert!(line.chars().count() <= 80, "{line:?} of {}", self.out);
        }
    }
}

impl Bench {
    pub fn new() -> Self {
        Bench { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> =
            names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nystrom"));
        command.current_dir(self.dir.path());
        command
    }

    /// Runs a command line, words separated by blanks; a word in single quotes may hold blanks.
    pub fn run(&self, line: &str) -> Run {
        self.pipe(line, b"")
    }

    /// As [`run`](Self::run), with something on standard input. A program that hangs is a failure.
    pub fn pipe(&self, line: &str, input: &[u8]) -> Run {
        let mut command = self.command();
        command
            .args(words(line))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
        // which fails if the program does not want it
        std::thread::spawn(move || stdin.write_all(&input));
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || done.send(child.wait_with_output()));
        let ended = ended.recv_timeout(Duration::from_secs(300));
        let Output { status, stdout, stderr } =
            ended.unwrap_or_else(|_| panic!("nystrom {line}: hangs")).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { line: line.to_owned(), code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// As [`run`](Self::run), and it must end well.
    #[track_caller]
    pub fn ok(&self, line: &str) -> Run {
        self.run(line).ends(0, &[])
    }

    pub fn json(&self, line: &str) -> serde_json::Value {
        let run = self.ok(line);
        serde_json::from_str(&run.out)
            .unwrap_or_else(|error| panic!("nystrom {line}: {error} in {}", run.out))
    }

    /// The error of a model on the rows of a file.
    pub fn rmse(&self, model: &str, file: &str) -> f64 {
        let outcome = self.json(&format!("evaluate {model} {file} --json"));
        outcome["error"]["rmse"].as_f64().unwrap()
    }

    /// A column of a CSV file.
    pub fn column(&self, file: &str, column: &str) -> Vec<f64> {
        column_of(&self.path(file), column)
    }
}

/// The words of a command line, as a shell takes them.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' if !quoted => word.get_or_insert_default().extend(characters.next()),
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

pub fn column_of(path: &Path, column: &str) -> Vec<f64> {
    nystrom_data::Csv::new().read_path(path).unwrap().numbers(column).unwrap().to_vec()
}

/// n rows of three features and y = sin 3a + b·c + noise, as CSV.
pub fn table(n: usize, seed: u64) -> String {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut text = String::from("a,b,y,c\n");
    for _ in 0..n {
        let [a, b, c, noise] = std::array::from_fn(|_| rng.random::<f64>() * 2.0 - 1.0);
        text += &format!("{a:?},{b:?},{:?},{c:?}\n", (3.0 * a).sin() + b * c + 0.1 * noise);
    }
    text
}
