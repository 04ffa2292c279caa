//! The ridge parameter, with its convention (μ or nλ) in the variant's name.

use crate::{Result, Scalar, validate};

/// The ridge added to the diagonal of an n × n kernel matrix.
///
/// The literature writes both K + μI and K + nλI, and a factor n is easily lost between the two.
/// The variant names the convention, and only [`Ridge::absolute`] returns the number to add.
///
/// | variant | added to the diagonal of K | used by (symbol) |
/// |---|---|---|
/// | `Absolute(mu)` | μ | Musco & Musco 2017 (λ), SQUEAK (γ) |
/// | `PerSample(lambda)` | nλ | Alaoui & Mahoney 2015, Falkon, BLESS, Chen & Yang 2021 (λ); Li, Jegelka & Sra 2016 (γ) |
///
/// ```
/// use nystrom_linalg_core::Ridge;
/// assert_eq!(Ridge::PerSample(1e-3).absolute(200)?, Ridge::Absolute(0.2).absolute(200)?);
/// assert!(Ridge::PerSample(0.0).absolute(200).is_err());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub enum Ridge<T> {
    /// μ: the regularised matrix is K + μI.
    Absolute(T),
    /// λ: the regularised matrix is K + nλI, n the number of samples.
    PerSample(T),
}

impl<T: Scalar> Ridge<T> {
    /// The absolute ridge μ = nλ for `n` samples.
    ///
    /// # Errors
    /// [`InvalidParameter`](crate::Error::InvalidParameter) unless the result is a positive finite
    /// number.
    pub fn absolute(self, n: usize) -> Result<T> {
        let (name, given, mu) = match self {
            Ridge::Absolute(mu) => ("ridge mu (Absolute)", mu, mu),
            Ridge::PerSample(lambda) => ("ridge lambda (PerSample)", lambda, lambda * T::of(n)),
        };
        validate::require(
            mu > T::zero() && mu.is_finite(),
            name,
            given.f64(),
            "a positive finite number; for interpolation take a small one such as \
                          1e-12 (f64) or 1e-6 (f32)",
        )?;
        Ok(mu)
    }

    /// The per-sample ridge λ = μ/n for `n` samples; errors as [`Ridge::absolute`].
    pub fn per_sample(self, n: usize) -> Result<T> {
        let mu = self.absolute(n)?;
        let lambda = match self {
            Ridge::PerSample(lambda) => lambda,
            Ridge::Absolute(_) => mu / T::of(n),
        };
        validate::require(
            lambda > T::zero() && lambda.is_finite(),
            "ridge mu (Absolute)",
            mu.f64(),
            "large enough that mu/n is a positive finite number, with n at least 1",
        )?;
        Ok(lambda)
    }

    /// The ridge multiplied by `factor`, in the same convention (for example l_i(λε) in Theorem 3
    /// of Alaoui & Mahoney).
    pub fn scaled(self, factor: T) -> Self {
        match self {
            Ridge::Absolute(mu) => Ridge::Absolute(mu * factor),
            Ridge::PerSample(lambda) => Ridge::PerSample(lambda * factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn conventions_differ_by_n() {
        assert_eq!(Ridge::PerSample(0.5_f64).absolute(10).unwrap(), 5.0);
        assert_eq!(Ridge::Absolute(0.5_f64).absolute(10).unwrap(), 0.5);
        assert_eq!(Ridge::Absolute(5.0_f64).per_sample(10).unwrap(), 0.5);
        assert_eq!(Ridge::PerSample(2.0_f32).scaled(0.5), Ridge::PerSample(1.0));
    }

    #[test]
    fn non_positive_is_refused_with_its_value() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Ridge::PerSample(bad).absolute(3).unwrap_err();
            assert!(
                matches!(error, Error::InvalidParameter { name: "ridge lambda (PerSample)", .. }),
                "{error}"
            );
        }
        assert!(Ridge::PerSample(1.0_f64).absolute(0).is_err());
        assert!(Ridge::PerSample(f64::MAX).absolute(2).is_err());
        assert!(Ridge::Absolute(1.0_f64).per_sample(0).is_err());
        assert!(Ridge::Absolute(5e-324_f64).per_sample(2).is_err());
    }
}
