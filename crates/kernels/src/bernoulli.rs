//! The periodic spline kernel of Alaoui & Mahoney.

use crate::Lane;
use crate::load::saved_kernel;
use crate::metric::Manhattan;
use crate::tile::{Formula, formula_kernel};
use nystrom_linalg_core::{Result, Scalar, validate};

/// The Bernoulli (periodic spline) kernel (−1)^{β−1} B_{2β}({x − y})/(2β)! on the circle [0, 1),
/// d = 1.
///
/// {·} is the fractional part and B_{2β} a Bernoulli polynomial. The kernel equals
/// 2 Σ_{m≥1} cos(2πm(x − y))/(2πm)^{2β}, the reproducing kernel of 1-periodic functions of zero
/// mean with a square-integrable β-th derivative. Alaoui & Mahoney (2015) use it in their synthetic
/// problem; their text omits the sign (−1)^{β−1}, without which the kernel is not positive
/// semi-definite for even β.
///
/// ```
/// use nystrom_kernels::{Bernoulli, Kernel, Points};
/// let k = Bernoulli::new(1)?.gram(Points::from_slice(&[0.0, 0.5_f64]));
/// assert!((k[(0, 0)] - 1.0 / 12.0).abs() < 1e-16 && (k[(0, 1)] + 1.0 / 24.0).abs() < 1e-16);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bernoulli {
    beta: u32,
}

saved_kernel! { [] Bernoulli = "bernoulli".into(), { beta: u32 } of {},
|s| Bernoulli::new(s.beta) }

/// Coefficients of (−1)^{β−1} B_{2β}(x)/(2β)! in powers of q = x(1 − x), highest first, for
/// β = 1, …, 4. B_{2β} is a polynomial in q because it is symmetric about 1/2.
const COEFFICIENTS: [&[f64]; 4] = [
    &[-1.0 / 2.0, 1.0 / 12.0],
    &[-1.0 / 24.0, 0.0, 1.0 / 720.0],
    &[-1.0 / 720.0, -1.0 / 1440.0, 0.0, 1.0 / 30240.0],
    &[-1.0 / 40320.0, -1.0 / 30240.0, -1.0 / 60480.0, 0.0, 1.0 / 1209600.0],
];

impl Bernoulli {
    /// The kernel of order β ∈ {1, 2, 3, 4}.
    ///
    /// # Errors
    /// `InvalidParameter` for another β.
    pub fn new(beta: u32) -> Result<Self> {
        validate::require((1..=4).contains(&beta), "beta", beta.into(), "1, 2, 3 or 4")?;
        Ok(Bernoulli { beta })
    }

    /// The order β.
    pub fn beta(&self) -> u32 {
        self.beta
    }
}

impl Formula for Bernoulli {
    type Metric = Manhattan;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        let q = sum * (sum.lit(1.0) - sum);
        let mut coefficients = COEFFICIENTS[self.beta as usize - 1].iter();
        let mut value = q.lit(*coefficients.next().expect("never empty"));
        for &c in coefficients {
            value = value.mul_add(q, q.lit(c));
        }
        value
    }

    // With both points in [0, 1), |x − y| can replace {x − y}, because B_{2β}(1 − u) = B_{2β}(u).
    fn coordinate<T: Scalar>(value: T) -> T {
        value - num_traits::Float::floor(value)
    }

    fn check_dim(&self, d: usize) -> Result<()> {
        validate::same_size("coordinates of a point (d) for the Bernoulli kernel", 1, d)
    }
}

formula_kernel!([] Bernoulli);
