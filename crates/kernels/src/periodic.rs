//! The periodic (exp-sine-squared) kernel.

use crate::load::saved_kernel;
use crate::{DifferentiableKernel, Gaussian, Kernel, Points};
use faer::{ColMut, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Result, Scalar, validate};

/// The periodic kernel exp(−2 Σ_k sin²(π(x_k − y_k)/p)/ℓ²) of MacKay with period p.
///
/// The kernel is evaluated as the Gaussian kernel with length scale ℓ of the points
/// (cos 2πx_k/p, sin 2πx_k/p)_k in ℝ^{2d}. For d = 1 it equals scikit-learn's `ExpSineSquared`. For
/// d > 1 it is a product over coordinates: with the sine of the Euclidean distance it would not be
/// positive semi-definite.
///
/// ```
/// use nystrom_kernels::{Kernel, Periodic, Points};
/// let k = Periodic::new(3.0, 1.0)?.gram(Points::from_slice(&[0.5, 6.5, 2.0_f64]));
/// assert!((k[(0, 1)] - 1.0).abs() < 1e-15 && (k[(0, 2)] - (-2.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic {
    period: f64,
    gaussian: Gaussian,
}

saved_kernel! {
    [] Periodic = "periodic".into(), { period: f64,
        #[serde(with = "unnamed")] gaussian: Gaussian } of {},
    |s| Periodic::new(s.period, s.gaussian.length_scale())
}

/// Serde for the Gaussian kernel inside a periodic kernel: its length scale, without its name.
#[cfg(feature = "serde")]
mod unnamed {
    use crate::Gaussian;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    struct Stored {
        length_scale: f64,
    }

    pub fn serialize<S: Serializer>(gaussian: &Gaussian, serializer: S) -> Result<S::Ok, S::Error> {
        Stored { length_scale: gaussian.length_scale() }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Gaussian, D::Error> {
        Gaussian::new(Stored::deserialize(deserializer)?.length_scale).map_err(D::Error::custom)
    }
}

impl Periodic {
    /// The kernel with period p and length scale ℓ. ℓ is in units of the radius of the circle: with
    /// ℓ = 1, points half a period apart have value e^{−2}.
    ///
    /// # Errors
    /// `InvalidParameter` unless both are positive and finite.
    pub fn new(period: f64, length_scale: f64) -> Result<Self> {
        validate::positive("period", period)?;
        Ok(Periodic { period, gaussian: Gaussian::new(length_scale)? })
    }

    /// The period p.
    pub fn period(&self) -> f64 {
        self.period
    }

    /// The length scale ℓ.
    pub fn length_scale(&self) -> f64 {
        self.gaussian.length_scale()
    }

    /// (cos 2πx_k/p, sin 2πx_k/p) for every coordinate k, as a 2d × n matrix.
    fn on_circles<T: Scalar>(&self, x: Points<'_, T>) -> Mat<T> {
        Mat::from_fn(2 * x.dim(), x.len(), |k, i| {
            let x = x.coordinate(i, k / 2).f64();
            let turns = match x / self.period {
                turns if turns.abs() < 1e6 => turns - turns.floor(),
                _ => x % self.period / self.period, // the remainder is exact for any x
            };
            let angle = 2.0 * std::f64::consts::PI * turns;
            T::lit(if k % 2 == 0 { angle.cos() } else { angle.sin() })
        })
    }
}

impl<T: Scalar> Kernel<T> for Periodic {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        let (x, y) = (self.on_circles(x), self.on_circles(y));
        self.gaussian.eval_into(out, Points::from_cols(x.as_ref()), Points::from_cols(y.as_ref()));
    }

    fn diag_into(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
        self.gaussian.diag_into(out, x);
    }

    fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
        self.gaussian.gram_into(out, Points::from_cols(self.on_circles(x).as_ref()));
    }
}

impl<T: Scalar> DifferentiableKernel<T> for Periodic {
    /// By the chain rule, ∂/∂x = (2π/p)(cos ∂/∂sin − sin ∂/∂cos) of the Gaussian kernel on circles.
    fn gradient_into(
        &self,
        mut out: MatMut<'_, T>,
        x: Points<'_, T>,
        z: Points<'_, T>,
        weights: MatRef<'_, T>,
    ) {
        let (circles, z) = (self.on_circles(x), self.on_circles(z));
        let (on, z) = (Points::from_cols(circles.as_ref()), Points::from_cols(z.as_ref()));
        let mut inner = Mat::zeros(out.nrows(), 2 * out.ncols());
        self.gaussian.gradient_into(inner.as_mut(), on, z, weights);
        let rate = T::lit(2.0 * std::f64::consts::PI / self.period);
        for column in 0..out.ncols() {
            let k = column % x.dim();
            for i in 0..x.len() {
                let (cos, sin) = (circles[(2 * k, i)], circles[(2 * k + 1, i)]);
                let (by_cos, by_sin) = (inner[(i, 2 * column)], inner[(i, 2 * column + 1)]);
                out[(i, column)] = rate * (cos * by_sin - sin * by_cos);
            }
        }
    }
}
