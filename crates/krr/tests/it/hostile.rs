//! Input that nobody means: every public fit, at every size that is none and with every number that
//! is hardly one. No panic, no hang, and no NaN that is not an error.

use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, Linear, Matern, Points};
use nystrom_krr::risk::FixedDesign;
use nystrom_krr::{
    AutoKrr, Certificate, CrossValidation, DictionaryKrr, DivideAndConquerKrr, ExactGrid, ExactKrr,
    Falkon, FullKrr, IterativeOptions, Krill, KrrModel, LambdaPath, NystromGrid, NystromKrr,
    Problem, SketchedKrr, Solver, metrics,
};
use nystrom_linalg_core::{Result, Ridge, Scalar};
use nystrom_sketch::{Accumulation, Dictionary, Draw, GaussianSketch, Landmarks, Uniform};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Longer than any of these fits takes on a busy machine; a loop that does not end takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// One sample and one ridge.
#[derive(Clone)]
struct Input<T> {
    name: String,
    x: Mat<T>,
    y: Mat<T>,
    w: Vec<T>,
    ridge: Ridge<T>,
}

impl<T: Scalar> Input<T> {
    fn x(&self) -> Points<'_, T> {
        Points::from_rows(self.x.as_ref())
    }

    /// n points in the plane, two targets, weights about 1, λ = 1e-3.
    fn plain(n: usize) -> Self {
        let wave = |i: usize, k: usize| T::lit(((3 * i + 5 * k) as f64 * 0.7).sin());
        Input {
            name: format!("n = {n}"),
            x: Mat::from_fn(n, 2, wave),
            y: Mat::from_fn(n, 2, |i, j| wave(i, j + 2)),
            w: (0..n).map(|i| T::lit(1.0 + 0.5 * (i % 3) as f64)).collect(),
            ridge: Ridge::PerSample(T::lit(1e-3)),
        }
    }

    fn named(mut self, name: String, change: impl Fn(&mut Self)) -> Self {
        self.name = format!("{}, {name}", self.name);
        change(&mut self);
        self
    }
}

/// Numbers that are hardly any, for this scalar type.
fn numbers<T: Scalar>() -> Vec<T> {
    let (tiny, small) = if T::EPS > 1e-10 { (1e-45, 1e-37) } else { (5e-324, 1e-300) };
    let largest = if T::EPS > 1e-10 { f64::from(f32::MAX) } else { f64::MAX };
    let numbers = [
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        0.0,
        -0.0,
        tiny,
        small,
        1e-3 * largest,
        largest,
        -largest,
    ];
    numbers.into_iter().map(T::lit).collect()
}

fn inputs<T: Scalar>() -> Vec<Input<T>> {
    let mut all: Vec<Input<T>> = [0, 1, 2, 3, 12].into_iter().map(Input::plain).collect();
    let plain = Input::<T>::plain(12);
    for n in [2, 12] {
        let n = || Input::<T>::plain(n);
        all.push(
            n().named("all points the same".into(), |i| i.x = Mat::full(i.x.nrows(), 2, T::one())),
        );
        all.push(
            n().named("constant targets".into(), |i| i.y = Mat::full(i.y.nrows(), 2, T::lit(7.0))),
        );
        all.push(n().named("both".into(), |i| {
            i.x = Mat::zeros(i.x.nrows(), 2);
            i.y = Mat::zeros(i.y.nrows(), 2);
        }));
        all.push(n().named("every point twice".into(), |i| {
            let x = i.x.clone();
            i.x = Mat::from_fn(x.nrows(), 2, |r, k| x[(r / 2, k)]);
        }));
    }
    all.push(plain.clone().named("no coordinates".into(), |i| i.x = Mat::zeros(12, 0)));
    all.push(plain.clone().named("no targets".into(), |i| i.y = Mat::zeros(12, 0)));
    all.push(plain.clone().named("one weight".into(), |i| {
        i.w = (0..12).map(|r| if r == 5 { T::one() } else { T::zero() }).collect();
    }));
    for v in numbers::<T>() {
        let with = |what: &str, change: &dyn Fn(&mut Input<T>)| {
            plain.clone().named(format!("{what} {:e}", v.f64()), |i| change(i))
        };
        all.push(with("one coordinate", &|i| i.x[(4, 1)] = v));
        all.push(with("all coordinates times", &|i| {
            i.x = Mat::from_fn(12, 2, |r, k| i.x[(r, k)] * v)
        }));
        all.push(with("one target", &|i| i.y[(4, 1)] = v));
        all.push(with("all targets times", &|i| i.y = Mat::from_fn(12, 2, |r, k| i.y[(r, k)] * v)));
        all.push(with("one weight", &|i| i.w[4] = v));
        all.push(with("all weights", &|i| i.w = vec![v; 12]));
        all.push(with("lambda", &|i| i.ridge = Ridge::PerSample(v)));
        all.push(with("mu", &|i| i.ridge = Ridge::Absolute(v)));
    }
    all
}

/// What a fit came to: numbers that must not be NaN, if it came to any.
type Outcome = Result<Vec<f64>>;
type Method<T, K> = (&'static str, fn(&Input<T>, K) -> Outcome);

fn rng() -> Pcg64 {
    Pcg64::seed_from_u64(3)
}

/// Predictions at the points themselves, and what the report says.
fn of_model<T: Scalar, K: Kernel<T>>(model: &KrrModel<K, T>, input: &Input<T>) -> Outcome {
    let f = model.predict(input.x())?;
    let mut numbers: Vec<f64> = f.col_iter().flat_map(|col| col.iter().map(|v| v.f64())).collect();
    numbers.extend([model.report().ridge, model.report().jitter, model.report().condition]);
    Ok(numbers)
}

fn of_path<T: Scalar, K: Kernel<T> + Clone>(
    path: &LambdaPath<K, T>,
    input: &Input<T>,
    weighted: bool,
) -> Outcome {
    let mut numbers = Vec::new();
    for point in path.points() {
        numbers.extend([point.mu, point.loo, point.gcv, point.d_eff, point.training]);
        numbers.extend(&point.loo_by_target);
    }
    for best in [path.best_by_loo(), path.best_by_gcv()] {
        numbers.extend(of_model(&path.model_at(best.ridge)?, input)?);
    }
    let problem = Problem::new(input.x(), input.y.as_ref());
    let problem = if weighted { problem.weighted(&input.w) } else { problem };
    let loo = path.leave_one_out(input.ridge, problem)?;
    numbers.extend(loo.col_iter().flat_map(|col| col.iter().map(|v| v.f64())));
    Ok(numbers)
}

/// The ridge of the input, and two that are sound.
fn ridges<T: Scalar>(input: &Input<T>) -> [Ridge<T>; 3] {
    [input.ridge, Ridge::PerSample(T::lit(1e-2)), Ridge::PerSample(T::lit(1e-5))]
}

fn nystrom<T: Scalar, K: Kernel<T> + Clone>(
    i: &Input<T>,
    kernel: K,
    solver: Solver,
    m: usize,
) -> Outcome {
    let (x, m) = (i.x(), m.min(i.x.nrows()));
    let mut numbers = Vec::new();
    for intercept in [false, true] {
        let krr = NystromKrr { solver, intercept, ..NystromKrr::new(kernel.clone(), i.ridge) };
        numbers.extend(of_model(&krr.fit((x, i.y.as_ref()), x.slice(0..m))?, i)?);
    }
    Ok(numbers)
}

fn options() -> IterativeOptions {
    IterativeOptions { tolerance: 1e-8, max_iterations: 50, memory: None }
}

fn methods<T: Scalar, K: Kernel<T> + Clone>() -> Vec<Method<T, K>> {
    vec![
        ("ExactKrr", |i, k| of_model(&ExactKrr::new(k, i.ridge).fit((i.x(), i.y.as_ref()))?, i)),
        ("ExactKrr, weights, intercept", |i, k| {
            let krr = ExactKrr { intercept: true, ..ExactKrr::new(k, i.ridge) };
            of_model(&krr.fit(Problem::new(i.x(), i.y.as_ref()).weighted(&i.w))?, i)
        }),
        ("NystromKrr, m = n", |i, k| nystrom(i, k, Solver::Auto, usize::MAX)),
        ("NystromKrr, m = 0", |i, k| nystrom(i, k, Solver::Auto, 0)),
        ("NystromKrr, m = 1", |i, k| nystrom(i, k, Solver::Auto, 1)),
        ("NystromKrr, whitened once", |i, k| nystrom(i, k, Solver::WhitenOnce, 3)),
        ("NystromKrr, normal equations", |i, k| nystrom(i, k, Solver::NormalEquations, 3)),
        ("NystromKrr, QR", |i, k| nystrom(i, k, Solver::Qr, 3)),
        ("NystromKrr, weights", |i, k| {
            let landmarks = Landmarks::all(i.x.nrows())?;
            let krr = NystromKrr { intercept: true, ..NystromKrr::new(k, i.ridge) };
            of_model(&krr.fit(Problem::new(i.x(), i.y.as_ref()).weighted(&i.w), &landmarks)?, i)
        }),
        ("SketchedKrr, accumulation", |i, k| {
            let sketch = Accumulation::uniform(2).sample(i.x.nrows(), 2, &mut rng())?;
            of_model(
                &SketchedKrr::new(k, i.ridge)
                    .fit(Problem::new(i.x(), i.y.as_ref()).weighted(&i.w), &sketch)?,
                i,
            )
        }),
        ("SketchedKrr, Gaussian", |i, k| {
            let sketch = GaussianSketch.sample(i.x.nrows(), 3, &mut rng())?;
            let krr = SketchedKrr { intercept: true, ..SketchedKrr::new(k, i.ridge) };
            of_model(&krr.fit((i.x(), i.y.as_ref()), &sketch)?, i)
        }),
        ("Falkon", |i, k| {
            let dictionary =
                Dictionary::uniform(i.x.nrows(), 3, Draw::WithoutReplacement, &mut rng())?;
            let krr = Falkon { options: options(), intercept: true, ..Falkon::new(k, i.ridge) };
            of_model(&krr.fit((i.x(), i.y.as_ref()), &dictionary)?.model, i)
        }),
        ("Falkon, m = 0", |i, k| {
            let krr = Falkon { options: options(), ..Falkon::new(k, i.ridge) };
            of_model(&krr.fit((i.x(), i.y.as_ref()), i.x().slice(0..0))?.model, i)
        }),
        ("Krill", |i, k| {
            let krr = Krill { options: options(), ..Krill::new(k, i.ridge) };
            of_model(&krr.fit((i.x(), i.y.as_ref()), i.x(), &mut rng())?.model, i)
        }),
        ("FullKrr", |i, k| {
            let krr = FullKrr { options: options(), intercept: true, ..FullKrr::new(k, i.ridge) };
            of_model(&krr.fit((i.x(), i.y.as_ref()), &mut rng())?.model, i)
        }),
        ("AutoKrr", |i, k| {
            let krr = AutoKrr { options: options(), ..AutoKrr::new(k, i.ridge) };
            of_model(&krr.fit((i.x(), i.y.as_ref()), i.x(), &mut rng())?.model, i)
        }),
        ("DictionaryKrr", |i, k| {
            let krr = DictionaryKrr { kernel: k, gamma: i.ridge, ridge: i.ridge };
            of_model(&krr.fit((i.x(), i.y.as_ref()), (i.x(), &i.w))?, i)
        }),
        ("DivideAndConquerKrr", |i, k| {
            let krr = DivideAndConquerKrr { parts: 2, ..DivideAndConquerKrr::new(k, i.ridge) };
            let f = krr.fit((i.x(), i.y.as_ref()), &mut rng())?.predict(i.x())?;
            Ok(f.col_iter().flat_map(|col| col.iter().map(|v| v.f64())).collect())
        }),
        ("path of ExactKrr", |i, k| {
            let path = ExactKrr::without_ridge(k).path((i.x(), i.y.as_ref()), &ridges(i))?;
            of_path(&path, i, false)
        }),
        ("path of ExactKrr, weights, intercept", |i, k| {
            let krr = ExactKrr { intercept: true, ..ExactKrr::without_ridge(k) };
            of_path(
                &krr.path(Problem::new(i.x(), i.y.as_ref()).weighted(&i.w), &ridges(i))?,
                i,
                true,
            )
        }),
        ("path of NystromKrr", |i, k| {
            let landmarks = Landmarks::new(i.x.nrows(), vec![0])?;
            of_path(
                &NystromKrr::without_ridge(k).path(
                    (i.x(), i.y.as_ref()),
                    &landmarks,
                    &ridges(i),
                )?,
                i,
                false,
            )
        }),
        ("path of NystromKrr, QR, intercept", |i, k| {
            let landmarks = Landmarks::all(i.x.nrows())?;
            let krr =
                NystromKrr { intercept: true, solver: Solver::Qr, ..NystromKrr::without_ridge(k) };
            of_path(&krr.path((i.x(), i.y.as_ref()), &landmarks, &ridges(i))?, i, false)
        }),
        ("path of SketchedKrr", |i, k| {
            let sketch = Accumulation::uniform(2).sample(i.x.nrows(), 2, &mut rng())?;
            of_path(
                &SketchedKrr::without_ridge(k).path((i.x(), i.y.as_ref()), &sketch, &ridges(i))?,
                i,
                false,
            )
        }),
        ("CrossValidation", |i, k| {
            let (cv, ridges) =
                (CrossValidation { folds: 2, ..CrossValidation::default() }, ridges(i));
            let exact = cv.run(
                &ExactGrid::default(),
                std::slice::from_ref(&k),
                &ridges,
                (i.x(), i.y.as_ref()),
                &mut rng(),
            )?;
            let grid = NystromGrid { selector: Uniform::default(), m: 3, intercept: true };
            let nystrom = cv.run(&grid, &[k], &ridges, (i.x(), i.y.as_ref()), &mut rng())?;
            // predictions that overflow make a mean that is not finite: a candidate that is not the
            // best
            let best = [exact, nystrom]
                .into_iter()
                .filter_map(|table| table.best().map(|score| score.mean));
            Ok(best.collect())
        }),
        ("Certificate", |i, k| {
            let model = ExactKrr::new(k, i.ridge).fit((i.x(), i.y.as_ref()))?;
            let mut numbers = Vec::new();
            for rows in [1, 100] {
                let certificate = Certificate { rows, ..Certificate::default() };
                let report = certificate.certify(&model, (i.x(), i.y.as_ref()), &mut rng())?;
                numbers.extend(
                    report.targets.iter().flat_map(|target| [target.bound, target.residual]),
                );
            }
            Ok(numbers)
        }),
        ("FixedDesign", |i, k| {
            let matrix = nystrom_kernels::KernelMatrix::new(k, i.x())?;
            let f: Vec<T> =
                i.y.col_iter().next().map_or(Vec::new(), |col| col.iter().copied().collect());
            let ridge = Ridge::PerSample(i.ridge.per_sample(i.x.nrows())?.f64());
            let (exact, low) =
                (FixedDesign::exact(&matrix, &f)?, FixedDesign::low_rank(i.x.as_ref(), &f)?);
            let [a, b] = [exact.risk(ridge, 0.1)?, low.risk(ridge, 0.1)?];
            Ok(vec![
                a.bias_squared,
                a.variance,
                b.bias_squared,
                b.variance,
                exact.effective_dimension(ridge)?,
            ])
        }),
        ("metrics", |i, _| {
            let zero = Mat::<T>::zeros(i.y.nrows(), i.y.ncols());
            let (f, y) = (zero.as_ref(), i.y.as_ref());
            Ok(vec![metrics::mse(f, y)?, metrics::rmse(f, y)?, metrics::r2(f, y)?])
        }),
    ]
}

/// Runs every method on every input, in a thread of its own, and lists what is wrong.
fn run<T: Scalar, K: Kernel<T> + Clone + 'static>(label: &'static str, kernel: K) {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for input in inputs::<T>() {
            for (method, fit) in methods::<T, K>() {
                let place = format!("{label}, {method}: {}", input.name);
                let outcome = catch_unwind(AssertUnwindSafe(|| fit(&input, kernel.clone())));
                let wrong = match outcome {
                    Ok(Ok(numbers)) if numbers.iter().any(|v| v.is_nan()) => {
                        Some(format!("{place}: NaN"))
                    }
                    Ok(Ok(_) | Err(_)) => None,
                    Err(_) => Some(format!("{place}: panic")),
                };
                if tell.send((place, wrong)).is_err() {
                    return;
                }
            }
        }
    });
    let (mut last, mut wrong) = (String::from("the first"), Vec::new());
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok((place, problem)) => {
                last = place;
                wrong.extend(problem);
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("no end after {last}; before: {wrong:#?}")
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them: {wrong:#?}", wrong.len());
}

#[test]
fn bounded_kernels_in_double_precision() {
    run::<f64, _>("Gaussian, f64", Gaussian::new(0.7).unwrap());
}

#[test]
fn bounded_kernels_in_single_precision() {
    run::<f32, _>("Gaussian, f32", Gaussian::new(0.7).unwrap());
}

/// Entries overflow and underflow.
#[test]
fn unbounded_kernels_in_double_precision() {
    run::<f64, _>("linear, f64", Linear::new());
}

#[test]
fn unbounded_kernels_in_single_precision() {
    run::<f32, _>("linear, f32", Linear::with_bias(1.0).unwrap());
}

#[test]
fn closed_forms_of_matern() {
    run::<f64, _>("Matern, f64", Matern::new(1.5, 0.7).unwrap());
}
