//! Checks shared by the fits, all before any work is done.

use faer::MatRef;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Ridge, RowTree, Scalar, validate};

/// What a fit was given: n points, an n × t matrix of targets, n weights or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Samples<'a, T> {
    pub x: Points<'a, T>,
    pub y: MatRef<'a, T>,
    pub weights: Option<&'a [T]>,
}

impl<T: Scalar> Samples<'_, T> {
    /// Typed errors for everything a caller can get wrong about the sample.
    pub fn check(&self, kernel: &impl Kernel<T>) -> Result<()> {
        kernel.check_points(self.x)?;
        validate::same_size("rows of y against number of points", self.x.len(), self.y.nrows())?;
        validate::not_empty("targets (columns of y)", self.y.ncols())?;
        validate::finite("targets y", self.y)?;
        if let Some(w) = self.weights {
            validate::same_size("sample weights against number of points", self.x.len(), w.len())?;
            validate::weights("sample weights", w)?;
        }
        Ok(())
    }

    /// [`check`](Self::check), and what a path of ridges needs besides: at least one, all valid,
    /// and two samples if a constant is fitted, as leaving one out must leave one.
    pub fn check_path(
        &self,
        kernel: &impl Kernel<T>,
        ridges: &[Ridge<T>],
        intercept: bool,
    ) -> Result<()> {
        self.check(kernel)?;
        validate::not_empty("ridges of the path", ridges.len())?;
        ridges.iter().try_for_each(|ridge| ridge.absolute(self.x.len()).map(drop))?;
        let positive = (0..self.x.len()).filter(|&i| self.weight(i) > 0.0).take(2).count();
        if intercept && positive < 2 {
            let (name, requirement) =
                ("samples of positive weight", "at least 2 to leave one out with an intercept");
            return Err(Error::InvalidParameter { name, value: positive as f64, requirement });
        }
        Ok(())
    }

    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i].f64())
    }

    /// √w_i, rounded once.
    pub fn root_weight(&self, i: usize) -> T {
        T::lit(self.weight(i).sqrt())
    }

    /// Σ_i w_i y_ij / Σ_i w_i for every target j, summed in `f64`.
    ///
    /// With an intercept the fit is to y minus this mean, which is added back to the intercept:
    /// exact algebra, and no digits of a large offset go through the solve.
    pub fn mean_target(&self) -> Vec<f64> {
        let t = self.y.ncols();
        let leaf = |rows: std::ops::Range<usize>| {
            let mut sums = vec![0.0; t + 1];
            for i in rows {
                let w = self.weight(i);
                sums[t] += w;
                for (j, sum) in sums[..t].iter_mut().enumerate() {
                    *sum += w * self.y[(i, j)].f64();
                }
            }
            sums
        };
        let add = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let sums = RowTree::new(self.x.len()).reduce(leaf, add).unwrap_or_else(|| vec![0.0; t + 1]);
        (0..t).map(|j| sums[j] / sums[t]).collect()
    }
}
