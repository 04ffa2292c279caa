//! Runs jobs, and writes small tables.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A job that takes longer counts as hanging.
const LONGEST: Duration = Duration::from_secs(100);

/// The temporary folder of a test.
pub struct Bench(tempfile::TempDir);

/// The status and the output of a job.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Self {
        Bench(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Writes the rows of `table(n)` to `count` files, shards/0.csv and so on.
    pub fn shards(&self, n: usize, count: usize) {
        std::fs::create_dir(self.path("shards")).unwrap();
        let text = table(n);
        let (header, rows) = text.split_once('\n').unwrap();
        let rows: Vec<&str> = rows.lines().collect();
        for (i, rows) in rows.chunks(n.div_ceil(count)).enumerate() {
            self.write(&format!("shards/{i}.csv"), format!("{header}\n{}\n", rows.join("\n")));
        }
    }

    /// A command with these arguments, separated by blanks. There is no shell, so that patterns
    /// such as `*.csv` reach the program.
    fn command(&self, program: impl AsRef<Path>, words: &str) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.0.path()).args(words.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a job of `size` processes of a program.
    pub fn start(&self, size: usize, program: &Path, words: &str, more: &[&str]) -> Child {
        let mut command = self.command("mpirun", "--oversubscribe --bind-to none");
        command.args(["-n", &size.to_string()]).args(more).arg(program);
        command.args(words.split_whitespace());
        // tests may run as root, for example in a container
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        command.env("RAYON_NUM_THREADS", "1");
        command.spawn().unwrap()
    }

    /// Runs a job of `nystrom-mpi`.
    pub fn job(&self, size: usize, words: &str) -> Run {
        wait(self.start(size, &program(), words, &[]), words)
    }

    /// Runs a job of `nystrom-mpi` and asserts that it succeeds.
    pub fn ok(&self, size: usize, words: &str) -> Run {
        let run = self.job(size, words);
        assert_eq!(run.code, Some(0), "{words} by {size}: {run:?}");
        run
    }

    /// Runs a job of `examples/faults.rs`.
    pub fn faults(&self, size: usize, words: &str, more: &[&str]) -> Run {
        wait(self.start(size, &example("faults"), words, more), words)
    }

    /// Runs the program `nystrom` and asserts that it succeeds.
    pub fn alone(&self, words: &str) -> Run {
        let run = wait(self.command(example("alone"), words).spawn().unwrap(), words);
        assert_eq!(run.code, Some(0), "{words}: {run:?}");
        run
    }
}

/// Waits for a program to end; panics if it hangs.
pub fn wait(mut child: Child, what: &str) -> Run {
    fn reader(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let out = reader(child.stdout.take().unwrap());
    let err = reader(child.stderr.take().unwrap());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("{what} hangs: {}", err.join().unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Run { code: status.code(), out: out.join().unwrap(), err: err.join().unwrap() }
}

pub fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_nystrom-mpi").into()
}

/// The path of a program in `examples/`, which is built with the tests.
fn example(name: &str) -> PathBuf {
    program().with_file_name("examples").join(name)
}

/// A CSV table of n rows with features a, b, c, the target y = sin 3a + b·c + noise, which is
/// missing in some rows, and a text column.
pub fn table(n: usize) -> String {
    let mut state = 1_u64;
    let mut next = || {
        // Knuth's MMIX generator
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut text = String::from("a,b,y,c,kind\n");
    for i in 0..n {
        let [a, b, c, noise] = std::array::from_fn(|_| next());
        let y = (3.0 * a).sin() + b * c + 0.1 * noise;
        let y = if i % 41 == 7 { String::new() } else { format!("{y:?}") };
        let kind = ["red", "green", "blue"][i % 7 % 3];
        writeln!(text, "{a:?},{b:?},{y},{c:?},{kind}").unwrap();
    }
    text
}
