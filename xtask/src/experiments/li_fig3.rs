//! Figures 3, 4 and 8 of Li, Jegelka & Sra 2016: kernel ridge regression on Nyström approximations,
//! on eight data sets.

use nystrom::krr::metrics::mse;
use nystrom::prelude::*;

use super::li_methods::{
    Improvements, KDPP, KDPP_EXACT, Matrix, REG_LEV, RP_CHOLESKY, UNIF, sizes,
};
use super::li_problem::{AILERONS, AtHand, SETS, Set, Whole};
use crate::experiment::{Claim, Context, Outcome, measured, number};
use crate::lab::{Draw, Grid, Measure};
use crate::method::{Method, PROBLEM};

const METHODS: [Method; 5] = [UNIF, REG_LEV, KDPP, KDPP_EXACT, RP_CHOLESKY];

/// f̂(x) = Σ α_i k(x, x_i), with K̃ in α alone: as the first author's demonstration has it.
const TRAIN: Measure =
    Measure::new("training error", "mean squared training error, K̃ in α alone").log();
const TEST: Measure = Measure::new("test error", "mean squared test error, K̃ in α alone").log();
/// The paper's ẑ = K̃(K̃ + nγI)⁻¹y, whose risk Theorem 3 bounds: K̃ in the prediction too.
const TRAIN_TOO: Measure =
    Measure::new("training error, K̃ in f̂", "mean squared training error, K̃ in f̂ too").log();
const TEST_TOO: Measure =
    Measure::new("test error, K̃ in f̂", "mean squared test error, K̃ in f̂ too").log();
/// Each with the name of its plots, and whether the test points are its.
const ERRORS: [(Measure, &str, bool); 4] = [
    (TRAIN, "training", false),
    (TEST, "test", true),
    (TRAIN_TOO, "training-approximate", false),
    (TEST_TOO, "test-approximate", true),
];
const EXACT_TEST: Measure =
    Measure::new("exact regression", "mean squared test error of exact regression");

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, subsets) = ctx.pick((150, 2), (1000, 6), (3000, 3));
    let found = AtHand::of(ctx, &SETS)?;
    let results = Grid::new(ctx, "subsets", &found.sets)
        .sizes(&[(n, subsets)])
        .parallel()
        .run_on(Whole::new, cell)?;
    let note = format!(
        "{subsets} subsets of {n} training and {} test rows (3 of 3000 and 1000 in the paper), one \
         draw on each; errors in units of the target's variance",
        tests(n)
    );
    let mut out = found.outcome(&results, note);
    let improvements = Improvements { results: &results, sets: &found.sets, sizes: sizes(ctx) };
    for (error, id, of_tests) in ERRORS {
        out.plots.extend(found.sets.iter().filter_map(|set| {
            let exact = results.on(set).get(n, PROBLEM, EXACT_TEST).value;
            let exact = of_tests.then_some(("exact regression", exact));
            improvements.on_set(set, (error, id), error.label, exact)
        }));
        let of = format!(", {}", error.label);
        out.plots.push(improvements.plot((error, id), &of, &METHODS));
        let table = results.table(&format!("{id}-error"), error.label, &found.sets, &[error]);
        out.tables.extend(table.by_setting("data set").by_x("c").build());
    }
    let exact = results.table("exact", EXACT_TEST.label, &found.sets, &[EXACT_TEST]);
    out.tables.extend(exact.by_setting("data set").build());
    out.claims = found.judge_averages(claims(&improvements));
    if let Some(at) = found.sets.iter().position(|set| *set == AILERONS) {
        let example = Improvements { sets: &found.sets[at..=at], ..improvements };
        out.claims.extend(few_landmarks(&example));
    }
    let gained = |error| number(100.0 * improvements.mean(error, KDPP, UNIF).value);
    let named =
        [("train", TRAIN), ("test", TEST), ("train_too", TRAIN_TOO), ("test_too", TEST_TOO)];
    out.values = named.map(|(name, error)| (name, gained(error))).into();
    Ok(out)
}

/// Test rows beside n training rows.
fn tests(n: usize) -> usize {
    n / 3
}

/// All methods and sizes on one subset.
fn cell(whole: &Whole, draw: &mut Draw<'_, Set>) -> anyhow::Result<()> {
    let problem = whole.subset(draw.repetition, draw.size, tests(draw.size))?;
    let k = problem.stored()?;
    let matrix = Matrix::new(&k, problem.ridge())?;
    let (x, x_test) = (problem.points(), problem.test_points());
    let exact = ExactKrr::new(problem.kernel()?, problem.ridge()).fit((x, problem.y.as_ref()))?;
    draw.facts([(EXACT_TEST, mse(exact.predict(x_test)?.as_ref(), problem.y_test.as_ref())?)]);
    let k_test = problem.kernel()?.eval(x_test, x);
    let krr = NystromKrr::new(problem.kernel()?, problem.ridge());
    let mu = problem.ridge().absolute(x.len())?;
    for method in METHODS {
        for &c in sizes(draw.ctx) {
            let rng = &mut draw.rng(&format!("{}, c = {c}", method.key));
            let landmarks = matrix.select(method, c, rng)?;
            let model = krr.fit((x, problem.y.as_ref()), &landmarks)?;
            let (train, test) = (model.predict(x)?, model.predict(x_test)?);
            // (K̃ + μI)α = y and K̃α = train
            let alpha = (&problem.y - &train) / nystrom::faer::Scale(mu);
            let against = |f: Mat<f64>, y: &Mat<f64>| mse(f.as_ref(), y.as_ref());
            let errors = [
                (TRAIN, against(&k * &alpha, &problem.y)?),
                (TEST, against(&k_test * &alpha, &problem.y_test)?),
                (TRAIN_TOO, against(train, &problem.y)?),
                (TEST_TOO, against(test, &problem.y_test)?),
            ];
            draw.put_all(c, method, errors);
        }
    }
    Ok(())
}

fn claims(improvements: &Improvements<'_>) -> Vec<Claim> {
    let of = improvements.words();
    let gain = |error: Measure, [a, b]: [Method; 2], words: &'static str, least| {
        let text = format!("{of}, {}: improvement of {} over {}", error.label, a.name, b.name);
        measured(text, improvements.mean(error, a, b)).at_least(words, least)
    };
    let by_k_dpp = |error| {
        [
            gain(error, [KDPP, UNIF], "more than 20 % on average", 0.2),
            gain(error, [KDPP, REG_LEV], "kDPP below RegLev", 0.0),
        ]
    };
    let by_exact = |error| {
        let exact = KDPP_EXACT.called("exact k-DPP draws");
        [(UNIF, 0.2), (REG_LEV, 0.0)].map(|(rival, least)| {
            gain(error, [exact, rival], "ours: as the paper says of its chain", least)
        })
    };
    let printed = [TRAIN_TOO, TEST_TOO].into_iter().flat_map(by_k_dpp).map(Claim::printed);
    // ours with K̃ in α alone: not the prediction that the paper defines
    let alone = || [TRAIN, TEST].into_iter();
    let today = gain(TEST_TOO, [RP_CHOLESKY, KDPP], "ours", 0.0);
    let ours = alone().flat_map(by_k_dpp).chain(alone().flat_map(by_exact)).chain([today]);
    printed.chain(ours).collect()
}

/// Section 6.2 on Ailerons: k-DPP landmarks improve over RegLev "in particular for a small number
/// of landmarks".
fn few_landmarks(improvements: &Improvements<'_>) -> [Claim; 2] {
    [TRAIN_TOO, TEST_TOO].map(|error| {
        let few = improvements.at(improvements.sizes[0], error, KDPP, REG_LEV);
        let text = format!(
            "{}, {}: improvement of kDPP over RegLev for the fewest landmarks, less that on \
             average",
            improvements.words(),
            error.label
        );
        let more = few.minus(improvements.mean(error, KDPP, REG_LEV));
        measured(text, more)
            .at_least("in particular for a small number of landmarks", 0.0)
            .printed()
    })
}
