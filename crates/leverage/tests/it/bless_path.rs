//! BLESS and BLESS-R: accuracy along the whole path, sizes, marginal weights, empty levels, kernel
//! entries, and what is refused.

use crate::common::samples::*;
use crate::common::*;
use nystrom_leverage::{
    Bless, BlessPath, BlessR, Projector, RidgeLeverage, bless_oversampling, exact_scores,
};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Ridge};

/// Both forms at comparable settings.
fn paths(k: &dyn PsdMatrix<f64>, ridge: Ridge<f64>, q: f64, seed: u64) -> [BlessPath<f64>; 2] {
    let (bless, bless_r) = forms(q);
    [bless.path(k, ridge, &mut rng(seed)).unwrap(), bless_r.path(k, ridge, &mut rng(seed)).unwrap()]
}

pub fn forms(q: f64) -> (Bless, BlessR) {
    (
        Bless { candidates: q, oversampling: q, ..Bless::default() },
        BlessR { oversampling: q, ..BlessR::default() },
    )
}

/// The paper's bracket l/(1 + t) ≤ l̃ ≤ (1 + min(t, 1))l at every level for all rows.
fn in_bracket(k: &dyn PsdMatrix<f64>, path: &BlessPath<f64>, exact: &[Vec<f64>], t: f64) -> bool {
    path.levels.iter().zip(exact).all(|(level, exact)| {
        let projector = Projector::new(k, &level.dictionary, Ridge::Absolute(level.ridge)).unwrap();
        let scores = projector.scores(k, (0..k.dim()).into()).unwrap();
        let within = |(a, l): (&f64, &f64)| {
            *a >= l / (1.0 + t) - 1e-9 && *a <= (1.0 + t.min(1.0)) * l + 1e-9
        };
        scores.iter().zip(exact).all(within)
    })
}

fn exact_along(k: &dyn PsdMatrix<f64>, path: &BlessPath<f64>) -> Vec<Vec<f64>> {
    path.levels
        .iter()
        .map(|level| exact_scores(k, Ridge::Absolute(level.ridge)).unwrap().scores)
        .collect()
}

/// The theorem with its own constants (t = 1, δ = 0.1): bracket at all levels, and the bounds
/// on |J_h|. Of 10 runs of each form 0.1·10 + 5·√0.9 = 5 may fail.
///
/// At this n the constants make BLESS-R keep nearly every row; BLESS draws with replacement and
/// stays random. The Bernstein test below is the one in which BLESS-R leaves rows out.
#[test]
fn the_theorem_at_its_own_constants() {
    let (n, t, q) = (400, 1.0, 2.0);
    let k = psd(Kind::Rough, n, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(10.0);
    let levels = (400.0_f64 / 10.0).log2().ceil() as usize;
    let q2 = bless_oversampling(n, levels, q, t, 0.1).unwrap();
    let bless =
        Bless { step: q, candidates: 5.0 * q2 / (q * (1.0 + t)), oversampling: q2, max_size: n };
    let bless_r = BlessR { step: q, oversampling: q2, max_size: n };
    let mut failures = [0, 0];
    for seed in 0..10 {
        let (a, b) = (
            bless.path(&k, ridge, &mut rng(seed)).unwrap(),
            bless_r.path(&k, ridge, &mut rng(seed)).unwrap(),
        );
        for (f, path) in failures.iter_mut().zip([a, b]) {
            assert!(path.outcome.is_ok());
            let exact = exact_along(&k, &path);
            let sized = path.levels.iter().zip(&exact).all(|(level, exact)| {
                let d_eff: f64 = exact.iter().sum();
                level.dictionary.len() as f64 <= 3.0 * q2 * d_eff.max(10.0)
            });
            *f += usize::from(!(sized && in_bracket(&k, &path, &exact, t)));
        }
    }
    assert!(failures.iter().all(|f| *f <= 5), "{failures:?}");
}

/// With J_{h−1} accurate to ε at nλ_{h−1}, scores at nλ_h are at least l/(1 + εr), r = 2 the step:
/// matrix Bernstein holds with q/(1 + εr). ‖P − P̃‖ ≤ ½ then brackets scores in [l/1.5, 2l], which
/// is t = 1 and better.
#[test]
fn accurate_along_the_whole_path_to_the_bernstein_bound() {
    let (n, mu, q, repeats, epsilon) = (800, 120.0, 160.0, 8, 0.5);
    let k = ornstein_uhlenbeck(n);
    let (phi, dense, sigma) =
        (features(k.as_ref()), Dense::new(k.as_ref()).unwrap(), eigenvalues(k.as_ref()));
    let (mut failures, mut kept, mut bound) = (0, 0, 0.0);
    let mut exact = None;
    for seed in 0..repeats {
        let [_, path] = paths(&dense, Ridge::Absolute(mu), q, seed);
        let exact = exact.get_or_insert_with(|| exact_along(&dense, &path));
        bound = path
            .levels
            .iter()
            .map(|l| {
                bernstein(
                    d_eff(&sigma, l.ridge),
                    l.ridge,
                    sigma[0],
                    q / (1.0 + 2.0 * epsilon),
                    epsilon,
                )
            })
            .sum::<f64>();
        let accurate =
            path.levels.iter().all(|l| is_accurate(&phi, &l.dictionary, l.ridge, epsilon));
        failures += usize::from(!(accurate && in_bracket(&dense, &path, exact, 1.0)));
        kept += path.levels.last().unwrap().dictionary.len();
        // |J_h|: Σp ≤ q·Σl̃ ≤ q·2r·d_eff for accurate J_{h−1}, plus six standard deviations.
        for level in &path.levels {
            let mean = q * 4.0 * d_eff(&sigma, level.ridge);
            assert!(level.dictionary.len() as f64 <= mean + 6.0 * mean.sqrt());
        }
    }
    assert!(bound < 1.0, "the bound says nothing: {bound}");
    assert!(kept < repeats as usize * n * 9 / 10, "nothing was left out: {kept}");
    let mean = repeats as f64 * bound;
    assert!(failures as f64 <= mean + 5.0 * mean.sqrt(), "{failures} failed, bound {bound}");
}

/// BLESS with replacement at q1 = q2 = 100: the bracket of t = 1 in all 12 runs and at every level.
#[test]
fn draws_with_replacement_stay_in_the_bracket() {
    let k = psd(Kind::Rough, 500, 3);
    let k = Dense::new(k.as_ref()).unwrap();
    for seed in 0..12 {
        let [path, _] = paths(&k, Ridge::Absolute(20.0), 100.0, seed);
        assert!(in_bracket(&k, &path, &exact_along(&k, &path), 1.0), "seed {seed}");
        for level in &path.levels {
            assert!(level.dictionary.len() as f64 <= (100.0 * level.d_eff).ceil());
        }
    }
}

/// Σw ≈ n, and the estimate of d_eff lies between d_eff/(1 + εr) and d_eff·r/(1 − ε) for ε = ½,
/// r = 2. Conditional in place of marginal probabilities as weights make Σw three to six times
/// too small, and d_eff up to twice too large.
#[test]
fn weights_sum_to_n_and_d_eff_is_in_its_bound() {
    let n = 1200;
    let k = psd(Kind::Gaussian, n, 4);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(2.0);
    let truth = exact_scores(&k, ridge).unwrap().d_eff();
    for form in 0..2 {
        let runs: Vec<(f64, f64, f64)> = (0..40)
            .map(|seed| {
                let path = paths(&k, ridge, 10.0, seed)[form].clone();
                let last = path.levels.last().unwrap();
                let scores = Projector::new(&k, &last.dictionary, ridge)
                    .unwrap()
                    .scores(&k, (0..n).into())
                    .unwrap();
                (
                    last.dictionary.total_weight() / n as f64,
                    last.d_eff / truth,
                    scores.iter().sum::<f64>() / truth,
                )
            })
            .collect();
        let mean = |f: fn(&(f64, f64, f64)) -> f64| runs.iter().map(f).sum::<f64>() / 40.0;
        let (w, d) = (mean(|r| r.0), mean(|r| r.1));
        let se = (runs.iter().map(|r| (r.0 - w).powi(2)).sum::<f64>() / 40.0 / 40.0).sqrt();
        assert!(se < 0.03 && (w - 1.0).abs() <= 6.0 * se, "Σw/n = {w} ± {se}");
        assert!(runs.iter().all(|r| r.1 > 0.5 && r.1 < 4.0), "d_eff estimates");
        assert!((d - 1.0).abs() < 0.35, "mean of d_eff estimates {d}");
        assert!((mean(|r| r.2) - 1.0).abs() < 0.15, "sum of scores {}", mean(|r| r.2));
    }
}

#[test]
fn weights_are_unbiased() {
    let mut rng = rng(5);
    for kind in [Kind::Rough, Kind::LowRank] {
        let k = psd(kind, 40, 6);
        let dense = Dense::new(k.as_ref()).unwrap();
        let ridge = Ridge::Absolute(if matches!(kind, Kind::Rough) { 1.0 } else { 8.0 });
        let (bless, bless_r) = forms(4.0);
        assert_unbiased(40, 10_000, 0.1, || bless_r.dictionary(&dense, ridge, &mut rng).unwrap());
        assert_unbiased(40, 10_000, 0.1, || bless.dictionary(&dense, ridge, &mut rng).unwrap());
    }
}

#[test]
fn everything_kept_is_exact() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        let k = psd(kind, 120, 7);
        let k = Dense::new(k.as_ref()).unwrap();
        let ridge = Ridge::Absolute(1.0);
        let exact = exact_scores(&k, ridge).unwrap().scores;
        if !matches!(kind, Kind::LowRank) {
            // With every p_i = 1 nothing is random.
            let (_, bless_r) = forms(1e5);
            let d = bless_r.dictionary(&k, ridge, &mut rng(8)).unwrap();
            assert!(d.len() == 120 && d.weights().iter().all(|w| *w == 1.0));
            assert_close(&bless_r.scores(&k, ridge, &mut rng(8)).unwrap(), &exact, 1e-9);
        }
        // Draws with replacement: the error falls as 1/√q.
        let error = |q: f64| {
            let scores = forms(q).0.scores(&k, ridge, &mut rng(8)).unwrap();
            scores.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (error(30.0), error(30_000.0));
        assert!(fine < 0.1 * coarse && fine < 0.02, "{coarse} {fine}");
    }
}

/// Entries: (|U_h| + |J_{h−1}|)·|J_{h−1}| at each level, with |U_h| within its law; n diagonal
/// entries and one per candidate.
#[test]
fn entries_are_those_of_the_claim() {
    let n = 1500;
    let k = psd(Kind::Gaussian, n, 9);
    let k = Counted::new(Dense::new(k.as_ref()).unwrap());
    let ridge = Ridge::Absolute(3.0);
    for form in 0..2 {
        k.reset();
        let path = match form {
            0 => Bless::default().path(&k, ridge, &mut rng(10)).unwrap(),
            _ => BlessR::default().path(&k, ridge, &mut rng(10)).unwrap(),
        };
        let mut before = 0;
        let (mut entries, mut diagonal) = (0, n);
        for level in &path.levels {
            entries += (level.candidates + before) * before;
            diagonal += level.candidates;
            before = level.dictionary.len();
            let most = 5.0 * (n as f64 / level.ridge).min(n as f64);
            let most = (most + 1.0).max(most + 6.0 * most.sqrt()).min(n as f64);
            assert!(
                level.candidates as f64 <= most,
                "{} candidates, {most} at most",
                level.candidates
            );
        }
        assert_eq!((k.entries(), k.diagonal_entries()), (entries as u64, diagonal as u64));
        assert!((entries as f64) < 0.5 * (n * n) as f64);
    }
}

/// 200 seeds at the default settings: no level is empty, and no path fails.
#[test]
fn no_level_is_empty_in_200_seeds() {
    let k = psd(Kind::Gaussian, 400, 11);
    let k = Dense::new(k.as_ref()).unwrap();
    let mut least = usize::MAX;
    for seed in 0..200 {
        let ridge = Ridge::Absolute(1.0);
        let a = Bless::default().path(&k, ridge, &mut rng(seed)).unwrap();
        let b = BlessR::default().path(&k, ridge, &mut rng(seed)).unwrap();
        for path in [a, b] {
            assert!(path.outcome.is_ok());
            assert!(path.levels.iter().all(|level| !level.dictionary.is_empty()), "seed {seed}");
            least = least.min(path.levels.last().unwrap().dictionary.len());
        }
    }
    assert!(least > 10, "{least}");
}

/// An oversampling so low that levels come out empty: the path goes on, with over-estimates.
#[test]
fn an_empty_level_is_gone_on_from() {
    let k = psd(Kind::Rough, 300, 12);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(1.0);
    let (mut empty, mut refused) = (0, 0);
    for seed in 0..60 {
        let low = BlessR { oversampling: 0.02, ..BlessR::default() };
        let path = low.path(&k, ridge, &mut rng(seed)).unwrap();
        empty += path.levels.iter().filter(|level| level.dictionary.is_empty()).count();
        let scores = low.scores(&k, ridge, &mut rng(seed)).unwrap();
        match path.into_dictionary() {
            Ok(dictionary) => assert!(!dictionary.is_empty()),
            Err(Error::EmptySample { ridge: 1.0, .. }) => {
                refused += 1;
                assert!(scores.iter().all(|l| *l == 0.5)); // K_ii/(K_ii + μ)
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(empty > 0 && refused > 0 && refused < 60, "{empty} {refused}");
}
