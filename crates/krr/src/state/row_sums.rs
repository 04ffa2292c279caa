//! Sums over rows, as a program that runs passes uses them.

use crate::Problem;
use faer::Mat;
use nystrom_linalg_core::Result;

/// Sums over rows that come in blocks of any size. Sums can be merged, and written to bytes and
/// read again.
///
/// Examples are a [`FitState`](crate::FitState), and the [`PathErrors`](crate::PathErrors) of a
/// later pass. A program that distributes rows and merges sums along a tree needs only this trait.
/// Sums cut their rows into tiles of 1024. So the bits depend on the rows and on the order of
/// merges, never on the blocks.
pub trait RowSums<T>: Sized {
    /// The same sums over no rows, to be filled and merged with these.
    #[must_use]
    fn empty(&self) -> Self {
        self.empty_at(0)
    }

    /// The same sums over no rows, whose first row will have the number `before`. Some sums depend
    /// on the numbers of their rows; for the others this is [`empty`](Self::empty).
    #[must_use]
    fn empty_at(&self, before: u64) -> Self;

    /// What these sums depend on, except the kernel, the centres and the number of targets, which
    /// all passes of a fit share. Another process makes the same sums over no rows from it.
    fn input(&self) -> &PassInput {
        &PassInput::Nothing
    }

    /// The number of rows.
    fn rows(&self) -> u64;

    /// Appends the rows of a block. All its weights may be 0.
    ///
    /// # Errors
    /// Those of [`NystromKrr::fit`](crate::NystromKrr::fit) for the block, and
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for another number of coordinates or targets.
    /// The sums are then unchanged.
    fn accumulate<'a>(&mut self, block: impl Into<Problem<'a, T>>) -> Result<()>
    where
        T: 'a;

    /// Adds an incomplete tile to the sums: the next row begins a new tile.
    ///
    /// # Errors
    /// None that a caller can cause.
    fn close(&mut self) -> Result<()>;

    /// Adds `later`, the sums of later rows. If `later` has rows, the last tiles of both are
    /// [closed](Self::close).
    ///
    /// # Errors
    /// [`Incompatible`](nystrom_linalg_core::Error::Incompatible) for sums with another kernel,
    /// other centres or another input. These sums are then unchanged.
    fn merge(&mut self, later: Self) -> Result<()>;

    /// The sums as bytes: 8 for each number, with layout version, fingerprint and checksum. They
    /// include the rows of an incomplete tile, up to 1023, unless it is [closed](Self::close). They
    /// do not include kernel and centres.
    fn to_bytes(&self) -> Vec<u8>;

    /// Reads the sums that [`to_bytes`](Self::to_bytes) wrote. The rows of `self` are not used.
    ///
    /// # Errors
    /// [`Incompatible`](nystrom_linalg_core::Error::Incompatible) for damaged bytes and for sums
    /// that cannot be [merged](Self::merge) with these.
    fn read(&self, bytes: &[u8]) -> Result<Self>;
}

/// The input of a pass of [`Falkon`](crate::Falkon) or [`Krill`](crate::Krill), except the rows,
/// the kernel, the centres and the number of targets.
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
    /// No input.
    Nothing,
    /// Products with these vectors, m × t.
    Along(Mat<f64>),
    /// A random embedding with this key.
    Embedded(u64),
}
