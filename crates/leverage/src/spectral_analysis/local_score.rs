//! K̃_λ as a function of the density: the rescaled ridge leverage score in a uniform cloud of
//! density p.

use super::gaussian::{ln_1p_exp, ln_polylog_ratio};
use super::matern::{Matern, ln_sphere};
use super::quadrature::ln_integral;
use super::table::ScoreTable;
use super::{Stationary, StationaryFamily};
use nystrom_linalg_core::{Result, validate};
use std::f64::consts::{LN_2, PI};

/// The rescaled ridge leverage score n·l in the interior of a cloud of local density p: K̃_λ(p) =
/// ∫_{ℝ^d} ds / (p + λ/m(s)).
///
/// λ is the ridge per sample, as in K + nλI, and m is the spectral density of the kernel in
/// ordinary (not angular) frequency. K̃ decreases in p, from k(0)/λ at p = 0.
///
/// # Source
/// Chen & Yang, "Fast statistical leverage score approximation in kernel ridge regression", AISTATS
/// 2021, equation for K̃_λ in section 3.1; closed forms from its appendix D.2.
/// [`flat_boundary`](Self::flat_boundary) is ours.
///
/// ```
/// use nystrom_kernels::Matern12;
/// use nystrom_leverage::LocalScore;
/// let kernel = Matern12::new(1.0)?;
/// let score = LocalScore::new(&kernel, 3, 1e-2)?;
/// assert!((score.at(1.0)? - 19.775335456031).abs() < 1e-11);
/// assert!((score.by_quadrature(1.0)? - 19.775335456031).abs() < 1e-11);
/// assert!((score.leading(1.0).unwrap() - 19.973539506092).abs() < 1e-11);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LocalScore<'k> {
    kernel: &'k dyn Stationary,
    d: usize,
    lambda: f64,
    /// Σ_k ln ℓ_k if coordinates are divided by length scales, else 0.
    ln_stretch: f64,
}

impl<'k> LocalScore<'k> {
    /// K̃_λ of `kernel` on ℝ^d with ridge per sample λ (as in K + nλI).
    ///
    /// # Errors
    /// `InvalidParameter` unless λ is positive and finite, `Empty` if d = 0, `Shape` if the number
    /// of the kernel's length scales is not d.
    pub fn new(kernel: &'k dyn Stationary, d: usize, lambda: f64) -> Result<Self> {
        validate::not_empty("coordinates of a point (d)", d)?;
        if let Some(scales) = kernel.length_scales() {
            validate::same_size(
                "coordinates of a point (d) against length scales",
                scales.len(),
                d,
            )?;
        }
        Self::on_coordinates(kernel, &(0..d).collect::<Vec<_>>(), lambda)
    }

    /// K̃_λ on the subspace of the coordinates `kept`, possibly none.
    pub(crate) fn on_coordinates(
        kernel: &'k dyn Stationary,
        kept: &[usize],
        lambda: f64,
    ) -> Result<Self> {
        validate::positive("ridge lambda (per sample)", lambda)?;
        let ln_stretch =
            kernel.length_scales().map_or(0.0, |scales| kept.iter().map(|&k| scales[k].ln()).sum());
        Ok(LocalScore { kernel, d: kept.len(), lambda, ln_stretch })
    }

    /// K̃_λ(p): elementary for Matérn ν = 1/2 in d = 1 and 3, a polylogarithm for the Gaussian,
    /// otherwise [`by_quadrature`](Self::by_quadrature). Relative error below 1e-12. A quadrature
    /// takes about 50 µs.
    ///
    /// # Errors
    /// `InvalidParameter` unless p is positive and finite, or if the spectral density is not
    /// integrable.
    pub fn at(&self, p: f64) -> Result<f64> {
        validate::positive("density p", p)?;
        self.ln_at(p.ln()).map(f64::exp)
    }

    /// K̃_λ(p) by one-dimensional adaptive quadrature over ln‖s‖, for any radial spectral density.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn by_quadrature(&self, p: f64) -> Result<f64> {
        validate::positive("density p", p)?;
        self.ln_by_quadrature(p.ln() + self.ln_stretch).map(f64::exp)
    }

    /// K̃_0(p), the closed form for Matérn kernels of any ν in any d, proportional to p^{d/(2α)−1}
    /// with α = ν + d/2. It is never below K̃, and its relative error is O((a h(p))²), where h(p)
    /// is the length scale of the equivalent kernel. `None` for other families or p ≤ 0.
    pub fn leading(&self, p: f64) -> Option<f64> {
        Some(self.matern()?.leading(self.positive(p)?))
    }

    /// K̃_1(p): [`leading`](Self::leading) with the next term in (a h(p))². Not useful where
    /// a·h(p) > 1: it may be negative there.
    pub fn second_order(&self, p: f64) -> Option<f64> {
        Some(self.matern()?.second_order(self.positive(p)?))
    }

    /// k(0)/λ: the limit of K̃_λ(p) as p → 0, and its upper bound.
    pub fn limit(&self) -> f64 {
        self.kernel.variance() / self.lambda
    }

    /// The rescaled score on a flat boundary of a cloud with density p on one side and 0 on the
    /// other: (1/p) ∫ ln(1 + p m(s)/λ) ds = (1/p) ∫_0^p K̃_λ(q) dq.
    ///
    /// It lies between K̃_λ(p) and k(0)/λ. Where K̃ is proportional to p^{d/(2α)−1} (Matérn kernels
    /// at small λ) it is 2α/d = (2ν + d)/d times K̃: on the line 2 for ν = 1/2 and 4 for ν = 3/2.
    /// The [module documentation](crate::spectral_analysis) derives the formula.
    ///
    /// ```
    /// use nystrom_kernels::Matern32;
    /// use nystrom_leverage::LocalScore;
    /// let kernel = Matern32::new(1.0)?;
    /// let score = LocalScore::new(&kernel, 1, 1e-9)?;
    /// assert!((score.flat_boundary(1.0)? / score.at(1.0)? - 4.0).abs() < 0.1);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn flat_boundary(&self, p: f64) -> Result<f64> {
        validate::positive("density p", p)?;
        let ln_p = p.ln() + self.ln_stretch;
        if self.d == 0 {
            return self.at(p);
        }
        let density = |t: f64| self.ln_ratio(t, ln_p);
        let g = |t: f64| self.d as f64 * t + ln_ln_1p_exp(density(t));
        Ok((ln_sphere(self.d) + ln_integral(g)? - ln_p).exp())
    }

    /// The length scale h of the equivalent kernel at density p: 1/(2π s) at the frequency s where
    /// p + λ/m(s) is twice its value at 0, that is λ/m(s) = p + 2λ/m(0). For Matérn ν = 1/2 in d =
    /// 1, h = (a² + p/λ')^{−1/2} exactly, and the equivalent kernel is proportional to exp(−|u|/h).
    pub(crate) fn equivalent_scale(&self, p: f64) -> f64 {
        let ln_p = p.ln() + self.ln_stretch;
        let at_zero = LN_2 + self.lambda.ln() - self.kernel.ln_density(0.0, self.d);
        let target = self.lambda.ln() - ln_add(ln_p, at_zero);
        // ln m decreases in t = ln s: bisection for ln m = target.
        let (mut low, mut high) = (-110.0, 110.0);
        for _ in 0..60 {
            let mid = 0.5 * (low + high);
            if self.kernel.ln_density(f64::exp(mid), self.d) > target {
                low = mid
            } else {
                high = mid
            }
        }
        1.0 / (2.0 * PI * f64::exp(low))
    }

    /// The density p with K̃(p) = `value`; 0 if K̃ is below `value` for all p > 0.
    pub(crate) fn density_of(&self, value: f64) -> Result<f64> {
        if value >= self.limit() {
            return Ok(0.0);
        }
        let (mut low, mut high) = (-700.0, 700.0);
        for _ in 0..64 {
            let mid = 0.5 * (low + high);
            if self.ln_at(mid)? > value.ln() { low = mid } else { high = mid }
        }
        Ok(f64::exp(0.5 * (low + high)))
    }

    /// The length scale by which coordinate `k` is divided first; 1 if there is none.
    pub(crate) fn length_scale(&self, k: usize) -> f64 {
        self.kernel.length_scales().map_or(1.0, |scales| scales[k])
    }

    /// ln K̃ against ln p at Chebyshev nodes between the smallest and the largest p.
    pub(crate) fn tabulate(&self, p: std::ops::RangeInclusive<f64>) -> Result<ScoreTable> {
        ScoreTable::new(p.start().ln(), p.end().ln(), &|ln_p| self.ln_at(ln_p))
    }

    /// ln K̃ at ln p.
    pub(crate) fn ln_at(&self, ln_p: f64) -> Result<f64> {
        if self.d == 0 {
            // all points are equal, with mass 1: K̃ = 1/(1 + λ/k(0))
            return Ok(-(self.lambda / self.kernel.variance()).ln_1p());
        }
        let ln_p = ln_p + self.ln_stretch;
        if let Some(value) = self.matern().and_then(|matern| matern.ln_elementary(ln_p.exp())) {
            return Ok(value);
        }
        if let StationaryFamily::Gaussian { sigma } = self.kernel.family() {
            let half_d = 0.5 * self.d as f64;
            let ln_x = self.limit().ln() + ln_p + half_d * (2.0 * PI * sigma * sigma).ln();
            return Ok(self.limit().ln() + ln_polylog_ratio(half_d, ln_x)?);
        }
        self.ln_by_quadrature(ln_p)
    }

    /// ln of S_d ∫ e^{dt}/(p + λ/m(e^t)) dt.
    fn ln_by_quadrature(&self, ln_p: f64) -> Result<f64> {
        if self.d == 0 {
            return self.ln_at(ln_p);
        }
        let g = |t: f64| self.d as f64 * t - ln_p - ln_1p_exp(-self.ln_ratio(t, ln_p));
        Ok(ln_sphere(self.d) + ln_integral(g)?)
    }

    /// ln(p m(s)/λ) at s = e^t.
    fn ln_ratio(&self, t: f64, ln_p: f64) -> f64 {
        ln_p + self.kernel.ln_density(t.exp(), self.d) - self.lambda.ln()
    }

    fn matern(&self) -> Option<Matern> {
        match self.kernel.family() {
            StationaryFamily::Matern { nu, a } if self.d > 0 => {
                Some(Matern { nu, a, d: self.d, lambda: self.lambda / self.kernel.variance() })
            }
            _ => None,
        }
    }

    /// p in the divided coordinates.
    fn positive(&self, p: f64) -> Option<f64> {
        (p > 0.0 && p.is_finite()).then(|| p * self.ln_stretch.exp())
    }
}

/// ln(e^a + e^b).
fn ln_add(a: f64, b: f64) -> f64 {
    match a.max(b) {
        large if large.is_infinite() => large,
        large => large + (-(a - b).abs()).exp().ln_1p(),
    }
}

/// ln ln(1 + e^y), −∞ at y = −∞.
fn ln_ln_1p_exp(y: f64) -> f64 {
    if y < -36.0 {
        y // ln(1 + e^y) = e^y to rounding
    } else {
        ln_1p_exp(y).ln()
    }
}
