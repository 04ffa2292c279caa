//! Every function on matrices and sizes at which arithmetic breaks first.
#![allow(non_snake_case)]

use crate::common::{Kind, psd, rng};
use crate::hostile_table::{Raw, check};
use nystrom_dpp::*;
use nystrom_linalg_core::{BandEigen, Dense, Error, PsdMatrix, Result, Ridge};
use nystrom_sketch::{LandmarkSelector, Landmarks, Uniform};

const START: Uniform = Uniform { draw: nystrom_sketch::Draw::WithoutReplacement };

fn selected(k: &Raw, m: usize, selector: &dyn LandmarkSelector<f64>) -> Result<Vec<f64>> {
    Ok(selector.select(k, m, &mut rng(0))?.indices().iter().map(|&i| i as f64).collect())
}

fn polynomials(e: &ElementarySymmetric) -> Vec<f64> {
    let logs = (0..=e.size() + 1).map(|j| e.log_e(j));
    logs.chain(e.inclusion()).chain([e.ratio(), e.sample(&mut rng(0)).len() as f64]).collect()
}

fn k_dpp(ensemble: &LEnsemble<f64>, c: usize) -> Result<Vec<f64>> {
    let k_dpp = ensemble.k_dpp(c)?;
    let C = k_dpp.sample(&mut rng(0)).into_indices();
    let numbers =
        [k_dpp.log_normaliser(), k_dpp.expected_trace_error(), k_dpp.log_probability(&C)?];
    Ok([&numbers[..], &k_dpp.inclusion(), &polynomials(k_dpp.polynomials())].concat())
}

fn dpp(ensemble: &LEnsemble<f64>) -> Result<Vec<f64>> {
    let dpp = ensemble.dpp();
    let C = dpp.sample(&mut rng(0));
    let numbers = [
        dpp.log_normaliser(),
        dpp.expected_size(),
        dpp.log_probability(&C)?,
        dpp.log_probability(&[])?,
    ];
    Ok([&numbers[..], &dpp.inclusion(), ensemble.values()].concat())
}

fn by_rejection(k: &Raw, c: usize, how: Rejection) -> Result<Vec<f64>> {
    let mut k_dpp = RejectionKDpp::new(k, c, how, &mut rng(0))?;
    let C = k_dpp.sample(&mut rng(1))?;
    assert_eq!(C.len(), c);
    Ok(C.indices().iter().map(|&i| i as f64).chain([k_dpp.log_best_rate()]).collect())
}

fn chain(k: &Raw, c: usize, rule: SwapRule) -> Result<Vec<f64>> {
    let mut chain = SwapChain::start(k, c, &START, rule, &mut rng(0))?;
    chain.run(100, &mut rng(1))?;
    let mut distinct = chain.items().to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() == c && distinct == chain.landmarks().indices(), "{:?}", chain.items());
    let outside = (0..k.dim()).find(|u| !distinct.contains(u));
    let ratio = outside.map_or(Ok(0.0), |u| chain.ratio(0, u))?;
    Ok(vec![chain.log_det(), chain.residual()?, ratio])
}

#[test]
fn exact_samplers() {
    check(&[
        ("exact k-DPP", |k, c| k_dpp(&LEnsemble::new(k)?, c)),
        ("exact DPP", |k, _| dpp(&LEnsemble::new(k)?)),
        ("one draw", |k, c| {
            let eigen = BandEigen::of_width(k.0.as_ref(), 2)?;
            let C = LEnsemble::draw_by(&eigen, c, &mut rng(0))?;
            Ok(C.indices().iter().map(|&i| i as f64).collect())
        }),
        ("exact k-DPP from a factor", |k, c| k_dpp(&LEnsemble::from_factor(k.0.as_ref())?, c)),
        ("exact DPP from a factor", |k, _| dpp(&LEnsemble::from_factor(k.0.as_ref())?)),
        ("k-DPP by rejection", |k, c| by_rejection(k, c, Rejection::of_size(c))),
        ("k-DPP by rejection, a poor guide", |k, c| {
            let how = Rejection { dictionary: 1, sample: 4, ..Rejection::of_size(c) };
            by_rejection(k, c, how)
        }),
        ("polynomials", |k, c| Ok(polynomials(&ElementarySymmetric::new(&k.diagonal(), c)?))),
        ("log_det", |k, c| Ok(vec![log_det(k, &(0..c.min(k.dim())).collect::<Vec<_>>())?])),
        ("KDpp", |k, m| selected(k, m, &KDpp)),
    ]);
}

#[test]
fn chains() {
    check(&[
        ("lazy chain", |k, c| chain(k, c, SwapRule::LazyGibbs)),
        ("Gibbs chain", |k, c| chain(k, c, SwapRule::Gibbs)),
        ("Metropolis chain", |k, c| chain(k, c, SwapRule::Metropolis)),
        ("down-up walk", |k, c| {
            let mut walk = DownUpWalk::start(k, c, &START, &mut rng(0))?;
            let run = walk.run(100, &mut rng(1));
            assert_eq!(walk.landmarks().len(), c, "after {run:?}");
            run?;
            Ok(vec![walk.log_det(), walk.trace_error()])
        }),
        ("KDppChain", |k, m| {
            selected(k, m, &KDppChain { start: START, steps: 50, rule: SwapRule::Metropolis })
        }),
        ("KDppWalk", |k, m| selected(k, m, &KDppWalk { start: START, steps: 50 })),
        ("chains beside exact draws", |k, c| {
            let exact = vec![START.select(k, c, &mut rng(0))?];
            let (rule, rng) = (SwapRule::Metropolis, &mut rng(0));
            let meetings = stationary_meetings(k, c, &START, rule, &exact, 100, rng)?;
            Ok(vec![meetings.distance(100, 0.1)?])
        }),
        ("coupled chains", |k, c| {
            let meetings =
                coupled_meetings(k, c, &START, SwapRule::Metropolis, 2, 3, 100, &mut rng(0))?;
            Ok(meetings.total_variation(10).into_iter().collect())
        }),
    ]);
}

/// Exact draws of 3 and of 5 items for c = 4. Of two threads one reaches the 3 items last, the
/// other the 5 items first: the error is that of the first draw.
#[test]
fn the_first_of_several_errors_is_returned() {
    let (n, c) = (9, 4);
    let k = psd(Kind::Gaussian, n, 1);
    let dense = Dense::new(k.as_ref()).unwrap();
    let draw = |i: usize| {
        let items = match i {
            63 => 3,
            64 => 5,
            _ => 4,
        };
        Landmarks::new(n, (0..items).map(|item| (i + item) % n).collect()).unwrap()
    };
    let exact: Vec<Landmarks> = (0..128).map(draw).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for seed in 0..5 {
        let (start, rule) = (Uniform::default(), SwapRule::LazyGibbs);
        let found = pool
            .install(|| stationary_meetings(&dense, c, &start, rule, &exact, 3000, &mut rng(seed)));
        assert!(matches!(found, Err(Error::Shape { expected: 4, got: 3, .. })), "{found:?}");
    }
}

#[test]
fn diagnostics() {
    check(&[
        ("bounds", |k, c| {
            let bounds = KDppBounds::new(&k.diagonal(), c)?;
            let mut all = vec![bounds.expected_trace_error()];
            for best in 0..=c {
                all.extend([
                    bounds.ratio_bound(best)?,
                    bounds.frobenius(best)?,
                    bounds.spectral(best)?,
                ]);
                for delta in [5e-324, 0.1, 1.0 - f64::EPSILON] {
                    all.extend([
                        bounds.frobenius_with_probability(best, delta)?,
                        bounds.spectral_with_probability(best, delta)?,
                    ]);
                }
            }
            for ridge in [5e-324, 1e-300, 1.0, 1e300].map(Ridge::Absolute) {
                all.extend([bounds.risk(ridge)?, bounds.risk_with_probability(ridge, 0.1)?]);
            }
            Ok(all)
        }),
        ("path coupling, sampled", |k, c| {
            let coupling = PathCoupling::sampled(k, c, 2, &mut rng(0))?;
            Ok(vec![coupling.largest, coupling.mean])
        }),
        ("path coupling, exact", |k, c| {
            PathCoupling::exact(k, c).map(|coupling| vec![coupling.largest, coupling.mean])
        }),
        ("effective size", |k, _| {
            EffectiveSize::of(&k.diagonal()).map(|size| vec![size.time, size.size])
        }),
        ("mixing time", |k, c| {
            let extremes =
                [f64::NEG_INFINITY, -1e300, 0.0, 5e-324, 1.0 - 1e-16, 1.0, f64::INFINITY];
            let times = extremes.map(|alpha| mixing_time(k.dim(), c, alpha, 1e-300));
            Ok(times.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        }),
        ("swap rules", |k, _| {
            let rules = [SwapRule::LazyGibbs, SwapRule::Gibbs, SwapRule::Metropolis];
            Ok(rules
                .iter()
                .flat_map(|rule| k.diagonal().into_iter().map(|ratio| rule.probability(ratio)))
                .collect())
        }),
    ]);
}
