//! Direct or iterative: counted before anything is computed.

use super::preconditioner::{falkon_numbers, krill_numbers};
use super::{IterativeOptions, MemoryPlan};
use nystrom_linalg_core::{Error, Result, Scalar, validate};

/// Methods that fit the same f.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// [`NystromKrr`](crate::NystromKrr).
    Direct,
    /// [`Falkon`](crate::Falkon).
    Falkon,
    /// [`Krill`](crate::Krill).
    Krill,
}

/// The cost of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The method.
    pub method: Method,
    /// Iterations expected (0 for the direct method).
    pub iterations: usize,
    /// Work, in flops at the speed of a matrix product.
    pub flops: f64,
    /// The least memory it needs, in bytes, beyond its input and its model.
    pub bytes: u64,
}

/// The method chosen, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Plan {
    /// The method.
    pub method: Method,
    /// Why, in words.
    pub reason: String,
    /// The cost of each method.
    pub estimates: [Estimate; 3],
}

/// The sizes a plan is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemSize {
    /// Samples.
    pub n: usize,
    /// Coordinates of a point; of sparse points, the mean number of stored ones.
    pub d: usize,
    /// Centres.
    pub m: usize,
    /// Right-hand sides: targets, and one more for an intercept.
    pub t: usize,
    /// Whether the caller gave weights of the centres.
    pub weighted: bool,
}

/// One kernel value costs as much as this many flops of a matrix product, and `PER_COORDINATE` more
/// for each coordinate. (Measured: 93 GF/s against 1.3 and 1.05 values a ns at d = 3 and 10).
const PER_VALUE: f64 = 60.0;
const PER_COORDINATE: f64 = 3.0;
/// Products of a tile with vectors are limited by memory: one flop costs as much as this many of a
/// matrix product.
const VECTOR_FLOP: f64 = 8.0;
/// Condition numbers: Falkon's bound at its theorem's number of centres, and that of an embedding
/// of m dimensions in 2m.
const CONDITION_FALKON: f64 = 16.7;
/// Falkon's where nothing is known of how the centres were chosen: twice the iterations, as of
/// leverage-sampled ones without weights.
const CONDITION_UNWEIGHTED: f64 = 4.0 * CONDITION_FALKON;
pub(crate) const CONDITION_KRILL: f64 = 34.0;

/// Most centres and right-hand sides of a plan: its bytes stay below 2⁶⁴.
const LARGEST: usize = 1 << 26;

impl Plan {
    /// The least work among the methods that fit the memory allowed.
    ///
    /// | | flops | bytes |
    /// |---|---|---|
    /// | direct | nm·k + 2nm² + m³ | 32m² + a tile |
    /// | Falkon | vk + 32p·nmt + 4m³/3 | 16m² + tiles |
    /// | KRILL | vk + 32(p + 1)·nmt + 128nm + 6m³ | 32m² + tiles |
    ///
    /// k = 60 + 3d is a kernel value in flops, p the passes: ½√κ·ln(2/tolerance) iterations for the
    /// condition number κ of each preconditioner, and two more. κ is 16.7 for Falkon and 34 for
    /// KRILL. Falkon needs the weights of the centres; without them κ = 4·16.7. v counts kernel
    /// values: m for each row that is stored in the memory allowed, m in every pass for other rows.
    ///
    /// The plan depends on the sizes only, not on the machine.
    ///
    /// ```
    /// use nystrom_krr::{IterativeOptions, Method, Plan, ProblemSize};
    /// let size = ProblemSize { n: 100_000, d: 10, m: 500, t: 1, weighted: true };
    /// let options = IterativeOptions::default();
    /// assert_eq!(Plan::new::<f64>(size, &options)?.method, Method::Direct);
    /// assert_eq!(
    ///     Plan::new::<f64>(ProblemSize { m: 20_000, n: 1_000_000, ..size }, &options)?.method,
    ///     Method::Falkon
    /// );
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBudget`] if none fits, with the least that would. [`Error::Empty`] for no
    /// samples, coordinates, centres or right-hand sides. [`Error::TooMany`] for more than 2²⁶ of
    /// the last two. [`Error::InvalidParameter`] for a tolerance that is not positive.
    pub fn new<T: Scalar>(size: ProblemSize, options: &IterativeOptions) -> Result<Plan> {
        size.check()?;
        options.check()?;
        let falkon = if size.weighted { CONDITION_FALKON } else { CONDITION_UNWEIGHTED };
        let scatter = 16.0 * VECTOR_FLOP * size.n as f64 * size.m as f64;
        let cube = (size.m as f64).powi(3);
        let methods = [
            (
                (Method::Falkon, falkon, falkon_numbers as fn(u64) -> u64),
                (2, [0.0, 4.0 / 3.0 * cube]),
            ),
            ((Method::Krill, CONDITION_KRILL, krill_numbers), (3, [scatter, 6.0 * cube])),
        ];
        let [falkon, krill] =
            methods.map(|(method, before)| iterative::<T>(method, before, size, options));
        let estimates = [direct::<T>(size), falkon?, krill?];
        let fitting = estimates.iter().filter(|e| e.fits(options));
        let Some(&chosen) = fitting.min_by(|a, b| a.flops.total_cmp(&b.flops)) else {
            let needed = estimates.iter().map(|e| e.bytes).min().unwrap_or(0);
            return Err(Error::OutOfBudget {
                what: "every method of fitting",
                needed,
                budget: options.memory.unwrap_or(u64::MAX),
            });
        };
        Ok(Plan { method: chosen.method, reason: reason(chosen, size, options), estimates })
    }
}

impl ProblemSize {
    /// No size is 0, nor so large that bytes would overflow in the counting.
    fn check(&self) -> Result<()> {
        validate::not_empty("points (n)", self.n)?;
        validate::not_empty("coordinates of a point (d)", self.d)?;
        validate::at_most("centres (m)", self.m, LARGEST)?;
        validate::at_most("right-hand sides (t)", self.t, LARGEST)
    }
}

impl Plan {
    pub(crate) fn fits(&self, method: Method, options: &IterativeOptions) -> bool {
        self.estimates.iter().any(|e| e.method == method && e.fits(options))
    }
}

impl Estimate {
    fn fits(&self, options: &IterativeOptions) -> bool {
        options.memory.is_none_or(|budget| self.bytes <= budget)
    }
}

fn reason(chosen: Estimate, size: ProblemSize, options: &IterativeOptions) -> String {
    let Estimate { method, flops, bytes, .. } = chosen;
    let budget = match options.memory {
        Some(budget) => format!(" of the {budget} allowed"),
        None => String::new(),
    };
    let weights = match (size.weighted, method) {
        (false, Method::Krill) => {
            "; the centres have no weights, without which Falkon is expected to take longer"
        }
        (false, Method::Falkon) => {
            "; the centres have no weights, so that twice the iterations are expected"
        }
        _ => "",
    };
    format!(
        "{method:?}: {flops:.1e} flops and at least {bytes} bytes{budget}, the least work that \
         fits{weights}"
    )
}

fn direct<T: Scalar>(ProblemSize { n, d, m, t, .. }: ProblemSize) -> Estimate {
    let (rows, centers) = (n as f64, m as f64);
    let flops = rows * centers * value(d) + 2.0 * rows * centers.powi(2) + centers.powi(3);
    let wide = if size_of::<T>() < 8 { 8 } else { 0 }; //   its products are taken in f64 if need be
    let tile = 1024 * (m + t) as u64 * (size_of::<T>() + wide) as u64;
    let panel = 256 * m as u64 * 8; //                      of a Cholesky factorisation
    Estimate {
        method: Method::Direct,
        iterations: 0,
        flops,
        bytes: 32 * (m as u64).pow(2) + tile + panel,
    }
}

/// A kernel value, in flops.
pub(crate) fn value(d: usize) -> f64 {
    PER_VALUE + PER_COORDINATE * d as f64
}

/// Conjugate gradients for this condition number, with passes and flops for the preconditioner.
/// Kept rows of K_nm are evaluated once.
fn iterative<T: Scalar>(
    (method, condition, factors): (Method, f64, fn(u64) -> u64),
    (before, [scatter, factor]): (usize, [f64; 2]),
    size: ProblemSize,
    options: &IterativeOptions,
) -> Result<Estimate> {
    let ProblemSize { n, d, m, t, .. } = size;
    let plan = |memory| MemoryPlan::restricted::<T>(n, m, t, factors(m as u64), memory);
    let bytes = plan(None)?.total();
    let kept_rows = plan(options.memory).map_or(0, |plan| plan.kept_rows); // 0 if it does not fit
    // by the bound ½√κ·ln(2/tolerance) on the relative residual
    let bound = 0.5 * condition.sqrt() * (2.0 / options.tolerance).ln();
    let iterations = (bound.max(1.0).ceil() as usize).min(options.max_iterations);
    let passes = iterations + before;
    let evaluated = kept_rows as f64 + passes as f64 * (n - kept_rows) as f64;
    let products = 4.0 * VECTOR_FLOP * t as f64 * passes as f64 * n as f64;
    let flops = m as f64 * (evaluated * value(d) + products) + scatter + factor;
    Ok(Estimate { method, iterations, flops, bytes })
}
