//! Every estimator against the laws of the interface, in practice and in its limit; what a seed
//! gives.
#![allow(non_snake_case)]

use faer::Mat;
use nystrom_leverage::testing::check_estimator;
use nystrom_leverage::*;
use nystrom_linalg_core::testing::{Kind, psd, rng};
use nystrom_linalg_core::{Counted, Dense, Ridge};

#[test]
fn exact() {
    check_estimator(&Exact, 1.0 + 1e-9);
}

/// A row that no column drawn explains has a score near 0, so no factor holds below n columns: 4000
/// draws miss one of 300 rows with probability 5e-4.
#[test]
fn alaoui_mahoney() {
    check_estimator(&AlaouiMahoney { columns: 4000 }, 1.0 + 1e-6);
}

/// Every row kept, with weight 1 or so many times over: the exact scores, to rounding where nothing
/// is random, else to 1/√copies.
#[test]
fn in_their_limits_all_are_exact() {
    let one_block = SqueakParams { chunk: Some(5000), ..SqueakParams::new(1_000_000_000) };
    let tree = Disqueak::new(SqueakParams::new(1_000_000_000), 4);
    let rls = RecursiveRls::with_oversampling(1e12);
    let limits: [(&dyn RidgeLeverage<f64>, f64); 8] = [
        (&AlaouiMahoney { columns: 3000 }, 1e-6),
        (&rls, 1e-9),
        (&UnitWeights(rls), 1e-9),
        (&RecursiveRlsOfSize { size: 160, accelerated: false }, 1e-9),
        (&BlessR { oversampling: 1e5, ..BlessR::default() }, 1e-9),
        (&Bless { candidates: 1e5, oversampling: 1e5, ..Bless::default() }, 0.02),
        (&one_block, 1e-3),
        (&tree, 1e-3),
    ];
    for kind in Kind::ALL {
        let k = psd(kind, 160, 5);
        let (k, ridge) = (Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(3.0));
        let exact = exact_scores(&k, ridge).unwrap().scores;
        for (number, (estimator, tolerance)) in limits.iter().enumerate() {
            let scores = estimator.scores(&k, ridge, &mut rng(6)).unwrap();
            let errors = scores.iter().zip(&exact).map(|(a, b)| (a - b).abs() / (b + 1e-6));
            let worst = errors.fold(0.0, f64::max);
            assert!(worst < *tolerance, "{kind:?}, number {number}: off by a factor 1 ± {worst}");
        }
    }
}

#[test]
fn recursive() {
    check_estimator(&RecursiveRls::with_oversampling(20.0), 2.0);
    check_estimator(&RecursiveRls::theorem(0.03), 2.0);
    check_estimator(&RecursiveRlsOfSize { size: 150, accelerated: false }, 3.0);
    check_estimator(&RecursiveRlsOfSize { size: 150, accelerated: true }, 3.0);
}

#[test]
fn bless() {
    check_estimator(&Bless { candidates: 20.0, oversampling: 20.0, ..Bless::default() }, 2.0);
    check_estimator(&BlessR { oversampling: 20.0, ..BlessR::default() }, 2.0);
}

#[test]
fn squeak() {
    check_estimator(&SqueakParams::new(40), 2.0);
    let code = SqueakParams {
        epsilon: 0.2,
        scores: ScoreRule::ReferenceCode,
        halving_floor: true,
        ..SqueakParams::new(40)
    };
    check_estimator(&code, 2.0);
    check_estimator(&Disqueak::new(SqueakParams::new(40), 4), 2.0);
    check_estimator(
        &Disqueak { shape: TreeShape::Sequential, ..Disqueak::new(SqueakParams::new(40), 5) },
        2.0,
    );
}

/// Over-estimates: weights of at least 1 are set to 1.
#[test]
fn unit_weights() {
    check_estimator(&UnitWeights(RecursiveRls::with_oversampling(20.0)), 8.0);
}

/// By reference and boxed.
#[test]
fn pointers() {
    let rls = RecursiveRls::with_oversampling(20.0);
    let boxed: Box<dyn RidgeLeverage<f64>> = Box::new(&rls);
    check_estimator(&boxed, 2.0);
}

/// What a seed gives, so that a change of the numbers is a decision: size, first rows and total
/// weight of a dictionary, a score.
#[test]
fn pinned() {
    let k = Mat::from_fn(400, 400, |i, j| (-(i as f64 - j as f64).abs() / 100.0).exp());
    let k = Dense::new(k.as_ref()).unwrap();
    let squeak = SqueakParams::new(10);
    let tree = Disqueak::new(squeak, 3);
    type Pinned<'a> = (&'a dyn RidgeLeverage<f64>, usize, [usize; 4], f64, f64);
    let expected: [Pinned<'_>; 7] = [
        (&AlaouiMahoney { columns: 50 }, 48, [108, 211, 234, 11], 400.0, 0.027188211),
        (&RecursiveRls::default(), 49, [24, 256, 21, 49], 385.051867646, 0.026136584),
        (
            &RecursiveRlsOfSize { size: 40, accelerated: true },
            36,
            [242, 375, 230, 180],
            399.575387190,
            0.020442300,
        ),
        (&Bless::default(), 39, [10, 11, 19, 24], 400.836255662, 0.028710319),
        (&BlessR::default(), 49, [12, 13, 16, 19], 336.852075359, 0.027977833),
        (&squeak, 37, [102, 221, 176, 49], 366.260921029, 0.025329775),
        (&tree, 33, [55, 24, 391, 53], 394.445280816, 0.039854566),
    ];
    for (number, (estimator, size, first, weight, score)) in expected.into_iter().enumerate() {
        let D = estimator.dictionary(&k, Ridge::Absolute(10.0), &mut rng(2024)).unwrap();
        let scores = estimator.scores(&k, Ridge::Absolute(10.0), &mut rng(2024)).unwrap();
        assert_eq!((D.len(), &D.indices()[..4]), (size, &first[..]), "number {number}");
        assert!(
            (D.total_weight() / weight - 1.0).abs() < 1e-9,
            "number {number}: {}",
            D.total_weight()
        );
        assert!((scores[7] / score - 1.0).abs() < 1e-6, "number {number}: {}", scores[7]);
    }
}

/// Scores and dictionary from one run: the bits of two runs, for the entries of the run that
/// projects on the dictionary.
#[test]
fn both_from_one_run() {
    let k = Mat::from_fn(400, 400, |i, j| (-(i as f64 - j as f64).abs() / 100.0).exp());
    let k = Counted::new(Dense::new(k.as_ref()).unwrap());
    let rls = RecursiveRls::default();
    let squeak = SqueakParams::new(10);
    let estimators: [&dyn RidgeLeverage<f64>; 8] = [
        &AlaouiMahoney { columns: 50 },
        &rls,
        &UnitWeights(&rls),
        &RecursiveRlsOfSize { size: 40, accelerated: true },
        &Bless::default(),
        &BlessR::default(),
        &squeak,
        &Disqueak::new(squeak, 3),
    ];
    for (number, estimator) in estimators.into_iter().enumerate() {
        let entries = |run: &mut dyn FnMut()| {
            k.reset();
            run();
            k.entries()
        };
        let ridge = Ridge::Absolute(10.0);
        let (mut apart, mut both) = (None, None);
        let of_scores =
            entries(&mut || apart = Some(estimator.scores(&k, ridge, &mut rng(2024)).unwrap()));
        let of_both = entries(&mut || {
            both = Some(estimator.scores_and_dictionary(&k, ridge, &mut rng(2024)).unwrap());
        });
        let dictionary = estimator.dictionary(&k, ridge, &mut rng(2024)).unwrap();
        assert!(both == Some((apart.unwrap(), dictionary)), "number {number}");
        assert_eq!(of_both, of_scores, "number {number}");
    }
}

mod the_laws_can_be_broken {
    use super::*;
    use nystrom_linalg_core::{Error, PsdMatrix, Result};
    use rand::{Rng, RngExt};

    /// What is wrong with it.
    #[derive(Clone, Copy)]
    enum Fault {
        TooLarge,
        Inaccurate,
        NotSeeded,
        AbsoluteConstant,
        AcceptsNothing,
        AcceptsAnyRidge,
        AcceptsNaN,
        ApartInOneRun,
    }

    struct Faulty(Fault);

    impl RidgeLeverage<f64> for Faulty {
        fn dictionary(
            &self,
            k: &dyn PsdMatrix<f64>,
            ridge: Ridge<f64>,
            rng: &mut dyn Rng,
        ) -> Result<Dictionary<f64>> {
            Exact.dictionary(k, ridge, rng)
        }

        fn scores(
            &self,
            k: &dyn PsdMatrix<f64>,
            ridge: Ridge<f64>,
            rng: &mut dyn Rng,
        ) -> Result<Vec<f64>> {
            let exact = Exact.scores(k, ridge, rng);
            let scaled =
                |by: f64| exact.clone().map(|scores| scores.iter().map(|l| by * l).collect());
            match self.0 {
                Fault::TooLarge => exact.map(|scores| vec![1.0; scores.len()]),
                Fault::Inaccurate => scaled(0.5),
                Fault::NotSeeded => {
                    static CALLS: std::sync::atomic::AtomicU64 =
                        std::sync::atomic::AtomicU64::new(0);
                    let _: f64 = rng.random();
                    scaled(
                        1.0 - 1e-12
                            * CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) as f64,
                    )
                }
                Fault::AbsoluteConstant => {
                    Exact.scores(k, Ridge::Absolute(ridge.absolute(k.dim())? + 0.1), rng)
                }
                Fault::AcceptsNothing if k.dim() == 0 => Ok(vec![]),
                Fault::AcceptsAnyRidge if ridge.absolute(k.dim().max(1)).is_err() => {
                    Ok(vec![0.5; k.dim()])
                }
                Fault::AcceptsNaN if matches!(exact, Err(Error::NonFinite { .. })) => {
                    Ok(vec![f64::NAN; k.dim()])
                }
                _ => exact,
            }
        }

        fn scores_and_dictionary(
            &self,
            k: &dyn PsdMatrix<f64>,
            ridge: Ridge<f64>,
            rng: &mut dyn Rng,
        ) -> Result<(Vec<f64>, Dictionary<f64>)> {
            let dictionary = self.dictionary(k, ridge, rng)?;
            let mut scores = self.scores(k, ridge, rng)?;
            if let Fault::ApartInOneRun = self.0 {
                scores.reverse();
            }
            Ok((scores, dictionary))
        }
    }

    fn is_caught(fault: Fault, message: &str) {
        let result = std::panic::catch_unwind(|| check_estimator(&Faulty(fault), 1.1));
        let payload = result.expect_err("the fault was not seen");
        let text = payload.downcast_ref::<String>().cloned();
        let text =
            text.or(payload.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default();
        assert!(text.contains(message), "{text}");
    }

    #[test]
    fn and_each_fault_is_named() {
        is_caught(Fault::TooLarge, "is not in [0, K_ii/(K_ii + μ)]");
        is_caught(Fault::Inaccurate, "is not within a factor 1.1");
        is_caught(Fault::NotSeeded, "the same seed gave other bits");
        is_caught(Fault::AbsoluteConstant, "some constant is absolute");
        is_caught(Fault::AcceptsNothing, "a matrix of order 0 was accepted");
        is_caught(Fault::AcceptsAnyRidge, "the ridge Absolute(0.0) was not refused");
        is_caught(Fault::AcceptsNaN, "K has NaN on its diagonal");
        is_caught(Fault::ApartInOneRun, "are not those of two runs");
    }
}
