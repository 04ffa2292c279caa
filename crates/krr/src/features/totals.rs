//! Sums over rows whose size does not depend on m.

/// Sums of weights, of k(x, x), and of each target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Totals {
    pub rows: u64,
    /// Rows of positive weight.
    pub positive: u64,
    /// Σ w.
    pub weight: f64,
    /// Σ w k(x, x).
    pub trace: f64,
    /// Σ w (y − offset), by target.
    pub targets: Vec<f64>,
    /// Σ w (y − offset)², by target.
    pub squares: Vec<f64>,
}

impl Totals {
    pub fn zeros(t: usize) -> Self {
        let [targets, squares] = [vec![0.0; t], vec![0.0; t]];
        Totals { rows: 0, positive: 0, weight: 0.0, trace: 0.0, targets, squares }
    }

    /// Σ w y/Σ w of every target, where the offset was 0.
    ///
    /// With an intercept the fit is to y less this mean, which is added back to the intercept. That
    /// is exact algebra, and no digits of a large mean go through the solve.
    pub fn mean_targets(&self) -> Vec<f64> {
        self.targets.iter().map(|sum| sum / self.weight).collect()
    }
}
