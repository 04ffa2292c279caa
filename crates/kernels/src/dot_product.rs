//! Kernels of the inner product: linear and polynomial.
//!
//! The sigmoid kernel tanh(γ⟨x, y⟩ + c) is not offered, because in general it is not positive
//! semi-definite for any γ and c, so that its leverage scores, Nyström bounds and Cholesky factors
//! would be meaningless.

use crate::load::saved_kernel;
use crate::metric::DotProduct;
use crate::tile::{Formula, formula_kernel};
use crate::{Lane, Plain, Points};
use nystrom_linalg_core::{Result, Scalar, validate};

/// The linear kernel ⟨x, y⟩ + c with bias c ≥ 0.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Kernel, Linear, Points};
/// let x = mat![[1.0, 2.0], [3.0, -1.0_f64]];
/// assert_eq!(Linear::new().gram(Points::from_rows(x.as_ref()))[(0, 1)], 1.0);
/// assert_eq!(Linear::with_bias(0.5)?.gram(Points::from_rows(x.as_ref()))[(0, 1)], 1.5);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Linear {
    bias: f64,
}

saved_kernel! { [] Linear = "linear".into(), { bias: f64 } of {},
|s| Linear::with_bias(s.bias) }

impl Linear {
    /// The kernel ⟨x, y⟩.
    pub fn new() -> Self {
        Linear { bias: 0.0 }
    }

    /// The kernel ⟨x, y⟩ + c with `bias` c.
    ///
    /// # Errors
    /// `InvalidParameter` unless c ≥ 0 and finite: with a negative c the kernel is not positive
    /// semi-definite.
    pub fn with_bias(bias: f64) -> Result<Self> {
        non_negative("bias", bias)?;
        Ok(Linear { bias })
    }

    /// The bias c.
    pub fn bias(&self) -> f64 {
        self.bias
    }
}

impl Formula for Linear {
    type Metric = DotProduct;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        sum + self.bias
    }

    fn check_values<T: Scalar>(&self, x: Points<'_, T>) -> Result<()> {
        representable::<T>("bias", self.bias)?;
        check_diagonal(self, x)
    }
}

formula_kernel!([] Linear);

/// The polynomial kernel (γ⟨x, y⟩ + c)^p with integer p ≥ 1, γ > 0 and c ≥ 0. For exactly these
/// parameters it is positive semi-definite in every dimension.
///
/// ```
/// use nystrom_kernels::{Kernel, Points, Polynomial};
/// let k = Polynomial::new(3, 0.5, 1.0)?.gram(Points::from_slice(&[1.0, 2.0_f64]));
/// assert_eq!(k[(0, 1)], 8.0);
/// assert!(Polynomial::new(2, 1.0, -1.0).is_err());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial {
    degree: u32,
    gamma: f64,
    offset: f64,
}

saved_kernel! {
    [] Polynomial = "polynomial".into(), { degree: u32, gamma: f64,
        offset: f64 } of {},
    |s| Polynomial::new(s.degree, s.gamma, s.offset)
}

impl Polynomial {
    /// The kernel (γ⟨x, y⟩ + c)^p with `degree` p, `gamma` γ and `offset` c.
    ///
    /// # Errors
    /// `InvalidParameter` unless p ≥ 1, γ is positive and finite, and c ≥ 0 and finite.
    pub fn new(degree: u32, gamma: f64, offset: f64) -> Result<Self> {
        validate::require(degree != 0, "degree", 0.0, "at least 1")?;
        validate::positive("gamma", gamma)?;
        non_negative("offset", offset)?;
        Ok(Polynomial { degree, gamma, offset })
    }

    /// The degree p.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The factor γ.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The offset c.
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

impl Formula for Polynomial {
    type Metric = DotProduct;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        power(sum * self.gamma + self.offset, self.degree)
    }

    fn check_values<T: Scalar>(&self, x: Points<'_, T>) -> Result<()> {
        representable::<T>("gamma", self.gamma)?;
        representable::<T>("offset", self.offset)?;
        check_diagonal(self, x)
    }
}

formula_kernel!([] Polynomial);

/// base^p by squaring; p ≥ 1.
#[inline(always)]
fn power<V: Lane>(base: V, p: u32) -> V {
    let mut result = base;
    for bit in (0..p.ilog2()).rev() {
        result = result * result;
        if p >> bit & 1 == 1 {
            result = result * base;
        }
    }
    result
}

/// Checks that k(x, x) is finite in the precision `T` for all points x; then k(x, y) is finite for
/// all pairs of them. O(nd).
fn check_diagonal<T: Scalar, F: Formula>(formula: &F, x: Points<'_, T>) -> Result<()> {
    let square = |i: usize| {
        let mut sum = 0.0;
        x.for_each_stored(i, |_, value| sum += value.f64().powi(2));
        sum
    };
    let largest = (0..x.len()).map(square).fold(0.0, f64::max);
    let value = formula.at(Plain(largest)).0;
    validate::require(
        value.max(largest) <= T::max_value().f64(),
        "largest k(x, x)",
        value.max(largest),
        "finite in the precision of the points; scale the points down, or use f64",
    )
}

/// Checks that a constant of a kernel is representable in the precision `T`, to a relative error ε.
pub(crate) fn representable<T: Scalar>(name: &'static str, value: f64) -> Result<()> {
    validate::require(
        (T::lit(value).f64() - value).abs() <= T::EPS * value,
        name,
        value,
        "within the range of the precision of the points; use f64",
    )
}

fn non_negative(name: &'static str, value: f64) -> Result<()> {
    validate::require(
        value >= 0.0 && value.is_finite(),
        name,
        value,
        "finite and at least 0, for the kernel to be psd",
    )
}
