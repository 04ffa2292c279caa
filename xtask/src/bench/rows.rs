//! The comparison, row by row.

use super::comparison::{Peer, Rates, Rival, Row};
use super::criterion::Measurements;

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

/// The tools of the fits, as their lines name them.
const BLOCKED: &str = "numpy_blocked_whitened";
const SCIKIT: &str = "sklearn_Nystroem+Ridge";
/// Steps of the swap chain in one time of its bench.
const STEPS: f64 = 200.0;

/// Every comparison, in the order of the page.
pub fn rows() -> Vec<Row> {
    [blocks(), fits(), exact(), scores(), subsets(), iterations()].into_iter().flatten().collect()
}

fn blocks() -> Vec<Row> {
    let bench = |of: &str| format!("kernel_block_{of}");
    let gaussian = |d: u32| {
        let what = format!("Gaussian block 20,000 × 2000, d = {d}");
        Row::new(&what, &bench(&format!("f64/gaussian/d={d}")))
    };
    let matern = Row::new("Matérn 3/2 block 20,000 × 2000, d = 10", &bench("f64/matern32/d=10"));
    vec![
        gaussian(3).within(1.0, |rates| rates.prototype(4.3e9)),
        gaussian(32).within(1.0, |rates| rates.prototype(1.3e9)),
        gaussian(100).within(1.5, |rates| {
            Some(8e9 / rates.product()? + rates.0.seconds("kernel_block_f64/gaussian/d=3")?)
        }),
        gaussian(10)
            .within(1.0, |rates| rates.prototype(2.7e9))
            .peer(6.0, "NumPy, row blocks", "T1", "numpy_gemm_rbf_rowblocks_prealloc", "wall_min")
            .peer(9.0, "scikit-learn", "T1", "sklearn_rbf_kernel", "wall_min"),
        matern.peer(9.0, "scikit-learn GP", "T1", "sklearn_gp_Matern15", "wall_min"),
        Row::new("the Gaussian block in f32", &bench("f32/gaussian/d=10"))
            .against(1.8, Rival::Ours("f64", bench("f64/gaussian/d=10"))),
    ]
}

fn fits() -> Vec<Row> {
    let bench = |scalar: &str, n: u32, m: u32| format!("nystrom_fit_{scalar}/m{m}/{n}");
    let fit = |n: u32, m: u32| {
        let what = format!("Nyström fit, n = {}, m = {m}", grouped(n));
        Row::new(&what, &bench("f64", n, m))
            .within(1.15, move |rates| rates.nystrom("f64", n.into(), m.into()))
    };
    let beside_numpy = |n: u32, m: u32| {
        let run = format!("T2 --tool numpy_blocked --n {n} --m {m}");
        fit(n, m).peer(1.4, "NumPy, blocked", &run, BLOCKED, "fit_s")
    };
    let beside_both = |n: u32, m: u32, more: &str| {
        let run = format!("T2 --tool sklearn --n {n} --m {m}{more}");
        beside_numpy(n, m).peer(6.0, "scikit-learn", &run, SCIKIT, "fit_s")
    };
    let in_f32 = |n: u32, m: u32| {
        let what = format!("the fit n = {}, m = {m} in f32", grouped(n));
        Row::new(&what, &bench("f32", n, m))
            .limit(move |rates| rates.nystrom("f32", n.into(), m.into()))
            .against(1.7, Rival::Ours("f64", bench("f64", n, m)))
    };
    vec![
        beside_both(50_000, 1000, ""),
        beside_both(50_000, 2000, " --repeat 1"),
        fit(50_000, 4000),
        beside_numpy(200_000, 1000),
        beside_numpy(200_000, 2000),
        fit(1_000_000, 1000),
        fit(1_000_000, 2000),
        fit(1_000_000, 4000),
        in_f32(200_000, 2000),
        in_f32(50_000, 4000),
    ]
}

/// `1,000,000`.
fn grouped(n: u32) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1000), n % 1000) }
}

fn exact() -> Vec<Row> {
    let (blocked, scikit) = (
        "T2 --tool numpy_blocked --n 50000 --m 2000",
        "T2 --tool sklearn --n 50000 --m 2000 --repeat 1",
    );
    let (solve, scores) =
        ("T3 --tool scipy --n 10000 --repeat 2", "T4 --tool exact --n 10000 --repeat 2");
    let cholesky = |order: u32, only: &'static [(&'static str, &'static str)]| {
        let potrf = Peer::new("SciPy (OpenBLAS)", "T7 --tool potrf", "scipy_potrf", "wall_min");
        let flops = f64::from(order).powi(3) / 3.0;
        Row::new(&format!("Cholesky, order {order}"), &format!("cholesky_f64/{order}"))
            .limit(move |rates| Some(flops / rates.product()?))
            .against(0.95, Rival::Peer(Peer { only, ..potrf }))
    };
    vec![
        Row::new("predict 10,000 points, m = 2000", "nystrom_predict/2000")
            .within(1.6, |rates| Some(2e7 / rates.tile("f64/gaussian/d=10")?))
            .peer(1.0, "NumPy, blocked", blocked, BLOCKED, "pred_s")
            .peer(4.0, "scikit-learn", scikit, SCIKIT, "pred_s"),
        Row::new("exact regression, n = 10,000", "exact_krr_f64/10000")
            .within(1.3, |rates| Some(1e12 / 3.0 / rates.product()?))
            .peer(1.5, "SciPy cho_factor", solve, "scipy_cho_factor", "fit_s"),
        Row::new("exact scores, n = 10,000", "exact_scores_f64/10000")
            .within(1.3, |rates| Some(2e12 / 3.0 / rates.product()?))
            .peer(1.5, "SciPy potrf + potri", scores, "scipy_potrf_potri", "wall_min"),
        cholesky(2000, &[("size", "2000"), ("dtype", "f64")]),
        cholesky(4000, &[("size", "4000"), ("dtype", "f64")]),
    ]
}

fn scores() -> Vec<Row> {
    let bench = |of: &str, n: u32| format!("recursive_bless_f64/{of}/{n}");
    let recursive = |n: u32| {
        let what = format!("Recursive-RLS, all scores, n = {}", grouped(n));
        let run = format!("T4 --tool rls_numpy --n {n}");
        let row = Row::new(&what, &bench("recursive q=1.5", n));
        row.peer(3.0, "NumPy", &run, "rls_numpy_fixed_lambda", "wall_min")
    };
    let bless = |n: u32| {
        let what = format!("BLESS, q = 2, all scores, n = {}", grouped(n));
        Row::new(&what, &bench("bless q=2", n))
    };
    let dppy = "T4 --tool dppy_bless --n 10000 --repeat 1";
    let spectral = "SA scores with estimated density, n = 200,000, d = 3";
    vec![
        recursive(50_000),
        recursive(200_000),
        bless(10_000).peer(3.0, "DPPy", dppy, "dppy_bless", "wall_min"),
        bless(200_000),
        Row::new(spectral, "spectral_scores/auto, bimodal/200000")
            .against(20.0, Rival::Ours("BLESS, q = 2", bench("bless q=2", 200_000))),
    ]
}

fn subsets() -> Vec<Row> {
    let exact = |draw: &str, aim: f64, key: &'static str| {
        let what = format!("exact k-DPP, N = 4000, k = 100, {draw} draw");
        let run = "T5 --tool exact --n 4000 --k 100 --repeat 1";
        let row = Row::new(&what, &format!("k_dpp_exact/{draw} draw/100"));
        row.peer(aim, "DPPy", run, "dppy_exact_kdpp", key)
    };
    let rp_cholesky = |rank: u32, n: u32| {
        let bench = move |what: &str| format!("rp_cholesky_n{n}/{what}/{rank}");
        let what = format!("RPCholesky, rank {rank}, n = {}", grouped(n));
        Row::new(&what, &bench("accelerated"))
            .within(1.5, move |rates| rates.0.seconds(&bench("entries and one product")))
    };
    vec![
        swap_step(50),
        swap_step(100),
        swap_step(200),
        exact("first", 1.5, "first_s").within(1.2, |rates| rates.0.seconds("eigen_f64/4000")),
        exact("next", 5.0, "next_s").within(2.0, |rates| Some(4e7 / rates.product()?)),
        rp_cholesky(500, 50_000),
        rp_cholesky(1000, 50_000),
        rp_cholesky(500, 200_000),
    ]
}

/// The chain's step takes one matrix-vector product of order c and c kernel entries.
fn swap_step(c: u32) -> Row {
    let step = move |ours: &Measurements, what: &str| {
        ours.seconds(&format!("k_dpp_200_swap_steps/{what}/{c}")).map(|s| s / STEPS)
    };
    let limit = move |rates: &Rates<'_>| {
        Some(step(rates.0, "matvec")? + f64::from(c) / rates.tile("f64/matern32/d=3")?)
    };
    let run = format!("T5 --tool mcmc --n 4000 --k {c}");
    Row::of(&format!("k-DPP swap step, c = {c}"), move |ours| step(ours, "metropolis n=4000"))
        .within(3.0, limit)
        .peer(80.0, "DPPy, CPU time", &run, "dppy_mcmc_kdpp", "cpu_per_iter")
}

fn iterations() -> Vec<Row> {
    let falkon = Row::of("Falkon, an iteration, n = 200,000, m = 1000", falkon_iteration);
    let full = "all the data by conjugate gradients to 1e-6, n = 100,000, rank 1000";
    let limit =
        |rates: &Rates<'_>| Some(2e8 / rates.tile("f64/gaussian/d=10")? + 8e8 / rates.product()?);
    vec![falkon.within(1.3, limit), Row::new(full, "full_krr_to_1e-6/rank=1000/100000")]
}

/// An iteration: a tenth of the difference that ten of them make.
fn falkon_iteration(ours: &Measurements) -> Option<f64> {
    let of =
        |iterations: u32| ours.seconds(&format!("falkon_n200000/{iterations} iterations/m=1000"));
    Some((of(10)? - of(0)?) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_ten_is_a_row() {
        let rows = rows();
        assert!(TEN.iter().all(|what| rows.iter().filter(|row| row.what == *what).count() == 1));
    }

    #[test]
    fn an_iteration_is_a_tenth_of_the_difference() {
        let times = [
            ("falkon_n200000/0 iterations/m=1000", 1.0),
            ("falkon_n200000/10 iterations/m=1000", 3.0),
        ];
        assert_eq!(falkon_iteration(&Measurements::from(times)), Some(0.2));
    }
}
