//! Stores past the caches: a result larger than they are is then neither read before it is written,
//! nor drives out what is in use.

use crate::Scalar;
use pulp::Simd;
use pulp::bytemuck::{Pod, cast_slice};
use std::marker::PhantomData;

/// Columns of a result that are written register by register, past the caches if so asked and if
/// the machine can.
///
/// What is written past the caches is ordered for other threads by a fence. Nobody sees the columns
/// before it. They are borrowed by this value, which exists inside [`scope`](Self::scope) alone and
/// is fenced when that ends, by a panic too.
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
    /// Neither `Send` nor `Sync`: a fence is that of the thread that wrote.
    here: PhantomData<*const ()>,
}

impl<'a, T: Scalar> WrittenColumns<'a, T> {
    /// Runs `f` on the columns; `streaming` says whether they are better written past the caches.
    pub fn scope<R>(
        columns: Vec<&'a mut [T]>,
        streaming: bool,
        f: impl FnOnce(&mut Self) -> R,
    ) -> R {
        f(&mut WrittenColumns { columns, streaming, here: PhantomData })
    }

    /// Writes `values[0]`, `values[1]`, … into the columns from `j` on, each from row `i` on. It
    /// writes as many as there are columns, and of each as many numbers as a column has room for.
    ///
    /// # Panics
    /// If there is no column `j`, or a column has fewer than `i` rows.
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

/// Copies `values` to `to` by streaming stores and says so; does nothing where `S` is not AVX-512
/// or `to` not aligned to 64 bytes.
///
/// Other threads see what is so written after a [`fence`] of this one.
#[inline(always)]
fn copy<S: Simd, R: Pod>(simd: S, to: &mut [R], values: &[R]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(v4) = (&simd as &dyn std::any::Any).downcast_ref::<pulp::x86::V4>()
        && size_of::<R>() == 64
        && (to.as_ptr() as usize).is_multiple_of(64)
        && to.len() == values.len()
    {
        for (to, value) in to.iter_mut().zip(values) {
            // SAFETY: `to` is a valid place of 64 bytes, aligned to 64 (the first of the slice is,
            // and each is 64 bytes long). It is borrowed for us alone, and by `WrittenColumns`
            // until the fence. The token `v4` is proof that the processor has the instruction.
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

/// Makes what this thread has streamed visible before what it writes after.
#[inline]
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which has no other effect.
    #[allow(unused_unsafe)] // newer compilers call it safe
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
