//! Every function on matrices, points and sizes at which arithmetic breaks first. Points are the
//! columns of the matrices, and lie on the line.

use crate::hostile_table::{Raw, check};
use nystrom_kernels::{Gaussian, KernelMatrix, Matern32, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::testing::rng;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge};
use nystrom_sketch::{Dictionary, LandmarkSelector, Landmarks};

const RIDGES: [f64; 5] = [5e-324, 1e-300, 1e-10, 1.0, 1e300];

/// Scores at extreme ridges; the first error if there is one at each of them.
fn at_ridges(scores: impl Fn(Ridge<f64>) -> Result<Vec<f64>>) -> Result<Vec<f64>> {
    let (mut all, mut failed) = (vec![], None);
    for mu in RIDGES {
        match scores(Ridge::Absolute(mu)) {
            Ok(scores) => all.extend(scores),
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

fn estimated(k: &Raw, estimator: &dyn RidgeLeverage<f64>) -> Result<Vec<f64>> {
    at_ridges(|ridge| {
        let scores = estimator.scores(k, ridge, &mut rng(0))?;
        assert!(
            scores.iter().all(|l| l.is_nan() || (0.0..=1.0).contains(l)),
            "{ridge:?}: {scores:?}"
        );
        let weights = estimator
            .dictionary(k, ridge, &mut rng(0))
            .map_or(vec![], |found| found.weights().to_vec());
        Ok([scores, weights].concat())
    })
}

fn selected(k: &Raw, m: usize, selector: &dyn LandmarkSelector<f64>) -> Result<Vec<f64>> {
    Ok(vec![selector.select(k, m, &mut rng(0))?.len() as f64])
}

/// The first column as points on the line.
fn points(k: &Raw) -> Vec<f64> {
    (0..k.dim()).map(|i| k.0[(i, 0)]).collect()
}

fn params(size: usize) -> SqueakParams {
    SqueakParams { chunk: Some(3), ..SqueakParams::new(size.clamp(1, u32::MAX as usize) as u32) }
}

#[test]
fn exact() {
    check(&[
        ("exact scores", |k, _| estimated(k, &Exact)),
        ("spectrum", |k, rank| {
            let spectrum = ExactSpectrum::new(k)?;
            let by_rank = spectrum.rank_k_scores(rank).unwrap_or_default();
            let n = k.dim();
            at_ridges(|ridge| {
                let scores = spectrum.scores(ridge)?.scores;
                let accuracy =
                    spectrum.accuracy(&Dictionary::new(n, vec![0], vec![1.0])?, ridge)?;
                Ok([scores, vec![spectrum.d_eff(ridge)?, accuracy], by_rank.clone()].concat())
            })
        }),
        ("fast scores", |k, m| {
            let landmarks = Landmarks::new(k.dim(), (0..m.min(k.dim() + 1)).collect())?;
            at_ridges(|ridge| fast_scores(k, &landmarks, ridge).map(|found| found.scores))
        }),
        ("projector", |k, m| {
            let dictionary = Dictionary::uniform(k.dim(), m, Draw::WithReplacement, &mut rng(0))?;
            at_ridges(|ridge| Projector::new(k, &dictionary, ridge)?.scores(k, (0..k.dim()).into()))
        }),
    ]);
}

#[test]
fn estimators() {
    check(&[
        ("AlaouiMahoney", |k, columns| estimated(k, &AlaouiMahoney { columns })),
        ("RecursiveRls", |k, _| estimated(k, &RecursiveRls::default())),
        ("RecursiveRls, any base", |k, base| {
            let inclusion = Inclusion::Practice { oversampling: 1e300, base };
            estimated(k, &RecursiveRls { inclusion, max_size: usize::MAX })
        }),
        ("RecursiveRls by theorem", |k, _| estimated(k, &RecursiveRls::theorem(5e-324))),
        ("RecursiveRlsOfSize", |k, size| {
            estimated(k, &RecursiveRlsOfSize { size, accelerated: size % 2 == 0 })
        }),
        ("Bless", |k, max_size| estimated(k, &Bless { max_size, ..Bless::default() })),
        ("Bless, small steps", |k, _| {
            estimated(k, &Bless { step: 1.0 + f64::EPSILON, ..Bless::default() })
        }),
        ("BlessR", |k, max_size| estimated(k, &BlessR { max_size, ..BlessR::default() })),
        ("UnitWeights", |k, _| estimated(k, &UnitWeights(BlessR::default()))),
        ("SQUEAK", |k, size| estimated(k, &params(size))),
        ("DISQUEAK", |k, chunks| estimated(k, &Disqueak::new(params(5), chunks))),
    ]);
}

#[test]
fn selectors() {
    check(&[
        ("RecursiveNystrom", |k, s| {
            let sample = RecursiveNystrom { accelerated: true }.sample(k, s, &mut rng(0))?;
            Ok([sample.scores, vec![sample.ridge]].concat())
        }),
        ("RankLeverage", |k, m| selected(k, m, &RankLeverage::default())),
        ("RankLeverage of any rank", |k, rank| {
            selected(k, 2, &RankLeverage { rank: Some(rank), draw: Draw::default() })
        }),
        ("FastRankLeverage", |k, m| selected(k, m, &FastRankLeverage::default())),
        ("FastRankLeverage, any columns", |k, columns| {
            selected(
                k,
                2,
                &FastRankLeverage { columns, rank: Some(1), draw: Draw::WithReplacement },
            )
        }),
        ("LeverageProportional", |k, m| {
            let (estimator, ridge) = (Exact, Ridge::Absolute(1.0));
            selected(k, m, &LeverageProportional { estimator, ridge, draw: Draw::WithReplacement })
        }),
    ]);
}

#[test]
fn audits() {
    check(&[("audit", |k, rows| {
        at_ridges(|ridge| {
            let audit = Audit { rows, landmarks: rows, ..Audit::default() };
            let found = audit.of_scores(k, ridge, &vec![0.5; k.dim()], &mut rng(0))?;
            let numbers = [found.mean_ratio(), found.quantile(0.5)?, found.d_eff_estimate(k.dim())];
            Ok([&numbers[..], &found.reference.scores, &found.reference.errors].concat())
        })
    })]);
}

#[test]
fn streams() {
    check(&[
        ("Squeak", |k, size| {
            let x = points(k);
            at_ridges(|ridge| {
                let mut squeak =
                    Squeak::new(Gaussian::new(0.5)?, 1, ridge.absolute(1)?, params(size))?;
                squeak.push(Points::from_slice(&x), &mut rng(0))?;
                let scores =
                    [squeak.member_scores()?, squeak.scores(Points::from_slice(&x))?].concat();
                let new = squeak.scores_of_new(Points::from_slice(&x))?;
                Ok([scores, new, squeak.dictionary().weights()].concat())
            })
        }),
        ("Squeak, late", |k, size| {
            let x = points(k);
            let mut squeak =
                Squeak::new(Gaussian::new(0.5)?, 1, 1.0, params(5))?.starting_at(size as u64);
            squeak.push(Points::from_slice(&x), &mut rng(0))?;
            Ok(squeak.into_dictionary(&mut rng(0))?.by_rows()?.weights().to_vec())
        }),
        ("Ink", |k, size| {
            let x = points(k);
            at_ridges(|ridge| {
                let copies = size.clamp(0, u32::MAX as usize) as u32;
                let mut ink = Ink::new(Gaussian::new(0.5)?, 1, ridge.absolute(1)?, copies, 0.5)?;
                ink.push(Points::from_slice(&x), &mut rng(0))?;
                Ok([&[ink.effective_dimension()], ink.dictionary()?.weights()].concat())
            })
        }),
        ("Disqueak", |k, chunks| {
            let found = Disqueak::new(params(5), chunks).of_points(
                &Gaussian::new(0.5)?,
                Points::from_slice(&points(k)),
                1.0,
                &mut rng(0),
            )?;
            Ok(found.weights())
        }),
        ("copies", |k, n| {
            let all =
                k.diagonal().into_iter().map(|x| SqueakParams::copies_for(n, x, x).map(f64::from));
            Ok(all.filter_map(Result::ok).collect())
        }),
        ("chunks", |_, k| {
            Ok(even_chunks(k.min(1 << 12), 3).into_iter().map(|size| size as f64).collect())
        }),
    ]);
}

#[test]
fn spectral_analysis() {
    check(&[
        ("SpectralAnalysis", |k, _| {
            let (x, kernel) = (points(k), Matern32::new(0.5)?);
            at_ridges(|ridge| {
                let found =
                    SpectralAnalysis::default().scores(&kernel, Points::from_slice(&x), ridge)?;
                Ok([found.sampling_probabilities(), vec![found.d_eff()], found.scores].concat())
            })
        }),
        ("SpectralAnalysis of a Gaussian kernel", |k, _| {
            let (x, kernel) = (points(k), Gaussian::new(0.5)?);
            at_ridges(|ridge| {
                SpectralAnalysis::default()
                    .scores(&kernel, Points::from_slice(&x), ridge)
                    .map(|found| found.scores)
            })
        }),
        ("SpectralAnalysis with given densities", |k, _| {
            let (x, p, kernel): (Vec<f64>, _, _) =
                ((0..k.dim()).map(|i| i as f64).collect(), k.diagonal(), Matern32::new(0.5)?);
            let analysis = SpectralAnalysis { density: Density::Given(&p), guard: Guard::None };
            at_ridges(|ridge| {
                analysis.scores(&kernel, Points::from_slice(&x), ridge).map(|found| found.scores)
            })
        }),
        ("KernelDensity", |k, _| KernelDensity::default().density(Points::from_slice(&points(k)))),
        ("KernelDensity by a tree", |k, _| {
            let method = DensityMethod::Tree { tolerance: 0.1 };
            KernelDensity { bandwidth: Bandwidth::Fixed(1e-300), method }
                .density(Points::from_slice(&points(k)))
        }),
        ("KernelDensity on a grid", |k, _| {
            let density =
                KernelDensity { method: DensityMethod::Binned, ..KernelDensity::default() };
            density.density(Points::from_slice(&points(k)))
        }),
        ("SampledDensity", |k, sample| {
            let density = SampledDensity { bandwidth: Bandwidth::Rule(0.5), sample };
            Ok(density.density(Points::from_slice(&points(k)), &mut rng(0))?.values)
        }),
        ("SpectralLeverage", |k, _| {
            let (x, kernel) = (points(k), Matern32::new(0.5)?);
            let matrix = KernelMatrix::new(kernel, Points::from_slice(&x))?;
            let estimator = SpectralLeverage::new(&kernel, Points::from_slice(&x));
            at_ridges(|ridge| {
                let weights = estimator
                    .dictionary(&matrix, ridge, &mut rng(0))
                    .map_or(vec![], |d| d.weights().to_vec());
                Ok([weights, estimator.scores(&matrix, ridge, &mut rng(0))?].concat())
            })
        }),
        ("LocalScore", |k, d| {
            let kernel = Matern32::new(0.5)?;
            let scores = k.diagonal().into_iter().map(|lambda| {
                let score = LocalScore::new(&kernel, d.clamp(1, 3), lambda)?;
                Ok([score.at(1.0)?, score.at(1e-300)?, score.at(1e300)?, score.limit()])
            });
            Ok(scores.filter_map(|numbers: Result<_>| numbers.ok()).flatten().collect())
        }),
    ]);
}
