//! Regression on all rows by a graphics card, in builds with the feature `gpu`.

use crate::error::Outcome;
use crate::kernel::Spec;
use crate::regression::{Fitted, Sample, to_python};
use crate::run::{Stop, run};
use crate::watched::Watched;
use numpy::PyReadonlyArray2;
use nystrom::krr::{FullKrr, IterativeOptions, Problem};
use nystrom::linalg_core::Ridge;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Any<'py> = Bound<'py, PyAny>;

/// Exact regression α = (K + μI)⁻¹y on all rows, by conjugate gradients whose products with K a
/// graphics card computes: the one whose name contains `card`, or the best one.
///
/// # Errors
/// A `RuntimeError` in builds without cards; a `ValueError` if there is no such card, or if it does
/// not evaluate this kernel.
#[pyfunction]
#[pyo3(signature = (spec, X, Y, weights, mu, *, card, intercept, tolerance, max_iterations, memory,
    seed, n_jobs=None))]
pub fn exact_on_gpu<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: PyReadonlyArray2<'py, f64>,
    Y: Any<'py>,
    weights: Option<Any<'py>>,
    mu: f64,
    card: Option<String>,
    intercept: bool,
    tolerance: f64,
    max_iterations: usize,
    memory: Option<u64>,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<(Any<'py>, Any<'py>, Bound<'py, PyDict>)> {
    let card = Card::open(&spec, card)?;
    let options = IterativeOptions { tolerance, max_iterations, memory };
    let sample = Sample::<f64>::new(X, &Y, weights.as_ref())?;
    let (problem, kernel) = (sample.problem()?, spec.kernel::<f64>()?);
    let fitted = run(py, n_jobs, |stop| {
        let kernel = Watched { kernel, stop: stop.clone() };
        let krr = FullKrr { intercept, options, ..FullKrr::new(kernel, Ridge::Absolute(mu)) };
        card.fit(&krr, problem, seed, stop)
    })?;
    to_python(py, fitted)
}

#[cfg(feature = "gpu")]
mod card {
    use super::*;
    use crate::kernel::Lengths;
    use crate::regression::{parts, watch};
    use nystrom::faer::{Accum, Mat, MatRef};
    use nystrom::kernels::{
        Gaussian, Isotropic, LaplacianL1, Matern, PowerExponential, PowerExponentialL1,
        RationalQuadratic,
    };
    use nystrom::krr::{Device, Extras, KernelProduct};
    use nystrom::linalg_core::ops;
    use nystrom::prelude::*;
    use nystrom_gpu::{
        DeviceKernel, DeviceMatrix, DeviceProfile, Formula, Gpu, GpuError, GpuOptions,
    };
    use pyo3::exceptions::PyValueError;

    /// A card, and the kernel as it evaluates it.
    pub struct Card {
        gpu: Gpu,
        formula: Formula,
    }

    fn raised(error: GpuError) -> PyErr {
        PyValueError::new_err(error.to_string())
    }

    fn isotropic<P: DeviceProfile + Clone>(
        kernel: nystrom::Result<Isotropic<P>>,
        lengths: Lengths,
    ) -> Result<Formula, GpuError> {
        let profile = kernel?.profile().clone();
        match lengths {
            Lengths::One(length) => Isotropic::with_profile(profile, length)?.formula(),
            Lengths::Each(lengths) => {
                Isotropic::with_profile(profile, 1.0)?.with_length_scales(&lengths)?.formula()
            }
        }
    }

    impl Card {
        /// The card whose name contains this text, or the best one.
        pub fn open(spec: &Spec<'_>, name: Option<String>) -> PyResult<Card> {
            let number = |i| spec.at::<f64>(i);
            let formula = match spec.name()?.as_str() {
                "gaussian" => isotropic(Gaussian::new(1.0), spec.at(1)?),
                "matern" => isotropic(Matern::new(number(1)?, 1.0), spec.at(2)?),
                "rational-quadratic" => {
                    isotropic(RationalQuadratic::new(number(1)?, 1.0), spec.at(2)?)
                }
                "power-exponential" => {
                    isotropic(PowerExponential::new(number(1)?, 1.0), spec.at(2)?)
                }
                "power-exponential-l1" => PowerExponentialL1::new(number(1)?, number(2)?)
                    .map_err(GpuError::from)
                    .and_then(|kernel| kernel.formula()),
                "laplacian-l1" => LaplacianL1::new(number(1)?)
                    .map_err(GpuError::from)
                    .and_then(|kernel| kernel.formula()),
                name => {
                    return Err(PyValueError::new_err(format!(
                        "a graphics card does not evaluate the kernel {name}; use Gaussian, \
                         Matern(0.5), Matern(1.5), Matern(2.5), RationalQuadratic, \
                         PowerExponential or a Laplacian, or gpu=False"
                    )));
                }
            };
            let options = GpuOptions { name, ..GpuOptions::default() };
            Ok(Card {
                gpu: Gpu::open(&options).map_err(raised)?,
                formula: formula.map_err(raised)?,
            })
        }

        pub fn fit(
            &self,
            krr: &FullKrr<Watched<f64>, f64>,
            problem: Problem<'_, f64>,
            seed: u64,
            stop: &Stop,
        ) -> Outcome<Fitted<f64>> {
            let mut watch = watch(stop);
            let extras =
                Extras { monitor: Some(&mut watch), device: Some(self), ..Extras::default() };
            let fit = krr.fit_with(problem, extras, &mut Pcg64::seed_from_u64(seed))?;
            Ok(parts(&fit.model, Some(fit.report)))
        }
    }

    impl Device<Watched<f64>, f64> for Card {
        fn matrix<'a>(
            &self,
            kernel: &'a Watched<f64>,
            x: Points<'a, f64>,
            columns: usize,
            rng: &mut dyn Rng,
        ) -> nystrom::Result<Box<dyn KernelProduct + 'a>> {
            let of = (kernel, &self.formula);
            Ok(Box::new(DeviceMatrix::with_formula(&self.gpu, of, x, columns, rng)?))
        }

        fn times(
            &self,
            kernel: &Watched<f64>,
            [x, z]: [Points<'_, f64>; 2],
            v: MatRef<'_, f64>,
        ) -> nystrom::Result<Mat<f64>> {
            // no estimator predicts on a card
            let (K, mut out) = (kernel.eval(x, z), Mat::zeros(x.len(), v.ncols()));
            ops::matmul(out.as_mut(), Accum::Replace, K.as_ref(), v, 1.0);
            Ok(out)
        }
    }
}

#[cfg(not(feature = "gpu"))]
mod card {
    use super::*;
    use pyo3::exceptions::PyRuntimeError;

    /// What other builds have.
    pub enum Card {}

    impl Card {
        pub fn open(_: &Spec<'_>, _: Option<String>) -> PyResult<Card> {
            Err(PyRuntimeError::new_err(
                "this build of nystrom computes on the CPU only; install a released wheel (pip \
                 install nystrom), build with --features gpu, or use gpu=False",
            ))
        }

        pub fn fit(
            &self,
            _: &FullKrr<Watched<f64>, f64>,
            _: Problem<'_, f64>,
            _: u64,
            _: &Stop,
        ) -> Outcome<Fitted<f64>> {
            match *self {}
        }
    }
}

pub use card::Card;
