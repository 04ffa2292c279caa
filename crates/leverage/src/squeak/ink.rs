//! INK-Estimate: the predecessor of SQUEAK, a baseline that stores all points seen.

use super::dictionary::weights;
use super::measure::diagonal;
use super::shrink::binomial;
use faer::{Accum, Mat};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, Ridge, Scalar, ops, validate};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// INK-Estimate: sequential ridge leverage scores at the absolute ridge γ, with a fixed number of
/// copies q̄ in the dictionary.
///
/// **Stores all t points seen and the t × m columns K\[:, I\]**, because the score of point i,
///
/// τ̃_i = (k_ii − k_iᵀ(K̄ + αγI)⁻¹k_i)/(αγ), α = (2 − ε)/(1 − ε),
///
/// needs the whole column k_i. K̄ is the regularised Nyström approximation KS(SᵀKS + γI)⁻¹SᵀK of
/// the earlier points, bordered by the exact row and column of the new point. If the dictionary is
/// ε-accurate, τ_i/α ≤ τ̃_i ≤ τ_i. This is a baseline for comparisons; for use take
/// [`Squeak`](super::Squeak), which stores only its dictionary.
///
/// Copies are drawn with the normalised probabilities p̃_i = τ̃_i/d̃, so that about q̄ copies are
/// kept for any γ. Here d̃ is the sum over all points of α·τ̃ at their arrival. If the dictionaries
/// are ε-accurate, d̃ ≥ d_eff, since a point raises d_eff by at most its own score.
///
/// # Cost
/// Per point: t kernel values and O(t·m² + m³) flops. Memory: t·(m + d) + O(m²).
///
/// # Source
/// Calandriello, Lazaric & Valko, *Analysis of Nyström method with sequential ridge leverage
/// scores*, UAI 2016.
///
/// # Departures
/// d̃ as above replaces the paper's running estimate of d_eff. Copies are thinned binomially, as in
/// SQUEAK. τ̃_i is at least k_ii²/(‖k_i‖² + γk_ii)/α ≤ τ_i/α, because the formula becomes negative
/// for an inaccurate dictionary and the point would then be dropped permanently.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::Ink;
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let x: Vec<f64> = (0..200).map(|i| (i as f64 * 0.618).fract()).collect();
/// let mut ink = Ink::new(Gaussian::new(0.2)?, 1, 1.0, 400, 0.5)?;
/// ink.push(Points::from_slice(&x), &mut rng)?;
/// let dictionary = ink.dictionary()?;
/// assert!(dictionary.n() == 200 && dictionary.len() < 100);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ink<K, T> {
    kernel: K,
    dim: usize,
    gamma: f64,
    copies: u32,
    epsilon: f64,
    coordinates: Vec<T>,    // all points seen, d × t
    columns: Vec<Vec<f64>>, // K[:, i] for i in I
    indices: Vec<usize>,
    p: Vec<f64>,
    q: Vec<u32>,
    d_eff: f64,
}

impl<K, T: Scalar> Ink<K, T> {
    /// An empty stream of points in ℝ^dim, with q̄ = `copies` copies in total and accuracy ε, at
    /// the absolute ridge γ = `gamma`.
    ///
    /// # Errors
    /// `InvalidParameter` if γ is outside (0, ∞) or ε outside (0, 1), `Empty` if dim = 0 or q̄ = 0,
    /// those of the kernel for `dim`.
    pub fn new(kernel: K, dim: usize, gamma: T, copies: u32, epsilon: f64) -> Result<Self>
    where
        K: Kernel<T>,
    {
        super::SqueakParams { epsilon, ..super::SqueakParams::new(copies) }.check()?;
        validate::not_empty("coordinates of a point (d)", dim)?;
        kernel.check_dim(dim)?;
        let gamma = Ridge::Absolute(gamma).absolute(1)?.f64();
        let (coordinates, columns, indices, p, q) = (vec![], vec![], vec![], vec![], vec![]);
        Ok(Ink {
            kernel,
            dim,
            gamma,
            copies,
            epsilon,
            coordinates,
            columns,
            indices,
            p,
            q,
            d_eff: 0.0,
        })
    }

    /// t, the number of points seen, all of which are stored.
    pub fn n_seen(&self) -> usize {
        self.coordinates.len() / self.dim
    }

    /// α = (2 − ε)/(1 − ε).
    pub fn alpha(&self) -> f64 {
        (2.0 - self.epsilon) / (1.0 - self.epsilon)
    }

    /// d̃, an over-estimate of d_eff(γ) if the dictionaries are ε-accurate.
    pub fn effective_dimension(&self) -> f64 {
        self.d_eff
    }

    /// The rows kept, with weights q_i/(q̄p̃_i). `Empty` if no point was seen.
    pub fn dictionary(&self) -> Result<Dictionary<T>> {
        let weights = self.weights().into_iter().map(T::lit).collect();
        Dictionary::new(self.n_seen(), self.indices.clone(), weights)
    }

    fn weights(&self) -> Vec<f64> {
        weights(&self.q, &self.p, self.copies)
    }

    /// Adds the points one after another.
    ///
    /// # Randomness
    /// For every point, one binomial per member whose p̃ fell, in the dictionary's order.
    ///
    /// # Errors
    /// Before any point is added: `Shape` for another dimension, `NonFinite` and those of the
    /// kernel for the points. Later those of the factorisations; earlier points stay added.
    pub fn push(&mut self, block: Points<'_, T>, rng: &mut dyn Rng) -> Result<()>
    where
        K: Kernel<T>,
    {
        validate::same_size("coordinates of a point (d)", self.dim, block.dim())?;
        if block.is_empty() {
            return Ok(());
        }
        block.check_dense()?;
        self.kernel.check_points(block)?;
        let diagonal = diagonal(&self.kernel, block)?;
        for (i, k_ii) in diagonal.into_iter().enumerate() {
            self.push_one(block.slice(i..i + 1), k_ii, rng)?;
        }
        Ok(())
    }

    fn push_one(&mut self, x: Points<'_, T>, kappa: f64, rng: &mut dyn Rng) -> Result<()>
    where
        K: Kernel<T>,
    {
        let t = self.n_seen();
        // k(x_1, x), …, k(x_t, x)
        let k = self.column(x);
        // τ̃ of I and of the new point
        let tau = self.scores_with(&k, kappa)?;
        let new = self.indices.len();
        // d̃ ← d̃ + ατ̃_new
        self.d_eff += self.alpha() * tau[new];
        self.coordinates.extend((0..self.dim).map(|j| x.coordinate(0, j)));
        for (column, &i) in self.columns.iter_mut().zip(&self.indices) {
            // every column gains the entry k(x, x_i)
            column.push(k[i]);
        }
        self.columns.push([&k[..], &[kappa]].concat());
        self.indices.push(t);
        self.p.push(1.0);
        self.q.push(self.copies);
        for (i, tau_i) in tau.into_iter().enumerate() {
            // p̃_i ← min(τ̃_i/d̃, p̃_i)
            let p_new = (tau_i / self.d_eff).min(self.p[i]);
            // 0/0 for k(x, x) = 0
            let p_new = if p_new > 0.0 { p_new } else { 0.0 };
            self.q[i] = binomial(self.q[i], p_new / self.p[i], rng);
            self.p[i] = p_new;
        }
        self.prune();
        Ok(())
    }

    pub(super) fn column(&self, x: Points<'_, T>) -> Vec<f64>
    where
        K: Kernel<T>,
    {
        let t = self.n_seen();
        if t == 0 {
            return vec![];
        }
        let k = self.kernel.eval(Points::from_row_major(&self.coordinates, self.dim), x);
        (0..t).map(|i| k[(i, 0)].f64()).collect()
    }

    /// τ̃_i for i in I and, last, for a new point x with k(x, x) = `kappa` and kernel values `k`
    /// (t) to the points seen.
    ///
    /// K̃ + βI = BBᵀ + βI with β = αγ, B = CL⁻ᵀ, LLᵀ = W + γS⁻²; its inverse is applied to U = \[C
    /// k\] through inner products only.
    pub(super) fn scores_with(&self, k: &[f64], kappa: f64) -> Result<Vec<f64>> {
        let (t, m, beta) = (k.len(), self.indices.len(), self.alpha() * self.gamma);
        let entry = |r: usize, j: usize| if j < m { self.columns[j][r] } else { k[r] };
        let U = Mat::from_fn(t, m + 1, entry);
        let mut UU = ops::times(U.transpose(), U.as_ref());
        let norms: Vec<f64> = (0..=m).map(|j| UU[(j, j)]).collect();
        if m > 0 {
            // β·Uᵀ(K̃ + βI)⁻¹U
            self.subtract_dictionary(&mut UU, &entry, beta)?;
        }
        // Schur complement of the border
        let s = kappa + beta - UU[(m, m)] / beta;
        let score = |j: usize| {
            let (k_jj, a) = if j < m {
                (self.columns[j][self.indices[j]], k[self.indices[j]])
            } else {
                (kappa, kappa)
            };
            // k_jᵀ(K̄ + βI)⁻¹k_j
            let quadratic = UU[(j, j)] / beta + (a - UU[(j, m)] / beta).powi(2) / s;
            // ≤ τ_j/α by Cauchy–Schwarz
            let lowest = k_jj / ((norms[j] + a * a) / k_jj + self.gamma) / self.alpha();
            if k_jj > 0.0 {
                ((k_jj - quadratic) / beta).min(k_jj / (k_jj + beta)).max(lowest)
            } else {
                0.0
            }
        };
        Ok((0..=m).map(score).collect())
    }

    /// UᵀU ← Uᵀ(I − B(BᵀB + βI)⁻¹Bᵀ)U.
    fn subtract_dictionary(
        &self,
        UU: &mut Mat<f64>,
        entry: &dyn Fn(usize, usize) -> f64,
        beta: f64,
    ) -> Result<()> {
        let (m, weights) = (self.indices.len(), self.weights());
        let ridged = |i: usize, j: usize| {
            entry(self.indices[i], j) + if i == j { self.gamma / weights[i] } else { 0.0 }
        };
        let W = Mat::from_fn(m, m, ridged);
        let L = Cholesky::with_jitter(W.as_ref(), JitterLadder::default())?;
        let mut BU = UU.as_ref().subrows(0, m).to_owned(); //                           CᵀU
        L.forward_in_place(BU.as_mut()); //                                             BᵀU = L⁻¹CᵀU
        let mut G = BU.as_ref().subcols(0, m).transpose().to_owned(); //                CᵀB
        L.forward_in_place(G.as_mut()); //                                              BᵀB
        ops::add_to_diagonal(G.as_mut(), beta);
        Cholesky::with_jitter(G.as_ref(), JitterLadder::default())?.forward_in_place(BU.as_mut());
        ops::matmul(UU.as_mut(), Accum::Add, BU.transpose(), BU.as_ref(), -1.0);
        Ok(())
    }

    fn prune(&mut self) {
        let keep: Vec<usize> = (0..self.q.len()).filter(|&i| self.q[i] > 0).collect();
        self.columns = keep.iter().map(|&i| std::mem::take(&mut self.columns[i])).collect();
        self.indices = keep.iter().map(|&i| self.indices[i]).collect();
        self.p = keep.iter().map(|&i| self.p[i]).collect();
        self.q = keep.iter().map(|&i| self.q[i]).collect();
    }
}
