//! How much memory a piece of work takes, measured by counting what is allocated while it runs.
//!
//! Everything else runs on the allocator of the programs as it is: one flag is read at each
//! allocation, and nothing is counted.

use nystrom::linalg_core::LargePages;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Whether allocations are counted at present.
static ON: AtomicBool = AtomicBool::new(false);
/// Bytes taken less bytes given back since counting began; below 0 where older blocks were given
/// back.
static HELD: AtomicIsize = AtomicIsize::new(0);
/// The largest value of `HELD`.
static PEAK: AtomicIsize = AtomicIsize::new(0);

struct Counting;

fn count(bytes: isize) {
    if ON.load(Relaxed) {
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(held, Relaxed);
    }
}

// SAFETY: every call is handed on unchanged; the counts are atomics and allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { LargePages.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { LargePages.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the block came from there with this layout.
        unsafe { LargePages.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the block came from there with this layout.
        unsafe { LargePages.realloc(block, layout, size) }
    }
}

/// What `f` returns, and the most bytes it held at one time beyond those held before.
///
/// All threads count; run nothing else meanwhile, and no measurement within another.
pub fn peak_bytes<R>(f: impl FnOnce() -> R) -> (R, usize) {
    HELD.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
    let off = Off;
    let result = f();
    drop(off);
    (result, PEAK.load(Relaxed).unsigned_abs())
}

/// Ends the counting, also on unwinding.
struct Off;

impl Drop for Off {
    fn drop(&mut self) {
        ON.store(false, Relaxed);
    }
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
        assert!(!ON.load(Relaxed), "the rest of the program is not counted");
    }
}
