//! Every estimator against the laws of the interface.

use nystrom_leverage::testing::check_estimator;
use nystrom_leverage::*;

#[test]
fn exact() {
    check_estimator(&Exact, 1.0 + 1e-9);
}

/// A row that no column drawn explains has a score near 0, so no factor holds below n columns: 4000 draws hit all 300 rows but with
/// probability 5e-4.
#[test]
fn alaoui_mahoney() {
    check_estimator(&AlaouiMahoney { columns: 4000 }, 1.0 + 1e-6);
}

#[test]
fn recursive() {
    check_estimator(&RecursiveRls::with_oversampling(20.0), 2.0);
    check_estimator(&RecursiveRls::theorem(0.03), 2.0);
    check_estimator(&RecursiveNystrom { size: 150, accelerated: false }, 3.0);
    check_estimator(&RecursiveNystrom { size: 150, accelerated: true }, 3.0);
}

#[test]
fn bless() {
    check_estimator(&Bless { candidates: 20.0, oversampling: 20.0, ..Bless::default() }, 2.0);
    check_estimator(&BlessR { oversampling: 20.0, ..BlessR::default() }, 2.0);
}

#[test]
fn squeak() {
    check_estimator(&SqueakParams::new(40), 2.0);
    let code =
        SqueakParams { epsilon: 0.2, scores: ScoreRule::ReferenceCode, halving_floor: true, ..SqueakParams::new(40) };
    check_estimator(&code, 2.0);
    check_estimator(&Disqueak::new(SqueakParams::new(40), 4), 2.0);
    check_estimator(&Disqueak { shape: TreeShape::Sequential, ..Disqueak::new(SqueakParams::new(40), 5) }, 2.0);
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

mod the_laws_can_be_broken {
    use super::*;
    use nystrom_linalg_core::{Error, PsdMatrix, Result, Ridge};
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
    }

    struct Faulty(Fault);

    impl RidgeLeverage<f64> for Faulty {
        fn dictionary(&self, k: &dyn PsdMatrix<f64>, ridge: Ridge<f64>, rng: &mut dyn Rng) -> Result<Dictionary<f64>> {
            Exact.dictionary(k, ridge, rng)
        }

        fn scores(&self, k: &dyn PsdMatrix<f64>, ridge: Ridge<f64>, rng: &mut dyn Rng) -> Result<Vec<f64>> {
            let exact = Exact.scores(k, ridge, rng);
            let scaled = |by: f64| exact.clone().map(|scores| scores.iter().map(|l| by * l).collect());
            match self.0 {
                Fault::TooLarge => exact.map(|scores| vec![1.0; scores.len()]),
                Fault::Inaccurate => scaled(0.5),
                Fault::NotSeeded => {
                    static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
                    let _: f64 = rng.random();
                    scaled(1.0 - 1e-12 * CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) as f64)
                }
                Fault::AbsoluteConstant => Exact.scores(k, Ridge::Absolute(ridge.absolute(k.dim())? + 0.1), rng),
                Fault::AcceptsNothing if k.dim() == 0 => Ok(vec![]),
                Fault::AcceptsAnyRidge if ridge.absolute(k.dim().max(1)).is_err() => Ok(vec![0.5; k.dim()]),
                Fault::AcceptsNaN if matches!(exact, Err(Error::NonFinite { .. })) => Ok(vec![f64::NAN; k.dim()]),
                _ => exact,
            }
        }
    }

    fn is_caught(fault: Fault, message: &str) {
        let result = std::panic::catch_unwind(|| check_estimator(&Faulty(fault), 1.1));
        let payload = result.expect_err("the fault was not seen");
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or(payload.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default();
        assert!(text.contains(message), "{text}");
    }

    #[test]
    fn and_each_fault_is_named() {
        is_caught(Fault::TooLarge, "is not in [0, K_ii/(K_ii + μ)]");
        is_caught(Fault::Inaccurate, "is not within a factor 1.1");
        is_caught(Fault::NotSeeded, "the same seed gave other bits");
        is_caught(Fault::AbsoluteConstant, "some constant is absolute");
        is_caught(Fault::AcceptsNothing, "a matrix of order 0 was accepted");
        is_caught(Fault::AcceptsAnyRidge, "the ridge Absolute(0.0) is no InvalidParameter");
        is_caught(Fault::AcceptsNaN, "K has NaN on its diagonal");
    }
}
