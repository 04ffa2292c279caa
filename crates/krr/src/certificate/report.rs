//! The report of a certificate.

use super::bound::{rows_for, upper_bound};
use nystrom_linalg_core::{Result, validate};

/// Bounds on the distance of a fit from exact kernel ridge regression. All lengths are root mean
/// squares over the training points, weighted as the fit, in the units of the targets.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct CertificateReport {
    /// Number of samples.
    pub n: usize,
    /// Number of rows drawn, or n if all were evaluated.
    pub rows: usize,
    /// Passes over all of K, for bounds from both sides; 0 if rows were drawn.
    pub passes: usize,
    /// The probability with which the bounds hold, for all targets together; 1 if all rows were
    /// evaluated.
    pub confidence: f64,
    /// The distance that counts as close, as a share of the residuals.
    pub tolerance: f64,
    /// nλ of the fit and of the exact regression.
    pub ridge: f64,
    /// tr(K − L), L the Nyström approximation of the model's centres.
    pub trace_error: f64,
    /// Number of kernel values evaluated.
    pub kernel_entries: u64,
    /// One for each target.
    pub targets: Vec<TargetCertificate>,
    /// δ of each target.
    pub(super) delta: f64,
}

/// The certificate of one target.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TargetCertificate {
    /// With the stated confidence, RMS(f_K − f) is at most this.
    pub bound: f64,
    /// RMS(f_K − f) is at least this; 0 if rows were drawn, from which no lower bound follows.
    pub lower: f64,
    /// The bound if the rows drawn represented all rows exactly; with passes over K, an estimate of
    /// RMS(f_K − f) itself.
    pub estimate: f64,
    /// RMS(Kα − f), the residual of the exact system; its square estimated without bias.
    pub discrepancy: f64,
    /// The bound that needs no rows: tr(K − L)·‖α‖/√n.
    pub trace_bound: f64,
    /// RMS of the residuals y − f, to compare with.
    pub residual: f64,
    /// X̄.
    pub(super) x_bar: f64,
    pub(super) lengths: Lengths,
}

/// The lengths that a bound is made of, as norms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Lengths {
    /// tr E·‖α‖.
    pub a: f64,
    /// ‖y − f‖, less its mean if there is a constant.
    pub residual: f64,
    /// ‖Lα − f‖.
    pub gap: f64,
    /// tr E/(tr E + μ).
    pub share: f64,
    /// The size of that mean.
    pub mean: f64,
    /// √n.
    pub root_n: f64,
}

impl Lengths {
    /// From ‖γ‖ and ‖gap‖, the mean that was subtracted, and tr E, μ and Σw.
    pub fn of([norm, gap]: [f64; 2], mean: f64, (trace, mu, weight): (f64, f64, f64)) -> Self {
        Lengths {
            a: trace * norm,
            residual: mu * norm,
            gap,
            share: trace / (trace + mu),
            mean: mean.abs(),
            root_n: weight.sqrt(),
        }
    }

    /// min(‖ρ + gap‖, √(‖ρ‖·‖y − f‖·share) + ‖gap‖) for ‖ρ‖ ≤ q and ‖ρ + gap‖ ≤ `whole`.
    pub fn bound(&self, q: f64, whole: f64) -> f64 {
        whole.min((q * self.residual * self.share).sqrt() + self.gap)
    }

    /// The ‖ρ‖ at which [`bound`](Self::bound) is `length`; 0 or less if none is small enough.
    fn allowed(&self, length: f64) -> f64 {
        let q = length - self.gap;
        if q > 0.0 { q.max(q * q / (self.residual * self.share)) } else { q }
    }

    /// From a sample: \[ρ_i, gap_i, p_i\] of s rows drawn. ‖ρ + gap‖² ≈ X̄ + 2·cross + ‖gap‖², and
    /// ‖ρ‖ ≤ q with probability 1 − δ.
    pub fn sampled(self, drawn: &[[f64; 3]], s: usize, delta: f64) -> TargetCertificate {
        let mean = |f: &dyn Fn(&[f64; 3]) -> f64| {
            drawn.iter().map(f).sum::<f64>() / drawn.len().max(1) as f64
        };
        let x_bar = mean(&|[rho, _, p]| rho.powi(2) / p); //                   X̄
        let cross = mean(&|[rho, gap, p]| rho * gap / p);
        let q = upper_bound(x_bar, self.a, s, delta);
        let whole = (x_bar + 2.0 * cross + self.gap.powi(2)).max(0.0).sqrt();
        self.certificate(x_bar, whole, self.bound(q, q + self.gap))
    }

    /// From \[ρ_i, gap_i, ·\] of all rows: ‖ρ‖ and ‖ρ + gap‖ themselves.
    pub fn exhaustive(self, rows: &[[f64; 3]]) -> TargetCertificate {
        let norm = |term: &dyn Fn(&[f64; 3]) -> f64| {
            rows.iter().map(|row| term(row).powi(2)).sum::<f64>().sqrt()
        };
        let (q, whole) = (norm(&|[rho, ..]| *rho), norm(&|[rho, gap, _]| rho + gap));
        self.certificate(q * q, whole, self.bound(q, whole))
    }

    pub fn certificate(self, x_bar: f64, whole: f64, bound: f64) -> TargetCertificate {
        let rms = |length: f64| length / self.root_n + self.mean;
        TargetCertificate {
            bound: rms(bound),
            lower: 0.0,
            estimate: rms(self.bound(x_bar.sqrt(), whole)),
            discrepancy: rms(whole),
            trace_bound: rms(self.a + self.gap),
            residual: (self.residual / self.root_n).hypot(self.mean),
            x_bar,
            lengths: self,
        }
    }
}

/// Whether a fit is close to exact regression, and what to change if it is not.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Closeness {
    /// The bound is within the tolerance.
    Close,
    /// The estimate is within the tolerance, the bound is not: draw more rows.
    MoreRows {
        /// The number of rows with which the bound is within the tolerance if the estimate does not
        /// change; n at most.
        rows: usize,
    },
    /// The tolerance is between the two bounds: more passes bring them closer together.
    MorePasses,
    /// The estimate is above the tolerance: more rows do not change that. With passes over K the
    /// lower bound is above it, and the fit is certainly not close. Choose more or better
    /// landmarks, until K − L is smaller by about `factor`; or raise the ridge by it; or solve for
    /// all n coefficients with [`FullKrr`](crate::FullKrr).
    Far {
        /// ‖(K − L)α‖ divided by the largest value that the tolerance allows, for the worst target.
        /// Infinite if ‖f − Lα‖ alone is too large, as after iterations that stopped early. With
        /// passes over K, the estimate of the distance divided by the tolerance.
        factor: f64,
    },
}

impl CertificateReport {
    /// The report in other units of the targets: all lengths times the scale of their target.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for another number of scales than targets.
    pub fn scaled(mut self, scales: &[f64]) -> Result<Self> {
        validate::same_size("scales against targets", self.targets.len(), scales.len())?;
        for (target, scale) in self.targets.iter_mut().zip(scales.iter().map(|s| s.abs())) {
            let TargetCertificate {
                bound,
                lower,
                estimate,
                discrepancy,
                trace_bound,
                residual,
                x_bar,
                lengths,
            } = target;
            let Lengths { a, residual: length, gap, mean, .. } = lengths;
            for number in
                [bound, lower, estimate, discrepancy, trace_bound, residual, a, length, gap, mean]
            {
                *number *= scale;
            }
            *x_bar *= scale.powi(2);
        }
        Ok(self)
    }

    /// The largest ratio of bound to residual RMS over the targets.
    pub fn relative_bound(&self) -> f64 {
        self.largest(|target| target.bound)
    }

    /// The largest ratio of lower bound to residual RMS over the targets.
    pub fn relative_lower(&self) -> f64 {
        self.largest(|target| target.lower)
    }

    /// The largest ratio of estimate to residual RMS over the targets.
    pub fn relative_estimate(&self) -> f64 {
        self.largest(|target| target.estimate)
    }

    fn largest(&self, length: impl Fn(&TargetCertificate) -> f64) -> f64 {
        self.targets
            .iter()
            .map(|target| relative(length(target), target.residual))
            .fold(0.0, f64::max)
    }

    /// Whether the fit is close to exact regression, and what to change if it is not.
    pub fn closeness(&self) -> Closeness {
        if self.relative_bound() <= self.tolerance {
            Closeness::Close
        } else if self.passes == 0 {
            self.closeness_by_rows()
        } else if self.relative_lower() > self.tolerance {
            Closeness::Far { factor: self.relative_estimate() / self.tolerance }
        } else {
            Closeness::MorePasses
        }
    }

    fn closeness_by_rows(&self) -> Closeness {
        let excess = |target: &TargetCertificate| match self.allowed(target) {
            q if q > 0.0 => target.x_bar.sqrt() / q,
            _ => f64::INFINITY, // what the model differs from Lα by is already too much
        };
        let more = self.relative_estimate() <= self.tolerance
            && self.targets.iter().all(|t| self.allowed(t) > 0.0);
        if more {
            let rows = self.targets.iter().map(|t| self.rows_needed(t)).max().unwrap_or(self.n);
            return Closeness::MoreRows { rows };
        }
        Closeness::Far { factor: self.targets.iter().map(excess).fold(0.0, f64::max) }
    }

    /// The ‖ρ‖ that the tolerance allows.
    fn allowed(&self, target: &TargetCertificate) -> f64 {
        let lengths = &target.lengths;
        lengths.allowed((self.tolerance * target.residual - lengths.mean) * lengths.root_n)
    }

    /// Rows for a bound within the tolerance, n at most, as then all are evaluated.
    fn rows_needed(&self, target: &TargetCertificate) -> usize {
        let (a, q) = (target.lengths.a, self.allowed(target));
        rows_for(target.x_bar, a, q.min(a), self.delta).unwrap_or(self.n).min(self.n)
    }
}

fn relative(length: f64, residual: f64) -> f64 {
    if length > 0.0 { length / residual } else { 0.0 }
}
