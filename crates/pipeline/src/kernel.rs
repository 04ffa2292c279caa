//! One type for all kernels of the library, so that a model can be loaded without naming its kernel
//! type.

use nystrom::faer::{ColMut, MatMut};
use nystrom::kernels::{
    DifferentiableKernel, LoadedKernel, PowerExponential, PowerExponentialL1, SavedKernel,
    median_heuristic,
};
use nystrom::leverage::Stationary;
use nystrom::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The number of pairs of rows whose median distance is the default length scale.
const PAIRS: usize = 1000;

/// A family of kernels; together with a length scale it determines a kernel.
///
/// ```
/// use nystrom_pipeline::Family;
/// let kernel = Family::Matern { nu: 1.5 }.kernel(2.0, 3)?;
/// assert_eq!((kernel.bandwidth(), kernel.describe().as_str()), (Some(2.0), "Matérn, nu = 1.5"));
/// # Ok::<(), nystrom::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Family {
    /// exp(−r²/2), r = ‖x − y‖/ℓ.
    Gaussian,
    /// Matérn of smoothness ν; ν = ½ is exp(−r).
    Matern {
        /// The smoothness.
        nu: f64,
    },
    /// exp(−‖x − y‖₁/ℓ).
    LaplacianL1,
    /// (1 + r²/(2α))^(−α).
    RationalQuadratic {
        /// The shape α.
        alpha: f64,
    },
    /// exp(−r^q), 0 < q ≤ 2.
    PowerExponential {
        /// The power q.
        power: f64,
    },
    /// exp(−(‖x − y‖₁/ℓ)^q), 0 < q ≤ 1.
    PowerExponentialL1 {
        /// The power q.
        power: f64,
    },
    /// ⟨x, y⟩.
    Linear,
    /// (⟨x, y⟩/d + 1)^degree.
    Polynomial {
        /// The degree.
        degree: u32,
    },
    /// |x ∧ y|/|x ∨ y| of rows of bits, such as fingerprints of molecules.
    Tanimoto,
    /// Σ min(x_j, y_j)/Σ max(x_j, y_j) of counts, or of other numbers that are not negative.
    MinMax,
}

impl Family {
    /// The kernel of this family with length scale `scale`, for points in d dimensions.
    ///
    /// # Errors
    /// That of the constructor of the kernel for an invalid scale or parameter.
    pub fn kernel(self, scale: f64, d: usize) -> nystrom::Result<AnyKernel> {
        let formula = match self {
            Family::Gaussian => Formula::Gaussian(Gaussian::new(scale)?),
            Family::Matern { nu } => Formula::Matern(Matern::new(nu, scale)?),
            Family::LaplacianL1 => Formula::LaplacianL1(LaplacianL1::new(scale)?),
            Family::RationalQuadratic { alpha } => {
                Formula::RationalQuadratic(RationalQuadratic::new(alpha, scale)?)
            }
            Family::PowerExponential { power } => {
                Formula::PowerExponential(PowerExponential::new(power, scale)?)
            }
            Family::PowerExponentialL1 { power } => {
                Formula::PowerExponentialL1(PowerExponentialL1::new(power, scale)?)
            }
            Family::Linear => Formula::Linear(Linear::new()),
            Family::Polynomial { degree } => {
                Formula::Polynomial(Polynomial::new(degree, 1.0 / d.max(1) as f64, 1.0)?)
            }
            Family::Tanimoto => Formula::Tanimoto(Tanimoto),
            Family::MinMax => Formula::MinMax(MinMax),
        };
        Ok(AnyKernel { formula, meter: None })
    }

    /// The kernel of this family with length scale `scale`; `None`: the median distance of 1000
    /// random pairs of `points`.
    ///
    /// # Errors
    /// Those of [`kernel`](Self::kernel) and of [`median_heuristic`].
    ///
    /// # Randomness
    /// The pairs, if `scale` is `None` and the family has a length scale.
    pub fn kernel_for(
        self,
        points: Points<'_, f64>,
        scale: Option<f64>,
        rng: &mut dyn Rng,
    ) -> nystrom::Result<AnyKernel> {
        let scale = match scale {
            None if self.has_scale() => median_heuristic(points, PAIRS, rng)?,
            given => given.unwrap_or(1.0),
        };
        self.kernel(scale, points.dim())
    }

    /// Whether the kernel depends on the L1 distance ‖x − y‖₁.
    pub fn is_manhattan(self) -> bool {
        matches!(self, Family::LaplacianL1 | Family::PowerExponentialL1 { .. })
    }

    /// Whether the kernel depends on a length scale.
    pub fn has_scale(self) -> bool {
        use Family::{Linear, MinMax, Polynomial, Tanimoto};
        !matches!(self, Linear | Polynomial { .. } | Tanimoto | MinMax)
    }

    /// Whether the kernel takes rows of bits, and no other features.
    pub fn takes_bits(self) -> bool {
        self == Family::Tanimoto
    }

    /// Whether the kernel takes counts: features in their own units, none of them negative, as with
    /// [`ColumnOptions::counts`](crate::ColumnOptions::counts).
    pub fn takes_counts(self) -> bool {
        self == Family::MinMax
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Family::Gaussian => f.write_str("Gaussian"),
            Family::Matern { nu } => write!(f, "Matérn, nu = {nu}"),
            Family::LaplacianL1 => f.write_str("Laplacian of the L1 distance"),
            Family::RationalQuadratic { alpha } => {
                write!(f, "rational quadratic, alpha = {alpha}")
            }
            Family::PowerExponential { power } => write!(f, "power exponential, power {power}"),
            Family::PowerExponentialL1 { power } => {
                write!(f, "power exponential of the L1 distance, power {power}")
            }
            Family::Linear => f.write_str("linear"),
            Family::Polynomial { degree: 1 } => f.write_str("linear with a constant"),
            Family::Polynomial { degree } => write!(f, "polynomial of degree {degree}"),
            Family::Tanimoto => f.write_str("Tanimoto"),
            Family::MinMax => f.write_str("min–max"),
        }
    }
}

/// Declares the enum of these kernels and what every one of them does. Those in `scaled` have a
/// length scale, those in `rough` have no derivatives.
macro_rules! formulas {
    (scaled $($scaled:ident),*; plain $($plain:ident),*; rough $($rough:ident),*) => {
        formulas!($($scaled),*, $($plain),*, $($rough),*);

        impl Formula {
            fn length_scale(&self) -> Option<f64> {
                match self {
                    $(Formula::$scaled(kernel) => Some(kernel.length_scale()),)*
                    $(Formula::$plain(_) => None,)*
                    $(Formula::$rough(_) => None),*
                }
            }

            /// The kernel with its derivatives, if it has any.
            fn differentiable(&self) -> Option<&dyn DifferentiableKernel<f64>> {
                match self {
                    $(Formula::$scaled(kernel) => Some(kernel),)*
                    $(Formula::$plain(kernel) => Some(kernel),)*
                    $(Formula::$rough(_) => None),*
                }
            }
        }
    };
    ($($kernel:ident),*) => {
        /// One of the library's kernels; in files it has the name that the library gives it.
        #[derive(Debug, Clone, PartialEq)]
        enum Formula {
            $($kernel($kernel)),*
        }

        impl Formula {
            fn kernel(&self) -> &dyn Kernel<f64> {
                match self {
                    $(Formula::$kernel(kernel) => kernel),*
                }
            }

            fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Formula::$kernel(kernel) => kernel.save(serializer)),*
                }
            }

            /// The kernel in a file that names it.
            fn load(name: &str, file: Value) -> serde_json::Result<nystrom::Result<Formula>> {
                $(if name == <$kernel as SavedKernel>::name() {
                    let loaded: LoadedKernel<$kernel> = serde_json::from_value(file)?;
                    return Ok(loaded.0.map(Formula::$kernel));
                })*
                let problem = format!(
                    "this program has no kernel `{name}`; use the version that wrote the file"
                );
                Ok(Err(nystrom::Error::Incompatible { what: "kernel", problem }))
            }
        }
    };
}

formulas!(
    scaled Gaussian, Matern, LaplacianL1, RationalQuadratic, PowerExponential, PowerExponentialL1;
    plain Linear, Polynomial;
    rough Tanimoto, MinMax
);

/// A function that is called with the number of kernel values of every evaluated block, from any
/// thread.
pub type Meter = Arc<dyn Fn(usize) + Send + Sync>;

/// Any kernel of the library. It can report the number of evaluated kernel values to a [`Meter`].
#[derive(Clone)]
pub struct AnyKernel {
    formula: Formula,
    meter: Option<Meter>,
}

impl AnyKernel {
    /// The same kernel, which also calls `meter` with the number of values of every block that it
    /// evaluates.
    pub fn metered(self, meter: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.with_meter(Some(Arc::new(meter)))
    }

    /// ⟨x, y⟩/ℓ² + 1: linear functions of x/ℓ, and a constant.
    pub(crate) fn linear(scale: f64) -> nystrom::Result<AnyKernel> {
        let formula = Formula::Polynomial(Polynomial::new(1, scale.powi(-2), 1.0)?);
        Ok(AnyKernel { formula, meter: None })
    }

    pub(crate) fn with_meter(self, meter: Option<Meter>) -> Self {
        AnyKernel { meter, ..self }
    }

    /// The family of the kernel.
    pub fn family(&self) -> Family {
        match &self.formula {
            Formula::Gaussian(_) => Family::Gaussian,
            Formula::Matern(kernel) => Family::Matern { nu: kernel.profile().nu() },
            Formula::LaplacianL1(_) => Family::LaplacianL1,
            Formula::RationalQuadratic(kernel) => {
                Family::RationalQuadratic { alpha: kernel.profile().alpha() }
            }
            Formula::PowerExponential(kernel) => {
                Family::PowerExponential { power: kernel.profile().power() }
            }
            Formula::PowerExponentialL1(kernel) => {
                Family::PowerExponentialL1 { power: kernel.power() }
            }
            Formula::Linear(_) => Family::Linear,
            Formula::Polynomial(kernel) => Family::Polynomial { degree: kernel.degree() },
            Formula::Tanimoto(_) => Family::Tanimoto,
            Formula::MinMax(_) => Family::MinMax,
        }
    }

    /// Whether the kernel has derivatives; those of a kernel of bits or of counts are NaN.
    pub fn is_differentiable(&self) -> bool {
        self.formula.differentiable().is_some()
    }

    /// The length scale, if the kernel has one.
    pub fn bandwidth(&self) -> Option<f64> {
        self.formula.length_scale()
    }

    /// A description of the family with its parameters, without the length scale.
    pub fn describe(&self) -> String {
        self.family().to_string()
    }

    /// The kernel as spectral analysis uses it, if it is stationary with a known spectral density.
    pub fn stationary(&self) -> Option<&dyn Stationary> {
        match &self.formula {
            Formula::Gaussian(kernel) => Some(kernel),
            Formula::Matern(kernel) => Some(kernel),
            Formula::RationalQuadratic(kernel) => Some(kernel),
            _ => None,
        }
    }

    fn count(&self, values: usize) {
        if let Some(meter) = &self.meter {
            meter(values);
        }
    }
}

impl fmt::Debug for AnyKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.formula.fmt(f)
    }
}

impl PartialEq for AnyKernel {
    fn eq(&self, other: &Self) -> bool {
        self.formula == other.formula
    }
}

impl Kernel<f64> for AnyKernel {
    fn eval_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>, y: Points<'_, f64>) {
        self.formula.kernel().eval_into(out, x, y);
        self.count(x.len() * y.len());
    }
    fn diag_into(&self, out: ColMut<'_, f64>, x: Points<'_, f64>) {
        self.formula.kernel().diag_into(out, x);
    }
    fn check_dim(&self, d: usize) -> nystrom::Result<()> {
        self.formula.kernel().check_dim(d)
    }
    fn check_points(&self, x: Points<'_, f64>) -> nystrom::Result<()> {
        self.formula.kernel().check_points(x)
    }
    fn gram_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>) {
        self.formula.kernel().gram_into(out, x);
        self.count(x.len() * x.len());
    }
}

impl DifferentiableKernel<f64> for AnyKernel {
    /// NaN unless the kernel [is differentiable](AnyKernel::is_differentiable).
    fn gradient_into(
        &self,
        mut out: MatMut<'_, f64>,
        x: Points<'_, f64>,
        z: Points<'_, f64>,
        weights: MatRef<'_, f64>,
    ) {
        match self.formula.differentiable() {
            Some(kernel) => kernel.gradient_into(out, x, z, weights),
            None => out.fill(f64::NAN),
        }
        self.count(x.len() * z.len());
    }
}

impl SavedKernel for AnyKernel {
    /// Not written: the kernel inside has its own.
    fn name() -> String {
        "any kernel of the library".into()
    }

    fn save<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.formula.save(serializer)
    }

    fn load<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LoadedKernel<Self>, D::Error> {
        let file = Value::deserialize(deserializer)?;
        let name = file.as_object().and_then(|kernel| kernel.keys().next().cloned());
        let formula = Formula::load(&name.unwrap_or_default(), file).map_err(D::Error::custom)?;
        Ok(LoadedKernel(formula.map(|formula| AnyKernel { formula, meter: None })))
    }
}

impl Serialize for AnyKernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.save(serializer)
    }
}

impl<'de> Deserialize<'de> for AnyKernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::load(deserializer)?.0.map_err(D::Error::custom)
    }
}
