//! The progress of a pass: a bar on a terminal, otherwise a line every ten seconds.

use crate::session::Session;
use crate::text::{self, number};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(10);

/// The progress of one pass.
pub struct PassWatch<'a> {
    session: &'a Session<'a>,
    what: String,
    /// The number of all rows, if it is known, and of all bytes.
    total: (Option<u64>, u64),
    /// The row at which the pass began.
    from: u64,
    /// The row that the pass has reached.
    rows: u64,
    start: Instant,
    last: Instant,
}

impl<'a> PassWatch<'a> {
    /// The progress of a pass. Its name gets the rank of the process if there are several.
    pub fn new(session: &'a Session<'a>, pass: &str, total: (Option<u64>, u64)) -> Self {
        let (now, rank) = (Instant::now(), session.ranks.rank());
        let what = match session.ranks.size() {
            1 => pass.to_owned(),
            size => format!("{pass}, process {rank} of {size}"),
        };
        PassWatch { session, what, total, from: 0, rows: 0, start: now, last: now }
    }

    /// Starts the pass at this row.
    pub fn begin(&mut self, row: u64) {
        (self.from, self.rows) = (row, row);
        (self.start, self.last) = (Instant::now(), Instant::now());
    }

    /// Adds `rows` rows; `bytes` is the number of bytes read so far.
    pub fn rows(&mut self, rows: usize, bytes: u64) {
        self.rows += rows as u64;
        let done = match self.total {
            (Some(all), _) => self.rows as f64 / all.max(1) as f64,
            (None, all) => bytes as f64 / all.max(1) as f64,
        };
        if self.session.is_shown() {
            self.session.share(&self.words(done), done);
        } else if self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            self.session.say(&self.words(done));
        }
    }

    pub fn end(&self) {
        let (rows, seconds) = (self.rows - self.from, self.start.elapsed().as_secs_f64());
        let rate = number(text::rounded(rows as f64 / seconds.max(1e-9), 2));
        let rows = text::count(rows as usize, "row");
        self.session.say(&format!("{}: {rows} in {seconds:.1} s, {rate} rows/s", self.what));
    }

    fn words(&self, done: f64) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = (self.rows - self.from) as f64 / seconds.max(1e-9);
        let of = self.total.0.map_or_else(String::new, |all| format!(" of {all}"));
        let began = self.total.0.map_or(0.0, |all| self.from as f64 / all.max(1) as f64);
        let left = text::to_go(seconds, done - began, (1.0 - done).max(0.0));
        let (rows, rate) = (self.rows, number(text::rounded(rate, 2)));
        format!("{}: {rows}{of} rows, {rate} rows/s{left}", self.what)
    }
}
