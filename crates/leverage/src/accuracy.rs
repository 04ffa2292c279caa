//! The accuracy ε of a weighted dictionary, computed from the exact spectrum.

use crate::ExactSpectrum;
use faer::{Accum, Mat};
use nystrom_linalg_core::{Result, Ridge, Scalar, SymmetricEigen, ops};
use nystrom_sketch::Dictionary;

impl<T: Scalar> ExactSpectrum<T> {
    /// ε = ‖P − P̃‖₂, the least ε for which the dictionary is (ε, μ)-accurate:
    ///
    /// P = (K + μI)^{−½}K(K + μI)^{−½}, P̃ = (K + μI)^{−½}K^{½}SSᵀK^{½}(K + μI)^{−½}, SSᵀ diagonal
    /// with w on the dictionary's rows and 0 elsewhere.
    ///
    /// Theorems about sampling by leverage scores bound this ε with high probability. ε < 1 implies
    /// (1 − ε)(K + μI) ⪯ K^{½}SSᵀK^{½} + μI ⪯ (1 + ε)(K + μI). The scores of
    /// [`Projector`](crate::Projector) then lie between l_i/(1 + ε) and l_i/(1 − ε), and the
    /// regularised Nyström approximation L_μ satisfies 0 ⪯ K − L_μ ⪯ μ/(1 − ε)·I. Kernel ridge
    /// regression with L_μ in place of K, at the ridge μ', has at most (1 + (μ/μ')/(1 − ε))² times
    /// the risk of exact kernel ridge regression.
    ///
    /// Cost, where r ≤ n eigenvalues are above rounding error: r²·|D| + 9r³ flops and 3r² memory,
    /// in `f64`.
    ///
    /// # Source
    /// Calandriello, Lazaric & Valko, AISTATS 2017 (arXiv:1803.10172), the definition of an (ε,
    /// γ)-accurate dictionary.
    ///
    /// # Errors
    /// [`Error::Shape`](nystrom_linalg_core::Error::Shape) if the dictionary is of a matrix of
    /// another order; those of [`Ridge::absolute`],
    /// [`Error::EigenFailure`](nystrom_linalg_core::Error::EigenFailure).
    ///
    /// ```
    /// use faer::mat;
    /// use nystrom_leverage::{Dictionary, ExactSpectrum};
    /// use nystrom_linalg_core::{Dense, Ridge};
    /// let k = mat![[3.0, 0.0], [0.0, 1.0_f64]];
    /// let spectrum = ExactSpectrum::new(&Dense::new(k.as_ref())?)?;
    /// // row 1 is left out: 1/(1 + 1); row 0 counts 1.2 times: 0.2·3/(3 + 1)
    /// let dictionary = Dictionary::new(2, vec![0], vec![1.2])?;
    /// assert!((spectrum.accuracy(&dictionary, Ridge::Absolute(1.0))? - 0.5).abs() < 1e-15);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn accuracy(&self, dictionary: &Dictionary<T>, ridge: Ridge<T>) -> Result<f64> {
        let n = self.vectors().nrows();
        dictionary.check(n)?;
        let mu = ridge.absolute(n)?.f64();
        let sigma: Vec<f64> = self.values().collect();
        let r = sigma.iter().take_while(|s| **s > T::EPS * sigma[0]).count();
        if r == 0 {
            return Ok(0.0); // K = 0
        }
        let psi = |j: usize| (sigma[j] / (sigma[j] + mu)).sqrt();
        let (D, w) = (dictionary.indices(), dictionary.weights());
        let Psi_S = Mat::from_fn(r, D.len(), |j, t| {
            psi(j) * self.vectors()[(D[t], j)].f64() * w[t].f64().sqrt() //   (Σ/(Σ + μ))^{½}UᵀS
        });
        let mut E = Mat::<f64>::zeros(r, r);
        ops::gram_lower(E.as_mut(), Accum::Replace, Psi_S.transpose(), -1.0); // −P̃ in the basis U
        (0..r).for_each(|j| E[(j, j)] += psi(j).powi(2)); //                  P = Σ(Σ + μ)⁻¹
        let eigen = SymmetricEigen::new(E.as_ref())?;
        Ok(eigen.values().iter().fold(0.0, |epsilon: f64, v| epsilon.max(v.abs())))
    }
}
