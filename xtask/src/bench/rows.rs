//! The comparison, row by row.

use super::comparison::{Rival, Row};
use super::rivals::{blocked, dppy_step, falkon_iteration, metropolis, peer, potrf, scikit, step};

/// The rows that a user asks for first: those of the page.
pub const TEN: [&str; 10] = [
    "Gaussian block 20,000 × 2000, d = 10",
    "Nyström fit, n = 50,000, m = 1000",
    "predict 10,000 points, m = 2000",
    "exact regression, n = 10,000",
    "Recursive-RLS, all scores, n = 200,000",
    "BLESS, q = 2, all scores, n = 10,000",
    "k-DPP swap step, c = 100",
    "exact k-DPP, N = 4000, k = 100, next draw",
    "RPCholesky, rank 1000, n = 50,000",
    "Falkon, an iteration, n = 200,000, m = 1000",
];

/// No limit is known, and nobody stands beside it.
const BARE: Row = Row { what: "", ours: |_| None, limit: |_| None, within: None, rivals: &[] };

/// Every comparison, in the order of the page.
pub const ROWS: &[Row] = &[
    Row {
        what: "Gaussian block 20,000 × 2000, d = 3",
        ours: |m| m.seconds("kernel_block_f64/gaussian/d=3"),
        limit: |rates| rates.prototype(4.3e9),
        within: Some(1.0),
        ..BARE
    },
    Row {
        what: "Gaussian block 20,000 × 2000, d = 32",
        ours: |m| m.seconds("kernel_block_f64/gaussian/d=32"),
        limit: |rates| rates.prototype(1.3e9),
        within: Some(1.0),
        ..BARE
    },
    Row {
        what: "Gaussian block 20,000 × 2000, d = 100",
        ours: |m| m.seconds("kernel_block_f64/gaussian/d=100"),
        limit: |rates| {
            Some(8e9 / rates.product()? + rates.0.seconds("kernel_block_f64/gaussian/d=3")?)
        },
        within: Some(1.5),
        ..BARE
    },
    Row {
        what: "Gaussian block 20,000 × 2000, d = 10",
        ours: |m| m.seconds("kernel_block_f64/gaussian/d=10"),
        limit: |rates| rates.prototype(2.7e9),
        within: Some(1.0),
        rivals: &[
            (peer("NumPy, row blocks", "T1", "numpy_gemm_rbf_rowblocks_prealloc", "wall_min"), 6.0),
            (peer("scikit-learn", "T1", "sklearn_rbf_kernel", "wall_min"), 9.0),
        ],
    },
    Row {
        what: "Matérn 3/2 block 20,000 × 2000, d = 10",
        ours: |m| m.seconds("kernel_block_f64/matern32/d=10"),
        rivals: &[(peer("scikit-learn GP", "T1", "sklearn_gp_Matern15", "wall_min"), 9.0)],
        ..BARE
    },
    Row {
        what: "the Gaussian block in f32",
        ours: |m| m.seconds("kernel_block_f32/gaussian/d=10"),
        rivals: &[(Rival::Ours("f64", |m| m.seconds("kernel_block_f64/gaussian/d=10")), 1.8)],
        ..BARE
    },
    Row {
        what: "Nyström fit, n = 50,000, m = 1000",
        ours: |m| m.seconds("nystrom_fit_f64/m1000/50000"),
        limit: |rates| rates.nystrom("f64", 5e4, 1e3),
        within: Some(1.15),
        rivals: &[
            (blocked("T2 --tool numpy_blocked --n 50000 --m 1000"), 1.4),
            (scikit("T2 --tool sklearn --n 50000 --m 1000"), 6.0),
        ],
    },
    Row {
        what: "Nyström fit, n = 50,000, m = 2000",
        ours: |m| m.seconds("nystrom_fit_f64/m2000/50000"),
        limit: |rates| rates.nystrom("f64", 5e4, 2e3),
        within: Some(1.15),
        rivals: &[
            (blocked("T2 --tool numpy_blocked --n 50000 --m 2000"), 1.4),
            (scikit("T2 --tool sklearn --n 50000 --m 2000 --repeat 1"), 6.0),
        ],
    },
    Row {
        what: "Nyström fit, n = 50,000, m = 4000",
        ours: |m| m.seconds("nystrom_fit_f64/m4000/50000"),
        limit: |rates| rates.nystrom("f64", 5e4, 4e3),
        within: Some(1.15),
        ..BARE
    },
    Row {
        what: "Nyström fit, n = 200,000, m = 1000",
        ours: |m| m.seconds("nystrom_fit_f64/m1000/200000"),
        limit: |rates| rates.nystrom("f64", 2e5, 1e3),
        within: Some(1.15),
        rivals: &[(blocked("T2 --tool numpy_blocked --n 200000 --m 1000"), 1.4)],
    },
    Row {
        what: "Nyström fit, n = 200,000, m = 2000",
        ours: |m| m.seconds("nystrom_fit_f64/m2000/200000"),
        limit: |rates| rates.nystrom("f64", 2e5, 2e3),
        within: Some(1.15),
        rivals: &[(blocked("T2 --tool numpy_blocked --n 200000 --m 2000"), 1.4)],
    },
    Row {
        what: "Nyström fit, n = 1,000,000, m = 1000",
        ours: |m| m.seconds("nystrom_fit_f64/m1000/1000000"),
        limit: |rates| rates.nystrom("f64", 1e6, 1e3),
        within: Some(1.15),
        ..BARE
    },
    Row {
        what: "Nyström fit, n = 1,000,000, m = 2000",
        ours: |m| m.seconds("nystrom_fit_f64/m2000/1000000"),
        limit: |rates| rates.nystrom("f64", 1e6, 2e3),
        within: Some(1.15),
        ..BARE
    },
    Row {
        what: "Nyström fit, n = 1,000,000, m = 4000",
        ours: |m| m.seconds("nystrom_fit_f64/m4000/1000000"),
        limit: |rates| rates.nystrom("f64", 1e6, 4e3),
        within: Some(1.15),
        ..BARE
    },
    Row {
        what: "the fit n = 200,000, m = 2000 in f32",
        ours: |m| m.seconds("nystrom_fit_f32/m2000/200000"),
        limit: |rates| rates.nystrom("f32", 2e5, 2e3),
        rivals: &[(Rival::Ours("f64", |m| m.seconds("nystrom_fit_f64/m2000/200000")), 1.7)],
        ..BARE
    },
    Row {
        what: "the fit n = 50,000, m = 4000 in f32",
        ours: |m| m.seconds("nystrom_fit_f32/m4000/50000"),
        limit: |rates| rates.nystrom("f32", 5e4, 4e3),
        rivals: &[(Rival::Ours("f64", |m| m.seconds("nystrom_fit_f64/m4000/50000")), 1.7)],
        ..BARE
    },
    Row {
        what: "predict 10,000 points, m = 2000",
        ours: |m| m.seconds("nystrom_predict/2000"),
        limit: |rates| Some(2e7 / rates.tile("f64/gaussian/d=10")?),
        within: Some(1.6),
        rivals: &[
            (
                peer(
                    "NumPy, blocked",
                    "T2 --tool numpy_blocked --n 50000 --m 2000",
                    "numpy_blocked_whitened",
                    "pred_s",
                ),
                1.0,
            ),
            (
                peer(
                    "scikit-learn",
                    "T2 --tool sklearn --n 50000 --m 2000 --repeat 1",
                    "sklearn_Nystroem+Ridge",
                    "pred_s",
                ),
                4.0,
            ),
        ],
    },
    Row {
        what: "exact regression, n = 10,000",
        ours: |m| m.seconds("exact_krr_f64/10000"),
        limit: |rates| Some(1e12 / 3.0 / rates.product()?),
        within: Some(1.3),
        rivals: &[(
            peer(
                "SciPy cho_factor",
                "T3 --tool scipy --n 10000 --repeat 2",
                "scipy_cho_factor",
                "fit_s",
            ),
            1.5,
        )],
    },
    Row {
        what: "exact scores, n = 10,000",
        ours: |m| m.seconds("exact_scores_f64/10000"),
        limit: |rates| Some(2e12 / 3.0 / rates.product()?),
        within: Some(1.3),
        rivals: &[(
            peer(
                "SciPy potrf + potri",
                "T4 --tool exact --n 10000 --repeat 2",
                "scipy_potrf_potri",
                "wall_min",
            ),
            1.5,
        )],
    },
    Row {
        what: "Cholesky, order 2000",
        ours: |m| m.seconds("cholesky_f64/2000"),
        limit: |rates| Some(8e9 / 3.0 / rates.product()?),
        rivals: &[(potrf(&[("size", "2000"), ("dtype", "f64")]), 0.95)],
        ..BARE
    },
    Row {
        what: "Cholesky, order 4000",
        ours: |m| m.seconds("cholesky_f64/4000"),
        limit: |rates| Some(6.4e10 / 3.0 / rates.product()?),
        rivals: &[(potrf(&[("size", "4000"), ("dtype", "f64")]), 0.95)],
        ..BARE
    },
    Row {
        what: "Recursive-RLS, all scores, n = 50,000",
        ours: |m| m.seconds("recursive_bless_f64/recursive q=1.5/50000"),
        rivals: &[(
            peer("NumPy", "T4 --tool rls_numpy --n 50000", "rls_numpy_fixed_lambda", "wall_min"),
            3.0,
        )],
        ..BARE
    },
    Row {
        what: "Recursive-RLS, all scores, n = 200,000",
        ours: |m| m.seconds("recursive_bless_f64/recursive q=1.5/200000"),
        rivals: &[(
            peer("NumPy", "T4 --tool rls_numpy --n 200000", "rls_numpy_fixed_lambda", "wall_min"),
            3.0,
        )],
        ..BARE
    },
    Row {
        what: "BLESS, q = 2, all scores, n = 10,000",
        ours: |m| m.seconds("recursive_bless_f64/bless q=2/10000"),
        rivals: &[(
            peer("DPPy", "T4 --tool dppy_bless --n 10000 --repeat 1", "dppy_bless", "wall_min"),
            3.0,
        )],
        ..BARE
    },
    Row {
        what: "BLESS, q = 2, all scores, n = 200,000",
        ours: |m| m.seconds("recursive_bless_f64/bless q=2/200000"),
        ..BARE
    },
    Row {
        what: "SA scores with estimated density, n = 200,000, d = 3",
        ours: |m| m.seconds("spectral_scores/auto, bimodal/200000"),
        rivals: &[(
            Rival::Ours("BLESS, q = 2", |m| m.seconds("recursive_bless_f64/bless q=2/200000")),
            20.0,
        )],
        ..BARE
    },
    Row {
        what: "k-DPP swap step, c = 50",
        ours: |m| metropolis(m, 50),
        limit: |rates| step(rates, 50),
        within: Some(3.0),
        rivals: &[(dppy_step("T5 --tool mcmc --n 4000 --k 50"), 80.0)],
    },
    Row {
        what: "k-DPP swap step, c = 100",
        ours: |m| metropolis(m, 100),
        limit: |rates| step(rates, 100),
        within: Some(3.0),
        rivals: &[(dppy_step("T5 --tool mcmc --n 4000 --k 100"), 80.0)],
    },
    Row {
        what: "k-DPP swap step, c = 200",
        ours: |m| metropolis(m, 200),
        limit: |rates| step(rates, 200),
        within: Some(3.0),
        rivals: &[(dppy_step("T5 --tool mcmc --n 4000 --k 200"), 80.0)],
    },
    Row {
        what: "exact k-DPP, N = 4000, k = 100, first draw",
        ours: |m| m.seconds("k_dpp_exact/first draw/100"),
        limit: |rates| rates.0.seconds("eigen_f64/4000"),
        within: Some(1.2),
        rivals: &[(
            peer(
                "DPPy",
                "T5 --tool exact --n 4000 --k 100 --repeat 1",
                "dppy_exact_kdpp",
                "first_s",
            ),
            1.5,
        )],
    },
    Row {
        what: "exact k-DPP, N = 4000, k = 100, next draw",
        ours: |m| m.seconds("k_dpp_exact/next draw/100"),
        limit: |rates| Some(4e7 / rates.product()?),
        within: Some(2.0),
        rivals: &[(
            peer(
                "DPPy",
                "T5 --tool exact --n 4000 --k 100 --repeat 1",
                "dppy_exact_kdpp",
                "next_s",
            ),
            5.0,
        )],
    },
    Row {
        what: "RPCholesky, rank 500, n = 50,000",
        ours: |m| m.seconds("rp_cholesky_n50000/accelerated/500"),
        limit: |rates| rates.0.seconds("rp_cholesky_n50000/entries and one product/500"),
        within: Some(1.5),
        ..BARE
    },
    Row {
        what: "RPCholesky, rank 1000, n = 50,000",
        ours: |m| m.seconds("rp_cholesky_n50000/accelerated/1000"),
        limit: |rates| rates.0.seconds("rp_cholesky_n50000/entries and one product/1000"),
        within: Some(1.5),
        ..BARE
    },
    Row {
        what: "RPCholesky, rank 500, n = 200,000",
        ours: |m| m.seconds("rp_cholesky_n200000/accelerated/500"),
        limit: |rates| rates.0.seconds("rp_cholesky_n200000/entries and one product/500"),
        within: Some(1.5),
        ..BARE
    },
    Row {
        what: "Falkon, an iteration, n = 200,000, m = 1000",
        ours: falkon_iteration,
        limit: |rates| Some(2e8 / rates.tile("f64/gaussian/d=10")? + 8e8 / rates.product()?),
        within: Some(1.3),
        ..BARE
    },
    Row {
        what: "all the data by conjugate gradients to 1e-6, n = 100,000, rank 1000",
        ours: |m| m.seconds("full_krr_to_1e-6/rank=1000/100000"),
        ..BARE
    },
];

#[cfg(test)]
mod tests {
    use super::super::peers::RUNS;
    use super::*;

    const HARNESS_TEXT: &str = include_str!("../../../benches/peers/peerbench.py");

    #[test]
    fn each_of_the_ten_is_a_row() {
        assert!(TEN.iter().all(|what| ROWS.iter().filter(|row| row.what == *what).count() == 1));
    }

    #[test]
    fn every_peer_of_the_comparison_is_run() {
        for (rival, _) in ROWS.iter().flat_map(|row| row.rivals) {
            if let Rival::Peer(peer) = rival {
                assert!(
                    RUNS.iter().any(|run| run.arguments == peer.arguments),
                    "{}",
                    peer.arguments
                );
                let prints = |word: &str| HARNESS_TEXT.contains(word);
                assert!(
                    prints(peer.tool) && prints(peer.key),
                    "{}: {}, {}",
                    peer.arguments,
                    peer.tool,
                    peer.key
                );
            }
        }
    }
}
