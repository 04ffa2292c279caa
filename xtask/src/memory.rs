//! How much memory a piece of work takes, measured by counting what is allocated.

use std::alloc::System;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What `f` returns, and the most bytes it held at one time beyond those held before.
///
/// All threads count; run nothing else meanwhile.
pub fn peak_bytes<R>(f: impl FnOnce() -> R) -> (R, usize) {
    ALLOCATOR.reset_peak_memory();
    let result = f();
    (result, ALLOCATOR.get_peak_memory())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_seen_and_not_the_sum() {
        let one = 8 << 20;
        let (sum, peak) =
            peak_bytes(|| (0..10_u8).map(|i| std::hint::black_box(vec![i; one])[7] as usize).sum::<usize>());
        assert_eq!(sum, 45);
        assert!((one..2 * one).contains(&peak), "{peak}"); // the other tests' threads allocate little meanwhile
    }
}
