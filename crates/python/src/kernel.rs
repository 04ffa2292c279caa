//! Kernels from their description by Python: a tuple of a name and parameters, which may be
//! descriptions of other kernels.

use crate::array::{Number, each_type, new_array, owned, same_type, vector};
use crate::callback::Callback;
use crate::error::raised;
use crate::rows::{AnyRows, Rows};
use crate::run::{Stop, run};
use crate::watched::Watched;
use nystrom::faer::ColMut;
use nystrom::kernels::{
    Bernoulli, Gaussian, Isotropic, Kernel, LaplacianL1, Linear, Matern, MinMax, Periodic,
    Polynomial, PowerExponential, PowerExponentialL1, Precomputed, Product, Profile,
    RationalQuadratic, Scaled, Sum, Tanimoto,
};
use nystrom::leverage::Stationary;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// A kernel that threads share.
pub type Shared<T> = Arc<dyn Kernel<T>>;

/// The description of a kernel, such as `("matern", nu, length_scale)` or `("sum", first, second)`.
pub struct Spec<'py>(Bound<'py, PyTuple>);

impl<'py> FromPyObject<'_, 'py> for Spec<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Spec(object.cast::<PyTuple>()?.to_owned()))
    }
}

/// One length scale, or one for each coordinate.
#[derive(FromPyObject)]
pub enum Lengths {
    One(f64),
    Each(Vec<f64>),
}

impl<'py> Spec<'py> {
    /// The kernel, which interrupts the computation when `stop` is set.
    pub fn watched<T: Number>(&self, stop: &Stop) -> PyResult<Watched<T>> {
        Ok(Watched { kernel: self.kernel()?, stop: stop.clone() })
    }

    /// Parameter i; 0 is the name.
    pub fn at<P: for<'a> FromPyObject<'a, 'py>>(&self, i: usize) -> PyResult<P> {
        self.0.get_item(i)?.extract().map_err(Into::into)
    }

    pub fn name(&self) -> PyResult<String> {
        self.at(0)
    }

    /// The kernel.
    pub fn kernel<T: Number>(&self) -> PyResult<Shared<T>> {
        let part = |i| self.at::<Spec<'py>>(i)?.kernel::<T>();
        let number = |i| self.at::<f64>(i);
        Ok(match self.name()?.as_str() {
            "gaussian" => isotropic(Gaussian::new(1.0), self.at(1)?)?,
            "matern" => isotropic(Matern::new(number(1)?, 1.0), self.at(2)?)?,
            "rational-quadratic" => {
                isotropic(RationalQuadratic::new(number(1)?, 1.0), self.at(2)?)?
            }
            "power-exponential" => isotropic(PowerExponential::new(number(1)?, 1.0), self.at(2)?)?,
            "power-exponential-l1" => shared(PowerExponentialL1::new(number(1)?, number(2)?))?,
            "laplacian-l1" => shared(LaplacianL1::new(number(1)?))?,
            "linear" => shared(Linear::with_bias(number(1)?))?,
            "polynomial" => shared(Polynomial::new(self.at(1)?, number(2)?, number(3)?))?,
            "periodic" => shared(Periodic::new(number(1)?, number(2)?))?,
            "bernoulli" => shared(Bernoulli::new(self.at(1)?))?,
            "tanimoto" => Arc::new(Tanimoto),
            "min-max" => Arc::new(MinMax),
            "sum" => Arc::new(Sum::new(part(1)?, part(2)?)),
            "product" => Arc::new(Product::new(part(1)?, part(2)?)),
            "scaled" => shared(Scaled::new(part(1)?, number(2)?))?,
            "blocks" => Arc::new(Callback { function: self.0.get_item(1)?.unbind() }),
            "precomputed" => {
                let matrix = same_type::<T>(&self.0.get_item(1)?, "the kernel matrix")?;
                shared(Precomputed::new(owned(&matrix)?))?
            }
            name => return Err(PyValueError::new_err(format!("there is no kernel {name:?}"))),
        })
    }

    /// The kernel with its spectral density, which spectral analysis needs.
    ///
    /// # Errors
    /// A `ValueError` if the kernel is not stationary, or its spectral density is not known.
    pub fn stationary(&self) -> PyResult<Box<dyn Stationary + Send>> {
        let scale = |i| self.at::<f64>(i);
        Ok(match self.name()?.as_str() {
            "gaussian" => Box::new(Gaussian::new(scale(1)?).map_err(raised)?),
            "matern" => Box::new(Matern::new(scale(1)?, scale(2)?).map_err(raised)?),
            "rational-quadratic" => {
                Box::new(RationalQuadratic::new(scale(1)?, scale(2)?).map_err(raised)?)
            }
            name => {
                return Err(PyValueError::new_err(format!(
                    "spectral analysis (sa) needs a stationary kernel with one length scale, and \
                     {name} is not one; use Gaussian, Matern or RationalQuadratic, or another \
                     method"
                )));
            }
        })
    }
}

pub fn shared<T: Number>(kernel: nystrom::Result<impl Kernel<T> + 'static>) -> PyResult<Shared<T>> {
    kernel.map(|kernel| Arc::new(kernel) as Shared<T>).map_err(raised)
}

/// The kernel with the profile of `kernel` and these length scales.
fn isotropic<T: Number, P: Profile + Clone + 'static>(
    kernel: nystrom::Result<Isotropic<P>>,
    lengths: Lengths,
) -> PyResult<Shared<T>> {
    let kernel = kernel.map_err(raised)?;
    match lengths {
        Lengths::One(length) => shared(Isotropic::with_profile(kernel.profile().clone(), length)),
        Lengths::Each(lengths) => shared(kernel.with_length_scales(&lengths)),
    }
}

/// The kernel matrix K_ij = k(x_i, y_j). Without Y, that of X with itself, exactly symmetric.
#[pyfunction]
#[pyo3(signature = (spec, X, Y=None, n_jobs=None))]
pub fn kernel_block<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    Y: Option<Bound<'py, PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    each_type!(X, x: T => block::<T>(py, &spec, &x, Y, n_jobs))
}

fn block<'py, T: Number>(
    py: Python<'py>,
    spec: &Spec<'py>,
    x: &Rows<'py, T>,
    y: Option<Bound<'py, PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let kernel = spec.kernel::<T>()?;
    let y = y.map(|y| Rows::<T>::same_type(&y, "Y")).transpose()?;
    let (x, y) = (x.points()?, y.as_ref().map(Rows::points).transpose()?);
    let (array, out) = new_array::<T>(py, x.len(), y.map_or(x.len(), |y| y.len()));
    run(py, n_jobs, |stop| {
        let kernel = Watched { kernel, stop: stop.clone() };
        kernel.check_points(x)?;
        match y {
            None => kernel.gram_into(out.transpose_mut(), x),
            Some(y) => {
                x.check_same_dim(y)?;
                kernel.check_points(y)?;
                // the output is row-major, so its transpose has contiguous columns
                kernel.eval_into(out.transpose_mut(), y, x);
            }
        }
        Ok(())
    })?;
    Ok(array.into_any())
}

/// The diagonal k(x_i, x_i).
#[pyfunction]
pub fn kernel_diagonal<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    each_type!(X, x: T => {
        let (kernel, x) = (spec.kernel::<T>()?, x.points()?);
        let mut out = vec![0.0; x.len()];
        run(py, Some(1), |_| {
            kernel.check_points(x)?;
            kernel.diag_into(ColMut::from_slice_mut(&mut out), x);
            Ok(())
        })?;
        Ok(vector(py, out).into_any())
    })
}
