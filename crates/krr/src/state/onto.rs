//! A state over other centres, for a dictionary that changes.

use super::NormalEquations;
use super::fit_sums::FitSums;
use crate::sums::NormalSums;
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{GramSums, PackedLower, Result, Scalar, ops};

impl<T: Scalar, K: Kernel<T> + Clone> NormalEquations<K, T> {
    /// The same rows over other centres. For the rows in the sums, only the projection P k(x, ·)
    /// onto the old centres is known; this projection is projected onto the new centres. The rows
    /// of an incomplete tile are kept.
    ///
    /// If all new centres are old centres, the result is exact: the state of these rows over the
    /// new centres. With the dictionaries of SQUEAK at ridge γ, each change of the dictionary loses
    /// at most γ/(1 − ε) of K in norm.
    ///
    /// # Cost
    /// For m old and m' new centres mm' + m'² kernel values and 2m²m' + 3mm'² + m'³/3 flops.
    ///
    /// # Source
    /// Ours: with features φ = R⁻¹k_Z and φ' = R'⁻¹k_Z', P k(x, ·) has the features Tφ(x) with
    /// T = R'⁻¹K(Z', Z)R⁻ᵀ, a contraction.
    ///
    /// # Errors
    /// As `new`.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{NormalEquations, RowSums};
    /// use nystrom_linalg_core::Ridge;
    /// let x: Vec<f64> = (0..2048).map(|i| i as f64 / 1000.0).collect();
    /// let y = Mat::from_fn(2048, 1, |i, _| (4.0 * x[i]).sin());
    /// let centers: Vec<f64> = (0..20).map(|j| j as f64 / 10.0).collect();
    /// let mut state = NormalEquations::new(Gaussian::new(0.3)?, Points::from_slice(&centers), 1)?;
    /// state.accumulate((Points::from_slice(&x), &y))?;
    /// let fewer: Vec<f64> = centers.iter().copied().step_by(2).collect();
    /// let mut state = state.onto(Points::from_slice(&fewer))?;
    /// let model = state.solve(Ridge::Absolute(1e-6))?;
    /// let f = model.predict(Points::from_slice(&[1.234]))?;
    /// assert!((f[(0, 0)] - 4.936_f64.sin()).abs() < 1e-2);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn onto(self, centers: Points<'_, T>) -> Result<Self> {
        let old = &self.term;
        old.centers().check_same_dim(centers)?;
        let empty = Self::make(old.kernel.clone(), centers, &old.offset, old.intercept)?;
        let seen = transfer(old, &empty.term); //                              Tᵀ
        let (totals, sums) = self.sums;
        let sums = NormalSums(carried(&sums.0, seen.as_ref()));
        let mut state = Self::of_sums(&empty.term, (totals, sums));
        state.waiting = self.waiting;
        Ok(state)
    }
}

/// Tᵀ = R⁻¹K(Z, Z')R'⁻ᵀ, and 1 for the constant, which every centre leaves alone.
fn transfer<T: Scalar, K: Kernel<T>>(
    old: &FitSums<K, T, NormalSums>,
    new: &FitSums<K, T, NormalSums>,
) -> Mat<f64> {
    let (m, p) = (old.whitener.order(), new.centers.ncols());
    let k = old.kernel.eval(new.centers(), old.centers());
    let mut left = Mat::from_fn(p, old.centers.ncols(), |i, j| k[(i, j)].f64());
    new.whitener.whiten_wide(left.as_mut()); //                               R'⁻¹K(Z', Z)
    let mut both = match &old.span {
        Some(S) => ops::times(S.transpose(), left.transpose()), //                    of a sketch
        None => left.transpose().to_owned(),
    };
    old.whitener.whiten_wide(both.as_mut());
    if !old.intercept {
        return both;
    }
    Mat::from_fn(m + 1, p + 1, |i, j| match (i == m, j == p) {
        (false, false) => both[(i, j)],
        (true, true) => 1.0,
        _ => 0.0,
    })
}

/// T ΦᵀΦ Tᵀ and T Φᵀy.
fn carried(sums: &GramSums, seen: MatRef<'_, f64>) -> GramSums {
    let mut square = sums.gram.to_square();
    ops::mirror_lower(square.as_mut());
    let half = ops::times(square.as_ref(), seen);
    let gram = ops::times(seen.transpose(), half.as_ref());
    // squares, which rounding errors may take below 0
    let entry = |i: usize, j: usize| if i == j { gram[(i, i)].max(0.0) } else { gram[(i, j)] };
    let moments = ops::times(seen.transpose(), sums.moments.as_ref());
    GramSums { gram: PackedLower::from_fn(seen.ncols(), entry), moments }
}
