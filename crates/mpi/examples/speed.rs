//! Measures the messages of a job: latency and bandwidth between two processes, and broadcasts.
//!
//! `mpirun -n 4 target/release/examples/speed`

use nystrom_mpi::{Ranks, World};
use std::time::Instant;

fn main() -> std::process::ExitCode {
    nystrom_mpi::run(|world| {
        for (bytes, times) in [(8, 2000), (8 << 10, 1000), (1 << 20, 100), (64 << 20, 5)] {
            let there_and_back = seconds(world, times, |world| to_and_fro(world, bytes));
            let to_all = seconds(world, times, |world| drop(world.broadcast(vec![1; bytes])));
            if world.rank() == 0 {
                let one = there_and_back / 2.0;
                println!(
                    "{bytes:>9} bytes: {:>9.1} µs one way, {:>6.2} GB/s; {:>9.1} µs to all {}",
                    1e6 * one,
                    1e-9 * bytes as f64 / one,
                    1e6 * to_all,
                    world.size()
                );
            }
        }
        Ok(0)
    })
}

/// Sends a message from process 0 to process 1 and back.
fn to_and_fro(world: &World, bytes: usize) {
    match (world.rank(), world.size()) {
        (_, 1) => {}
        (0, _) => {
            world.send(1, &vec![1; bytes]);
            world.receive(1);
        }
        (1, _) => {
            let message = world.receive(0);
            world.send(0, &message);
        }
        _ => {}
    }
}

/// The mean time of one call of `work` in seconds, after a first call that is not counted.
fn seconds(world: &World, times: u32, work: impl Fn(&World)) -> f64 {
    work(world);
    <dyn Ranks>::gather(world, ()).expect("messages of one program");
    let start = Instant::now();
    (0..times).for_each(|_| work(world));
    start.elapsed().as_secs_f64() / f64::from(times)
}
