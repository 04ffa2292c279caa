//! The approximate scores of Alaoui & Mahoney 2015. Theorem 4: both bounds, measured over a grid of
//! p and ε. Section 3.5: the cost, O(np²) against O(n³) of exact scores, by fitted exponents.

use nystrom::kernels::Bernoulli;
use nystrom::linalg_core::SymmetricEigen;

use crate::lab::*;

const RHO: f64 = 0.1;
const EPSILONS: [f64; 5] = [0.05, 0.1, 0.2, 0.3, 0.45];
const COLUMNS: [usize; 6] = [10, 20, 40, 80, 160, 320];
/// Rounding allowance of "l̃ ≤ l".
const SLACK: f64 = 1e-9;

const BELOW: Measure = Measure::new("max (l − l̃)", "max over i of l − l̃").log();
const ABOVE: Measure = Measure::named("max (l̃ − l)");
/// 2ε at the ε that the rule allows with p columns.
const BOUND: Measure = Measure::named("2ε");
/// Whether a draw breaks the bound.
const ADDITIVE: Measure = Measure::named("additive failures");
const MULTIPLICATIVE: Measure = Measure::named("multiplicative failures");

const GAUSSIAN: Set = Set { label: "Gaussian kernel on normal points", name: "gaussian" };
const BERNOULLI: Set = Set { label: "Bernoulli kernel on equispaced points", name: "bernoulli" };
const OUTLIER: Set = Set { label: "Linear kernel, one outlying row", name: "outlier" };
const PROBLEMS: [Set; 3] = [GAUSSIAN, BERNOULLI, OUTLIER];

/// What all draws of a problem share.
struct Prepared {
    k: Mat<f64>,
    /// σ_n.
    smallest: f64,
    /// At which the rule asks for n/2 columns at ε = 0.45: the smallest problem in which it saves
    /// anything.
    lambda: f64,
    k_bar: f64,
    /// Exact scores at the λ of every ε, and at λ/100.
    exact: Vec<Vec<f64>>,
}

impl Prepared {
    fn new(ctx: &Context, problem: &Set, n: usize) -> anyhow::Result<Self> {
        let rng = &mut ctx.rng(problem.label);
        let (x, kernel): (Mat<f64>, Box<dyn Kernel<f64>>) = match *problem {
            GAUSSIAN => (random::standard_normal(2, n, rng), Box::new(Gaussian::new(1.0)?)),
            BERNOULLI => {
                let x = Mat::from_fn(1, n, |_, i| i as f64 / n as f64);
                (x, Box::new(Bernoulli::new(1)?))
            }
            _ => {
                let z = random::standard_normal::<f64>(200, n, rng);
                let scale = |i| if i == 0 { 10.0 } else { 0.07 };
                let x = Mat::from_fn(200, n, |k, i| z[(k, i)] / 200.0_f64.sqrt() * scale(i));
                (x, Box::new(Linear::new()))
            }
        };
        let lazy = KernelMatrix::new(kernel, Points::from_cols(x.as_ref()))?;
        let (k, k_bar) = (lazy.block((0..n).into(), (0..n).into()), lazy.trace() / n as f64);
        let smallest = *SymmetricEigen::new(k.as_ref())?.values().last().unwrap_or(&0.0);
        let lambda =
            k_bar / (0.45 * ((n as f64 / 2.0) / (8.0 * (n as f64 / RHO).ln()) - 1.0 / 6.0));
        let lambdas =
            EPSILONS.map(|epsilon| lambda * 0.45 / epsilon).into_iter().chain([lambda / 100.0]);
        let exact = lambdas.map(|lambda| Ok(exact_scores(&lazy, Ridge::PerSample(lambda))?.scores));
        let exact = exact.collect::<anyhow::Result<_>>()?;
        Ok(Prepared { k, smallest, lambda, k_bar, exact })
    }
}

pub fn theorem4(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, draws) = (ctx.pick(100, 500, 500), ctx.pick(5, 100, 200));
    let grid = Grid::new(ctx, "bounds", &PROBLEMS, [(0, draws)]).parallel();
    let results = grid.run_on(|ctx, problem| Prepared::new(ctx, problem, n), cell)?;
    let mut out =
        results.outcome(format!("n = {n}, {draws} draws a cell; the theorem is for any n"));
    let here = results.on(&OUTLIER);
    let failures = EPSILONS.map(|epsilon| here.get(epsilon, FAST_LEVERAGE, ADDITIVE));
    let words = "share of draws that break the additive bound at the rule's p";
    let binding = here.measured(words, largest(failures));
    out.claims.push(binding.at_most(format!("≤ ρ = {RHO}"), RHO).theorem());
    for problem in &PROBLEMS {
        let here = results.on(problem);
        // at one λ, the largest deviation as p grows, beside the bound that the rule allows there
        let title = format!("{}: largest underestimation of a score", problem.label);
        let (id, x) = (format!("{}-deviation", problem.name), Axis::log("number of columns p"));
        let mut plot = Plot::new(&id, &title, x, BELOW.axis());
        let measured = COLUMNS.map(|p| {
            let sample = here.sample(p, FAST_LEVERAGE, BELOW);
            let [median, low, high] = [0.5, 0.05, 0.95].map(|q| sample.quantile(q));
            Point::with_range(p as f64, median, low, high)
        });
        plot.line_and_points("measured (median, 5–95 %)", FAST_LEVERAGE.key, measured);
        let at = |p| Point::new(p, here.sample(p, THEORY, BOUND).quantile(0.5));
        let bound = here.abscissae(THEORY, BOUND).into_iter().map(at);
        plot.line("bound 2ε at this p, where ε < ½", THEORY.key, bound);
        out.plots.push(plot);
        let (id, title) =
            (format!("{}-rule", problem.name), format!("{}: at the rule's p", problem.label));
        let (facts, measures) = (results.facts(), [ADDITIVE, MULTIPLICATIVE]);
        let table = results.table([&id, &title], [problem], ["", "ε", ""], &facts, &measures);
        out.tables.extend(table.extra(Column::new("max (l − l̃), 95 %"), |at| {
            here.sample(at.x, FAST_LEVERAGE, BELOW).quantile(0.95)
        }));
        let most = here.most(FAST_LEVERAGE, ABOVE);
        let above = here.measured("largest l̃ − l over all draws", most);
        out.claims.push(above.at_most("≤ 0", SLACK).theorem());
    }
    Ok(out)
}

/// One draw of approximate scores for every ε at the rule's p, and for every p at one λ.
fn cell(prepared: &Prepared, trial: &mut Trial<'_, Set>) -> anyhow::Result<()> {
    let (k, n) = (Dense::new(prepared.k.as_ref())?, prepared.k.nrows());
    for (epsilon, exact) in EPSILONS.into_iter().zip(&prepared.exact) {
        let lambda = prepared.lambda * 0.45 / epsilon;
        let ridge = Ridge::PerSample(lambda);
        let p = AlaouiMahoney::for_accuracy(n, k.trace(), ridge, epsilon, RHO)?.columns;
        let rng = &mut trial.rng(&format!("ε = {epsilon}"));
        let [below, above, ratio] =
            deviations(exact, &AlaouiMahoney { columns: p }.scores(&k, ridge, rng)?);
        let shrink = n as f64 * lambda * epsilon; // the factor is (σ_n − nλε)/(σ_n + nλε)
        let factor = (prepared.smallest - shrink) / (prepared.smallest + shrink);
        let additive = f64::from(below > 2.0 * epsilon || above > SLACK);
        let multiplicative = f64::from(ratio < factor - SLACK);
        let measured = [(BELOW, below), (ADDITIVE, additive), (MULTIPLICATIVE, multiplicative)];
        trial.put_all(epsilon, FAST_LEVERAGE, measured);
        let largest = exact.iter().copied().fold(0.0, f64::max);
        let facts = [("λ", lambda), ("p by the rule", p as f64), ("largest l", largest)];
        trial.facts(epsilon, facts);
        trial.facts(epsilon, [("multiplicative factor", factor)]);
    }
    for p in COLUMNS {
        let ridge = Ridge::PerSample(prepared.lambda / 100.0);
        let scores =
            AlaouiMahoney { columns: p }.scores(&k, ridge, &mut trial.rng(&format!("p = {p}")))?;
        let [below, above, _] = deviations(&prepared.exact[EPSILONS.len()], &scores);
        trial.put_all(p, FAST_LEVERAGE, [(BELOW, below), (ABOVE, above)]);
        // the ε that the rule allows; negative where it allows none
        let logarithm = (n as f64 / RHO).ln();
        let epsilon =
            prepared.k_bar / (prepared.lambda / 100.0 * (p as f64 / (8.0 * logarithm) - 1.0 / 6.0));
        if (0.0..0.5).contains(&epsilon) {
            trial.put(p, THEORY, BOUND, 2.0 * epsilon);
        }
    }
    Ok(())
}

/// max_i (l_i − l̃_i), max_i (l̃_i − l_i), min_i l̃_i/l_i.
fn deviations(exact: &[f64], approximate: &[f64]) -> [f64; 3] {
    let pairs = || exact.iter().zip(approximate);
    [
        pairs().map(|(l, a)| l - a).fold(f64::NEG_INFINITY, f64::max),
        pairs().map(|(l, a)| a - l).fold(f64::NEG_INFINITY, f64::max),
        pairs().map(|(l, a)| a / l).fold(f64::INFINITY, f64::min),
    ]
}

const RIDGE: Ridge<f64> = Ridge::PerSample(1e-4);
/// Timings of each size; their median counts.
const REPEATS: usize = 3;
const TIME: Measure = Measure::time("time", "time of all n scores / s");

/// A label, a method, what grows (n or p), and its values.
type Series<'a> = (&'a str, Method, &'a str, &'a [usize]);

labelled!(Series<'_>, |series| series.0.into());

pub fn time(ctx: &Context) -> anyhow::Result<Outcome> {
    let exact: &[usize] = ctx.pick(
        &[100, 200],
        ctx.short(&[1000, 1500, 2250, 3375], &[1000, 1500, 2250, 3375, 5000]),
        &[1000, 2000, 4000, 8000, 12_000],
    );
    let fast: &[usize] = ctx.pick(
        &[500, 1000],
        ctx.short(&[30_000, 60_000, 120_000], &[30_000, 60_000, 120_000, 240_000]),
        &[30_000, 90_000, 270_000, 810_000],
    );
    let in_p: &[usize] = ctx.pick(&[20, 40], &[400, 600, 900, 1350], &[400, 800, 1600, 3200]);
    // where the other grows
    let (n_fixed, p_fixed) = ctx.pick((500, 30), (30_000, 300), (30_000, 300));
    let series = [
        ("exact scores", EXACT.called("exact"), "n", exact),
        ("fast scores, n grows", FAST_LEVERAGE, "n", fast),
        ("fast scores, p grows", FAST_LEVERAGE, "p", in_p),
    ];
    let results = Grid::new(ctx, "timings", &series, [(0, REPEATS)]).run(|trial| {
        let (_, method, grows, values) = *trial.setting;
        for &size in values {
            let (n, columns) = if grows == "n" { (size, p_fixed) } else { (n_fixed, size) };
            let rng = &mut trial.rng(&format!("{size}"));
            let x = random::standard_normal::<f64>(3, n, rng);
            let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_cols(x.as_ref()))?;
            let estimator: &dyn RidgeLeverage<f64> =
                if method == EXACT { &Exact } else { &AlaouiMahoney { columns } };
            trial.timed(size, method, TIME, || Ok(estimator.scores(&k, RIDGE, rng)?))?;
        }
        Ok(())
    })?;

    let mut out = results.outcome(format!(
        "The paper gives no timings, only the orders; sizes are ours, {REPEATS} timings of each."
    ));
    for s @ (label, _, grows, _) in &series {
        let (id, title) = (label.replace(", ", "-").replace(' ', "-"), format!("{label}: time"));
        out.plots.extend(results.on(s).plot(&id, &title, Axis::log(grows), TIME));
    }
    let keys = ["scores", "n or p", ""];
    out.tables.extend(results.table(["time", "Medians"], &series, keys, &[], &[TIME]));
    let [exact, fast, in_p] = series.each_ref().map(|s| results.on(s).exponent(s.1, TIME));
    // ours: the paper prints the orders, sizes and tolerances are ours
    out.claims = vec![
        measured("exponent of n, fast scores", fast).between("1", [0.85, 1.15]),
        measured("exponent of p, fast scores", in_p).between("at most 2", [1.0, 2.2]),
        measured("exponent of n, exact scores", exact).between("3", [2.5, 3.5]),
    ];
    out.values = vec![("p", p_fixed.to_string()), ("n", n_fixed.to_string())];
    Ok(out)
}
