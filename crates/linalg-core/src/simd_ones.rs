//! Counts of the ones in 64-bit words, in vector registers.

use crate::dispatch;
use pulp::bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};

/// Counts the ones of 64-bit words in a register of the instruction set `S`.
pub trait CountOnes<S: Simd>: Copy {
    /// The number of ones of each word of `words`.
    fn ones(self, simd: S, words: S::u64s) -> S::u64s;
}

/// A task for [`dispatch_ones`].
pub trait WithOnes {
    /// What the task returns.
    type Output;
    /// Runs the task with the registers of `S`, whose ones `count` counts. Must be
    /// `#[inline(always)]`, to be compiled for the instruction set.
    fn with_ones<S: Simd, C: CountOnes<S>>(self, simd: S, count: C) -> Self::Output;
}

/// As [`dispatch`], for tasks that count ones: by one instruction per register of AVX-512 if the
/// processor has VPOPCNTDQ, by tables of 16 counts in registers of AVX2 otherwise, and word by word
/// without either. The counts are the same.
///
/// ```
/// use nystrom_linalg_core::{CountOnes, WithOnes, dispatch_ones};
/// struct Ones<'a>(&'a mut [u64]);
/// impl WithOnes for Ones<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn with_ones<S: pulp::Simd, C: CountOnes<S>>(self, simd: S, count: C) {
///         for words in S::as_mut_simd_u64s(self.0).0 {
///             *words = count.ones(simd, *words);
///         }
///     }
/// }
/// let mut words = [0, 1, 3, u64::MAX, 5, 1 << 63, 7, 255];
/// dispatch_ones(Ones(&mut words));
/// assert_eq!(words, [0, 1, 2, 64, 2, 1, 3, 8]);
/// ```
#[inline(always)]
pub fn dispatch_ones<Op: WithOnes>(op: Op) -> Op::Output {
    dispatch(Choose(op))
}

struct Choose<Op>(Op);

impl<Op: WithOnes> WithSimd for Choose<Op> {
    type Output = Op::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Op::Output {
        #[cfg(target_arch = "x86_64")]
        {
            let token = &simd as &dyn std::any::Any;
            if let Some(&v4) = token.downcast_ref::<pulp::x86::V4>() {
                return match x86::Vpopcntdq::try_new() {
                    Some(count) => count.vectorize(x86::Run { op: self.0, v4, count }),
                    None => self.0.with_ones(*v4, x86::Nibbles),
                };
            }
            if let Some(&v3) = token.downcast_ref::<pulp::x86::V3>() {
                return self.0.with_ones(v3, x86::Nibbles);
            }
        }
        self.0.with_ones(simd, WordByWord)
    }
}

/// Counts the ones of one word after the other.
#[derive(Debug, Clone, Copy)]
struct WordByWord;

impl<S: Simd> CountOnes<S> for WordByWord {
    #[inline(always)]
    fn ones(self, _: S, words: S::u64s) -> S::u64s {
        let mut counts = words;
        let to = cast_slice_mut::<_, u64>(std::slice::from_mut(&mut counts));
        for (to, word) in to.iter_mut().zip(cast_slice::<_, u64>(&[words])) {
            *to = u64::from(word.count_ones());
        }
        counts
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{CountOnes, WithOnes};
    use pulp::bytemuck::cast;
    use pulp::x86::{V3, V4};
    use pulp::{NullaryFnOnce, u64x4, u64x8};
    use std::arch::x86_64::{__m256i, _mm512_popcnt_epi64};

    pulp::simd_type! {
        /// [`V4`] with an instruction that counts ones.
        pub(super) struct Vpopcntdq {
            sse: "sse",
            sse2: "sse2",
            fxsr: "fxsr",
            sse3: "sse3",
            ssse3: "ssse3",
            sse4_1: "sse4.1",
            sse4_2: "sse4.2",
            popcnt: "popcnt",
            avx: "avx",
            avx2: "avx2",
            bmi1: "bmi1",
            bmi2: "bmi2",
            fma: "fma",
            lzcnt: "lzcnt",
            avx512f: "avx512f",
            avx512bw: "avx512bw",
            avx512cd: "avx512cd",
            avx512dq: "avx512dq",
            avx512vl: "avx512vl",
            avx512vpopcntdq: "avx512vpopcntdq",
        }
    }

    /// A task, to be compiled for [`Vpopcntdq`].
    pub(super) struct Run<Op> {
        pub(super) op: Op,
        pub(super) v4: V4,
        pub(super) count: Vpopcntdq,
    }

    impl<Op: WithOnes> NullaryFnOnce for Run<Op> {
        type Output = Op::Output;
        #[inline(always)]
        fn call(self) -> Op::Output {
            self.op.with_ones(self.v4, self.count)
        }
    }

    impl CountOnes<V4> for Vpopcntdq {
        #[inline(always)]
        fn ones(self, _: V4, words: u64x8) -> u64x8 {
            // SAFETY: a `Vpopcntdq` exists only if the processor has the instruction.
            cast(unsafe { _mm512_popcnt_epi64(cast(words)) })
        }
    }

    /// Counts the ones of the two halves of each byte by a table in a register.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Nibbles;

    /// The number of ones of 0, 1, …, 15, for each half of a register.
    const COUNTS: [u8; 32] = [
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, //
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    ];

    impl CountOnes<V3> for Nibbles {
        #[inline(always)]
        fn ones(self, v3: V3, words: u64x4) -> u64x4 {
            let (avx2, words): (_, __m256i) = (v3.avx2, cast(words));
            let (counts, low) = (cast(COUNTS), cast([15_u8; 32]));
            let lower = avx2._mm256_and_si256(words, low);
            let upper = avx2._mm256_and_si256(avx2._mm256_srli_epi16::<4>(words), low);
            let bytes = avx2._mm256_add_epi8(
                avx2._mm256_shuffle_epi8(counts, lower),
                avx2._mm256_shuffle_epi8(counts, upper),
            );
            cast(avx2._mm256_sad_epu8(bytes, cast([0_u8; 32])))
        }
    }
}

/// Runs `op` by every way of counting ones that this processor has, and returns their names and
/// results (feature `testing`).
#[cfg(feature = "testing")]
pub fn every_way_of_counting_ones<Op: WithOnes>(
    op: impl Fn() -> Op,
) -> Vec<(&'static str, Op::Output)> {
    let mut results = vec![
        (crate::instruction_set(), dispatch_ones(op())),
        ("Scalar", Choose(op()).with_simd(pulp::Scalar::new())),
    ];
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        results.push(("V3", Simd::vectorize(v3, Choose(op()))));
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    struct Count(Vec<u64>);

    impl WithOnes for Count {
        type Output = Vec<u64>;
        #[inline(always)]
        fn with_ones<S: Simd, C: CountOnes<S>>(mut self, simd: S, count: C) -> Vec<u64> {
            for words in S::as_mut_simd_u64s(&mut self.0).0 {
                *words = count.ones(simd, *words);
            }
            self.0
        }
    }

    #[test]
    fn every_instruction_set_counts_the_same() {
        let rng = &mut crate::testing::rng(1);
        let mut words: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, !0 << bit]).collect();
        words.extend((0..128).map(|_| rng.random::<u64>() & rng.random::<u64>()));
        let expected: Vec<u64> = words.iter().map(|word| word.count_ones().into()).collect();
        for (name, counts) in every_way_of_counting_ones(|| Count(words.clone())) {
            assert_eq!(counts, expected, "{name}");
        }
    }
}
