//! k-DPPs: random subsets of rows that are diverse.

use crate::array::each_type;
use crate::error::{Outcome, raised};
use crate::kernel::Spec;
use crate::leverage::matrix;
use crate::rows::{AnyRows, Rows};
use crate::run::run;
use nystrom::dpp::{ElementarySymmetric, ExactKDpp, PreparedRejection, QuotaKDpp};
use nystrom::prelude::*;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Draws subsets of `size` rows: `draws` of them if the method is `swap`, or one if it is `exact`.
#[pyfunction]
#[pyo3(signature = (spec, X, size, draws, method, steps, seed, n_jobs=None))]
pub fn k_dpp<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    size: usize,
    draws: usize,
    method: &str,
    steps: usize,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Vec<Vec<usize>>> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        run(py, n_jobs, |stop| {
            let k = matrix(kernel, stop, points)?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            match method {
                "exact" if draws == 1 => {
                    Ok(vec![LEnsemble::draw_of_size(&k, size, rng)?.into_indices()])
                }
                "swap" => by_chain(&k, size, draws, steps, rng),
                _ => {
                    let text = format!("there is no method {method:?}; use exact or swap");
                    Err(PyValueError::new_err(text).into())
                }
            }
        })
    })
}

/// Draws `draws` subsets of `size` rows: from the matrix with the `quality` of the rows, with all
/// rows `given`, which come first, and within quotas if there are `groups`. Without `quotas`, these
/// are in proportion to the sizes of the groups.
#[pyfunction]
#[pyo3(signature = (spec, X, size, draws, method, steps, seed, quality, given, groups, quotas,
    n_jobs=None))]
pub fn subsets<'py>(
    py: Python<'py>,
    spec: Spec<'py>,
    X: AnyRows<'py>,
    size: usize,
    draws: usize,
    method: &str,
    steps: usize,
    seed: u64,
    quality: Option<Vec<f64>>,
    given: Vec<usize>,
    groups: Option<Vec<usize>>,
    quotas: Option<Vec<usize>>,
    n_jobs: Option<isize>,
) -> PyResult<Vec<Vec<usize>>> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        run(py, n_jobs, |stop| {
            let k = weighted(matrix(kernel, stop, points)?, quality)?;
            let rest = SchurComplement::new(&k, &given)?;
            let quotas = groups.map(|groups| match quotas {
                Some(quotas) => Quotas::new(groups, quotas),
                None => Quotas::proportional(groups, size),
            });
            let quotas = quotas.transpose()?;
            if let Some(quotas) = &quotas {
                quotas.check(k.dim(), size)?;
            }
            let left = quotas.map(|quotas| quotas.after(rest.given(), rest.rest())).transpose()?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            let drawn = match rest.missing(size)? {
                0 => vec![Vec::new(); draws],
                missing => drawn(&rest, (missing, left.as_ref()), draws, (method, steps), rng)?,
            };
            Ok(drawn.iter().map(|subset| rest.complete(subset)).collect())
        })
    })
}

/// The matrix with the quality of its rows, which is 1 without `quality`.
fn weighted<T: Scalar, A: PsdMatrix<T>>(
    k: A,
    quality: Option<Vec<f64>>,
) -> nystrom::Result<Scaled<A, T>> {
    let q = match quality {
        Some(quality) => quality.into_iter().map(T::lit).collect(),
        None => vec![T::one(); k.dim()],
    };
    Scaled::new(k, q)
}

/// Draws subsets of `size` rows, within quotas if there are any.
fn drawn<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    (size, quotas): (usize, Option<&Quotas>),
    draws: usize,
    (method, steps): (&str, usize),
    rng: &mut dyn Rng,
) -> Outcome<Vec<Vec<usize>>> {
    match (method, quotas) {
        ("exact", None) if draws == 1 => {
            Ok(vec![LEnsemble::draw_of_size(k, size, rng)?.into_indices()])
        }
        ("exact", None) => {
            let ensemble = LEnsemble::of_size(k, size)?;
            let k_dpp = ensemble.k_dpp(size)?;
            Ok((0..draws).map(|_| k_dpp.sample(rng).into_indices()).collect())
        }
        ("exact", Some(quotas)) => {
            let k_dpp = QuotaKDpp::new(k, quotas)?;
            (0..draws).map(|_| Ok(k_dpp.sample(rng)?.into_indices())).collect()
        }
        ("rejection", None) => {
            let mut k_dpp = RejectionKDpp::new(k, size, Rejection::of_size(size), rng)?;
            (0..draws).map(|_| Ok(k_dpp.sample(rng)?.into_indices())).collect()
        }
        ("swap", None) => by_chain(k, size, draws, steps, rng),
        ("swap", Some(quotas)) => {
            let mut chain = SwapChain::with_quotas(k, quotas, SwapRule::Metropolis)?;
            let mut draw = || {
                chain.run(steps, rng)?;
                Ok(chain.landmarks().into_indices())
            };
            (0..draws).map(|_| draw()).collect()
        }
        ("greedy", None) => Ok(vec![Greedy::default().select(k, size, rng)?.into_indices()]),
        ("greedy", Some(quotas)) => {
            let selector = GreedyByGroup { quotas: quotas.clone() };
            Ok(vec![selector.select(k, size, rng)?.into_indices()])
        }
        _ => {
            let text = format!("method {method:?} has no draws within quotas; use swap or greedy");
            Err(PyValueError::new_err(text).into())
        }
    }
}

/// The preparation of draws of one size by rejection. It depends on the kernel and the rows, and
/// all draws use it.
#[pyclass(frozen, module = "nystrom._native")]
pub struct RejectionSampler {
    prepared: PreparedRejection,
}

#[pymethods]
impl RejectionSampler {
    #[new]
    #[pyo3(signature = (spec, X, size, n_jobs=None))]
    fn new<'py>(
        py: Python<'py>,
        spec: Spec<'py>,
        X: AnyRows<'py>,
        size: usize,
        n_jobs: Option<isize>,
    ) -> PyResult<Self> {
        each_type!(X, x: T => {
            let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
            run(py, n_jobs, |stop| {
                let k = matrix(kernel, stop, points)?;
                // the preparation is random, but draws are exact for any seed
                let rng = &mut Pcg64::seed_from_u64(0);
                let k_dpp = RejectionKDpp::new(&k, size, Rejection::of_size(size), rng)?;
                Ok(RejectionSampler { prepared: k_dpp.into_prepared() })
            })
        })
    }

    /// Draws `draws` subsets of rows. Kernel and `X` are those of `new`.
    #[pyo3(signature = (spec, X, draws, seed, n_jobs=None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        spec: Spec<'py>,
        X: AnyRows<'py>,
        draws: usize,
        seed: u64,
        n_jobs: Option<isize>,
    ) -> PyResult<Vec<Vec<usize>>> {
        each_type!(X, x: T => {
            let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
            run(py, n_jobs, |stop| {
                let k = matrix(kernel, stop, points)?;
                let rng = &mut Pcg64::seed_from_u64(seed);
                let mut k_dpp = RejectionKDpp::from_prepared(&k, self.prepared.clone())?;
                (0..draws).map(|_| Ok(k_dpp.sample(rng)?.into_indices())).collect()
            })
        })
    }
}

/// Runs one Markov chain, and draws a subset after every `steps` steps.
fn by_chain<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    size: usize,
    draws: usize,
    steps: usize,
    rng: &mut dyn Rng,
) -> Outcome<Vec<Vec<usize>>> {
    let mut chain = SwapChain::start(k, size, &RpCholesky::default(), SwapRule::Metropolis, rng)?;
    let mut draw = || {
        chain.run(steps, rng)?;
        Ok(chain.landmarks().into_indices())
    };
    (0..draws).map(|_| draw()).collect()
}

/// ln det K_CC.
#[pyfunction]
pub fn log_det(py: Python<'_>, spec: Spec<'_>, X: AnyRows<'_>, items: Vec<usize>) -> PyResult<f64> {
    each_type!(X, x: T => {
        let (points, kernel) = (x.points()?, spec.kernel::<T>()?);
        run(py, Some(1), |stop| {
            Ok(nystrom::dpp::log_det(&matrix(kernel, stop, points)?, &items)?)
        })
    })
}

/// The eigendecomposition of an n × n kernel matrix, for exact draws.
#[pyclass(frozen, module = "nystrom._native")]
pub struct KDppSampler {
    spectrum: LEnsemble<f64>,
    /// The elementary symmetric polynomials for the last size.
    polynomials: Mutex<Option<Arc<ElementarySymmetric>>>,
}

impl KDppSampler {
    fn of_size(&self, size: usize) -> Outcome<ExactKDpp<'_, f64>> {
        let mut last = self.polynomials.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|e| e.size() == size) {
            return Ok(self.spectrum.k_dpp_by(known.clone())?);
        }
        let k_dpp = self.spectrum.k_dpp(size)?;
        *last = Some(k_dpp.polynomials().clone());
        Ok(k_dpp)
    }
}

#[pymethods]
impl KDppSampler {
    #[new]
    #[pyo3(signature = (spec, X, quality=None, n_jobs=None))]
    fn new(
        py: Python<'_>,
        spec: Spec<'_>,
        X: Rows<'_, f64>,
        quality: Option<Vec<f64>>,
        n_jobs: Option<isize>,
    ) -> PyResult<Self> {
        let (points, kernel) = (X.points()?, spec.kernel::<f64>()?);
        let spectrum = run(py, n_jobs, |stop| {
            Ok(LEnsemble::new(&weighted(matrix(kernel, stop, points)?, quality)?)?)
        })?;
        Ok(KDppSampler { spectrum, polynomials: Mutex::new(None) })
    }

    /// Draws `draws` subsets of `size` rows each.
    #[pyo3(signature = (size, draws, seed, n_jobs=None))]
    fn sample(
        &self,
        py: Python<'_>,
        size: usize,
        draws: usize,
        seed: u64,
        n_jobs: Option<isize>,
    ) -> PyResult<Vec<Vec<usize>>> {
        run(py, n_jobs, |stop| {
            let k_dpp = self.of_size(size)?;
            let rng = &mut Pcg64::seed_from_u64(seed);
            let mut draw = || {
                stop.check();
                k_dpp.sample(rng).into_indices()
            };
            Ok((0..draws).map(|_| draw()).collect())
        })
    }

    /// The probability of each row to be in a subset of `size` rows.
    fn inclusion(&self, py: Python<'_>, size: usize) -> PyResult<Vec<f64>> {
        run(py, Some(1), |_| Ok(self.spectrum.k_dpp(size)?.inclusion()))
    }

    /// ln Pr(C) of the subset C = `items` among the subsets of its size.
    fn log_probability(&self, items: Vec<usize>) -> PyResult<f64> {
        self.spectrum
            .k_dpp(items.len())
            .and_then(|k_dpp| k_dpp.log_probability(&items))
            .map_err(raised)
    }

    /// The numerical rank of the matrix, which is the size of the largest subset.
    #[getter]
    fn rank(&self) -> usize {
        self.spectrum.rank()
    }
}
