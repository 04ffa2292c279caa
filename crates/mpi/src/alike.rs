//! Processors that add in the same order with other registers give other bits.

use nystrom_pipeline::Ranks;

/// What differs, if the processors of the job do not all compute with the same registers.
pub fn differs(ranks: &dyn Ranks, ours: &str) -> Option<String> {
    let all = ranks.gather(ours.as_bytes().to_vec());
    let name = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
    let other = all.iter().position(|name| *name != all[0])?;
    let count = all.iter().filter(|name| **name == all[other]).count();
    Some(format!(
        "rank 0 computes with {}, rank {other} with {} ({count} of {} processes do): their sums \
         would differ in the last digits; run the job on processors of one kind",
        name(0),
        name(other),
        all.len()
    ))
}
