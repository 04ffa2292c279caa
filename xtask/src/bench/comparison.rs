//! Which measurement of ours stands against which of a peer's, and against what the machine allows.

use super::criterion::Measurements;
use super::peers::Line;

/// One line of the comparison.
pub struct Row {
    /// What is done, with its sizes.
    pub what: &'static str,
    /// Our benchmark.
    pub ours: &'static str,
    /// One time in `ours` covers so many of what the peer's covers.
    pub per: f64,
    /// The least time the machine allows, from rates measured in the same run; none where nobody has said what it is.
    pub limit: fn(&Rates) -> Option<f64>,
    /// At most so many times the limit is the aim.
    pub within: Option<f64>,
    /// The peers, each with the ratio aimed at.
    pub peers: &'static [Peer],
}

/// A peer's measurement.
pub struct Peer {
    /// Its name for people.
    pub name: &'static str,
    /// The arguments of the harness's run.
    pub arguments: &'static str,
    /// The name of the tool in the run's lines.
    pub tool: &'static str,
    /// The key of its time.
    pub key: &'static str,
    /// The ratio, theirs over ours, that is aimed at.
    pub aim: f64,
}

/// Rates of the machine, from the same run.
pub struct Rates<'a>(pub &'a Measurements);

impl Rates<'_> {
    /// Flops a second of a square product of 2000 in f64.
    fn product(&self) -> Option<f64> {
        self.0.seconds("gemm_f64/2000").map(|s| 2.0 * 2000_f64.powi(3) / s)
    }

    /// Entries a second of the Gaussian block at d = 10.
    fn tile(&self) -> Option<f64> {
        self.0.seconds("kernel_block_f64/gaussian/d=10").map(|s| 20_000.0 * 2000.0 / s)
    }

    /// One Gram matrix of half the entries, the tiles, and two factorisations of order m.
    fn nystrom(&self, n: f64, m: f64) -> Option<f64> {
        Some((n * m * m + 2.0 * m.powi(3)) / self.product()? + n * m / self.tile()?)
    }
}

const fn peer(name: &'static str, arguments: &'static str, tool: &'static str, key: &'static str, aim: f64) -> Peer {
    Peer { name, arguments, tool, key, aim }
}

const NUMPY_BLOCK: Peer = peer("NumPy, row blocks", "T1", "numpy_gemm_rbf_rowblocks_prealloc", "wall_min", 6.0);

/// The comparison, in the order of the document.
pub const ROWS: &[Row] = &[
    Row {
        what: "Gaussian block 20,000 × 2000, d = 10",
        ours: "kernel_block_f64/gaussian/d=10",
        per: 1.0,
        limit: |_| None,
        within: None,
        peers: &[NUMPY_BLOCK, peer("scikit-learn", "T1", "sklearn_rbf_kernel", "wall_min", 9.0)],
    },
    Row {
        what: "Matérn 3/2 block 20,000 × 2000, d = 10",
        ours: "kernel_block_f64/matern32/d=10",
        per: 1.0,
        limit: |_| None,
        within: None,
        peers: &[peer("scikit-learn GP", "T1", "sklearn_gp_Matern15", "wall_min", 9.0)],
    },
    Row {
        what: "Nyström fit, n = 50,000, m = 1000",
        ours: "nystrom_fit/Auto/m1000/50000",
        per: 1.0,
        limit: |rates| rates.nystrom(5e4, 1e3),
        within: Some(1.15),
        peers: &[
            peer(
                "NumPy, blocked",
                "T2 --tool numpy_blocked --n 50000 --m 1000",
                "numpy_blocked_whitened",
                "fit_s",
                1.4,
            ),
            peer("scikit-learn", "T2 --tool sklearn --n 50000 --m 1000", "sklearn_Nystroem+Ridge", "fit_s", 6.0),
        ],
    },
    Row {
        what: "Nyström fit, n = 50,000, m = 2000",
        ours: "nystrom_fit/Auto/m2000/50000",
        per: 1.0,
        limit: |rates| rates.nystrom(5e4, 2e3),
        within: Some(1.15),
        peers: &[
            peer(
                "NumPy, blocked",
                "T2 --tool numpy_blocked --n 50000 --m 2000",
                "numpy_blocked_whitened",
                "fit_s",
                1.4,
            ),
            peer(
                "scikit-learn",
                "T2 --tool sklearn --n 50000 --m 2000 --repeat 1",
                "sklearn_Nystroem+Ridge",
                "fit_s",
                6.0,
            ),
        ],
    },
    Row {
        what: "Nyström fit, n = 200,000, m = 1000",
        ours: "nystrom_fit/Auto/m1000/200000",
        per: 1.0,
        limit: |rates| rates.nystrom(2e5, 1e3),
        within: Some(1.15),
        peers: &[peer(
            "NumPy, blocked",
            "T2 --tool numpy_blocked --n 200000 --m 1000",
            "numpy_blocked_whitened",
            "fit_s",
            1.4,
        )],
    },
    Row {
        what: "Nyström fit, n = 200,000, m = 2000",
        ours: "nystrom_fit/Auto/m2000/200000",
        per: 1.0,
        limit: |rates| rates.nystrom(2e5, 2e3),
        within: Some(1.15),
        peers: &[peer(
            "NumPy, blocked",
            "T2 --tool numpy_blocked --n 200000 --m 2000",
            "numpy_blocked_whitened",
            "fit_s",
            1.4,
        )],
    },
    Row {
        what: "predict 10,000 points, m = 2000",
        ours: "nystrom_predict/2000",
        per: 1.0,
        limit: |rates| Some(2e7 / rates.tile()?),
        within: Some(1.6),
        peers: &[
            peer(
                "NumPy, blocked",
                "T2 --tool numpy_blocked --n 50000 --m 2000",
                "numpy_blocked_whitened",
                "pred_s",
                1.0,
            ),
            peer(
                "scikit-learn",
                "T2 --tool sklearn --n 50000 --m 2000 --repeat 1",
                "sklearn_Nystroem+Ridge",
                "pred_s",
                4.0,
            ),
        ],
    },
    Row {
        what: "exact scores, n = 5000",
        ours: "exact_scores_f64/5000",
        per: 1.0,
        limit: |rates| Some(2.0 / 3.0 * 5e3_f64.powi(3) / rates.product()?),
        within: Some(1.3),
        peers: &[peer("SciPy potrf + potri", "T4 --tool exact --n 5000", "scipy_potrf_potri", "wall_min", 1.5)],
    },
];

impl Row {
    /// Our time for what the peer does once.
    pub fn seconds(&self, ours: &Measurements) -> Option<f64> {
        ours.seconds(self.ours).map(|s| s / self.per)
    }
}

impl Peer {
    /// The peer's time.
    pub fn seconds(&self, lines: &[Line]) -> Option<f64> {
        lines.iter().find(|line| line.arguments == self.arguments && line.tool() == self.tool)?.number(self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::peers::RUNS;
    use super::*;

    #[test]
    fn every_peer_of_the_comparison_is_run() {
        for peer in ROWS.iter().flat_map(|row| row.peers) {
            assert!(RUNS.iter().any(|run| run.arguments == peer.arguments), "{}", peer.arguments);
        }
    }

    #[test]
    fn limits_come_from_rates_of_the_run() {
        let ours = Measurements::from([("gemm_f64/2000", 0.16), ("kernel_block_f64/gaussian/d=10", 0.04)]);
        let rates = Rates(&ours); // 100 GF/s and a billion entries a second
        let limit = rates.nystrom(5e4, 1e3).unwrap();
        assert!((limit - (0.5 + 0.02 + 0.05)).abs() < 1e-12, "{limit}");
        assert_eq!(Rates(&Measurements::from([])).nystrom(1.0, 1.0), None);
    }
}
