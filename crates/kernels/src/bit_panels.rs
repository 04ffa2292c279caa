//! The bits of points in 64-bit words, in the order in which registers count them.

use crate::Points;
use crate::bits::{capacity, mantissa};
use nystrom_linalg_core::{CountOnes, Scalar, WithOnes, dispatch_ones};
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Points of a panel.
pub(crate) const PANEL: usize = 16;
/// Panels that one thread packs at a time.
const PIECE: usize = 16;

/// A 64-bit word of each point of a panel: two cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Words(pub(crate) [u64; PANEL]);

/// The bits of n points and their numbers of ones. The last panel is padded with points without
/// ones.
pub(crate) struct BitPanels {
    words: Vec<Words>,
    words_of_panel: usize,
    /// Number of leading words in which some point has a one.
    used: usize,
    ones: Vec<f64>,
}

impl BitPanels {
    /// Packs the coordinates without gaps: 64 bits to a word. O(nd); n·d numbers of memory.
    pub(crate) fn new<T: Scalar>(x: Points<'_, T>) -> Self {
        let words_of_panel = (x.dim() * capacity::<T>()).div_ceil(64).max(1);
        let panels = x.len().div_ceil(PANEL);
        let mut words = vec![Words([0; PANEL]); panels * words_of_panel];
        let mut ones = vec![0.0; panels * PANEL];
        words
            .par_chunks_mut(PIECE * words_of_panel)
            .zip(ones.par_chunks_mut(PIECE * PANEL))
            .enumerate()
            .for_each(|(piece, (words, ones))| {
                let first = piece * PIECE * PANEL;
                dispatch_ones(Pack { x, first, words, words_of_panel, ones });
            });
        let mut panels = BitPanels { words, words_of_panel, used: words_of_panel, ones };
        while panels.used > 0 && panels.is_unused(panels.used - 1) {
            panels.used -= 1;
        }
        panels
    }

    /// Whether no point has a one in this word.
    fn is_unused(&self, word: usize) -> bool {
        self.words.chunks_exact(self.words_of_panel).all(|panel| panel[word].0 == [0; PANEL])
    }

    /// The words of panel `p`, without those after the last that is used.
    #[inline(always)]
    pub(crate) fn panel(&self, p: usize) -> &[Words] {
        &self.words[p * self.words_of_panel..][..self.used]
    }

    /// The number of ones of each of these points.
    #[inline(always)]
    pub(crate) fn ones(&self, points: Range<usize>) -> &[f64] {
        &self.ones[points]
    }
}

/// The task of packing the points from `first` on into `words`.
struct Pack<'a, T> {
    x: Points<'a, T>,
    first: usize,
    words: &'a mut [Words],
    words_of_panel: usize,
    ones: &'a mut [f64],
}

impl<T: Scalar> WithOnes for Pack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_ones<S: Simd, C: CountOnes<S>>(self, simd: S, count: C) {
        let Pack { x, first, words, words_of_panel, ones } = self;
        let panels = words.chunks_exact_mut(words_of_panel).zip(ones.chunks_exact_mut(PANEL));
        for (p, (words, ones)) in panels.enumerate() {
            let first = first + p * PANEL;
            pack(x.slice(first..x.len().min(first + PANEL)), words);
            for (register, ones) in ones.chunks_exact_mut(S::U64_LANES).enumerate() {
                let mut sum = simd.splat_u64s(0);
                for words in words.iter() {
                    sum =
                        simd.add_u64s(sum, count.ones(simd, S::as_simd_u64s(&words.0).0[register]));
                }
                let sum = pulp::bytemuck::cast_slice::<_, u64>(std::slice::from_ref(&sum));
                ones.iter_mut().zip(sum).for_each(|(ones, &sum)| *ones = sum as f64);
            }
        }
    }
}

/// Writes the bits of at most 16 points one after the other into `words`.
#[inline(always)]
fn pack<T: Scalar>(x: Points<'_, T>, words: &mut [Words]) {
    let mut columns = [&[][..]; PANEL];
    let by_point = (0..x.len()).all(|i| match x.as_cols().col(i).try_as_col_major() {
        Some(column) => {
            columns[i] = column.as_slice();
            true
        }
        None => false,
    });
    let mut bits = [0; PANEL];
    for k in 0..x.dim() {
        if by_point {
            bits.iter_mut()
                .zip(&columns[..x.len()])
                .for_each(|(b, column)| *b = mantissa(column[k]));
        } else {
            let row = x.as_cols().row(k);
            match row.try_as_row_major() {
                Some(row) => {
                    bits.iter_mut().zip(row.as_slice()).for_each(|(b, &x)| *b = mantissa(x))
                }
                None => bits.iter_mut().zip(row.iter()).for_each(|(b, &x)| *b = mantissa(x)),
            }
        }
        let (word, place) = (k * capacity::<T>() / 64, k * capacity::<T>() % 64);
        words[word].0.iter_mut().zip(&bits).for_each(|(to, b)| *to |= b << place);
        if place + capacity::<T>() > 64 {
            words[word + 1].0.iter_mut().zip(&bits).for_each(|(to, b)| *to |= b >> (64 - place));
        }
    }
}
