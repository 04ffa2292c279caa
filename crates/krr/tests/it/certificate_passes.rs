//! The certificate in passes against that in memory, and against exact regression.

use crate::common::*;
use nystrom_kernels::Points;
use nystrom_krr::{
    Certificate, ExactKrr, Extras, FullKrr, NystromKrr, Problem, RowPasses, RowSums,
};
use nystrom_linalg_core::{Error, Result, Ridge};
use nystrom_sketch::Landmarks;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * (1e-6 + a.abs().max(b.abs()))
}

/// Everything but the draw is that of the certificate in memory; all of it, if all rows are drawn.
#[test]
fn it_is_the_certificate_in_memory() {
    let (n, t, mu) = (2500, 2, 0.5);
    let (x, y) = sample::<f64>(n, 2, t, 3);
    let (points, w) = (Points::from_rows(x.as_ref()), weights(n));
    let landmarks = Landmarks::new(n, (0..n).step_by(130).collect()).unwrap();
    for (weighted, intercept, rows) in
        [(true, true, 200), (false, false, 200), (true, true, n), (false, true, 2 * n)]
    {
        let krr = NystromKrr { intercept, ..NystromKrr::new(gaussian(0.8), Ridge::Absolute(mu)) };
        let plain = Problem::new(points, y.as_ref());
        let problem = if weighted { plain.weighted(&w) } else { plain };
        let model = krr.fit(problem, &landmarks).unwrap();
        let certificate = Certificate { rows, ..Certificate::default() };
        let rng = || rng(1);
        let memory = certificate.certify(&model, problem, &mut rng()).unwrap();
        let mut blocks = Blocks::new(problem, 700);
        let passes = certificate.certify_passes(&model, &mut blocks, &mut rng()).unwrap();
        assert!(close(passes.trace_error, memory.trace_error));
        let same = |r: &nystrom_krr::CertificateReport| (r.n, r.rows, r.confidence, r.ridge);
        assert_eq!(same(&passes), same(&memory));
        let other = Blocks::new(problem, 1024);
        let again = certificate.certify_passes(&model, &mut { other }, &mut rng()).unwrap();
        assert_eq!(again, passes, "whatever the blocks");
        for (ours, theirs) in passes.targets.iter().zip(&memory.targets) {
            assert!(close(ours.trace_bound, theirs.trace_bound), "{ours:?} {theirs:?}");
            assert!(close(ours.residual, theirs.residual), "{ours:?} {theirs:?}");
            if rows >= n {
                assert!(close(ours.bound, theirs.bound), "{ours:?} {theirs:?}");
                assert!(close(ours.discrepancy, theirs.discrepancy), "{ours:?} {theirs:?}");
            } else {
                // another draw of the same law
                assert!((ours.estimate / theirs.estimate - 1.0).abs() < 0.3);
                assert!((ours.bound / theirs.bound - 1.0).abs() < 0.3);
            }
        }
        let scaled = passes.clone().scaled(&[2.0, 0.5]).unwrap();
        assert_eq!(scaled.targets[0].bound, 2.0 * passes.targets[0].bound);
        assert_eq!(scaled.closeness(), passes.closeness());
        assert!(passes.scaled(&[1.0]).is_err());
    }
}

/// Rows of a pass that is interrupted every 700 rows: its sums are written and read again.
struct Interrupted<'a>(Problem<'a, f64>);

impl RowPasses<f64> for Interrupted<'_> {
    fn pass<S: RowSums<f64>>(&mut self, mut empty: S) -> Result<S> {
        let (Problem { x, y, weights }, over_none) = (self.0, empty.empty());
        for start in (0..x.len()).step_by(700) {
            let end = x.len().min(start + 700);
            empty.accumulate(Problem {
                x: x.slice(start..end),
                y: y.subrows(start, end - start),
                weights: weights.map(|w| &w[start..end]),
            })?;
            empty = over_none.read(&empty.to_bytes())?;
        }
        Ok(empty)
    }
}

/// Interruptions leave no trace, neither in the sums of the three passes nor in the rows that wait
/// or were drawn.
#[test]
fn interrupted_passes_give_the_same_certificate() {
    let n = 2500;
    let (x, y) = sample::<f64>(n, 2, 2, 3);
    let (points, w) = (Points::from_rows(x.as_ref()), weights(n));
    let problem = Problem::new(points, y.as_ref()).weighted(&w);
    let krr =
        NystromKrr { intercept: true, ..NystromKrr::new(gaussian(0.8), Ridge::Absolute(0.5)) };
    let model = krr.fit(problem, points.slice(0..20)).unwrap();
    for rows in [200, n] {
        let certificate = Certificate { rows, ..Certificate::default() };
        let mut blocks = Blocks::new(problem, n);
        let whole = certificate.certify_passes(&model, &mut blocks, &mut rng(1)).unwrap();
        let mut rows = Interrupted(problem);
        let again = certificate.certify_passes(&model, &mut rows, &mut rng(1)).unwrap();
        assert_eq!(again, whole);
    }
    // rows that full-data regression collects, and its products
    let full = FullKrr { rank: Some(20), ..FullKrr::new(gaussian(0.8), Ridge::PerSample(1e-2)) };
    let mut blocks = Blocks::new(problem, n);
    let whole = full.fit_passes(&mut blocks, [2, 2], Extras::default(), &mut rng(1)).unwrap();
    let mut rows = Interrupted(problem);
    let again = full.fit_passes(&mut rows, [2, 2], Extras::default(), &mut rng(1)).unwrap();
    assert_eq!(bits(&again.model), bits(&whole.model));
}

/// The true distance is below the bound for every one of 200 seeds, and the estimate of ‖Kα − f‖²
/// has no bias.
#[test]
fn the_bound_holds_for_many_seeds() {
    let (n, mu) = (400, 0.3);
    let (x, y) = sample::<f64>(n, 2, 1, 8);
    let points = Points::from_rows(x.as_ref());
    let krr = NystromKrr::new(gaussian(0.8), Ridge::Absolute(mu));
    let model = krr.fit((points, &y), points.slice(0..12)).unwrap();
    let exact = ExactKrr { intercept: krr.intercept, ..ExactKrr::new(gaussian(0.8), krr.ridge) };
    let exact = exact.fit((points, &y)).unwrap().predict(points).unwrap();
    let truth = rms(&(&exact - model.predict(points).unwrap()), &vec![1.0; n], 0);
    let mut rows = Blocks::new((points, &y), 150);
    let mut target = |rows_drawn, seed| {
        let certificate = Certificate { rows: rows_drawn, ..Certificate::default() };
        let rng = &mut rng(seed);
        certificate.certify_passes(&model, &mut rows, rng).unwrap().targets[0]
    };
    let whole = target(n, 0).discrepancy;
    let mut squares = Vec::new();
    for seed in 0..200 {
        let found = target(30, seed);
        assert!(found.bound >= truth && found.bound <= found.trace_bound, "{truth} {found:?}");
        squares.push(found.discrepancy.powi(2));
    }
    let mean = squares.iter().sum::<f64>() / 200.0;
    let deviation = (squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 200.0).sqrt();
    let error = (mean - whole.powi(2)).abs();
    assert!(error < 5.0 * deviation / 200f64.sqrt() + 1e-12, "{mean} {}", whole.powi(2));
}

#[test]
fn what_cannot_be_is_refused() {
    let (x, y) = sample::<f64>(100, 2, 1, 8);
    let points = Points::from_rows(x.as_ref());
    let krr = NystromKrr::new(gaussian(0.8), Ridge::Absolute(0.1));
    let model = krr.fit((points, &y), points.slice(0..5)).unwrap();
    let certify = |certificate: Certificate, n: usize| {
        let y = y.subrows(0, n);
        let mut rows = Blocks::new((points.slice(0..n), y), 60);
        certificate.certify_passes(&model, &mut rows, &mut rng(0))
    };
    let usual = Certificate::default();
    assert!(certify(usual, 100).is_ok());
    assert!(matches!(certify(usual, 90), Err(Error::Shape { expected: 100, got: 90, .. })));
    assert!(matches!(certify(Certificate { rows: 0, ..usual }, 100), Err(Error::Empty { .. })));
    let bad = Certificate { confidence: 1.0, ..usual };
    assert!(matches!(certify(bad, 100), Err(Error::InvalidParameter { .. })));
    // before a pass
    let unread = |certificate: Certificate| {
        certificate.certify_passes(&model, &mut Unread, &mut rng(0)).unwrap_err()
    };
    assert!(matches!(unread(Certificate { rows: 0, ..usual }), Error::Empty { .. }));
    assert!(matches!(unread(bad), Error::InvalidParameter { name: "confidence", .. }));
}
