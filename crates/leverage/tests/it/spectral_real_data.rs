//! The SA row of Table 1 of Chen & Yang (AISTATS 2021) on the real sets, in the folder that
//! NYSTROM_DATA names.

use faer::Mat;
use nystrom_kernels::{KernelMatrix, Matern12, Points};
use nystrom_leverage::{
    Bandwidth, Density, DensityMethod, Guard, KernelDensity, SpectralAnalysis, exact_scores,
};
use nystrom_linalg_core::Ridge;

/// Rows of numbers, the first `columns` of each standardised.
fn load(text: &str, columns: usize) -> Mat<f64> {
    let numbers = |line: &str| {
        line.split(',').map(|x| x.trim().parse::<f64>().ok()).collect::<Option<Vec<f64>>>()
    };
    let rows: Vec<Vec<f64>> = text.lines().filter_map(numbers).collect();
    let n = rows.len() as f64;
    let moments = |k: usize| {
        let mean = rows.iter().map(|r| r[k]).sum::<f64>() / n;
        (mean, (rows.iter().map(|r| (r[k] - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let moments: Vec<(f64, f64)> = (0..columns).map(moments).collect();
    Mat::from_fn(rows.len(), columns, |i, k| (rows[i][k] - moments[k].0) / moments[k].1)
}

#[test]
#[ignore = "needs the data sets, whose folder NYSTROM_DATA names"]
fn table_1_on_a_thinned_sample() {
    let folder = std::env::var("NYSTROM_DATA").expect("NYSTROM_DATA names the data's folder");
    // file, columns, bandwidth factor c in c·n^{−1/(d+4)}, printed 5 % and 95 % quantiles of r_i =
    // q̃_i/q_i
    let sets = [
        ("query-analytics/Radius-Queries-Count.csv", 3, 0.5, 0.87, 1.13),
        ("ccpp/Folds5x2_pp.csv", 5, 0.7, 0.79, 1.21),
    ];
    for (file, d, factor, low, high) in sets {
        let all = load(&std::fs::read_to_string(format!("{folder}/{file}")).unwrap(), d);
        let step: usize =
            std::env::var("NYSTROM_DATA_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
        let n = all.nrows() / step;
        let x = Mat::from_fn(n, d, |i, k| all[(i * step, k)]);
        let points = Points::from_rows(x.as_ref());
        let kernel = Matern12::new(1.0).unwrap();
        let d_real = d as f64;
        let ridge =
            Ridge::PerSample(0.075 * (n as f64).powf(-(1.0 + d_real) / (1.0 + 2.0 * d_real)));
        let exact = exact_scores(&KernelMatrix::new(kernel, points).unwrap(), ridge).unwrap();
        let estimate =
            KernelDensity { bandwidth: Bandwidth::Rule(factor), method: DensityMethod::Auto };
        let found = SpectralAnalysis { density: Density::Estimated(estimate), guard: Guard::None };
        let q = found.scores(&kernel, points, ridge).unwrap().sampling_probabilities();
        let mut r: Vec<f64> =
            q.iter().zip(&exact.scores).map(|(q, l)| q / (l / exact.d_eff())).collect();
        r.sort_unstable_by(f64::total_cmp);
        let (mean, at) =
            (r.iter().sum::<f64>() / n as f64, |quantile: f64| r[(quantile * n as f64) as usize]);
        let line = format!("{file}: n {n}, mean {mean:.3}, {:.3}/{:.3}", at(0.05), at(0.95));
        assert!(
            (mean - 1.0).abs() < 0.05 && at(0.05) > low - 0.05 && at(0.95) < high + 0.05,
            "{line}"
        );
    }
}
