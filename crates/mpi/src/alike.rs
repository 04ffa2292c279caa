//! A job needs processors with the same instruction set: the same sums in other registers have
//! other last digits.

use nystrom_pipeline::Ranks;

/// The error for processes that compute with different instruction sets; none if all have the same.
pub fn differs(ranks: &dyn Ranks, ours: &str) -> Option<String> {
    let all = match ranks.gather(ours.to_owned()) {
        Ok(all) => all,
        Err(error) => return Some(error.to_string()),
    };
    let other = all.iter().position(|name| *name != all[0])?;
    let count = all.iter().filter(|name| **name == all[other]).count();
    Some(format!(
        "rank 0 computes with {}, rank {other} with {} ({count} of {} processes do): their sums \
         would differ in the last digits; run the job on processors of one kind",
        all[0],
        all[other],
        all.len()
    ))
}
