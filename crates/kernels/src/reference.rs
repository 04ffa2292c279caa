//! The oracle for tests of kernels: the formula of a kernel for one pair of points, in `f64` with
//! the functions of the standard library.
//!
//! It is slow and shares no code with the register tiles, which tests compare with it, except the
//! formula of a [`Profile`].

use crate::lane::Plain;
use crate::{
    Ard, Bernoulli, Isotropic, LaplacianL1, Linear, MinMax, Periodic, Polynomial, Product, Profile,
    Scaled, Sum, Tanimoto,
};
use std::f64::consts::PI;

/// A kernel with a reference implementation for one pair of points.
///
/// ```
/// use nystrom_kernels::{Gaussian, reference::Reference};
/// let k = Gaussian::new(1.0)?;
/// assert_eq!(k.value(&[0.0, 0.0], &[1.0, 1.0]), (-1.0_f64).exp());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait Reference {
    /// k(x, y) for the coordinates of two points.
    fn value(&self, x: &[f64], y: &[f64]) -> f64;
}

fn differences<'a>(x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    x.iter().zip(y).map(|(x, y)| x - y)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl<P: Profile> Reference for Isotropic<P> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let s = differences(x, y).map(|u| (u / self.length_scale()).powi(2)).sum();
        self.profile().at(Plain(s)).0
    }
}

impl<P: Profile> Reference for Ard<P> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let s = differences(x, y).zip(self.length_scales()).map(|(u, l)| (u / l).powi(2)).sum();
        self.profile().at(Plain(s)).0
    }
}

impl Reference for LaplacianL1 {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        (-differences(x, y).map(f64::abs).sum::<f64>() / self.length_scale()).exp()
    }
}

impl Reference for Linear {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        dot(x, y) + self.bias()
    }
}

impl Reference for Polynomial {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        (self.gamma() * dot(x, y) + self.offset()).powi(self.degree() as i32)
    }
}

impl Reference for Bernoulli {
    /// By the expanded Bernoulli polynomials B_2, B_4, B_6 and B_8.
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let u = (x[0] - y[0]).rem_euclid(1.0);
        match self.beta() {
            1 => (u.powi(2) - u + 1.0 / 6.0) / 2.0,
            2 => -(u.powi(4) - 2.0 * u.powi(3) + u.powi(2) - 1.0 / 30.0) / 24.0,
            3 => {
                (u.powi(6) - 3.0 * u.powi(5) + 2.5 * u.powi(4) - 0.5 * u.powi(2) + 1.0 / 42.0)
                    / 720.0
            }
            _ => {
                let b8 = u.powi(8) - 4.0 * u.powi(7) + 14.0 / 3.0 * u.powi(6)
                    - 7.0 / 3.0 * u.powi(4)
                    + 2.0 / 3.0 * u.powi(2)
                    - 1.0 / 30.0;
                -b8 / 40320.0
            }
        }
    }
}

impl Reference for Periodic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let sines: f64 = differences(x, y).map(|u| (PI * u / self.period()).sin().powi(2)).sum();
        (-2.0 * sines / self.length_scale().powi(2)).exp()
    }
}

impl Reference for MinMax {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let sum = |of: fn(f64, f64) -> f64| x.iter().zip(y).map(|(&x, &y)| of(x, y)).sum::<f64>();
        if sum(f64::max) > 0.0 { sum(f64::min) / sum(f64::max) } else { 1.0 }
    }
}

impl Reference for Tanimoto {
    /// Sign and exponent of all coordinates are those of 1.0, and have ten ones.
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let ones = |of: fn(u64, u64) -> u64| -> u32 {
            x.iter().zip(y).map(|(x, y)| of(x.to_bits(), y.to_bits()).count_ones() - 10).sum()
        };
        let (common, all) = (ones(|x, y| x & y), ones(|x, y| x | y));
        if all > 0 { f64::from(common) / f64::from(all) } else { 1.0 }
    }
}

impl<A: Reference, B: Reference> Reference for Sum<A, B> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.first().value(x, y) + self.second().value(x, y)
    }
}

impl<A: Reference, B: Reference> Reference for Product<A, B> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.first().value(x, y) * self.second().value(x, y)
    }
}

impl<K: Reference> Reference for Scaled<K> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.factor() * self.kernel().value(x, y)
    }
}
