//! Checks that all processes use the same vector instructions. With different ones, sums in the
//! same order differ in their last bits.

use nystrom_pipeline::Ranks;

/// The error message if the processes of the job use different vector instructions. `ours` are
/// those of this process.
pub fn differs(ranks: &dyn Ranks, ours: &str) -> Option<String> {
    let all = ranks.gather(ours.as_bytes().to_vec());
    let name = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
    let other = all.iter().position(|name| *name != all[0])?;
    let count = all.iter().filter(|name| **name == all[other]).count();
    Some(format!(
        "rank 0 computes with {}, rank {other} with {} ({count} of {} processes do), so that sums \
         would differ in the last digits; run the job on processors of one kind",
        name(0),
        name(other),
        all.len()
    ))
}
