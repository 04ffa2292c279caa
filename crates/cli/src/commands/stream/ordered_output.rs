//! One output for the results of all processes, in the order of the rows.

use crate::args::Output;
use crate::failure::{Failure, Result};
use crate::output::{ResultColumns, Sink};
use crate::session::Session;
use nystrom_pipeline::Ranks;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};

/// The bytes after which rows are sent as one message.
const PIECE: usize = 1 << 24;

/// The output for rows of results: the rows of each process follow those of the process before.
pub struct OrderedOutput {
    to: Destination,
    /// The bytes of the header; 0 if it is not written yet.
    header: u64,
}

enum Destination {
    /// On process 0: the output itself.
    Sink(Sink),
    /// On other processes: a temporary file.
    File(File),
}

impl OrderedOutput {
    pub fn open(output: &Output, session: &Session<'_>) -> Result<OrderedOutput> {
        let failed = |source| Failure::Output { file: "a temporary file".into(), source };
        let to = match session.is_first() {
            true => Destination::Sink(Sink::open(output)?),
            false => Destination::File(tempfile::tempfile().map_err(failed)?),
        };
        Ok(OrderedOutput { to, header: 0 })
    }

    pub fn write(&mut self, columns: &ResultColumns) -> Result<()> {
        let text = columns.csv(self.header == 0);
        if self.header == 0 {
            self.header = columns.header().len() as u64;
        }
        match &mut self.to {
            Destination::Sink(sink) => sink.write(text.as_bytes()),
            Destination::File(file) => Ok(file.write_all(text.as_bytes())?),
        }
    }

    /// Completes the output. The other processes send their temporary files to process 0, with the
    /// header if no process before them wrote one.
    pub fn finish(self, session: &Session<'_>) -> Result<()> {
        let ranks = session.ranks;
        let has_header = ranks.gather(self.header > 0)?;
        let mut file = match self.to {
            Destination::File(file) => file,
            Destination::Sink(mut sink) => {
                (1..ranks.size()).try_for_each(|from| receive(&mut sink, from, ranks))?;
                return sink.finish();
            }
        };
        let is_first = !has_header[..ranks.rank()].contains(&true);
        file.seek(SeekFrom::Start(if is_first { 0 } else { self.header }))?;
        let mut rest = String::new();
        let mut reader = BufReader::new(file);
        while reader.read_line(&mut rest)? > 0 {
            if rest.len() >= PIECE {
                ranks.send(0, std::mem::take(&mut rest).as_bytes());
            }
        }
        if !rest.is_empty() {
            ranks.send(0, rest.as_bytes());
        }
        ranks.send(0, &[]);
        Ok(())
    }
}

/// Receives the rows of another process and writes them.
fn receive(sink: &mut Sink, from: usize, ranks: &dyn Ranks) -> Result<()> {
    loop {
        let piece = ranks.receive(from);
        if piece.is_empty() {
            return Ok(());
        }
        sink.write(&piece)?;
    }
}
