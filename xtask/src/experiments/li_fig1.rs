//! Figures 1, 2 and 7 of Li, Jegelka & Sra 2016: relative error of Nyström approximations against the number of landmarks, on eight data sets.

use nystrom::linalg_core::PsdMatrix;
use nystrom::sketch::{Nystrom, frobenius_error};

use super::li_methods::{Matrix, Method};
use super::li_problem::{NAMES, Problem, SETS, Set, problem};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-fig1",
    paper: &papers::LI_2016,
    figure: "Figures 1, 2 and 7",
    says: "‖K − K̃‖_F/‖K − K_c‖_F against the number of landmarks c, on eight data sets: k-DPP sampling has the smallest error, above all for few \
        landmarks, up to 80 % below uniform sampling; only full adaptive sampling comes near.",
    data: NAMES,
    run,
};

const METHODS: [Method; 7] = [
    Method::Uniform,
    Method::RankK,
    Method::RidgeLeverage,
    Method::AdaptiveFull,
    Method::KDpp,
    Method::RpCholesky,
    Method::Greedy,
];

/// Relative errors on one data set: `errors[method][size]` holds one for each subset and repetition.
struct Measured {
    set: Set,
    sizes: Vec<usize>,
    errors: Vec<Vec<Vec<f64>>>,
}

impl Measured {
    fn mean(&self, method: Method, size: usize) -> f64 {
        METHODS.iter().position(|m| *m == method).map_or(f64::NAN, |i| mean_and_error(&self.errors[i][size]).0)
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, parts, draws) = ctx.pick((150, 1, 1), (700, 2, 2), (3000, 3, 1));
    let sizes: &[usize] = ctx.pick(&[5, 20], &[10, 25, 50, 100], &[20, 50, 100, 150, 200]);
    let mut out = Outcome::default();
    let mut chosen = Table::new(
        "chosen",
        "σ and λ by ten-fold cross-validation",
        ["data set", "σ", "λ (their γ)", "d_eff", "subset"].map(Column::new),
    );
    let stage = ctx.progress.begin("subsets", SETS.len() * parts);
    let mut all = vec![];
    for set in SETS {
        let errors = vec![vec![vec![]; sizes.len()]; METHODS.len()];
        let mut measured = Measured { set, sizes: sizes.to_vec(), errors };
        for part in 0..parts {
            match problem(ctx, set, part, n, 0)? {
                Ok(problem) => subset(ctx, &mut measured, &problem, part, draws, &mut chosen)?,
                Err(missing) => {
                    out.missing.push(missing.needed_for(format!("the plot of {}", set.label)));
                    break;
                }
            }
            stage.inc(1);
        }
        if !measured.errors[0][0].is_empty() {
            all.push(measured);
        }
    }
    if all.is_empty() {
        return Ok(out);
    }
    out.plots.extend(all.iter().map(plot));
    out.tables.extend([summary(&all), chosen]);
    out.claims = claims(&all);
    out.scale_note = format!(
        "{parts} subsets of {n} rows (3 of 3000 in the paper), {draws} draw(s) on each; the k-DPP chain starts from k-means++ and makes {} steps, as \
         in the paper",
        super::li_methods::STEPS
    );
    Ok(out)
}

/// All methods and sizes on one subset.
fn subset(
    ctx: &Context,
    measured: &mut Measured,
    problem: &Problem,
    part: usize,
    draws: usize,
    chosen: &mut Table,
) -> anyhow::Result<()> {
    let n = problem.x.nrows();
    let k = problem.matrix()?.block((0..n).into(), (0..n).into());
    let matrix = Matrix::new(&k)?;
    let (sigma, lambda) = (problem.chosen.sigma, problem.chosen.lambda);
    let d_eff = matrix.spectrum.d_eff(problem.ridge())?;
    chosen.push([Cell::from(measured.set.label), sigma.into(), lambda.into(), d_eff.into(), part.into()]);
    for (i, method) in METHODS.into_iter().enumerate() {
        for (j, &c) in measured.sizes.iter().enumerate() {
            for draw in 0..draws {
                let name = format!("{}, subset {part}, {}, c = {c}, draw {draw}", measured.set.name, method.name());
                let landmarks = matrix.select(method, c, problem.ridge(), &mut ctx.rng(&name))?;
                let error = frobenius_error(&matrix.dense, &Nystrom::new(&matrix.dense, &landmarks)?)?;
                measured.errors[i][j].push(error / matrix.best(c).frobenius);
            }
        }
    }
    Ok(())
}

fn plot(measured: &Measured) -> Plot {
    let (x, y) = (Axis::linear("landmarks c"), Axis::log("‖K − K̃‖_F / ‖K − K_c‖_F"));
    let title = format!("{}: relative error, with standard errors", measured.set.label);
    let mut plot = Plot::new(&format!("error-{}", measured.set.name), &title, x, y);
    for (i, method) in METHODS.into_iter().enumerate() {
        let point = |(j, &c): (usize, &usize)| {
            let (mean, s) = mean_and_error(&measured.errors[i][j]);
            Point::with_range(c as f64, mean, mean - s, mean + s)
        };
        plot.line_and_points(method.name(), method.style(), measured.sizes.iter().enumerate().map(point));
    }
    plot.horizontal("best of rank c", 1.0);
    plot
}

fn summary(all: &[Measured]) -> Table {
    let columns = ["data set", "c"].map(Column::new).into_iter().chain(METHODS.map(|m| Column::new(m.name())));
    let mut table = Table::new("relative-error", "Mean relative error ‖K − K̃‖_F/‖K − K_c‖_F", columns);
    for measured in all {
        for (j, &c) in measured.sizes.iter().enumerate() {
            let head = [Cell::from(measured.set.label), c.into()];
            table.push(head.into_iter().chain(METHODS.map(|m| measured.mean(m, j).into())));
        }
    }
    table
}

/// Geometric mean over the data sets and the given sizes of (error of `a`)/(error of `b`).
fn ratio(all: &[Measured], a: Method, b: Method, size: impl Fn(usize, usize) -> bool) -> f64 {
    let ratios: Vec<f64> = all
        .iter()
        .flat_map(|m| (0..m.sizes.len()).map(move |j| (m, j)))
        .filter(|(m, j)| size(*j, m.sizes.len()))
        .map(|(m, j)| (m.mean(a, j) / m.mean(b, j)).ln())
        .collect();
    (ratios.iter().sum::<f64>() / ratios.len() as f64).exp()
}

fn claims(all: &[Measured]) -> Vec<Claim> {
    use Method::{AdaptiveFull, KDpp, RankK, RidgeLeverage, RpCholesky, Uniform};
    let every = |_: usize, _: usize| true;
    let below = |a: Method, b: Method| {
        let text = format!("error of {} over that of {}, geometric mean of sets and sizes,", a.name(), b.name());
        Claim::at_most(&text, format!("{} below {}", a.name(), b.name()), ratio(all, a, b, every), 1.0)
    };
    let (few, many) = (ratio(all, KDpp, Uniform, |j, _| j == 0), ratio(all, KDpp, Uniform, |j, n| j + 1 == n));
    let lowest = all
        .iter()
        .flat_map(|m| (0..m.sizes.len()).map(move |j| m.mean(KDpp, j) / m.mean(Uniform, j)))
        .fold(f64::INFINITY, f64::min);
    vec![
        below(KDpp, Uniform),
        below(KDpp, RidgeLeverage),
        below(KDpp, RankK),
        Claim::new(
            "kDPP gains more over Unif for the fewest landmarks than for the most (ratio of errors)",
            "especially for few landmarks",
            format!("{} against {}", crate::number::number(few), crate::number::number(many)),
            few < many,
        ),
        Claim::at_most("smallest error of kDPP over that of Unif on any set and size", "up to 80 % lower", lowest, 0.2),
        Claim::new(
            "AdapFull within 25 % of kDPP, geometric mean",
            "only AdapFull is comparable",
            crate::number::number(ratio(all, AdaptiveFull, KDpp, every)),
            (0.8..=1.25).contains(&ratio(all, AdaptiveFull, KDpp, every)),
        ),
        Claim::at_most(
            "ours added: error of RPCholesky over that of kDPP, geometric mean,",
            "not in the paper",
            ratio(all, RpCholesky, KDpp, every),
            1.0,
        ),
    ]
}
