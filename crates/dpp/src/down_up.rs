//! The down–up walk: an item leaves, and an item enters that is drawn from its conditional
//! distribution over all n items.

use crate::start::{diagonal, independent, rounding};
use faer::{Mat, MatMut};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, random, validate, work};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// Number of rows of G per parallel task.
const ROWS: usize = 1024;
/// Number of steps after which G is recomputed from K, as a multiple of c.
const REFRESH: usize = 8;

/// A Markov chain on subsets Y of size c with the stationary distribution Pr(Y) = det K_YY /
/// e_c(K). It mixes within about c ln c steps, for any n. The [`SwapChain`](crate::SwapChain) needs
/// about n times as many steps.
///
/// A step removes a uniform v ∈ Y and adds u with probability proportional to the residual K_uu −
/// K_uS K_SS⁻¹ K_Su, S = Y − v, over all u ∉ S (u = v is possible). A step evaluates one column of
/// K and takes O(nc) flops. The state is G = K_{:,Y}L⁻ᵀ, n·c numbers, with LLᵀ = K_YY; it is
/// recomputed every 8c steps (n·c entries).
///
/// The spectral gap is at least 1/c for every K, because the stationary distribution is strongly
/// log-concave (N. Anari, K. Liu, S. Oveis Gharan, C. Vinzant, *Log-concave polynomials II*, STOC
/// 2019). The modified log-Sobolev constant is also at least 1/c, which gives the mixing time of
/// order c ln c (M. Cryan, H. Guo, G. Mousa, FOCS 2019, arXiv:1903.06081). The tests compute the
/// gap of small walks by enumeration.
///
/// # Source
/// The base-exchange walk; for DPPs N. Anari, S. Oveis Gharan & A. Rezaei, COLT 2016.
///
/// # Departures
/// Li, Jegelka & Sra (2016) do not use this walk.
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::DownUpWalk;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Uniform;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(200, 200, |i, j| (-((i as f64 - j as f64) / 8.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let mut walk = DownUpWalk::start(&k, 10, &Uniform::default(), rng)?;
/// walk.run(50, rng)?;
/// assert_eq!(walk.landmarks().len(), 10);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[must_use]
pub struct DownUpWalk<'a, T: Scalar> {
    k: &'a dyn PsdMatrix<T>,
    diagonal: Vec<f64>,
    items: Vec<usize>,   // Y in the order of the factor
    columns: Vec<usize>, // the column of G of each item
    G: Mat<T>,           // K_{:,Y} L⁻ᵀ, n × c, columns stored in any order
    residual: Vec<f64>,  // diagonal of K − GGᵀ, 0 on Y
    rounding: f64,
    steps: u64,
    stale: bool, // G does not belong to the items, because K failed during an update
}

impl<'a, T: Scalar> DownUpWalk<'a, T> {
    /// The walk from the set that `selector` chooses, repaired like the start of a
    /// [`SwapChain`](crate::SwapChain). n·c entries, O(nc²) flops.
    ///
    /// # Randomness
    /// That of the selector.
    ///
    /// # Errors
    /// [`Error::Empty`] if c = 0, [`Error::TooMany`] if c > n, [`Error::RankDeficient`], with the
    /// numerical rank, if no c items are independent. [`Error::NonFinite`],
    /// [`Error::InvalidWeight`] for a negative diagonal entry, [`Error::NotPositiveDefinite`] for a
    /// K that is not psd, and those of the selector.
    pub fn start(
        k: &'a dyn PsdMatrix<T>,
        c: usize,
        selector: &dyn LandmarkSelector<T>,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let chosen = selector.select(k, c, rng)?;
        Self::with_size(k, &chosen, c)
    }

    /// The walk from a given set, repaired if K_YY is singular; errors as [`start`](Self::start).
    pub fn new(k: &'a dyn PsdMatrix<T>, start: &Landmarks) -> Result<Self> {
        Self::with_size(k, start, start.len())
    }

    fn with_size(k: &'a dyn PsdMatrix<T>, start: &Landmarks, c: usize) -> Result<Self> {
        let n = k.dim();
        start.check(n)?;
        validate::at_most("items (c)", c, n)?;
        let mut walk = DownUpWalk {
            items: independent(k, start.indices(), c)?,
            diagonal: diagonal(k, "matrix")?,
            k,
            columns: (0..c).collect(),
            G: Mat::zeros(n, c),
            residual: vec![0.0; n],
            rounding: rounding::<T>(c),
            steps: 0,
            stale: false,
        };
        walk.refresh()?;
        Ok(walk)
    }

    /// One step; true if Y changed.
    ///
    /// # Randomness
    /// One bounded integer for v, one uniform for u.
    ///
    /// # Errors
    /// [`Error::NonFinite`] if the column of u has an entry that is NaN or infinite,
    /// [`Error::NotPositiveDefinite`] if K is not psd. After an error Y is unchanged, in the same
    /// order.
    pub fn step(&mut self, rng: &mut dyn Rng) -> Result<bool> {
        if self.stale {
            self.refresh()?;
        }
        let before = self.items.clone();
        let changed = self.exchange(rng);
        if changed.is_err() {
            self.items = before;
            let _ = self.refresh(); // if this fails too, the next step tries again
        }
        changed
    }

    fn exchange(&mut self, rng: &mut dyn Rng) -> Result<bool> {
        let v = self.remove(rng.random_range(0..self.items.len()));
        let weights: Vec<f64> =
            self.residual.iter().zip(&self.diagonal).map(|(r, d)| self.believed(*r, *d)).collect();
        let u = random::categorical(&weights, rng).unwrap_or(v); // only v has a positive residual
        self.add(u)?;
        if (self.steps + 1).is_multiple_of((REFRESH * self.items.len()) as u64) {
            self.refresh()?;
        }
        self.steps += 1;
        Ok(u != v)
    }

    /// Takes `steps` steps.
    ///
    /// # Randomness
    /// That of the steps.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run(&mut self, steps: usize, rng: &mut dyn Rng) -> Result<()> {
        (0..steps).try_for_each(|_| self.step(rng).map(|_| ()))
    }

    fn believed(&self, residual: f64, diagonal: f64) -> f64 {
        if residual > self.rounding * diagonal { residual } else { 0.0 }
    }

    /// Removes v, the item at `position`, from Y: rotates the column of v with each later column of
    /// G, so that it then holds the part of K that Y − v does not explain, whose squares are added
    /// to the residuals.
    fn remove(&mut self, position: usize) -> usize {
        let rotations = self.rotations(position);
        let x = self.columns.remove(position);
        let rotated = self.columns[position..].to_vec();
        work::product(3, self.residual.len(), rotated.len());
        let (residual, mut G) = (&mut self.residual, self.G.as_mut());
        G.rb_mut().par_row_chunks_mut(ROWS).zip(residual.par_chunks_mut(ROWS)).for_each(
            |(mut G, residual)| {
                for (&column, &[cos, sin]) in rotated.iter().zip(&rotations) {
                    rotate(G.rb_mut(), column, x, T::lit(cos), T::lit(sin));
                }
                let freed = G.rb().col(x);
                residual.iter_mut().zip(freed.iter()).for_each(|(r, g)| *r += g.f64().powi(2));
            },
        );
        self.columns.push(x);
        let v = self.items.remove(position);
        self.items.iter().for_each(|&i| self.residual[i] = 0.0);
        v
    }

    /// The rotations that make L = G\[Y, :\] lower triangular after the removal of the row at
    /// `position`.
    fn rotations(&self, position: usize) -> Vec<[f64; 2]> {
        let c = self.items.len();
        let at = |i: usize, j: usize| self.G[(self.items[i], self.columns[j])].f64();
        let mut x: Vec<f64> = (position + 1..c).map(|i| at(i, position)).collect();
        (position + 1..c)
            .map(|k| {
                let behind = &mut x[k - position - 1..];
                let r = at(k, k).hypot(behind[0]);
                let (cos, sin) = (at(k, k) / r, behind[0] / r);
                behind.iter_mut().enumerate().for_each(|(i, x)| *x = cos * *x - sin * at(k + i, k));
                [cos, sin]
            })
            .collect()
    }

    /// Adds u to Y: its column (K_{:,u} − G G_uᵀ)/√residual_u is stored in place of the column
    /// removed last.
    fn add(&mut self, u: usize) -> Result<()> {
        let (last, n) = (self.columns[self.columns.len() - 1], self.k.dim());
        let mut column = Mat::zeros(n, 1);
        self.k.block_into(column.as_mut(), (0..n).into(), (&[u]).into());
        validate::finite("matrix", column.as_ref())
            .map_err(|error| error.placed(|row, _| (row, u)))?;
        let others = &self.columns[..self.columns.len() - 1];
        let G_u: Vec<T> = others.iter().map(|&j| self.G[(u, j)]).collect();
        let pivot = column[(u, 0)] - others.iter().zip(&G_u).map(|(_, &g)| g * g).sum::<T>();
        let root = self.residual[u].sqrt();
        if !(pivot > T::zero() && root > 0.0) {
            return Err(Error::NotPositiveDefinite {
                order: self.columns.len(),
                pivot: others.len(),
                jitter: 0.0,
            });
        }
        work::product(n, 1, others.len());
        let chunks =
            self.G.as_mut().par_row_chunks_mut(ROWS).zip(column.as_mut().par_row_chunks_mut(ROWS));
        chunks.zip(self.residual.par_chunks_mut(ROWS)).for_each(|((mut G, mut k_u), residual)| {
            for (&j, &g) in others.iter().zip(&G_u) {
                k_u.rb_mut()
                    .col_mut(0)
                    .iter_mut()
                    .zip(G.rb().col(j).iter())
                    .for_each(|(k, h)| *k -= g * *h);
            }
            for ((to, k), r) in
                G.rb_mut().col_mut(last).iter_mut().zip(k_u.rb().col(0).iter()).zip(residual)
            {
                let value = k.f64() / root;
                *to = T::lit(value);
                *r = (*r - value * value).max(0.0);
            }
        });
        self.items.push(u);
        self.residual[u] = 0.0;
        Ok(())
    }

    /// Recomputes G and the residuals from K: n·c entries. After an error the items are unchanged
    /// and G is stale.
    fn refresh(&mut self) -> Result<()> {
        self.residual.copy_from_slice(&self.diagonal);
        let items = std::mem::take(&mut self.items);
        self.columns.clear();
        let added = items.iter().enumerate().try_for_each(|(j, &u)| {
            self.columns.push(j);
            self.add(u)
        });
        (self.items, self.columns) = (items, (0..self.G.ncols()).collect());
        self.stale = added.is_err();
        added
    }

    /// Y, in the order of entry.
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// Y as landmarks, in increasing order.
    pub fn landmarks(&self) -> Landmarks {
        let mut members = self.items.clone();
        members.sort_unstable();
        Landmarks::new(self.k.dim(), members).expect("distinct items, at least one")
    }

    /// ln det K_YY. O(c).
    pub fn log_det(&self) -> f64 {
        self.items
            .iter()
            .zip(&self.columns)
            .map(|(&i, &j)| 2.0 * self.G[(i, j)].f64().abs().ln())
            .sum()
    }

    /// tr(K − K̃_Y), the trace error of the Nyström approximation from the columns Y. O(n).
    pub fn trace_error(&self) -> f64 {
        self.residual.iter().sum()
    }
}

/// Columns (a, x) ← (cos·a + sin·x, cos·x − sin·a).
fn rotate<T: Scalar>(G: MatMut<'_, T>, a: usize, x: usize, cos: T, sin: T) {
    let (low, high) = (a.min(x), a.max(x));
    let (left, right) = G.split_at_col_mut(high);
    let (low, high) = (left.col_mut(low), right.col_mut(0));
    let (a, x) = if a < x { (low, high) } else { (high, low) };
    for (a, x) in a.iter_mut().zip(x.iter_mut()) {
        (*a, *x) = (cos * *a + sin * *x, cos * *x - sin * *a);
    }
}

use faer::reborrow::*;
