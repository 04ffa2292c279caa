//! One output for the results of all processes, in the order of the rows.

use crate::args::Output;
use crate::failure::{Failure, Result};
use crate::output::{Columns, Sink};
use nystrom_pipeline::Ranks;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};

/// The bytes after which rows are sent as one message.
const PIECE: usize = 1 << 24;

/// The output for rows of results: the rows of each process follow those of the process before.
pub enum OrderedOutput {
    /// On process 0: the output itself, and whether its header is written.
    Sink(Sink, bool),
    /// On other processes: a temporary file with a header, the bytes of the header, and rows.
    File(File, usize),
}

impl OrderedOutput {
    pub fn open(output: &Output, ranks: &dyn Ranks) -> Result<OrderedOutput> {
        if ranks.rank() == 0 {
            return Ok(OrderedOutput::Sink(Sink::open(output)?, false));
        }
        let failed = |source| Failure::Output { file: "a temporary file".into(), source };
        Ok(OrderedOutput::File(tempfile::tempfile().map_err(failed)?, 0))
    }

    pub fn write(&mut self, columns: &Columns<'_>) -> Result<()> {
        match self {
            OrderedOutput::Sink(sink, is_headed) => {
                let header = !std::mem::replace(is_headed, true);
                sink.write(&columns.rows_of_csv(header))
            }
            OrderedOutput::File(file, header) => {
                if *header == 0 {
                    let text = columns.header_of_csv();
                    file.write_all(text.as_bytes())?;
                    *header = text.len();
                }
                Ok(file.write_all(columns.rows_of_csv(false).as_bytes())?)
            }
        }
    }

    /// Completes the output. The other processes send their temporary files to process 0, with the
    /// header if no process before them wrote one.
    pub fn finish(self, ranks: &dyn Ranks) -> Result<()> {
        let (is_headed, size) = match &self {
            OrderedOutput::Sink(_, is_headed) => (*is_headed, 0),
            OrderedOutput::File(_, size) => (*size > 0, *size),
        };
        let all = ranks.gather(vec![u8::from(is_headed)]);
        let mut file = match self {
            OrderedOutput::File(file, _) => file,
            OrderedOutput::Sink(mut sink, _) => {
                (1..ranks.size()).try_for_each(|from| receive(&mut sink, from, ranks))?;
                return sink.finish();
            }
        };
        let is_first = all[..ranks.rank()].iter().all(|headed| headed[..] == [0]);
        file.seek(SeekFrom::Start(if is_first { 0 } else { size as u64 }))?;
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
        sink.write(&String::from_utf8(piece)?)?;
    }
}
