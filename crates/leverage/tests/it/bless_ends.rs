//! BLESS and BLESS-R: threads, single precision, degenerate matrices, caps, and what is refused.

use crate::bless_path::forms;
use crate::common::samples::*;
use crate::common::*;
use faer::Mat;
use nystrom_leverage::{Bless, BlessR, Projector, RidgeLeverage, bless_oversampling, exact_scores};
use nystrom_linalg_core::{Dense, Error, Ridge};

#[test]
fn threads_do_not_change_bits() {
    let k = psd(Kind::Gaussian, 2300, 13);
    let k = Dense::new(k.as_ref()).unwrap();
    let (bless, bless_r) = forms(5.0);
    same_at_any_thread_count(|| bless.scores(&k, Ridge::Absolute(0.5), &mut rng(14)).unwrap());
    same_at_any_thread_count(|| bless_r.scores(&k, Ridge::Absolute(0.5), &mut rng(14)).unwrap());
}

#[test]
fn single_precision() {
    let k = psd(Kind::Rough, 500, 15);
    let k32 = Mat::from_fn(500, 500, |i, j| k[(i, j)] as f32);
    let (k, k32) = (Dense::new(k.as_ref()).unwrap(), Dense::new(k32.as_ref()).unwrap());
    let exact = exact_scores(&k, Ridge::Absolute(3.0)).unwrap().d_eff();
    for scores in [
        Bless::default().scores(&k32, Ridge::Absolute(3.0_f32), &mut rng(16)).unwrap(),
        BlessR::default().scores(&k32, Ridge::Absolute(3.0_f32), &mut rng(16)).unwrap(),
    ] {
        let sum = scores.iter().map(|l| f64::from(*l)).sum::<f64>();
        assert!((sum / exact - 1.0).abs() < 0.4, "{sum} {exact}");
    }
}

#[test]
fn small_and_degenerate_matrices() {
    let one = faer::mat![[4.0_f64]];
    let one = Dense::new(one.as_ref()).unwrap();
    let equal = Mat::<f64>::full(500, 500, 1.0);
    let equal = Dense::new(equal.as_ref()).unwrap();
    let zeros: Vec<usize> = (0..50).collect();
    let some_zero = without_rows(psd(Kind::Rough, 200, 17), &zeros);
    let some_zero = Dense::new(some_zero.as_ref()).unwrap();
    let nothing = Mat::<f64>::zeros(100, 100);
    let nothing = Dense::new(nothing.as_ref()).unwrap();
    let (bless, bless_r) = forms(50.0);
    let both: [&dyn RidgeLeverage<f64>; 2] = [&bless, &bless_r];
    for form in both {
        assert_eq!(form.scores(&one, Ridge::Absolute(1.0), &mut rng(18)).unwrap(), [0.8]);
        // All points equal: every l̃_i is 1/(Σw + μ), and Σw is near n.
        let mut total = 0.0;
        for seed in 0..30 {
            let w = form
                .dictionary(&equal, Ridge::Absolute(5.0), &mut rng(seed))
                .unwrap()
                .total_weight();
            let scores = form.scores(&equal, Ridge::Absolute(5.0), &mut rng(seed)).unwrap();
            assert_close(&scores, &[1.0 / (w + 5.0); 500], 1e-12);
            total += w / 30.0;
        }
        assert!((total - 500.0).abs() < 6.0 * 500.0 / (50.0_f64 * 30.0).sqrt(), "{total}");
        let scores = form.scores(&some_zero, Ridge::Absolute(1.0), &mut rng(18)).unwrap();
        assert!(scores[..50].iter().all(|l| *l == 0.0) && scores[50..].iter().all(|l| *l > 0.0));
        let d = form.dictionary(&some_zero, Ridge::Absolute(1.0), &mut rng(18)).unwrap();
        assert!(d.indices().iter().all(|i| *i >= 50));
        assert_eq!(
            form.scores(&nothing, Ridge::Absolute(1.0), &mut rng(18)).unwrap(),
            vec![0.0; 100]
        );
        let error = form.dictionary(&nothing, Ridge::Absolute(1.0), &mut rng(18)).unwrap_err();
        assert!(matches!(error, Error::EmptySample { .. }));
        // λ above κ²: a single level.
        let scores = form.scores(&equal, Ridge::Absolute(1e7), &mut rng(18)).unwrap();
        assert!(scores.iter().all(|l| *l > 0.0 && *l <= 1.0001e-7));
    }
}

#[test]
fn a_cap_ends_the_path_and_loses_nothing() {
    let k = psd(Kind::Rough, 400, 19);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(1e-10);
    let (bless, bless_r) = (
        Bless { max_size: 150, ..Bless::default() },
        BlessR { max_size: 150, ..BlessR::default() },
    );
    for path in [
        bless.path(&k, ridge, &mut rng(20)).unwrap(),
        bless_r.path(&k, ridge, &mut rng(20)).unwrap(),
    ] {
        let reached = path.levels.last().unwrap();
        assert!(reached.dictionary.len() <= 200 && reached.ridge > 1e-2);
        let scores =
            Projector::new(&k, &reached.dictionary, Ridge::Absolute(reached.ridge)).unwrap();
        assert!(scores.scores(&k, (0..400).into()).is_ok());
        assert!(matches!(path.into_dictionary(), Err(Error::SampleTooLarge { cap: 150, .. })));
    }
    assert!(matches!(bless.scores(&k, ridge, &mut rng(20)), Err(Error::SampleTooLarge { .. })));
    // Without a cap λ may be as small as it likes: 400 rows are all there is.
    assert_eq!(BlessR::default().dictionary(&k, ridge, &mut rng(20)).unwrap().len(), 400);
}

#[test]
fn bad_input_is_refused() {
    let k = psd(Kind::Gaussian, 20, 21);
    let k = Dense::new(k.as_ref()).unwrap();
    let (ridge, mut rng) = (Ridge::Absolute(1.0), rng(22));
    let none = Broken { n: 0, bad: vec![] };
    assert!(matches!(Bless::default().path(&none, ridge, &mut rng), Err(Error::Empty { .. })));
    assert!(matches!(BlessR::default().path(&none, ridge, &mut rng), Err(Error::Empty { .. })));
    for q in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6] {
        assert!(matches!(
            forms(q).0.path(&k, ridge, &mut rng),
            Err(Error::InvalidParameter { .. })
        ));
        assert!(matches!(
            forms(q).1.path(&k, ridge, &mut rng),
            Err(Error::InvalidParameter { .. })
        ));
    }
    for step in [1.0, 0.5, -2.0, f64::NAN, f64::INFINITY] {
        let error = Bless { step, ..Bless::default() }.path(&k, ridge, &mut rng).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: "step (q)", .. }));
        assert!(BlessR { step, ..BlessR::default() }.path(&k, ridge, &mut rng).is_err());
        assert!(bless_oversampling(10, 3, step, 1.0, 0.1).is_err());
    }
    for mu in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Bless::default().path(&k, Ridge::Absolute(mu), &mut rng).is_err());
        assert!(BlessR::default().path(&k, Ridge::PerSample(mu), &mut rng).is_err());
    }
    let broken = Broken { n: 100, bad: vec![(3, 3, f64::NAN)] };
    assert!(matches!(
        Bless::default().path(&broken, ridge, &mut rng),
        Err(Error::NonFinite { row: 3, .. })
    ));
    let broken = Broken { n: 100, bad: vec![(3, 77, f64::INFINITY)] };
    assert!(matches!(forms(1e3).1.scores(&broken, ridge, &mut rng), Err(Error::NonFinite { .. })));
}
