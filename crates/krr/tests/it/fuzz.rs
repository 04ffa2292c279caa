//! No bytes make the reading of a state panic, hang or take much memory, nor the use of what was
//! read.
//!
//! The content of valid bytes is damaged, and the checksum behind it is made right again: so it is
//! the parser that has to tell, and the sums have to bear what it lets pass. How many cases: see
//! the module `damage`.

use std::sync::OnceLock;

use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{
    CenterProducts, Certificate, Extras, Falkon, FoldedEquations, FullKrr, IterativeFit,
    IterativeOptions, Krill, KrrModel, NewtonEquations, NormalEquations, NystromKrr, PassInput,
    PathErrors, Problem, RowPasses, RowSums, TallQr,
};
use nystrom_linalg_core::{
    ConjugateGradients, Error, LinearSystem, Result, Ridge, SavedSolve, Stop,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::{gaussian, rng};
use crate::damage::{File, cases, damaged, guarded};
use crate::damage_words::{Words, with_fnv, words};

/// Bytes of the checksum.
const CHECK: usize = 8;
/// Rows of the sums.
const ROWS: usize = 12;
const X: [f64; 16] =
    [0.0, 0.3, 1.1, 1.9, 2.4, 3.2, 3.9, 4.1, 4.8, 5.0, 5.7, 6.1, 6.6, 7.0, 7.4, 8.2];
const CENTERS: [f64; 3] = [1.0, 3.5, 6.0];
const RIDGES: [Ridge<f64>; 2] = [Ridge::PerSample(1e-2), Ridge::Absolute(1e-5)];

fn centers() -> Points<'static, f64> {
    Points::from_slice(&CENTERS)
}

/// A target of signs, which every method takes.
fn signs() -> Mat<f64> {
    Mat::from_fn(X.len(), 1, |i, _| if i % 3 == 0 { -1.0 } else { 1.0 })
}

/// Some of the rows.
fn part(y: &Mat<f64>, first: usize, rows: usize) -> Problem<'_, f64> {
    Problem::new(Points::from_slice(&X[first..first + rows]), y.subrows(first, rows))
}

/// Sums over no rows.
struct Empty {
    normal: NormalEquations<Gaussian, f64>,
    constant: NormalEquations<Gaussian, f64>,
    qr: TallQr<Gaussian, f64>,
    folded: FoldedEquations<Gaussian, f64>,
    newton: NewtonEquations<Gaussian, f64>,
    errors: PathErrors<Gaussian, f64>,
    along: CenterProducts<Gaussian, f64>,
    embedded: CenterProducts<Gaussian, f64>,
}

fn empty() -> &'static Empty {
    static EMPTY: OnceLock<Empty> = OnceLock::new();
    EMPTY.get_or_init(|| {
        let kernel = gaussian(1.0);
        let normal = NormalEquations::new(kernel, centers(), 1).unwrap();
        let constant = NormalEquations::with_intercept(kernel, centers(), &[0.25]).unwrap();
        let mut all = constant.clone();
        all.accumulate(part(&signs(), 0, ROWS)).unwrap();
        let u = Mat::from_fn(3, 1, |j, _| j as f64);
        let along = CenterProducts::new(&kernel, centers(), 1, PassInput::Along(u)).unwrap();
        let key = PassInput::Embedded(7);
        Empty {
            qr: TallQr::with_intercept(kernel, centers(), &[0.25]).unwrap(),
            folded: normal.folded(3, &mut rng(1)).unwrap(),
            newton: normal.newton(1, None).unwrap(),
            errors: all.path(&RIDGES).unwrap().errors(),
            embedded: CenterProducts::new(&kernel, centers(), 1, key).unwrap(),
            normal,
            constant,
            along,
        }
    })
}

/// Reads the sums; what is accepted survives every further step.
fn used<S: RowSums<f64>>(empty: &S, bytes: &[u8], look: impl Fn(&S)) {
    let Ok(mut sums) = empty.read(bytes) else { return };
    let written = sums.to_bytes();
    let mut again = empty.read(&written).expect("what was read and written is read again");
    assert!(again.to_bytes() == written);
    look(&sums);
    let y = signs();
    let good = || {
        let mut good = empty.empty_at(again.rows());
        good.accumulate(part(&y, ROWS, 4)).unwrap();
        good
    };
    // before good ones, behind them, and with rows of its own
    let (mut first, last) = (good(), good());
    sums.accumulate(part(&y, 2, 3)).unwrap();
    look(&sums);
    sums.merge(last).unwrap();
    look(&sums);
    let _ = empty.read(&sums.to_bytes());
    again.close().unwrap();
    first.merge(again).unwrap();
    look(&first);
    let _ = empty.read(&first.to_bytes());
}

/// Predictions have their shape.
fn model(model: &KrrModel<Gaussian, f64>) {
    assert_eq!(model.predict(centers()).unwrap().shape(), (3, 1));
}

fn normal(state: &NormalEquations<Gaussian, f64>) {
    let y = signs();
    let _ = state.solve(RIDGES[0]).map(|found| model(&found));
    if let Ok(path) = state.path(&RIDGES) {
        let _ = (path.best_by_gcv(), path.errors());
        let _ = path.model_at(RIDGES[1]).map(|found| model(&found));
        let _ = path.leave_one_out(RIDGES[0], part(&y, 0, 5));
    }
    let onto = state.clone().onto(Points::from_slice(&CENTERS[1..]));
    let _ = onto.and_then(|state| state.solve(RIDGES[0])).map(|found| model(&found));
}

fn qr(state: &TallQr<Gaussian, f64>) {
    let _ = state.solve(RIDGES[0]).map(|found| model(&found));
    let _ = state.path(&RIDGES).and_then(|path| path.model_at(RIDGES[1]));
}

/// A function that reads sums and uses them, and bytes of valid ones.
type Reader = (fn(&[u8]), Vec<u8>);

fn readers() -> Vec<Reader> {
    fn both<S: RowSums<f64>>(empty: &S, read: fn(&[u8])) -> [Reader; 2] {
        let mut sums = empty.empty();
        sums.accumulate(part(&signs(), 0, ROWS)).unwrap();
        let waiting = sums.to_bytes();
        sums.close().unwrap();
        [(read, waiting), (read, sums.to_bytes())]
    }
    let all = empty();
    let readers = [
        both(&all.normal, |bytes| used(&empty().normal, bytes, normal)),
        both(&all.constant, |bytes| used(&empty().constant, bytes, normal)),
        both(&all.qr, |bytes| used(&empty().qr, bytes, qr)),
        both(&all.folded, |bytes| {
            used(&empty().folded, bytes, |sums| {
                let _ = sums.scores(&RIDGES);
                let _ = sums.together().map(|state| normal(&state));
            });
        }),
        both(&all.newton, |bytes| {
            used(&empty().newton, bytes, |sums| {
                let _ = sums.paths(&RIDGES).map(|paths| paths[0].model_at(RIDGES[0]));
            });
        }),
        both(&all.errors, |bytes| {
            used(&empty().errors, bytes, |sums| {
                let _ = (sums.leave_one_out(), sums.training());
            });
        }),
        both(&all.along, |bytes| used(&empty().along, bytes, |_| ())),
        both(&all.embedded, |bytes| used(&empty().embedded, bytes, |_| ())),
    ];
    readers.concat()
}

/// Bytes of a state with damaged content under a right checksum.
fn damaged_states() -> impl Strategy<Value = (fn(&[u8]), File)> {
    let content = |bytes: &[u8]| bytes[..bytes.len() - CHECK].to_vec();
    let by_words = (select(readers()), words()).prop_map(move |((read, bytes), words)| {
        let mut content = content(&bytes);
        words.apply(&mut content, 16);
        (read, File(with_fnv(&content)))
    });
    let by_bytes = select(readers()).prop_flat_map(move |(read, bytes)| {
        let bytes = damaged(vec![content(&bytes)]).prop_map(|file| File(with_fnv(&file.0)));
        (Just(read), bytes)
    });
    prop_oneof![4 => by_words, 1 => by_bytes]
}

/// Shows the rows, and what a pass of them finds is read from damaged bytes.
struct Damaging<'a> {
    /// Passes before that one.
    before: usize,
    /// The damage; without, every pass is sound.
    words: Option<&'a Words>,
    closed: bool,
}

impl RowPasses<f64> for Damaging<'_> {
    fn pass<S: RowSums<f64>>(&mut self, mut empty: S) -> Result<S> {
        let other = empty.empty();
        empty.accumulate(part(&signs(), 0, ROWS))?;
        let now = self.before == 0;
        self.before = self.before.wrapping_sub(1);
        let Some(words) = self.words.filter(|_| now) else { return Ok(empty) };
        if self.closed {
            empty.close()?;
        }
        let mut content = empty.to_bytes();
        content.truncate(content.len() - CHECK);
        words.apply(&mut content, 16);
        let bytes = with_fnv(&content);
        used(&other, &bytes, |_| ());
        other.read(&bytes)
    }
}

/// A method; whether it succeeds.
type Passes = fn(&mut Damaging<'_>) -> bool;

/// Every method that reads the rows in passes.
fn methods() -> Vec<Passes> {
    fn fitted(fit: Result<IterativeFit<Gaussian, f64>>) -> bool {
        let Ok(fit) = fit else { return false };
        assert!(!fit.report.history.iter().any(|residual| residual.is_nan()));
        model(&fit.model);
        true
    }
    vec![
        |rows| {
            let falkon = Falkon { intercept: true, ..Falkon::new(gaussian(1.0), RIDGES[0]) };
            fitted(falkon.fit_passes(rows, centers(), 1, Extras::default()))
        },
        |rows| {
            let krill = Krill::new(gaussian(1.0), RIDGES[0]);
            fitted(krill.fit_passes(rows, centers(), 1, Extras::default(), &mut rng(2)))
        },
        |rows| {
            let full = FullKrr::new(gaussian(1.0), RIDGES[0]);
            fitted(full.fit_passes(rows, [1, 1], Extras::default(), &mut rng(2)))
        },
        |rows| {
            // 8 MiB of it are for blocks
            let memory = Some(16 << 20);
            let options = IterativeOptions { memory, ..IterativeOptions::default() };
            let full =
                FullKrr { options, intercept: true, ..FullKrr::new(gaussian(1.0), RIDGES[0]) };
            fitted(full.fit_passes(rows, [1, 1], Extras::default(), &mut rng(2)))
        },
        |rows| certified(4, rows),
        |rows| certified(100, rows),
    ]
}

fn certified(rows: usize, passes: &mut Damaging<'_>) -> bool {
    let krr = NystromKrr { intercept: true, ..NystromKrr::new(gaussian(1.0), RIDGES[0]) };
    let y = signs();
    let model = krr.fit(part(&y, 0, ROWS), centers()).unwrap();
    let certificate = Certificate { rows, ..Certificate::default() };
    let report = certificate.certify_passes(&model, passes, &mut rng(3));
    report.map(|report| (report.closeness(), report.relative_bound())).is_ok()
}

/// diag(1, 2, …), without a preconditioner.
struct Diagonal;

impl LinearSystem for Diagonal {
    fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
        out.copy_from(Mat::from_fn(x.nrows(), x.ncols(), |i, j| (i + 1) as f64 * x[(i, j)]));
        Ok(())
    }
    fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        out.copy_from(r);
    }
}

fn right_hand_side() -> Mat<f64> {
    Mat::from_fn(4, 2, |i, j| (i + 2 * j) as f64)
}

/// A solve after its second iteration, as bytes.
fn saved_solve() -> Vec<u8> {
    let b = right_hand_side();
    let mut solve = ConjugateGradients::start(&mut Diagonal, b.as_ref(), None).unwrap();
    let two = &mut |cg: &ConjugateGradients| (cg.iterations() == 2).then_some(Stop::Asked);
    solve.run(&mut Diagonal, b.as_ref(), 1e-8, 100, two).unwrap();
    solve.save().to_bytes()
}

fn solve(bytes: &[u8]) {
    let Ok(saved) = SavedSolve::from_bytes(bytes) else { return };
    let again = SavedSolve::from_bytes(&saved.to_bytes()).expect("it is whole");
    assert!(again.to_bytes() == saved.to_bytes());
    let b = right_hand_side();
    if let Ok(mut solve) = ConjugateGradients::resume(&saved, &mut Diagonal, b.as_ref()) {
        let _ = solve.run(&mut Diagonal, b.as_ref(), 1e-8, 100, &mut |_| None);
        let _ = solve.save().to_bytes();
    }
}

#[test]
fn the_bytes_to_be_damaged_are_valid() {
    for (read, bytes) in readers() {
        assert!(with_fnv(&bytes[..bytes.len() - CHECK]) == bytes);
        read(&bytes);
    }
    solve(&saved_solve());
    for (number, method) in methods().into_iter().enumerate() {
        assert!(method(&mut Damaging { before: 0, words: None, closed: false }), "{number}");
    }
}

/// Counts that overflow when rows are added, and numbers that no rows come to: found by damage.
#[test]
fn sums_of_no_rows_are_refused() {
    fn check<S: RowSums<f64>>(empty: &S) {
        let mut sums = empty.empty();
        sums.accumulate(part(&signs(), 0, ROWS)).unwrap();
        sums.close().unwrap();
        let bytes = sums.to_bytes();
        let content = &bytes[..bytes.len() - CHECK];
        let last = content.len() - 8;
        // the first count is behind head, fingerprint and the number of rows that wait
        for (at, word) in [(32, u64::MAX), (32, 1 << 63), (last, f64::NAN.to_bits())] {
            let mut content = content.to_vec();
            content[at..at + 8].copy_from_slice(&word.to_le_bytes());
            let refused = empty.read(&with_fnv(&content)).map(drop);
            assert!(matches!(refused, Err(Error::Incompatible { .. })), "{refused:?}");
        }
    }
    let all = empty();
    check(&all.normal);
    check(&all.qr);
    check(&all.folded);
    check(&all.newton);
    check(&all.errors);
    check(&all.along);
    check(&all.embedded);
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn sums_in_bytes((read, file) in damaged_states()) {
        guarded(file, read);
    }

    #[test]
    fn a_solve_in_bytes(file in prop_oneof![
        words().prop_map(|words| {
            let mut bytes = saved_solve();
            words.apply(&mut bytes, 0);
            File(bytes)
        }),
        damaged(vec![saved_solve()]),
    ]) {
        guarded(file, solve);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn sums_of_a_pass(method in select(methods()), before in 0..4_usize, words in words(),
        closed: bool) {
        let shown = format!("{words:?} in pass {before} of {method:?}, {closed}");
        let shown = File(shown.into_bytes());
        guarded(shown, move |_| {
            method(&mut Damaging { before, words: Some(&words), closed });
        });
    }
}
