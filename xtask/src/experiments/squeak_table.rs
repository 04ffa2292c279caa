//! The comparison table of the SQUEAK papers, measured: time, space, accuracy and incrementality of
//! seven ways to find columns.

use std::collections::BTreeSet;

use nystrom::leverage::{Dictionary, ExactSpectrum, Projector};
use nystrom::linalg_core::random;
use nystrom::prelude::*;

use super::squeak_methods::{
    AS_MANY, CHOOSE, COLUMNS, COPIES, Choice, D_MOF_COLUMNS, EPSILON, EXACT, FIT, FLOATS, HELD,
    Problem, Reach, TIME, VALUES, VALUES_TO_CHOOSE, WAYS, Way,
};
use super::squeak_problem::{self, GAMMA, NOISE, SqueakProblem};
use super::truth::{Truth, standard};
use crate::datasets::standardized;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Outcome, Table, measured};
use crate::lab::{D_EFF, D_MOF, Draw, Grid, Measure, Results};
use crate::method::{INK, Method, PROBLEM, SQUEAK};

const ACCURACY: Measure = Measure::named("ε");
const RISK: Measure = Measure::named("risk ratio");
const OVER: Measure = Measure::named("max τ̃/τ");
const UNDER: Measure = Measure::named("min τ̃/τ");
const SYNTHETIC: &str = "a crowd and 40 far points";
const CCPP: &str = "CCPP";

/// The numbers of points, by the reach of a method.
fn sizes(ctx: &Context) -> [&'static [usize]; 3] {
    [
        ctx.pick(&[60, 120], ctx.short(&[300, 600, 1200], &[400, 800, 1600]), &[1000, 2000, 4000]),
        ctx.pick(
            &[60, 120],
            ctx.short(&[600, 1200, 2400], &[800, 1600, 3200]),
            &[2000, 4000, 8000],
        ),
        ctx.pick(
            &[200, 400],
            ctx.short(&[1500, 6000, 24_000], &[2000, 8000, 32_000]),
            &[10_000, 40_000, 160_000, 640_000],
        ),
    ]
}

/// Where all methods are judged: at the largest of the slow ones' numbers of points.
fn judged_at(ctx: &Context) -> usize {
    sizes(ctx)[Reach::Slow as usize].iter().copied().fold(0, usize::max)
}

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (draws, all) = (ctx.pick(1, 2, 5), BTreeSet::from_iter(sizes(ctx).concat()));
    let synthetic = Grid::new(ctx, "problems", &[SYNTHETIC]).at(&Vec::from_iter(all));
    let synthetic = synthetic.repetitions(draws).run(on_synthetic)?;
    let n = ctx.pick(120, 1000, 4000);
    let real = Grid::new(ctx, "rows of CCPP", &[CCPP]).sizes(&[(n, draws)]).run_on(
        |ctx, _| {
            let data = ctx.dataset("ccpp")?;
            Ok((standardized(data.x.as_ref())?, data.y))
        },
        |(x, y), draw| on_rows(draw, x, y),
    )?;

    let mut out = synthetic.outcome(format!(
        "The paper has the orders only; problems and sizes are ours, {draws} draws of each."
    ));
    out.missing.extend(real.missing.clone());
    for (id, setting, results, n) in
        [("synthetic", SYNTHETIC, &synthetic, judged_at(ctx)), ("ccpp", CCPP, &real, n)]
    {
        if !results.measured(&[setting]).is_empty() {
            out.tables.push(judged(id, setting, results, n));
            out.claims.extend(claims_on_risk(setting, results, n));
        }
    }
    out.claims.extend(claims_on_columns(&synthetic, judged_at(ctx)));
    out.claims.extend(WAYS.iter().flat_map(|way| claims_on_growth(&synthetic, way)));
    for (id, title, measure) in [
        ("time", "Choosing columns and regression through them", TIME),
        ("space", "Most numbers held at one time", FLOATS),
    ] {
        let n = Axis::log("number of points n");
        out.plots.extend(synthetic.on(&SYNTHETIC).plot(id, title, n, measure));
    }
    out.tables.push(growth(&synthetic));
    out.values = vec![("copies", COPIES.to_string()), ("epsilon", EPSILON.to_string())];
    Ok(out)
}

fn on_synthetic(draw: &mut Draw<'_>) -> anyhow::Result<()> {
    let (n, sizes, is_judged) = (draw.size, sizes(draw.ctx), draw.size == judged_at(draw.ctx));
    let has = |reach: Reach| sizes[reach as usize].contains(&n);
    let rng = &mut draw.rng("problem");
    let made = SqueakProblem::new(n, rng);
    let y = made.y(rng);
    let told = has(Reach::Slow) || has(Reach::Batch);
    let mut problem =
        Problem::new(made.first(n), &y, squeak_problem::kernel()?, squeak_problem::ridge(), told)?;
    let wanted = |way: &Way| has(way.reach) || is_judged || (way.method == SQUEAK && told);
    let choices = measure(draw, &mut problem, wanted)?;
    if is_judged {
        let truth = Truth::known(&problem.matrix()?, problem.ridge, made.f_star.clone(), NOISE)?;
        judge(draw, &problem, &truth, &choices)?;
    }
    Ok(())
}

fn on_rows(draw: &mut Draw<'_>, x: &Mat<f64>, y: &[f64]) -> anyhow::Result<()> {
    let rows = random::uniform_subset(y.len(), draw.size.min(y.len()), &mut draw.rng("problem"))?;
    let x = Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)]);
    let targets: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
    let y = standard(&targets);
    let ridge = Ridge::Absolute(GAMMA);
    let mut problem =
        Problem::new(Points::from_rows(x.as_ref()), &y, Gaussian::new(1.0)?, ridge, true)?;
    let choices = measure(draw, &mut problem, |_| true)?;
    let truth = Truth::plug_in(&problem.matrix()?, ridge, &targets)?;
    judge(draw, &problem, &truth, &choices)
}

/// Every way that is wanted, SQUEAK first.
fn measure(
    draw: &mut Draw<'_>,
    problem: &mut Problem<'_>,
    wanted: impl Fn(&Way) -> bool,
) -> anyhow::Result<Vec<(&'static Way, Choice)>> {
    draw.facts([(D_EFF, problem.d_eff), (D_MOF, problem.d_mof)]);
    let mut choices = vec![];
    for way in WAYS.iter().filter(|way| wanted(way)) {
        let choice = problem.measure(way.method, draw)?;
        if way.method == SQUEAK {
            problem.m = choice.dictionary.as_ref().map_or(0, Dictionary::len);
        }
        choices.push((way, choice));
    }
    Ok(choices)
}

/// What each choice of columns is worth.
fn judge(
    draw: &mut Draw<'_>,
    problem: &Problem<'_>,
    truth: &Truth,
    choices: &[(&'static Way, Choice)],
) -> anyhow::Result<()> {
    let (k, ridge) = (problem.matrix()?, problem.ridge);
    let spectrum = ExactSpectrum::new(&k)?;
    let tau = spectrum.scores(ridge)?.scores;
    let full = Dictionary::full(problem.n())?;
    for (way, choice) in choices {
        let dictionary = choice.dictionary.as_ref().unwrap_or(&full);
        let scores = match &choice.scores {
            Some(scores) => scores.clone(),
            None => Projector::new(&k, dictionary, ridge)?.scores(&k, (0..k.dim()).into())?,
        };
        let ratios = || scores.iter().zip(&tau).map(|(a, b)| a / b);
        draw.put(draw.size, way.method, OVER, ratios().fold(0.0, f64::max));
        draw.put(draw.size, way.method, UNDER, ratios().fold(f64::INFINITY, f64::min));
        if choice.dictionary.is_some() {
            let nystrom = Nystrom::regularized(&k, dictionary, ridge)?;
            draw.put(draw.size, way.method, RISK, truth.ratio(&nystrom, ridge)?);
            draw.put(draw.size, way.method, ACCURACY, spectrum.accuracy(dictionary, ridge)?);
        }
    }
    Ok(())
}

/// The table at one n.
fn judged(id: &str, setting: &'static str, results: &Results, n: usize) -> Table {
    let measures =
        [CHOOSE, FIT, COLUMNS, HELD, VALUES_TO_CHOOSE, VALUES, FLOATS, ACCURACY, RISK, OVER, UNDER];
    let of = |method, measure| results.on(&setting).get(n, method, measure).value;
    let facts = [D_EFF, D_MOF].map(|fact| of(PROBLEM, fact));
    let title = format!("{setting}: n = {n}, d_eff = {:.1}, d_mof = {:.0}", facts[0], facts[1]);
    let number = |method, measure| Some(of(method, measure)).filter(|value| !value.is_nan());
    table(id, &title, &measures, number, &[(2, "incremental")])
}

/// Exponents of n, beside the papers' orders.
fn growth(results: &Results) -> Table {
    let exponent = |method, measure| Some(results.on(&SYNTHETIC).exponent(method, measure).value);
    let measures = [TIME, VALUES, FLOATS, COLUMNS];
    let printed = [(0, "time (papers)"), (1, "space (papers)")];
    table("growth", "Exponents of n, fitted, at a fixed γ", &measures, exponent, &printed)
}

/// A row for every way: numbers of ours, words of the papers.
fn table(
    id: &str,
    title: &str,
    measures: &[Measure],
    number: impl Fn(Method, Measure) -> Option<f64>,
    printed: &[(usize, &str)],
) -> Table {
    let columns = ["method"].into_iter().chain(measures.iter().map(|m| m.key)).map(Column::new);
    let papers = printed.iter().map(|(_, name)| Column::paper(name));
    let mut table = Table::new(id, title, columns.chain(papers));
    for Way { method, printed: words, .. } in &WAYS {
        let numbers = measures.iter().map(|&measure| Cell::from(number(*method, measure)));
        let words = printed.iter().map(|(which, _)| Cell::from(words[*which]));
        table.push([method.name.into()].into_iter().chain(numbers).chain(words));
    }
    table
}

/// The table's accuracy losses at ε = ½. Ours: far fewer columns than the theorems ask for.
fn claims_on_risk(setting: &'static str, results: &Results, n: usize) -> Vec<Claim> {
    let (here, judged) = (results.on(&setting), WAYS.iter().map(|way| way.method));
    let claim = |method: Method| {
        let words =
            format!("risk of KRR with the columns of {} over that of exact KRR", method.name);
        let (paper, bound) = if method == D_MOF_COLUMNS {
            ("1 + 4ε (Bach) at ε = ½", 1.0 + 4.0 * EPSILON)
        } else {
            ("(1 + 2ε)² at ε = ½", (1.0 + 2.0 * EPSILON).powi(2))
        };
        here.measured(words, here.get(n, method, RISK)).at_most(paper, bound)
    };
    judged.filter(|method| ![EXACT, AS_MANY].contains(method)).map(claim).collect()
}

/// What the synthetic problem is made for: d_mof near its limit, and uniform columns that miss the
/// far points.
fn claims_on_columns(results: &Results, n: usize) -> [Claim; 2] {
    let d_mof = results.on(&SYNTHETIC).get(n, PROBLEM, D_MOF).over(n as f64 / (1.0 + GAMMA));
    let missed = results.on(&SYNTHETIC).compare(("n", n), RISK, AS_MANY, SQUEAK);
    [
        measured("d_mof over its limit n/(1 + γ)", d_mof).at_least("d_mof may be n", 0.9),
        missed.at_least("above 1: uniform columns must number d_mof", 1.0),
    ]
}

/// Ours: the papers print orders, the tolerances are ours.
fn claims_on_growth(results: &Results, way: &Way) -> Vec<Claim> {
    let exponent = |measure| results.on(&SYNTHETIC).exponent(way.method, measure);
    let words = |what: &str| format!("{}: exponent of n in {what}", way.method.name);
    let claim = |what, paper, value, most| measured(words(what), value).at_most(paper, most);
    if way.method == EXACT {
        return vec![claim("floats", "2", exponent(FLOATS), 2.1)];
    }
    if way.method == INK {
        let values = exponent(VALUES_TO_CHOOSE);
        return vec![measured(words("kernel values of choosing"), values).near(2.0, 0.05)];
    }
    if way.reach != Reach::Stream {
        return vec![];
    }
    let columns = exponent(COLUMNS);
    let left = exponent(TIME).minus(columns.map(|c| 3.0 * c, 3.0));
    let values = exponent(VALUES).minus(columns);
    vec![
        claim("time, less three times that in columns", "1: Õ(n d_eff³)", left, 1.1),
        claim("kernel values, less that in columns", "1", values, 1.1),
        claim("columns", "0: d_eff alone", columns, 0.25),
    ]
}
