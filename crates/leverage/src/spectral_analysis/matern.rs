//! The Matérn family: closed forms of K̃_λ(p) for every smoothness ν, in every dimension d.
//!
//! With α = ν + d/2, λ' = λ/(C a^{2ν}), C = 2^d π^{d/2} Γ(α)/Γ(ν) and h = (λ'/p)^{1/(2α)}, the
//! length scale of the equivalent kernel,
//!
//! K̃ = S_d/(2π)^d · h^{−d}/p · ∫_0^∞ x^{d−1} dx/(1 + (x² + (ah)²)^α),  S_d = 2π^{d/2}/Γ(d/2).
//!
//! Without the term (ah)² the integral is π/(2α sin(πd/(2α))) (Chen & Yang 2021, appendix D.2).

use libm::lgamma as ln_gamma;
use std::f64::consts::{LN_2, PI};

/// ln S_d, where S_d = 2π^{d/2}/Γ(d/2) is the surface area of the unit sphere in ℝ^d.
pub(crate) fn ln_sphere(d: usize) -> f64 {
    let half_d = 0.5 * d as f64;
    LN_2 + half_d * PI.ln() - ln_gamma(half_d)
}

/// A Matérn kernel k(r) = κ 2^{1−ν}/Γ(ν) (ar)^ν K_ν(ar) on ℝ^d with ridge λ; `lambda` is λ/κ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matern {
    pub(crate) nu: f64,
    pub(crate) a: f64,
    pub(crate) d: usize,
    pub(crate) lambda: f64,
}

impl Matern {
    fn d(&self) -> f64 {
        self.d as f64
    }

    fn alpha(&self) -> f64 {
        self.nu + 0.5 * self.d()
    }

    /// ln λ', λ' = λ/(C a^{2ν}).
    fn ln_lambda_prime(&self) -> f64 {
        let half_d = 0.5 * self.d();
        let ln_c = self.d() * LN_2 + half_d * PI.ln() + ln_gamma(self.alpha()) - ln_gamma(self.nu);
        self.lambda.ln() - ln_c - 2.0 * self.nu * self.a.ln()
    }

    /// ln h(p).
    fn ln_h(&self, p: f64) -> f64 {
        (self.ln_lambda_prime() - p.ln()) / (2.0 * self.alpha())
    }

    /// K̃_0 = S_d/(2π)^d · (π/(2α))/sin(πd/(2α)) · λ'^{−d/(2α)} · p^{d/(2α)−1}; never below K̃.
    pub(crate) fn leading(&self, p: f64) -> f64 {
        let (d, alpha) = (self.d(), self.alpha());
        let ln_sphere = ln_sphere(self.d) - d * (2.0 * PI).ln();
        let ln_integral = (PI / (2.0 * alpha)).ln() - self.sine().ln();
        (ln_sphere + ln_integral - d * self.ln_h(p) - p.ln()).exp()
    }

    /// K̃_1 = K̃_0 (1 − α (ah)² ρ sin(πd/(2α))), ρ = θ/sin(πθ), θ = (d − 2)/(2α): the next term in
    /// (ah)².
    pub(crate) fn second_order(&self, p: f64) -> f64 {
        let alpha = self.alpha();
        let theta = (self.d() - 2.0) / (2.0 * alpha);
        let rho = if self.d == 2 { 1.0 / PI } else { theta / (PI * theta).sin() };
        let ah_squared = (2.0 * (self.a.ln() + self.ln_h(p))).exp();
        self.leading(p) * (1.0 - alpha * ah_squared * rho * self.sine())
    }

    /// sin(πd/(2α)) = sin(πν/α), from the smaller of the two angles.
    fn sine(&self) -> f64 {
        (PI * self.nu.min(0.5 * self.d()) / self.alpha()).sin()
    }

    /// ln K̃ where the integral is elementary: ν = 1/2 with d = 1 or d = 3.
    pub(crate) fn ln_elementary(&self, p: f64) -> Option<f64> {
        let (a, lambda_prime) = (self.a, self.ln_lambda_prime().exp());
        match (self.nu == 0.5, self.d) {
            // 1/(2 √(λ'(p + λ'a²)))
            (true, 1) => Some(-LN_2 - 0.5 * (lambda_prime.ln() + (p + lambda_prime * a * a).ln())),
            // 1/(4π λ' a √(2 + 2 √(1 + p/(λ'a⁴))))
            (true, 3) => {
                let root = (2.0 + 2.0 * (1.0 + p / (lambda_prime * a.powi(4))).sqrt()).sqrt();
                Some(-(4.0 * PI * lambda_prime * a * root).ln())
            }
            _ => None,
        }
    }
}
