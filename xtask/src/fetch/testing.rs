//! For the tests: a tiny data set, archives, and a server on this machine that answers as it is
//! told, rightly or not.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};
use nystrom_data::Csv;
use nystrom_data::catalog::{Entry, File};

/// A data set of two rows.
pub const TINY: &str = "x,y\n1,2\n3,4\n";

static FILES: [File; 1] = [File {
    path: "tiny/tiny.csv",
    rows: 2,
    sha256: None,
    sha256_uncompressed: Some("2a2b86e74ffd5e6a9b75e52a105cf9d02920837179f8e8961aa15411d380f7a3"),
}];

/// The entry of [`TINY`].
pub fn tiny() -> Entry {
    Entry {
        name: "tiny",
        aliases: &[],
        title: "Two rows",
        files: &FILES,
        columns: 2,
        rows: 2,
        features: 1,
        identity: Some("90b21626adc9da2518ad4c90584ddc812644f79139975e98cb3af7e67695dd1d"),
        target: "y",
        source: "Nowhere id 0",
        licence: "Public domain.",
        note: "",
        read: |file, name| Csv::new().read(file, name),
        prepare: Ok,
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    tar_with(&tar::Header::new_ustar(), files)
}

/// With headers of this kind.
pub fn tar_with(kind: &tar::Header, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = kind.clone();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// How one request is answered. The file has the `ETag` `"v1"` unless it says otherwise.
#[derive(Clone)]
pub enum Answer {
    /// As it should be: ranges and `If-Range` are honoured.
    Right,
    /// The same, but the connection ends after so many bytes of the body.
    CutAfter(usize),
    /// The same, but the server falls silent after so many bytes, and does not hang up.
    SilentAfter(usize),
    /// The whole file, whatever was asked for.
    IgnoresRange,
    /// Another range than was asked for.
    WrongRange,
    /// Another version of the file, from now on.
    Changed(Vec<u8>),
    /// No length, no version: the end of the connection is the end of the file, here after so many
    /// bytes.
    Unmeasured(usize),
    /// A page that says so, with this status.
    Page(u16),
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub path: String,
    /// The first byte of the range.
    pub from: Option<usize>,
    pub if_range: Option<String>,
}

/// A server on the loopback, with a file.
pub struct Server {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Serves `body` under every path; each request takes the next answer, the last one for all
    /// that follow.
    pub fn start(body: &[u8], answers: &[Answer]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answers, mut body) = (Arc::clone(&requests), answers.to_vec(), body.to_vec());
        std::thread::spawn(move || {
            for (i, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let request = read(&stream);
                seen.lock().unwrap().push(request.clone());
                // The other side may hang up at any time.
                let _ =
                    respond(&mut stream, &request, &answers[i.min(answers.len() - 1)], &mut body);
            }
        });
        Server { address, requests }
    }

    /// An address below the server that lives as long as the program, as those of the sources do.
    pub fn address(&self, path: &str) -> &'static str {
        Box::leak(format!("{}/{path}", self.address).into_boxed_str())
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let mut request = Request {
        path: first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned(),
        from: None,
        if_range: None,
    };
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_lowercase().as_str() {
            "range" => {
                request.from =
                    value.trim().trim_start_matches("bytes=").trim_end_matches('-').parse().ok()
            }
            "if-range" => request.if_range = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    request
}

fn respond(
    stream: &mut TcpStream,
    request: &Request,
    answer: &Answer,
    body: &mut Vec<u8>,
) -> std::io::Result<()> {
    let mut tag = "\"v1\"";
    if let Answer::Changed(other) = answer {
        (*body, tag) = (other.clone(), "\"v2\"");
    }
    let total = body.len();
    let same = request.if_range.as_deref().is_none_or(|wanted| wanted == tag);
    let from =
        request.from.filter(|_| same && !matches!(answer, Answer::IgnoresRange)).unwrap_or(0);
    let (status, range) = match (answer, from) {
        (Answer::Page(status), _) => {
            let page = "<!DOCTYPE html><p>Not here.";
            return write!(
                stream,
                "HTTP/1.1 {status} Other\r\nContent-Length: {}\r\n\r\n{page}",
                page.len()
            );
        }
        (Answer::Unmeasured(length), _) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            return stream.write_all(&body[..*length]);
        }
        (_, 0) => ("200 OK", String::new()),
        (_, from) if from >= total => {
            let head = format!(
                "HTTP/1.1 416 Range\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\n\r\n"
            );
            return stream.write_all(head.as_bytes());
        }
        (Answer::WrongRange, _) => {
            ("206 Partial Content", format!("Content-Range: bytes 1-{}/{total}\r\n", total - from))
        }
        _ => (
            "206 Partial Content",
            format!("Content-Range: bytes {from}-{}/{total}\r\n", total - 1),
        ),
    };
    let length = total - from;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: {tag}\r\nConnection: \
         close\r\n{range}\r\n"
    )?;
    let sent = match answer {
        Answer::CutAfter(bytes) | Answer::SilentAfter(bytes) => length.min(*bytes),
        _ => length,
    };
    stream.write_all(&body[from..from + sent])?;
    if matches!(answer, Answer::SilentAfter(_)) {
        let stream = stream.try_clone()?;
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(60));
            drop(stream);
        });
    }
    Ok(())
}
