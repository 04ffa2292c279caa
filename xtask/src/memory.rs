//! How much memory a piece of work takes, measured by counting what is allocated while it runs.

use nystrom::linalg_core::LargePages;
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<LargePages> = PeakMemAlloc::new(LargePages);

/// What `f` returns, and the most bytes it held at one time beyond those held before.
///
/// All threads count; run nothing else meanwhile, and no measurement within another.
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
        let one = 16 << 20;
        let measure = || {
            peak_bytes(|| {
                (0..10_u8).map(|i| std::hint::black_box(vec![i; one])[7] as usize).sum::<usize>()
            })
        };
        let seen = [measure(), measure(), measure()];
        assert!(seen.iter().all(|(sum, _)| *sum == 45));
        // Tests on other threads may take or free 64 MiB during one measurement (the one of the
        // machine's rates does), not during three.
        assert!(seen.iter().any(|(_, peak)| (one..2 * one).contains(peak)), "{seen:?}");
    }
}
