//! What a pass over rows adds up to, whatever it is.

use crate::Problem;
use faer::Mat;
use nystrom_linalg_core::Result;

/// Sums over rows that come in blocks of any size: they merge, become bytes and come back.
///
/// A [`FitState`](crate::FitState) is such a sum, and so are the [`PathErrors`](crate::PathErrors)
/// of a later pass. A program that shares rows out and merges along a tree needs only this trait.
/// Tiles are cut at multiples of 1024 rows of the sum. So the bits depend on the rows and on what
/// was merged with what, never on the blocks.
pub trait RowSums<T>: Sized {
    /// The sums over no rows, which these can be merged with.
    #[must_use]
    fn empty(&self) -> Self {
        self.empty_at(0)
    }

    /// The same, before which so many other rows come: for sums to which the place of a row
    /// matters. [`empty`](Self::empty) for all others.
    #[must_use]
    fn empty_at(&self, before: u64) -> Self;

    /// What another process needs to make the sums over no rows, beside what all passes of a fit
    /// share.
    fn input(&self) -> &PassInput {
        &PassInput::Nothing
    }

    /// Rows seen.
    fn rows(&self) -> u64;

    /// Takes the rows of a block, after those before it.
    ///
    /// # Errors
    /// Those of [`NystromKrr::fit`](crate::NystromKrr::fit) for the block, before any of it is
    /// taken; weights may all be 0. [`Shape`](nystrom_linalg_core::Error::Shape) for another number
    /// of coordinates or targets.
    fn accumulate<'a>(&mut self, block: impl Into<Problem<'a, T>>) -> Result<()>
    where
        T: 'a;

    /// Ends the tile that is not whole: the next row begins another.
    ///
    /// # Errors
    /// None that a caller can cause.
    fn close(&mut self) -> Result<()>;

    /// Adds the rows of other sums, as if they came after these. Unless there are none, the last
    /// tiles of both are [closed](Self::close).
    ///
    /// # Errors
    /// [`Incompatible`](nystrom_linalg_core::Error::Incompatible) for sums of something else; these
    /// are then as they were.
    fn merge(&mut self, later: Self) -> Result<()>;

    /// The sums as bytes: 8 a number, with layout version, fingerprint and checksum. Up to 1023
    /// rows of a tile that is not whole are among them, unless it is [closed](Self::close). What
    /// all sums of one kind share, kernel and centres, is not.
    fn to_bytes(&self) -> Vec<u8>;

    /// The sums that [`to_bytes`](Self::to_bytes) wrote; the rows of `self` play no part.
    ///
    /// # Errors
    /// [`Incompatible`](nystrom_linalg_core::Error::Incompatible) for damaged bytes and for sums
    /// that cannot be [merged](Self::merge) with these.
    fn read(&self, bytes: &[u8]) -> Result<Self>;
}

/// What a pass of [`Falkon`](crate::Falkon) or [`Krill`](crate::Krill) depends on beside the rows
/// and what all its passes share: kernel, centres and the number of targets.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{CenterProducts, PassInput, RowSums};
/// let (kernel, centers, u) = (Gaussian::new(0.2)?, [0.0, 1.0], Mat::from_fn(2, 1, |_, _| 0.5));
/// let centers = Points::from_slice(&centers);
/// let here = CenterProducts::new(&kernel, centers, 1, PassInput::Along(u))?;
/// // elsewhere, where kernel and centres are known
/// let mut there = CenterProducts::new(&kernel, centers, 1, here.input().clone())?;
/// let y = Mat::from_fn(3, 1, |i, _| i as f64);
/// there.accumulate((Points::from_slice(&[0.1, 0.7, 0.8]), &y))?;
/// assert_eq!(here.read(&there.to_bytes())?.rows(), 3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum PassInput {
    /// Nothing more.
    Nothing,
    /// Products with these vectors, m × t.
    Along(Mat<f64>),
    /// A random embedding with this key.
    Embedded(u64),
}
