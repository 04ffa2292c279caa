//! Figures 3, 4 and 8 of Li, Jegelka & Sra 2016: training and test error of Nyström kernel ridge regression against the number of landmarks.

use nystrom::kernels::Points;
use nystrom::krr::{ExactKrr, NystromKrr, metrics};
use nystrom::linalg_core::PsdMatrix;

use super::li_methods::{Matrix, Method};
use super::li_problem::{NAMES, Problem, SETS, Set, problem};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-fig3",
    paper: &papers::LI_2016,
    figure: "Figures 3, 4 and 8",
    says: "Training and test error of kernel ridge regression on Nyström approximations, on eight data sets: landmarks of a k-DPP do more than 20 % better \
        than uniform ones on average, most for few landmarks.",
    data: NAMES,
    run,
};

const METHODS: [Method; 4] = [Method::Uniform, Method::RidgeLeverage, Method::KDpp, Method::RpCholesky];

/// Mean squared errors on one data set: `train[method][size]` holds one for each subset and draw.
struct Measured {
    set: Set,
    sizes: Vec<usize>,
    train: Vec<Vec<Vec<f64>>>,
    test: Vec<Vec<Vec<f64>>>,
    /// Test errors of exact regression.
    exact: Vec<f64>,
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, n_test, parts, draws) = ctx.pick((150, 50, 1, 1), (1000, 500, 2, 3), (3000, 1000, 3, 3));
    let sizes: &[usize] = ctx.pick(&[5, 20], &[10, 25, 50, 100], &[20, 50, 100, 150, 200]);
    let mut out = Outcome::default();
    let stage = ctx.progress.begin("subsets", SETS.len() * parts);
    let mut all = vec![];
    for set in SETS {
        let empty = vec![vec![vec![]; sizes.len()]; METHODS.len()];
        let mut measured = Measured { set, sizes: sizes.to_vec(), train: empty.clone(), test: empty, exact: vec![] };
        for part in 0..parts {
            match problem(ctx, set, part, n, n_test)? {
                Ok(problem) => subset(ctx, &mut measured, &problem, part, draws)?,
                Err(missing) => {
                    out.missing.push(missing.needed_for(format!("the plots of {}", set.label)));
                    break;
                }
            }
            stage.inc(1);
        }
        if !measured.exact.is_empty() {
            all.push(measured);
        }
    }
    if all.is_empty() {
        return Ok(out);
    }
    out.plots.extend(all.iter().flat_map(|m| [plot(m, "training", &m.train), plot(m, "test", &m.test)]));
    out.tables.push(table(&all));
    out.claims = claims(&all);
    out.scale_note = format!(
        "{parts} subsets of {n} training and {n_test} test rows (3 of 3000 and 1000 in the paper), {draws} draws on each; errors in units of the \
         target's variance"
    );
    Ok(out)
}

fn subset(ctx: &Context, measured: &mut Measured, problem: &Problem, part: usize, draws: usize) -> anyhow::Result<()> {
    let n = problem.x.nrows();
    let k = problem.matrix()?.block((0..n).into(), (0..n).into());
    let matrix = Matrix::new(&k)?;
    let (x, x_test) = (problem.points(), Points::from_rows(problem.x_test.as_ref()));
    let exact = ExactKrr::new(problem.kernel()?, problem.ridge()).fit(x, problem.y.as_ref())?;
    measured.exact.push(metrics::mse(exact.predict(x_test)?.as_ref(), problem.y_test.as_ref())?);
    let krr = NystromKrr::new(problem.kernel()?, problem.ridge());
    for (i, method) in METHODS.into_iter().enumerate() {
        for (j, &c) in measured.sizes.iter().enumerate() {
            for draw in 0..draws {
                let name = format!("{}, subset {part}, {}, c = {c}, draw {draw}", measured.set.name, method.name());
                let landmarks = matrix.select(method, c, problem.ridge(), &mut ctx.rng(&name))?;
                let model = krr.fit(x, problem.y.as_ref(), &landmarks)?;
                measured.train[i][j].push(metrics::mse(model.predict(x)?.as_ref(), problem.y.as_ref())?);
                measured.test[i][j].push(metrics::mse(model.predict(x_test)?.as_ref(), problem.y_test.as_ref())?);
            }
        }
    }
    Ok(())
}

fn plot(measured: &Measured, which: &str, errors: &[Vec<Vec<f64>>]) -> Plot {
    let (x, y) = (Axis::linear("landmarks c"), Axis::log(&format!("mean squared {which} error")));
    let title = format!("{}: {which} error, with standard errors", measured.set.label);
    let mut plot = Plot::new(&format!("{which}-{}", measured.set.name), &title, x, y);
    for (i, method) in METHODS.into_iter().enumerate() {
        let point = |(j, &c): (usize, &usize)| {
            let (mean, s) = mean_and_error(&errors[i][j]);
            Point::with_range(c as f64, mean, mean - s, mean + s)
        };
        plot.line_and_points(method.name(), method.style(), measured.sizes.iter().enumerate().map(point));
    }
    if which == "test" {
        plot.horizontal("exact regression", mean_and_error(&measured.exact).0);
    }
    plot
}

fn table(all: &[Measured]) -> Table {
    let columns = ["data set", "c"].map(Column::new).into_iter().chain(METHODS.map(|m| Column::new(m.name())));
    let columns = columns.chain([Column::new("exact")]);
    let mut table = Table::new("test-error", "Mean squared test error", columns);
    for measured in all {
        for (j, &c) in measured.sizes.iter().enumerate() {
            let errors = (0..METHODS.len()).map(|i| Cell::from(mean_and_error(&measured.test[i][j]).0));
            let head = [Cell::from(measured.set.label), c.into()];
            table.push(head.into_iter().chain(errors).chain([mean_and_error(&measured.exact).0.into()]));
        }
    }
    table
}

/// Training or test errors.
type Which = fn(&Measured) -> &[Vec<Vec<f64>>];

/// Mean over the data sets and sizes of 1 − (error of `a`)/(error of `b`).
fn improvement(all: &[Measured], errors: Which, a: Method, b: Method, few: bool) -> f64 {
    let at = |method: Method| METHODS.iter().position(|m| *m == method).unwrap_or_default();
    let mut gains = vec![];
    for measured in all {
        for j in 0..if few { 1 } else { measured.sizes.len() } {
            let of = |method| mean_and_error(&errors(measured)[at(method)][j]).0;
            gains.push(1.0 - of(a) / of(b));
        }
    }
    gains.iter().sum::<f64>() / gains.len() as f64
}

fn claims(all: &[Measured]) -> Vec<Claim> {
    use Method::{KDpp, RidgeLeverage, RpCholesky, Uniform};
    let (train, test): (Which, Which) = (|m| &m.train, |m| &m.test);
    let gain = |errors, a, b| improvement(all, errors, a, b, false);
    vec![
        Claim::at_least(
            "mean improvement of the training error of kDPP over Unif",
            "more than 20 % on average",
            gain(train, KDpp, Uniform),
            0.2,
        ),
        Claim::at_least(
            "mean improvement of the test error of kDPP over Unif",
            "more than 20 % on average",
            gain(test, KDpp, Uniform),
            0.2,
        ),
        Claim::at_least(
            "mean improvement of the test error of kDPP over RegLev",
            "kDPP below RegLev",
            gain(test, KDpp, RidgeLeverage),
            0.0,
        ),
        Claim::new(
            "kDPP improves on Unif more for the fewest landmarks than on average (test error)",
            "largest for few landmarks",
            format!(
                "{} against {}",
                crate::number::number(improvement(all, test, KDpp, Uniform, true)),
                crate::number::number(gain(test, KDpp, Uniform))
            ),
            improvement(all, test, KDpp, Uniform, true) > gain(test, KDpp, Uniform),
        ),
        Claim::at_least(
            "ours added: mean improvement of the test error of RPCholesky over kDPP",
            "not in the paper",
            gain(test, RpCholesky, KDpp),
            0.0,
        ),
    ]
}
