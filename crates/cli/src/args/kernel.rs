//! Options that name the kernel and its parameters.

use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct KernelArgs {
    /// Kernel, with r = ‖x − y‖/bandwidth [default: gaussian; the search of `fit` compares several]
    #[arg(long, value_enum, help_heading = "Kernel")]
    pub kernel: Option<KernelName>,
    /// Column with a fingerprint of each row: bits in hexadecimal digits, two for each byte. It is
    /// the only feature, with the Tanimoto kernel |x ∧ y|/|x ∨ y|
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, help_heading = "Kernel",
        conflicts_with_all = ["kernel", "bandwidth", "nu", "alpha", "power", "degree"])]
    pub fingerprint: Option<String>,
    /// Length scale of the kernel, in standard deviations of the features (with --no-standardize,
    /// in the units of the features): a number, or `auto` for the median distance of 1000 random
    /// pairs of rows [default: auto]
    #[arg(long, value_name = "auto|X", value_parser = bandwidth, help_heading = "Kernel")]
    pub bandwidth: Option<Bandwidth>,
    /// Smoothness of the Matérn kernel [default: 1.5]
    #[arg(long, value_name = "X", help_heading = "Kernel")]
    pub nu: Option<f64>,
    /// Shape of the rational quadratic kernel [default: 1]
    #[arg(long, value_name = "X", help_heading = "Kernel")]
    pub alpha: Option<f64>,
    /// Power of the power exponential kernel, up to 2 [default: 1]
    #[arg(long, value_name = "X", help_heading = "Kernel")]
    pub power: Option<f64>,
    /// Degree of the polynomial kernel [default: 3]
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub degree: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// exp(−r²/2)
    Gaussian,
    /// Matérn kernel of smoothness --nu; fastest at 0.5, 1.5 and 2.5
    Matern,
    /// exp(−r) with Euclidean distance: Matérn kernel of smoothness 0.5
    Laplacian,
    /// exp(−‖x − y‖₁/bandwidth): the Laplacian kernel of scikit-learn
    LaplacianL1,
    /// (1 + r²/(2·alpha))^(−alpha)
    RationalQuadratic,
    /// exp(−r^power), for rough targets
    PowerExponential,
    /// ⟨x, y⟩
    Linear,
    /// (⟨x, y⟩/d + 1)^degree for d features
    Polynomial,
    /// Σ min(x_j, y_j)/Σ max(x_j, y_j) for counts: features keep their units, and none is negative
    MinMax,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    Auto,
    Given(f64),
}

/// Reads the value of --bandwidth.
pub fn bandwidth(text: &str) -> Result<Bandwidth, String> {
    match text {
        "auto" => Ok(Bandwidth::Auto),
        _ => super::lambda::positive(text).map(Bandwidth::Given),
    }
}
