//! A weighted sum of several Nyström approximations.

use crate::{Landmarks, Nystrom};
use faer::{Accum, Mat, MatRef, unzip, zip};
use nystrom_linalg_core::{
    Cholesky, Error, Indices, JitterLadder, PsdMatrix, Result, RowTree, Scalar, ops, psd_by_factor,
    validate,
};

/// Rows of the held-out columns that are in memory at a time.
const TILE_ROWS: usize = 256;

/// How the p experts of an ensemble are weighted. V is a set of columns of K held out to compare
/// the experts with K.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EnsembleWeights<'a> {
    /// μ_r = 1/p.
    Uniform,
    /// μ_r ∝ exp(−η ε_r) with ε_r = ‖(L_r − K)\[:, V\]‖_F/‖K\[:, V\]‖_F; the weights sum to 1.
    Exponential {
        /// η ≥ 0.
        eta: f64,
        /// V, the held-out columns.
        held_out: &'a [usize],
    },
    /// μ minimises ‖Σ_r μ_r L_r\[:, V\] − K\[:, V\]‖²_F + λ‖K\[:, V\]‖²_F‖μ‖² over μ ≥ 0.
    Ridge {
        /// λ > 0.
        lambda: f64,
        /// V, the held-out columns.
        held_out: &'a [usize],
    },
}

/// K̃ = Σ_r μ_r L_r, a weighted sum of the Nyström approximations ("experts") of p sets of
/// landmarks.
///
/// With uniform or exponential weights, 0 ⪯ K̃ ⪯ K. Ridge weights may have a sum above 1, and then
/// only 0 ⪯ K̃. In exact arithmetic, the Nyström approximation from the union of all landmarks is
/// never worse than an ensemble whose weights sum to 1. But it needs a factorisation of order m,
/// where the ensemble needs p factorisations of order about m/p.
///
/// # Cost
/// With m landmarks in total and v held-out columns: nm + nv entries, nm numbers of memory and
/// O(nm²/p + nmv) flops.
///
/// # Source
/// S. Kumar, M. Mohri, A. Talwalkar, *Ensemble Nyström method*, NIPS 2009.
///
/// # Departures
/// Errors and λ are relative to ‖K\[:, V\]‖_F, so that η and λ do not depend on the scale of K.
/// Ridge weights are constrained to μ ≥ 0; the paper's weights may be negative, and then K̃ need
/// not be positive semi-definite.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{EnsembleNystrom, EnsembleWeights, Landmarks};
/// let k = Mat::from_fn(40, 40, |i, j| (-(i as f64 - j as f64).abs() / 15.0).exp());
/// let k = Dense::new(k.as_ref())?;
/// let experts = [Landmarks::new(40, vec![3, 4, 5])?, Landmarks::new(40, vec![8, 20, 32])?];
/// let weights = EnsembleWeights::Exponential { eta: 5.0, held_out: &[0, 10, 25] };
/// let ensemble = EnsembleNystrom::new(&k, &experts, weights)?;
/// assert!(ensemble.weights()[1] > 2.0 * ensemble.weights()[0]);   // the second expert is better
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EnsembleNystrom<T> {
    factor: Mat<T>,
    weights: Vec<f64>,
}

impl<T: Scalar> EnsembleNystrom<T> {
    /// The ensemble with one expert for every set of landmarks in `experts`.
    ///
    /// # Errors
    /// [`Error::Empty`] without experts or held-out columns, [`Error::IndexOutOfRange`] for a
    /// held-out column, [`Error::InvalidParameter`] for η or λ. [`Error::InvalidWeight`] if the
    /// held-out columns are zero or their squares overflow. Those of [`Nystrom::new`].
    pub fn new(
        k: &dyn PsdMatrix<T>,
        experts: &[Landmarks],
        weights: EnsembleWeights<'_>,
    ) -> Result<Self> {
        validate::not_empty("experts", experts.len())?;
        weights.check(k.dim())?;
        let experts: Vec<Nystrom<T>> =
            experts.iter().map(|J| Nystrom::new(k, J)).collect::<Result<_>>()?;
        let mu = weights.of(k, &experts)?;
        let mut factor = Mat::zeros(k.dim(), experts.iter().map(Nystrom::rank).sum());
        let mut start = 0;
        for (expert, mu_r) in experts.iter().zip(&mu) {
            let root = T::lit(mu_r.sqrt());
            let columns = factor.as_mut().subcols_mut(start, expert.rank());
            zip!(columns, expert.factor()).for_each(|unzip!(column, f)| *column = *f * root);
            start += expert.rank();
        }
        Ok(EnsembleNystrom { factor, weights: mu })
    }

    /// F = \[√μ_1 F_1, …, √μ_p F_p\], n × r, with K̃ = FFᵀ and L_r = F_rF_rᵀ.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }

    /// The weights μ_1, …, μ_p.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

impl EnsembleWeights<'_> {
    fn check(&self, n: usize) -> Result<()> {
        let held_out = match *self {
            EnsembleWeights::Uniform => return Ok(()),
            EnsembleWeights::Exponential { eta, held_out } => {
                let holds = eta >= 0.0 && eta.is_finite();
                validate::require(holds, "eta", eta, "finite and at least 0")?;
                held_out
            }
            EnsembleWeights::Ridge { lambda, held_out } => {
                validate::positive("lambda of the ensemble", lambda)?;
                held_out
            }
        };
        validate::not_empty("held-out columns", held_out.len())?;
        Indices::from(held_out).check(n, "held-out columns")
    }

    fn of<T: Scalar>(&self, k: &dyn PsdMatrix<T>, experts: &[Nystrom<T>]) -> Result<Vec<f64>> {
        let p = experts.len();
        match *self {
            EnsembleWeights::Uniform => Ok(vec![1.0 / p as f64; p]),
            EnsembleWeights::Exponential { eta, held_out } => {
                let G = held_out_products(k, experts, held_out)?;
                let epsilon: Vec<f64> = (0..p).map(|r| (G[(r, r)] / G[(p, p)]).sqrt()).collect();
                let least = epsilon.iter().copied().fold(f64::INFINITY, f64::min);
                let raw: Vec<f64> = epsilon.iter().map(|e| (-eta * (e - least)).exp()).collect();
                let sum: f64 = raw.iter().sum();
                Ok(raw.into_iter().map(|mu| mu / sum).collect())
            }
            EnsembleWeights::Ridge { lambda, held_out } => {
                let G = held_out_products(k, experts, held_out)?;
                // on the held-out columns L_r = D_r + K; A holds the inner products of the L_r
                let kk = G[(p, p)];
                let with_k = |r: usize| G[(p, r)] + kk;
                let mut A =
                    Mat::from_fn(p, p, |r, s| G[(r.max(s), r.min(s))] + G[(p, r)] + G[(p, s)] + kk);
                ops::add_to_diagonal(A.as_mut(), lambda * kk);
                least_squares(&A, &(0..p).map(with_k).collect::<Vec<_>>())
            }
        }
    }
}

/// Minimises ½μᵀAμ − bᵀμ over μ ≥ 0, for a positive definite A (p × p). If the unconstrained
/// minimiser is nonnegative, it is the result.
///
/// # Source
/// The active set method of C. Lawson & R. Hanson, *Solving Least Squares Problems* (1974),
/// chapter 23.
fn least_squares(A: &Mat<f64>, b: &[f64]) -> Result<Vec<f64>> {
    let p = b.len();
    let solve = |free: &[usize]| -> Result<Vec<f64>> {
        let inner = Mat::from_fn(free.len(), free.len(), |s, t| {
            A[(free[s].max(free[t]), free[s].min(free[t]))]
        });
        let mut x = Mat::from_fn(free.len(), 1, |s, _| b[free[s]]);
        Cholesky::with_jitter(inner.as_ref(), JitterLadder::default())?.solve_in_place(x.as_mut());
        Ok((0..free.len()).map(|s| x[(s, 0)]).collect())
    };
    let unconstrained = solve(&(0..p).collect::<Vec<_>>())?;
    if unconstrained.iter().all(|mu| *mu >= 0.0) {
        return Ok(unconstrained);
    }
    let rounding = 1e-13 * b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    let (mut mu, mut free) = (vec![0.0; p], vec![]);
    for _ in 0..10 * p {
        let slope = |r: usize| b[r] - (0..p).map(|s| A[(r.max(s), r.min(s))] * mu[s]).sum::<f64>();
        let held = (0..p).filter(|r| !free.contains(r)).map(|r| (slope(r), r));
        let Some((_, r)) =
            held.filter(|(slope, _)| *slope > rounding).max_by(|a, b| a.0.total_cmp(&b.0))
        else {
            break;
        };
        free.push(r);
        loop {
            let target = solve(&free)?;
            let blocked = free.iter().zip(&target).filter(|(_, to)| **to <= 0.0);
            let step = blocked.map(|(&r, to)| mu[r] / (mu[r] - to)).fold(1.0, f64::min);
            free.iter().zip(&target).for_each(|(&r, to)| mu[r] += step * (to - mu[r]));
            if step == 1.0 {
                break;
            }
            let least = f64::EPSILON * mu.iter().copied().fold(0.0, f64::max);
            free.retain(|&r| mu[r] > least);
            (0..p).filter(|r| !free.contains(r)).for_each(|r| mu[r] = 0.0);
        }
    }
    Ok(mu.into_iter().map(|mu| mu.max(0.0)).collect())
}

/// The inner products of the matrices D_1\[:, V\], …, D_p\[:, V\] and K\[:, V\], where
/// D_r = L_r − K: (p + 1) × (p + 1), lower triangle, in `f64`.
fn held_out_products<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    experts: &[Nystrom<T>],
    V: &[usize],
) -> Result<Mat<f64>> {
    let (n, p) = (k.dim(), experts.len());
    let mut G = Mat::<f64>::zeros(p + 1, p + 1);
    for rows in RowTree::tiles(0..n, TILE_ROWS) {
        let K = k.block(rows.clone().into(), V.into());
        validate::finite_block(K.as_ref(), rows.clone(), V)?;
        let mut columns = Mat::<f64>::zeros(K.nrows() * K.ncols(), p + 1);
        let mut write = |r: usize, value: &dyn Fn(usize, usize) -> f64| {
            for j in 0..K.ncols() {
                for i in 0..K.nrows() {
                    columns[(j * K.nrows() + i, r)] = value(i, j);
                }
            }
        };
        for (r, expert) in experts.iter().enumerate() {
            let L = expert.block(rows.clone().into(), V.into());
            write(r, &|i, j| L[(i, j)].f64() - K[(i, j)].f64());
        }
        write(p, &|i, j| K[(i, j)].f64());
        ops::gram_lower(G.as_mut(), Accum::Add, columns.as_ref(), 1.0);
    }
    if G[(p, p)] > 0.0 && G[(p, p)].is_finite() {
        Ok(G)
    } else {
        Err(Error::InvalidWeight {
            what: "squares of the held-out columns",
            index: n,
            value: G[(p, p)],
        })
    }
}

psd_by_factor!(EnsembleNystrom);
