//! Damaged files, and a guard under which they are read. The tests of saved models in
//! `crates/nystrom` use it too.
//!
//! `NYSTROM_FUZZ` is the number of cases for each target, and `PROPTEST_RNG_SEED` another search
//! than the one of every day: CONTRIBUTING.md has the commands that look for long.

use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The longest file: what is damaged stays small, so that much memory is a defect.
const LONGEST: usize = 1 << 16;
/// What reading such a file may hold at one time: gzip packs a thousand bytes into one.
const MOST_MEMORY: u64 = 1 << 27;
/// Far more than any such file takes on a busy machine.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The bytes of a file; a failure shows them as Rust writes them.
#[derive(Clone)]
pub struct File(pub Vec<u8>);

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// `usual` cases, or as many as `NYSTROM_FUZZ` says.
pub fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("NYSTROM_FUZZ").ok();
    let cases =
        asked.map_or(usual, |text| text.parse().expect("NYSTROM_FUZZ is a number of cases"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Runs `load` on the file: a panic or much memory fails the test, a long wait ends the program.
/// What takes much memory runs again, since the first product of a thread reserves twice the last
/// cache of the processor for all later ones: hundreds of megabytes on some, hardly any written.
pub fn guarded(file: File, load: impl Fn(&[u8]) + Send + 'static) {
    let shown = file.clone();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let once = || allocation_counter::measure(|| load(&file.0)).bytes_max;
        let run = || Some(once()).filter(|held| *held <= MOST_MEMORY).unwrap_or_else(once);
        let _ = sender.send(catch_unwind(AssertUnwindSafe(run)));
    });
    match receiver.recv_timeout(LONGEST_WAIT) {
        Ok(Ok(held)) => {
            assert!(held <= MOST_MEMORY, "{} bytes of file, {held} of memory", shown.0.len())
        }
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => {
            // A thread that does not end would block the others: no smaller file is searched for.
            let _ = writeln!(std::io::stderr(), "not done after {LONGEST_WAIT:?}: {shown:?}");
            std::process::abort();
        }
    }
}

/// One of the valid files with up to five changes.
pub fn damaged(valid: Vec<Vec<u8>>) -> impl Strategy<Value = File> {
    (select(valid), prop::collection::vec(edit(), 0..6)).prop_map(|(mut bytes, edits)| {
        edits.into_iter().for_each(|edit| edit.apply(&mut bytes));
        bytes.truncate(LONGEST);
        File(bytes)
    })
}

/// A change of bytes.
#[derive(Debug, Clone)]
enum Edit {
    Set(Index, u8),
    Flip(Index, u32),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// Bytes from one place, some times over, at another.
    Copy {
        from: Index,
        length: usize,
        times: usize,
        to: Index,
    },
    Cut(Index),
    /// The run of digits from here on becomes this.
    Number(Index, &'static str),
}

/// Numbers at which sizes overflow, values vanish, and loops do not end.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "-0",
    "1.5",
    "255",
    "65536",
    "4294967296",
    "1048576",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "1e-320",
    "1e400",
    "nan",
];

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        (at(), 0..8_u32).prop_map(|(at, bit)| Edit::Flip(at, bit)),
        (at(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (at(), 1..40_usize).prop_map(|(at, length)| Edit::Remove(at, length)),
        (at(), 1..80_usize, 1..200_usize, at()).prop_map(|(from, length, times, to)| Edit::Copy {
            from,
            length,
            times,
            to
        }),
        at().prop_map(Edit::Cut),
        (at(), select(NUMBERS.to_vec())).prop_map(|(at, number)| Edit::Number(at, number)),
    ]
}

impl Edit {
    fn apply(self, bytes: &mut Vec<u8>) {
        let end = bytes.len();
        let place = |at: Index| at.index(end + 1); // the end is a place too
        let span = |at: Index, length: usize| place(at)..end.min(place(at) + length);
        match self {
            Edit::Set(at, byte) => bytes[span(at, 1)].fill(byte),
            Edit::Flip(at, bit) => bytes[span(at, 1)].iter_mut().for_each(|byte| *byte ^= 1 << bit),
            Edit::Insert(at, new) => drop(bytes.splice(place(at)..place(at), new)),
            Edit::Remove(at, length) => drop(bytes.drain(span(at, length))),
            Edit::Copy { from, length, times, to } => {
                let copies = bytes[span(from, length)].repeat(times);
                drop(bytes.splice(place(to)..place(to), copies));
            }
            Edit::Cut(at) => bytes.truncate(place(at)),
            Edit::Number(at, number) => {
                let Some(start) = (place(at)..end).find(|&i| bytes[i].is_ascii_digit()) else {
                    return;
                };
                let stop = (start..end).find(|&i| !bytes[i].is_ascii_digit()).unwrap_or(end);
                drop(bytes.splice(start..stop, number.bytes()));
            }
        }
    }
}
