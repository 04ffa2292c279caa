//! No file makes the loading of options and reports panic, hang or take much memory, nor their use
//! on a few points. As `fuzz.rs`, for types that are fields alone.
//!
//! Options that say how long something runs (steps of a chain, passes of an estimate, maps of
//! `LearnedMetric`, rounds and trials of `Rejection`) are not here: they may ask for ages.

use nystrom::dpp::EffectiveSize;
use nystrom::krr::{
    CvTable, DivideAndConquerReport, ExactGrid, FitReport, FullLogisticKrr, FullPath, Loss,
    LossKrr, MetricStep, SavedModel,
};
use nystrom::leverage::{
    AuditReport, Bandwidth, ExactScores, FastScores, Guard, KernelDensity, RecursiveRlsOfSize,
    SampledDensity, SampledEstimate, SavedSqueak, SpectralScores, SqueakState, UnitWeights,
    fast_scores,
};
use nystrom::linalg_core::Streams;
use nystrom::prelude::*;
use nystrom::sketch::{
    Localized, Proportional, Rademacher, SizeConstants, SketchDiagnostics, SparseSign,
    SpectralEstimate, Subsampling, TwoSample, TwoSampleTest, Uniform, VerySparse, Whitening,
};
use proptest::prelude::proptest;

use crate::damage::{cases, guarded};
use crate::damage_json::{Target, damaged_one_of, target};

const X: [f64; 6] = [0.0, 1.0, 2.5, 3.0, 4.0, 5.5];
const RIDGE: Ridge<f64> = Ridge::PerSample(0.1);

fn points() -> Points<'static, f64> {
    Points::from_slice(&X)
}

fn rng() -> Pcg64 {
    Pcg64::seed_from_u64(1)
}

fn gaussian() -> Gaussian {
    Gaussian::new(1.5).unwrap()
}

fn matrix() -> KernelMatrix<'static, f64, Gaussian> {
    KernelMatrix::new(gaussian(), points()).unwrap()
}

fn signs() -> Mat<f64> {
    Mat::from_fn(6, 1, |i, _| if i % 2 == 0 { 1.0 } else { -1.0 })
}

fn selects(selector: impl LandmarkSelector<f64>) {
    for m in [1, 3] {
        if let Ok(landmarks) = selector.select(&matrix(), m, &mut rng()) {
            assert!(landmarks.indices().iter().all(|&row| row < 6));
        }
    }
}

fn estimates(estimator: impl RidgeLeverage<f64>) {
    let _ = estimator.dictionary(&matrix(), RIDGE, &mut rng());
    let _ = estimator.scores(&matrix(), RIDGE, &mut rng());
}

fn sketches(distribution: impl SketchDistribution<f64>) {
    if let Ok(sketch) = distribution.draw(6, 3, &mut rng()) {
        assert_eq!((sketch.n(), sketch.width()), (6, 3));
        let _ = sketch.expand(Mat::identity(3, 3).as_ref());
    }
}

/// The value as it is, with another use of it.
macro_rules! plain {
    ($($value:expr => $type:ty, $use:expr);* $(;)?) => {
        vec![$(target!($value => $type, |value: $type| $use(value))),*]
    };
}

fn selectors() -> Vec<Target> {
    let proportional = Proportional { scores: vec![1.0; 6], draw: Draw::default() };
    let by_scores = LeverageProportional { estimator: Exact, ridge: RIDGE, draw: Draw::default() };
    let including = Including { given: vec![1], others: Greedy::default() };
    let mut blocks = DistributedGreedy::new(2).unwrap();
    for first in [0, 6] {
        blocks.add(&matrix(), first).unwrap();
    }
    plain![
        Uniform::default() => Uniform, selects;
        ColumnNorm::default() => ColumnNorm, selects;
        Diagonal::default() => Diagonal, selects;
        KMeansPlusPlus => KMeansPlusPlus, selects;
        Greedy::default() => Greedy, selects;
        SparseGreedy::default() => SparseGreedy, selects;
        RpCholesky::default() => RpCholesky, selects;
        AdaptiveFull::default() => AdaptiveFull, selects;
        AdaptivePartial::default() => AdaptivePartial, selects;
        proportional => Proportional<f64>, selects;
        by_scores => LeverageProportional<Exact, f64>, selects;
        RankLeverage::default() => RankLeverage, selects;
        FastRankLeverage::default() => FastRankLeverage, selects;
        RecursiveNystrom::default() => RecursiveNystrom, selects;
        KDpp => KDpp, selects;
        including => Including<Greedy>, selects;
        blocks => DistributedGreedy, |blocks: DistributedGreedy| {
            let mut twice = blocks.clone();
            let _ = (twice.merge(blocks.clone()), twice.add(&matrix(), 12));
            let x: &'static [f64] = &X;
            let x = x.get(..blocks.candidates().len()).unwrap_or(x);
            let among = KernelMatrix::new(gaussian(), Points::from_slice(x));
            let _ = among.and_then(|among| blocks.finish(&among));
        };
        KMeans { iterations: 5 } => KMeans, |k_means: KMeans| {
            let _ = k_means.run(points(), 3, &mut rng());
        };
    ]
}

fn estimators() -> Vec<Target> {
    let recursive = RecursiveRlsOfSize { size: 4, accelerated: true };
    let density = KernelDensity::default();
    let sampled = SampledDensity { bandwidth: Bandwidth::Rule(1.0), sample: 4 };
    plain![
        Exact => Exact, estimates;
        AlaouiMahoney { columns: 4 } => AlaouiMahoney, estimates;
        RecursiveRls::default() => RecursiveRls, estimates;
        recursive => RecursiveRlsOfSize, estimates;
        Bless::default() => Bless, estimates;
        BlessR::default() => BlessR, estimates;
        SqueakParams::new(5) => SqueakParams, estimates;
        Disqueak::new(SqueakParams::new(5), 3) => Disqueak, estimates;
        UnitWeights(Exact) => UnitWeights<Exact>, estimates;
        Audit::default() => Audit, |audit: Audit| {
            let _ = audit.reference(&matrix(), RIDGE, &mut rng());
        };
        density => KernelDensity, |density: KernelDensity| drop(density.density(points()));
        sampled => SampledDensity, |density: SampledDensity| {
            let _ = density.density(points(), &mut rng());
        };
    ]
}

fn distributions() -> Vec<Target> {
    plain![
        GaussianSketch => GaussianSketch, sketches;
        Rademacher => Rademacher, sketches;
        SparseSign::default() => SparseSign, sketches;
        VerySparse::default() => VerySparse, sketches;
        Localized { blocks: 2, shuffled: true } => Localized, sketches;
        Subsampling::default() => Subsampling, sketches;
        Accumulation::uniform(2) => Accumulation, sketches;
        Streams::from_key(3) => Streams, |streams: Streams| { let _ = streams.stream(1); };
        Whitening::default() => Whitening, |how: Whitening| {
            let landmarks = Landmarks::new(6, vec![0, 2, 5]).unwrap();
            let _ = Nystrom::with_whitening(&matrix(), &landmarks, how);
        };
    ]
}

fn fits() -> Vec<Target> {
    fn centers() -> Landmarks {
        Landmarks::new(6, vec![0, 2, 5]).unwrap()
    }
    fn used(model: Result<KrrModel<Gaussian, f64>>) {
        let _ = model.and_then(|model| model.predict(points()));
    }
    macro_rules! fits {
        ($($type:ty, |$krr:ident, $y:ident| $fit:expr);* $(;)?) => {
            vec![$(target!(<$type>::new(gaussian(), RIDGE) => $type, |$krr: $type| {
                let y = signs();
                let $y = (points(), y.as_ref());
                used($fit);
            })),*]
        };
    }
    type R = Ridge<f64>;
    let gamma = RIDGE;
    let dictionary = DictionaryKrr { kernel: gaussian(), gamma, ridge: RIDGE };
    let others = vec![
        target!(dictionary => DictionaryKrr<Gaussian, f64>, |krr: DictionaryKrr<Gaussian, f64>| {
            let members = Dictionary::new(6, vec![0, 2, 5], vec![1.0, 2.0, 1.5]).unwrap();
            used(krr.fit((points(), &signs()), &members));
        }),
        target!(AutoKrr::new(gaussian(), RIDGE) => AutoKrr<Gaussian, f64>,
            |krr: AutoKrr<Gaussian, f64>| {
            let _ = krr.fit((points(), &signs()), &centers(), &mut rng());
        }),
        target!(Certificate::default() => Certificate, |certificate: Certificate| {
            let krr = NystromKrr::new(gaussian(), RIDGE);
            let model = krr.fit((points(), &signs()), &centers()).unwrap();
            let _ = certificate.certify(&model, (points(), &signs()), &mut rng());
        }),
        target!(TightCertificate::default() => TightCertificate, |tight: TightCertificate| {
            let krr = NystromKrr::new(gaussian(), RIDGE);
            let model = krr.fit((points(), &signs()), &centers()).unwrap();
            let _ = tight.certify(&model, (points(), &signs()), &mut rng());
        }),
        target!(FullPath::new(gaussian(), &[RIDGE, Ridge::PerSample(0.01)])
            => FullPath<Gaussian, f64>, |path: FullPath<Gaussian, f64>| {
            let _ = path.fit((points(), &signs()), (points(), &signs()), &mut rng());
        }),
        target!(LossKrr::new(gaussian(), vec![HUBER], RIDGE) => LossKrr<Gaussian, R>,
            |krr: LossKrr<Gaussian, R>| used(krr.fit((points(), &signs()), &centers()))),
    ];
    let fits = fits![
        NystromKrr<Gaussian, R>, |krr, y| krr.fit(y, &centers());
        ExactKrr<Gaussian, R>, |krr, y| krr.fit(y);
        LogisticKrr<Gaussian, R>, |krr, y| krr.fit(y, &centers());
        FullLogisticKrr<Gaussian, R>, |krr, y| krr.fit(y, &mut rng());
        SketchedKrr<Gaussian, R>, |krr, y| {
            krr.fit(y, &GaussianSketch.sample(6, 3, &mut rng()).unwrap())
        };
        Falkon<Gaussian, f64>, |krr, y| krr.fit(y, &centers()).map(|fit| fit.model);
        Krill<Gaussian, f64>, |krr, y| {
            krr.fit(y, &centers(), &mut rng()).map(|fit| fit.model)
        };
        FullKrr<Gaussian, f64>, |krr, y| krr.fit(y, &mut rng()).map(|fit| fit.model);
        DivideAndConquerKrr<Gaussian, f64>, |krr, y| {
            krr.fit(y, &mut rng()).map(|fit| fit.models()[0].clone())
        };
    ];
    [fits, others].concat()
}

/// A loss of each kind.
const HUBER: Loss = Loss::Huber { threshold: 0.5 };
const QUANTILE: Loss = Loss::Quantile { share: 0.9, width: 0.1 };

fn loss(loss: Loss) {
    let _ = loss.at(0.25);
    let krr = LossKrr::new(gaussian(), vec![loss], RIDGE);
    let _ = krr.fit((points(), &signs()), &Landmarks::new(6, vec![0, 2, 5]).unwrap());
}

/// Points of which a density can be estimated.
fn line() -> Vec<f64> {
    (0..40).map(|i| f64::from(i) / 10.0).collect()
}

fn guards(guard: Guard) {
    let spectral = SpectralAnalysis { guard, ..SpectralAnalysis::default() };
    let _ = spectral.scores(&gaussian(), Points::from_slice(&line()), RIDGE);
}

fn parts_of_methods() -> Vec<Target> {
    plain![
        HUBER => Loss, loss;
        QUANTILE => Loss, loss;
        Guard::Floor { max_score: 0.5 } => Guard, guards;
        Guard::LocalAverage { quantile: 0.3 } => Guard, guards;
        SizeConstants::default() => SizeConstants, |constants: SizeConstants| {
            let diagnostics = SketchDiagnostics::new(&matrix()).unwrap();
            let _ = diagnostics.accumulation_size(0.1, None, 0.05, constants);
        };
    ]
}

fn reports() -> Vec<Target> {
    let y = signs();
    let (ridges, validation) =
        ([RIDGE], CrossValidation { folds: 3, ..CrossValidation::default() });
    let table =
        validation.run(&ExactGrid::default(), &[gaussian()], &ridges, (points(), &y), &mut rng());
    let krr = NystromKrr::new(gaussian(), RIDGE);
    let model = krr.fit((points(), &y), &Landmarks::new(6, vec![0, 2, 5]).unwrap()).unwrap();
    let parts = DivideAndConquerKrr::new(gaussian(), RIDGE);
    let parts = parts.fit((points(), &y), &mut rng()).unwrap();
    let mut squeak = Squeak::new(gaussian(), 1, 0.5, SqueakParams::new(5)).unwrap();
    squeak.push(points(), &mut rng()).unwrap();
    let audit = Audit::default().of_estimator(&matrix(), RIDGE, &Exact, &mut rng()).unwrap();
    let landmarks = Landmarks::new(6, vec![0, 2, 5]).unwrap();
    let fast = fast_scores(&matrix(), &landmarks, RIDGE).unwrap();
    let spectral = SpectralAnalysis::default();
    let spectral = spectral.scores(&gaussian(), Points::from_slice(&line()), RIDGE).unwrap();
    let two = TwoSample { permutations: 9, bins: 4 };
    let two = two.test(&matrix(), &landmarks, 3, &mut rng()).unwrap();
    let sampled = SampledDensity { bandwidth: Bandwidth::Rule(1.0), sample: 4 };
    let sampled = sampled.density(points(), &mut rng()).unwrap();
    let norm = SpectralNorm::default().estimate(&matrix(), &matrix(), &mut rng()).unwrap();
    let errors = ErrorNorms::exact(&matrix(), &matrix()).unwrap();
    plain![
        table.unwrap() => CvTable, |table: CvTable| {
            let _ = (table.best(), table.within_one_standard_error(), table.folds.len());
        };
        model.report() => FitReport, |report: FitReport| drop(report);
        SavedModel::from(&model) => SavedModel<Gaussian, f64>, |saved: SavedModel<Gaussian, f64>| {
            let _ = KrrModel::try_from(saved).and_then(|model| model.predict(points()));
        };
        parts.report() => DivideAndConquerReport, |_: DivideAndConquerReport| ();
        audit => AuditReport, |report: AuditReport| {
            let _ = (report.ratios(), report.largest_overestimate(), report.mean_ratio());
            let _ = (report.quantile(0.3), report.d_eff_estimate(6), report.reference.check());
            let _ = report.largest_underestimate();
            let _ = report.reference.compare(&[0.5; 6]).map(|report| report.quantile(1.0));
        };
        fast => FastScores<f64>, |scores: FastScores<f64>| { let _ = scores.d_eff(); };
        exact_scores(&matrix(), RIDGE).unwrap() => ExactScores<f64>, |scores: ExactScores<f64>| {
            let _ = (scores.d_eff(), scores.d_mof());
        };
        spectral => SpectralScores<f64>, |found: SpectralScores<f64>| {
            let _ = (found.sampling_probabilities(), found.d_eff());
            let _ = found.report.refusal.map(|refusal| refusal.to_string());
        };
        sampled => SampledEstimate<f64>, |found: SampledEstimate<f64>| drop(found);
        norm => SpectralEstimate, |_: SpectralEstimate| ();
        two => TwoSampleTest, |_: TwoSampleTest| ();
        EffectiveSize::of(&line()).unwrap() => EffectiveSize, |_: EffectiveSize| ();
        errors => ErrorNorms, |errors: ErrorNorms| {
            let _ = errors.relative_to(errors);
        };
        serde_json::json!({"error": 0.5, "length_scale": 1.0, "multiple": 2.0, "ridge": 0.1})
            => MetricStep,
            |_: MetricStep| ();
        squeak.state() => SqueakState<f64>, |state: SqueakState<f64>| {
            let mut squeak = Squeak::new(gaussian(), 1, 0.5, SqueakParams::new(5)).unwrap();
            if squeak.resume(state).is_ok() {
                let _ = squeak.push(points(), &mut rng());
                let _ = (squeak.settle(&mut rng()), squeak.member_scores());
            }
        };
        SavedSqueak::from(&squeak) => SavedSqueak<Gaussian, f64>,
            |saved: SavedSqueak<Gaussian, f64>| {
            if let Ok(mut squeak) = Squeak::try_from(saved) {
                let _ = squeak.push(points(), &mut rng());
            }
        };
    ]
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    let options = [selectors(), estimators(), distributions(), fits(), parts_of_methods()];
    let all = [options.concat(), reports()].concat();
    all.into_iter().for_each(|(file, load)| load(&file));
}

/// Found by damage: an audit without rows has no quantile, and a round of proposals takes no more
/// memory than the matrix.
#[test]
fn what_no_run_gives_is_refused_or_small() {
    let audit = Audit::default().of_estimator(&matrix(), RIDGE, &Exact, &mut rng()).unwrap();
    let mut file = serde_json::to_value(audit).unwrap();
    file["estimates"] = serde_json::json!([]);
    let audit: AuditReport = serde_json::from_value(file).unwrap();
    assert!(matches!(audit.quantile(0.5), Err(Error::Empty { .. })));
    let many = RpCholesky { proposals: Some(1 << 32), tolerance: 0.0 };
    assert_eq!(many.select(&matrix(), 3, &mut rng()).unwrap().len(), 3);
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn options_of_selectors((load, file) in damaged_one_of(selectors())) {
        guarded(file, load);
    }

    #[test]
    fn options_of_estimators((load, file) in damaged_one_of(estimators())) {
        guarded(file, load);
    }

    #[test]
    fn options_of_sketches((load, file) in damaged_one_of(distributions())) {
        guarded(file, load);
    }

    #[test]
    fn options_of_fits((load, file) in damaged_one_of(fits())) {
        guarded(file, load);
    }

    #[test]
    fn options_of_parts((load, file) in damaged_one_of(parts_of_methods())) {
        guarded(file, load);
    }

    #[test]
    fn a_report((load, file) in damaged_one_of(reports())) {
        guarded(file, load);
    }
}
