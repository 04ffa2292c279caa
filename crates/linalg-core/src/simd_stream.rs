//! Stores that bypass the caches. A result larger than the caches is then not read before it is
//! written, and does not evict data in use.

use crate::Scalar;
use pulp::Simd;
use pulp::bytemuck::{Pod, cast_slice};
use std::marker::PhantomData;

/// Columns of a result that are written register by register, bypassing the caches on request if
/// the instruction set is AVX-512.
///
/// Stores that bypass the caches become visible to other threads in order only after a fence. This
/// value borrows the columns, exists only inside [`scope`](Self::scope) and issues the fence when
/// it is dropped, also on a panic; no other code can read the columns before.
///
/// ```
/// use nystrom_linalg_core::{Vectorised, WrittenColumns, dispatch};
/// struct Fill<'a, 'b>(&'a mut WrittenColumns<'b, f64>);
/// impl pulp::WithSimd for Fill<'_, '_> {
///     type Output = ();
///     fn with_simd<S: pulp::Simd>(self, simd: S) {
///         self.0.write(simd, 1, 2, &[[f64::v_splat(simd, 7.0)]]); // into column 1, from row 2 on
///     }
/// }
/// let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
/// WrittenColumns::scope(vec![&mut a, &mut b], true, |columns| dispatch(Fill(columns)));
/// assert_eq!((a, b), ([0.0; 3], [0.0, 0.0, 7.0]));
/// ```
#[derive(Debug)]
pub struct WrittenColumns<'a, T> {
    columns: Vec<&'a mut [T]>,
    streaming: bool,
    /// Makes the type neither `Send` nor `Sync`: the thread that wrote must issue the fence.
    here: PhantomData<*const ()>,
}

impl<'a, T: Scalar> WrittenColumns<'a, T> {
    /// Runs `f` on the columns; with `streaming`, stores bypass the caches where possible.
    pub fn scope<R>(
        columns: Vec<&'a mut [T]>,
        streaming: bool,
        f: impl FnOnce(&mut Self) -> R,
    ) -> R {
        f(&mut WrittenColumns { columns, streaming, here: PhantomData })
    }

    /// Writes `values[0]`, `values[1]`, … into columns `j`, j + 1, …, each from row `i` on. Values
    /// beyond the last column or the last row are dropped.
    ///
    /// # Panics
    /// If j exceeds the number of columns, or a column to be written has fewer than `i` rows.
    #[inline(always)]
    pub fn write<S: Simd, const R: usize>(
        &mut self,
        simd: S,
        j: usize,
        i: usize,
        values: &[[T::Register<S>; R]],
    ) {
        let streaming = self.streaming;
        for (column, values) in self.columns[j..].iter_mut().zip(values) {
            let (column, numbers) = (&mut column[i..], cast_slice::<_, T>(values));
            if column.len() < numbers.len() {
                column.copy_from_slice(&numbers[..column.len()]);
                continue;
            }
            let (to, _) = T::v_split_mut::<S>(&mut column[..numbers.len()]);
            if !(streaming && copy(simd, to, values)) {
                to.copy_from_slice(values);
            }
        }
    }
}

impl<T> Drop for WrittenColumns<'_, T> {
    fn drop(&mut self) {
        if self.streaming {
            fence();
        }
    }
}

/// Copies `values` to `to` by streaming stores and returns true; does nothing and returns false if
/// `S` is not AVX-512 or `to` is not aligned to 64 bytes.
///
/// Other threads see these stores in order only after a [`fence`] of the calling thread.
#[inline(always)]
fn copy<S: Simd, R: Pod>(simd: S, to: &mut [R], values: &[R]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(v4) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V4>()
        && size_of::<R>() == 64
        && (to.as_ptr() as usize).is_multiple_of(64)
        && to.len() == values.len()
    {
        for (to, value) in to.iter_mut().zip(values) {
            // SAFETY: `to` points to 64 writable bytes, aligned to 64 (the slice starts aligned and
            // its elements have 64 bytes). The borrow is exclusive, and `WrittenColumns` keeps it
            // until the fence. The token `v4` proves that the processor has the instruction.
            unsafe {
                v4.avx512f._mm512_stream_si512(
                    std::ptr::from_mut(to).cast(),
                    pulp::bytemuck::cast(*value),
                )
            };
        }
        return true;
    }
    let _ = (simd, to, values);
    false
}

/// Makes the streaming stores of the calling thread visible before its later stores.
#[inline]
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it only orders stores.
    #[allow(unused_unsafe)] // newer compilers call it safe
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
