//! How much work a search may do, and the sizes that it affords.

/// How much work a fit may do. Work is counted in floating-point operations, not in seconds, so
/// that the same effort gives the same model on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// Some ten seconds on two cores.
    Quick,
    /// About a minute on two cores.
    #[default]
    Default,
    /// About ten minutes on two cores.
    Thorough,
}

impl Effort {
    /// The operations that it allows.
    pub fn work(self) -> f64 {
        match self {
            Effort::Quick => 3e11,
            Effort::Default => 3e12,
            Effort::Thorough => 3e13,
        }
    }

    /// Its name, as programs take it.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Default => "default",
            Effort::Thorough => "thorough",
        }
    }
}

/// Rows and landmarks of a trial fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub rows: usize,
    pub landmarks: usize,
}

/// Rows for each landmark of a trial, if there are enough rows.
const ROWS_A_LANDMARK: f64 = 5.0;

impl Size {
    /// The largest size of a path with leave-one-out errors that takes at most `work` operations,
    /// with at most n rows in d dimensions.
    pub fn within(work: f64, n: usize, d: usize, memory: Option<u64>) -> Size {
        let most = memory.map_or(f64::INFINITY, |bytes| (bytes as f64 / 100.0).sqrt());
        let affords = |m: f64, rows: f64| path_work(rows, m, d) <= work && m <= most;
        let mut best = Size { rows: n.min(50), landmarks: n.min(10) };
        for step in 0.. {
            let m = (10.0 * 1.05_f64.powi(step)).floor();
            // more rows first; when all are in, more landmarks
            let rows = (ROWS_A_LANDMARK * m).min(n as f64);
            if m > n as f64 || !affords(m, rows) {
                break;
            }
            best = Size { rows: rows as usize, landmarks: m as usize };
        }
        best
    }
}

/// Operations of `NystromKrr::path`: as its documentation counts them, kernel values at 20 and 2d
/// operations each.
pub(crate) fn path_work(n: f64, m: f64, d: usize) -> f64 {
    5.0 * n * m * m + 10.0 * m.powi(3) + 2.0 * n * m * (20.0 + 2.0 * d as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_to_work_and_memory() {
        for work in [1e7, 1e9, 1e11] {
            for n in [5, 300, 100_000] {
                let size = Size::within(work, n, 10, None);
                assert!(size.landmarks <= size.rows && size.rows <= n, "{work} {n} {size:?}");
                let taken = path_work(size.rows as f64, size.landmarks as f64, 10);
                assert!(taken <= work || size.landmarks <= 10, "{work} {n} {size:?}");
            }
        }
        let small = Size::within(1e11, 100_000, 10, Some(1_000_000));
        assert!(small.landmarks <= 100);
        assert_eq!(Size::within(1e12, 300, 3, None), Size { rows: 300, landmarks: 292 });
    }
}
