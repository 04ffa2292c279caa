//! Stores past the caches: a result larger than they are is then neither read before it is written, nor drives out what is in use.

use pulp::Simd;
use pulp::bytemuck::Pod;

/// Copies `values` to `to` by streaming stores and says so; does nothing where `S` is not AVX-512 or `to` not aligned to 64 bytes.
#[inline(always)]
pub(super) fn copy<S: Simd, R: Pod>(simd: S, to: &mut [R], values: &[R]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(v4) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V4>()
        && size_of::<R>() == 64
        && (to.as_ptr() as usize).is_multiple_of(64)
        && to.len() == values.len()
    {
        for (to, value) in to.iter_mut().zip(values) {
            // SAFETY: `to` is a valid place of 64 bytes, aligned to 64 (the first of the slice is, and each is 64 bytes long), borrowed for
            // us alone; the token `v4` is proof that the processor has the instruction.
            unsafe { v4.avx512f._mm512_stream_si512(std::ptr::from_mut(to).cast(), pulp::bytemuck::cast(*value)) };
        }
        return true;
    }
    let _ = (simd, to, values);
    false
}

/// Makes what this thread has streamed visible before what it writes after.
#[inline]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which has no other effect.
    #[allow(unused_unsafe)] // newer compilers call it safe
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
