//! A program for tests of failures and messages. Arguments: `panic RANK`, `thread RANK` or
//! `messages`.

use nystrom_mpi::{Ranks, World};

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rank = words.get(1).and_then(|rank| rank.parse::<usize>().ok());
    nystrom_mpi::run(|world| {
        match words.first().map(String::as_str) {
            Some("panic") if rank == Some(world.rank()) => panic!("on purpose"),
            Some("thread") if rank == Some(world.rank()) => {
                let thread = std::thread::spawn(|| panic!("in a thread"));
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            Some("messages") => messages(world),
            _ => {}
        }
        // the other processes wait here
        <dyn Ranks>::gather(world, ()).expect("messages of one program");
        Ok(0)
    })
}

/// Sends messages of lengths around the limit between two processes and to all.
fn messages(world: &World) {
    let bytes = |rank: usize, length: usize| -> Vec<u8> {
        (0..length).map(|i| (i * 31 + rank * 7 + length) as u8).collect()
    };
    let (rank, size) = (world.rank(), world.size());
    for length in [0, 1, 6, 7, 8, 13, 14, 15, 1000] {
        let from_first = world.broadcast(bytes(rank, length));
        assert_eq!(from_first, bytes(0, length));
        let all = <dyn Ranks>::gather(world, bytes(rank, length + rank)).expect("bytes of all");
        assert_eq!(all, (0..size).map(|r| bytes(r, length + r)).collect::<Vec<_>>());
        if size > 1 && rank == 0 {
            world.send(1, &bytes(5, length));
            assert_eq!(world.receive(1), bytes(6, length));
        } else if rank == 1 {
            assert_eq!(world.receive(0), bytes(5, length));
            world.send(0, &bytes(6, length));
        }
    }
    if rank == 0 {
        println!("all messages came");
    }
}
