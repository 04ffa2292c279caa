//! SQUEAK and DISQUEAK as estimators for the rows of a matrix, and DISQUEAK for a set of points.

use super::{MergeTree, Squeak, SqueakParams, StreamDictionary, TreeShape, even_chunks};
use crate::RidgeLeverage;
use faer::{ColMut, Mat, MatMut};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, random, validate};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// A dictionary of many points, computed in parallel (DISQUEAK). The data are cut into chunks, and
/// the dictionaries of the chunks are computed and merged along a tree on the threads of the
/// current rayon pool.
///
/// The result has the same bits for any number of threads. It is that of [`MergeTree`] for the same
/// chunks inserted in any order.
///
/// # Cost
/// With m points in the largest dictionary and k chunks: a SQUEAK pass over every chunk, then
/// O(k·m³) flops for the merges, in O(m³ log k) time on enough threads. O(m²) memory per thread.
///
/// # Source
/// Calandriello, Lazaric & Valko, AISTATS 2017 (arXiv:1803.10172).
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{Disqueak, SqueakParams};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..4000).map(|i| (i as f64 * 0.618).fract()).collect();
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let disqueak = Disqueak::new(SqueakParams::new(10), 8);
/// let dictionary =
///     disqueak.of_points(&Gaussian::new(0.2)?, Points::from_slice(&x), 1.0, &mut rng)?;
/// assert!(dictionary.seen() == 4000 && dictionary.len() < 200);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Disqueak {
    /// The parameters of every chunk and every merge.
    pub params: SqueakParams,
    /// k, the number of chunks (at most n: chunks are not empty).
    pub chunks: usize,
    /// The shape of the merge tree: [`TreeShape::Balanced`] runs in parallel,
    /// [`TreeShape::Sequential`] does not.
    pub shape: TreeShape,
}

impl Default for Disqueak {
    /// The balanced tree over 8 chunks, with the default [`SqueakParams`].
    fn default() -> Self {
        Disqueak::new(SqueakParams::default(), 8)
    }
}

impl Disqueak {
    /// The balanced tree over `chunks` chunks.
    pub fn new(params: SqueakParams, chunks: usize) -> Self {
        Disqueak { params, chunks, shape: TreeShape::Balanced }
    }

    /// The dictionary of the given points at the absolute ridge γ = `gamma`. Shuffle the points
    /// first if their order is not random.
    ///
    /// # Randomness
    /// One 64-bit key is drawn; every node of the tree draws from the stream of its number under
    /// that key.
    ///
    /// # Errors
    /// Those of [`Kernel::check_points`] and [`MergeTree::insert`];
    /// [`Empty`](nystrom_linalg_core::Error::Empty) for 0 chunks.
    pub fn of_points<T: Scalar, K: Kernel<T>>(
        &self,
        kernel: &K,
        points: Points<'_, T>,
        gamma: T,
        rng: &mut dyn Rng,
    ) -> Result<StreamDictionary<T>> {
        points.check_dense()?;
        kernel.check_points(points)?;
        let sizes = even_chunks(points.len(), self.chunks);
        MergeTree::new(kernel, points.dim(), gamma, self.params, self.shape, &sizes, rng)?
            .run(points)
    }
}

impl<T: Scalar> RidgeLeverage<T> for SqueakParams {
    /// One pass over the rows in random order: O(n·m) entries (see [`Squeak`]) and n diagonal ones,
    /// without storing an n × m matrix.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        let (gamma, shuffled) = shuffled_rows(k, ridge, rng)?;
        let mut squeak = Squeak::new(Rows(k), 1, gamma, *self)?;
        squeak.push(Points::from_cols(shuffled.as_ref()), rng)?;
        by_rows(squeak.into_dictionary(rng)?, k.dim())
    }
}

impl<T: Scalar> RidgeLeverage<T> for Disqueak {
    /// A merge tree over the rows in random order.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        let (gamma, shuffled) = shuffled_rows(k, ridge, rng)?;
        by_rows(
            self.of_points(&Rows(k), Points::from_cols(shuffled.as_ref()), gamma, rng)?,
            k.dim(),
        )
    }
}

/// A matrix as a kernel on the real line: the point i is row i of the matrix.
struct Rows<'a, T>(&'a dyn PsdMatrix<T>);

impl<T: Scalar> Rows<'_, T> {
    fn indices(x: Points<'_, T>) -> Vec<usize> {
        (0..x.len()).map(|i| x.coordinate(i, 0).f64() as usize).collect()
    }
}

impl<T: Scalar> Kernel<T> for Rows<'_, T> {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        self.0.block_into(out, (&Self::indices(x)).into(), (&Self::indices(y)).into());
    }

    fn diag_into(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
        self.0.diag_into(out, (&Self::indices(x)).into());
    }

    fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
        let rows = Self::indices(x);
        self.0.block_into(out, (&rows).into(), (&rows).into());
    }
}

/// γ and the 1 × n matrix of row numbers in random order.
fn shuffled_rows<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    ridge: Ridge<T>,
    rng: &mut dyn Rng,
) -> Result<(T, Mat<T>)> {
    let n = k.dim();
    validate::not_empty("matrix", n)?;
    let gamma = ridge.absolute(n)?;
    let exact = (2.0 / T::EPS) as usize; // T represents row numbers up to here exactly
    validate::at_most("rows of a matrix of this scalar type", n, exact)?;
    let order = random::uniform_subset(n, n, rng)?;
    Ok((gamma, Mat::from_fn(1, n, |_, t| T::of(order[t]))))
}

fn by_rows<T: Scalar>(dictionary: StreamDictionary<T>, n: usize) -> Result<Dictionary<T>> {
    let weights = dictionary.weights().into_iter().map(T::lit).collect();
    Dictionary::new(n, Rows::indices(dictionary.points()), weights)
}
