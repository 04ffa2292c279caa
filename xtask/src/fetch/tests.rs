//! Against a server on the loopback: what breaks off is resumed, what is wrong is refused, nothing
//! half is taken for whole.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use nystrom_data::catalog::{self, Entry, Verify};

use super::download::{Client, download};
use super::sources::{From, Layout, Way};
use super::testing::{Answer, Request, Server, TINY, gzip, tar, tiny, zip};
use super::{ARCHIVES, Fetched, RECORD, fetch, file_name};

/// Long enough for a machine that builds other things; two tests wait for it.
const SILENCE: Duration = Duration::from_secs(3);

/// Bytes of which no stretch looks like another.
fn body() -> Vec<u8> {
    (0..200_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// A folder and the path of a file to be downloaded.
struct Place {
    folder: tempfile::TempDir,
    target: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("sub/file.zip");
        Place { folder, target }
    }

    /// Downloads, in a bounded time whatever the server does.
    fn get(&self, server: &Server) -> Result<Vec<u8>, String> {
        let (address, target) = (server.address("file.zip"), self.target.clone());
        let (done, result) = mpsc::channel();
        std::thread::spawn(move || {
            let result = download(&Client::local(SILENCE), address, &target, &mut |_, _| {});
            done.send(result.map_err(|error| format!("{error:#}")))
        });
        result.recv_timeout(Duration::from_secs(60)).expect("the download hangs")?;
        assert_eq!(self.files(), ["file.zip"], "nothing but the file is left");
        Ok(std::fs::read(&self.target).unwrap())
    }

    fn files(&self) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.folder.path().join("sub")) else { return vec![] };
        let mut names: Vec<String> =
            folder.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn starts(server: &Server) -> Vec<Option<usize>> {
    server.requests().iter().map(|request| request.from).collect()
}

#[test]
fn a_file_comes_whole_or_in_pieces() {
    use Answer::*;
    let cases: [(&[Answer], &[Option<usize>]); 5] = [
        (&[Right], &[None]),
        (&[CutAfter(1000), Right], &[None, Some(1000)]),
        (
            &[CutAfter(1000), CutAfter(70_000), SilentAfter(500), Right],
            &[None, Some(1000), Some(71_000), Some(71_500)],
        ),
        // Ranges ignored: everything comes again, and none of it twice.
        (&[CutAfter(1000), IgnoresRange], &[None, Some(1000)]),
        // Another range than was asked for: what was kept cannot be joined with it.
        (&[CutAfter(1000), WrongRange, Right], &[None, Some(1000), None]),
    ];
    for (i, (answers, expected)) in cases.into_iter().enumerate() {
        let server = Server::start(&body(), answers);
        let bytes = Place::new().get(&server).unwrap_or_else(|error| panic!("case {i}: {error}"));
        assert!(bytes == body(), "case {i}: {} bytes", bytes.len());
        assert_eq!(starts(&server), expected, "case {i}");
    }
}

#[test]
fn what_broke_off_is_kept_and_resumed_by_the_next_run() {
    use Answer::*;
    for last in [CutAfter(0), SilentAfter(0)] {
        let place = Place::new();
        let server = Server::start(&body(), &[CutAfter(150_000), last.clone(), Right]);
        let error = place.get(&server).unwrap_err();
        for part in ["150000 bytes are kept", "file.zip.part", "run again"] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(
            place.files(),
            ["file.zip.part", "file.zip.part.json"],
            "no half is called a whole"
        );
        assert!(place.get(&server).unwrap() == body());
        let request = server.requests().pop().unwrap();
        let expected = Request {
            path: "file.zip".into(),
            from: Some(150_000),
            if_range: Some("\"v1\"".into()),
        };
        assert_eq!(request, expected);
    }
}

#[test]
fn a_file_that_changed_in_between_comes_anew() {
    let place = Place::new();
    let other: Vec<u8> = body().iter().map(|byte| byte ^ 0xff).collect();
    let answers = [Answer::CutAfter(1000), Answer::CutAfter(0), Answer::Changed(other.clone())];
    let server = Server::start(&body(), &answers);
    place.get(&server).unwrap_err();
    assert!(place.get(&server).unwrap() == other, "old and new bytes are mixed");
}

#[test]
fn bytes_that_are_all_there_are_not_asked_for_again() {
    let place = Place::new();
    let server =
        Server::start(&body(), &[Answer::CutAfter(1000), Answer::CutAfter(0), Answer::Right]);
    place.get(&server).unwrap_err();
    // The run was killed between the last byte and the renaming.
    std::fs::write(place.target.with_extension("zip.part"), body()).unwrap();
    assert!(place.get(&server).unwrap() == body());
    assert_eq!(starts(&server).pop(), Some(Some(body().len())));
}

#[test]
fn bytes_of_another_address_are_not_resumed() {
    let place = Place::new();
    let (first, second) =
        (Server::start(&[1; 5000], &[Answer::CutAfter(1000), Answer::CutAfter(0)]), body());
    place.get(&first).unwrap_err();
    let server = Server::start(&second, &[Answer::Right]);
    assert!(place.get(&server).unwrap() == second);
    assert_eq!(starts(&server), [None]);
}

#[test]
fn refusals_say_what_the_server_said_and_leave_nothing() {
    for status in [403, 404, 500] {
        let place = Place::new();
        let error = place.get(&Server::start(b"", &[Answer::Page(status)])).unwrap_err();
        assert!(error.contains(&status.to_string()) && error.contains("file.zip"), "{error}");
        assert_eq!(place.files(), [""; 0]);
    }
    // Nobody listens.
    let place = Place::new();
    let client = Client::local(SILENCE);
    let error =
        download(&client, "http://127.0.0.1:1/x.zip", &place.target, &mut |_, _| {}).unwrap_err();
    assert!(format!("{error:#}").contains("nothing came"), "{error:#}");
    // Outside of tests, nothing comes unprotected.
    let error = download(&Client::new(), "http://127.0.0.1:1/x.zip", &place.target, &mut |_, _| {})
        .unwrap_err();
    assert!(format!("{error:#}").contains("https"), "{error:#}");
}

/// The ways of a test, from files below the address of a server.
fn way(address: &'static str, layout: Layout) -> Way {
    Way { from: From::Archive(address), files: &["tiny.data"], layout }
}

fn fetch_from(data: &Path, entry: &Entry, ways: &[Way]) -> Result<String, String> {
    fetch(&Client::local(SILENCE), data, entry, Some(ways)).map_err(|error| format!("{error:#}"))
}

fn record(data: &Path) -> Vec<Fetched> {
    std::fs::read(data.join(RECORD)).map_or(vec![], |text| serde_json::from_slice(&text).unwrap())
}

fn archives(data: &Path) -> usize {
    std::fs::read_dir(data.join(ARCHIVES)).map_or(0, Iterator::count)
}

#[test]
fn a_data_set_is_fetched_unpacked_recognised_and_recorded_once() {
    let dir = tempfile::tempdir().unwrap();
    let archive = gzip(&tar(&[("Tiny/tiny.domain", b"x"), ("Tiny/tiny.data", b"3 4\n1 2\n")]));
    let server = Server::start(&archive, &[Answer::CutAfter(30), Answer::Right]);
    let ways = [way(server.address("tiny.tgz"), Layout::TargetLast)];
    let said = fetch_from(dir.path(), &tiny(), &ways).unwrap();
    assert!(said.contains("table.csv.gz") && said.contains("those of the catalogue"), "{said}");
    let data = catalog::load_entry(dir.path(), &tiny(), Verify::Checksum).unwrap();
    assert_eq!((data.x[(0, 0)], data.y), (3.0, vec![4.0, 2.0]));

    let lines = record(dir.path());
    assert_eq!((lines.len(), lines[0].status.as_str()), (1, "recognised"));
    assert_eq!(
        (lines[0].downloads[0].bytes, lines[0].downloads[0].sha256.len()),
        (archive.len(), 64)
    );
    let said = fetch_from(dir.path(), &tiny(), &ways).unwrap();
    assert!(said.starts_with("there already") && server.requests().len() == 2, "{said}");
}

#[test]
fn another_set_is_refused_and_the_next_way_is_tried() {
    let dir = tempfile::tempdir().unwrap();
    let wrong = Server::start(&zip(&[("tiny.data", b"1,2\n3,5\n")]), &[Answer::Right]);
    let page = Server::start(b"<!DOCTYPE html>\n1 2\n3 4\n", &[Answer::Right]);
    let gone = Server::start(b"", &[Answer::Page(404)]);
    let short = Server::start(&zip(&[("tiny.data", b"1,2\n3,4\n")]), &[Answer::Unmeasured(60)]);
    let mut ways: Vec<Way> = [&wrong, &page, &gone, &short]
        .map(|server| way(server.address("tiny.zip"), Layout::TargetLast))
        .into();
    let error = fetch_from(dir.path(), &tiny(), &ways).unwrap_err();
    assert!(error.contains("any of its addresses") && error.contains("Nowhere id 0"), "{error}");
    assert_eq!(
        (archives(dir.path()), record(dir.path()).len()),
        (0, 0),
        "what is of no use is not kept"
    );
    assert!(!dir.path().join("tiny").exists());

    // The last resort: the files of the catalogue, one by one.
    let right = Server::start(TINY.as_bytes(), &[Answer::Right]);
    ways.push(Way {
        from: From::Folder(right.address("raw/")),
        files: &["tiny.csv"],
        layout: Layout::Catalogue,
    });
    assert!(fetch_from(dir.path(), &tiny(), &ways).unwrap().contains("tiny.csv"));
    assert_eq!(std::fs::read_to_string(dir.path().join("tiny/tiny.csv")).unwrap(), TINY);
    assert_eq!(right.requests()[0].path, "raw/tiny.csv");
}

#[test]
fn a_set_that_nobody_has_seen_is_accepted_recorded_and_called_untried() {
    let dir = tempfile::tempdir().unwrap();
    let unknown = Entry { identity: None, ..tiny() };
    let server = Server::start(&zip(&[("tiny.data", b"5,6\n7,8\n")]), &[Answer::Right]);
    let said =
        fetch_from(dir.path(), &unknown, &[way(server.address("t.zip"), Layout::TargetLast)])
            .unwrap();
    assert!(said.contains("untried"), "{said}");
    let line = record(dir.path()).pop().unwrap();
    assert_eq!((line.status.as_str(), line.name.as_str()), ("untried", "tiny"));
    assert!(said.contains(&line.identity) && line.identity.len() == 64, "{said}");
    // Of the wrong shape, it is not even that.
    let other = tempfile::tempdir().unwrap();
    let server = Server::start(&zip(&[("tiny.data", b"5,6\n")]), &[Answer::Right]);
    assert!(
        fetch_from(other.path(), &unknown, &[way(server.address("t.zip"), Layout::TargetLast)])
            .is_err()
    );
}

#[test]
fn a_record_that_cannot_be_read_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(RECORD), "notes of mine").unwrap();
    let server = Server::start(&zip(&[("tiny.data", b"1,2\n3,4\n")]), &[Answer::Right]);
    let ways = [way(server.address("tiny.zip"), Layout::TargetLast)];
    let error = fetch_from(dir.path(), &tiny(), &ways).unwrap_err();
    assert!(error.contains(RECORD) && error.contains("move it away"), "{error}");
    assert_eq!(std::fs::read_to_string(dir.path().join(RECORD)).unwrap(), "notes of mine");
    assert!(
        server.requests().is_empty() && !dir.path().join("tiny").exists(),
        "said before work is done"
    );
}

#[test]
fn archives_at_different_addresses_have_different_names() {
    let names = ["https://a.org/x/data+set.zip", "https://b.org/x/data+set.zip"].map(file_name);
    assert!(
        names[0] != names[1] && names.iter().all(|name| name.ends_with("-data-set.zip")),
        "{names:?}"
    );
}

#[test]
fn embedded_sets_need_no_fetching() {
    let dir = tempfile::tempdir().unwrap();
    let entry = catalog::find("ccpp").unwrap();
    let said = fetch(&Client::local(SILENCE), dir.path(), entry, None).unwrap();
    assert!(said.contains("embedded"), "{said}");
}
