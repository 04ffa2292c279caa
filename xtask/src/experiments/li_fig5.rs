//! Figures 5, 9, 10 and 11 of Li, Jegelka & Sra 2016: error of the Nyström approximation and of the regression along the swap chain.

use nystrom::dpp::{SwapChain, SwapRule};
use nystrom::kernels::Points;
use nystrom::krr::{NystromKrr, metrics};
use nystrom::linalg_core::{Dense, PsdMatrix};
use nystrom::sketch::{Nystrom, Uniform, frobenius_error};

use super::li_problem::{Problem, SETS, Set, problem};
use super::papers;
use crate::experiment::{Axis, Cell, Claim, Column, Context, Experiment, Outcome, Plot, Point, Table};
use crate::lab::statistics::mean_and_error;

pub const EXPERIMENT: Experiment = Experiment {
    name: "li-fig5",
    paper: &papers::LI_2016,
    figure: "Figures 5, 9, 10 and 11",
    says: "On Ailerons, from a random start, the errors along the chain fall within the first few hundred steps and then stay, for 50, 100 and 200 \
        landmarks; the number of rows, 1000 or 4000, hardly matters.",
    data: &["ailerons"],
    run,
};

const AILERONS: Set = SETS[1];
/// The chain is looked at after so many steps.
const LOOKS: [usize; 12] = [0, 25, 50, 100, 200, 300, 500, 750, 1000, 2000, 3500, 5000];
/// "A few hundred": what must have happened by then.
const FEW_HUNDRED: usize = 500;

/// Errors of one n and c: `frobenius[look]` and its siblings hold one for each chain.
struct Trace {
    n: usize,
    c: usize,
    frobenius: Vec<Vec<f64>>,
    train: Vec<Vec<f64>>,
    test: Vec<Vec<f64>>,
}

impl Trace {
    fn mean(&self, look: usize) -> f64 {
        mean_and_error(&self.frobenius[look]).0
    }

    /// The share of the whole fall of the mean error that has happened after `look`.
    fn fallen(&self, look: usize) -> f64 {
        (self.mean(0) - self.mean(look)) / (self.mean(0) - self.mean(LOOKS.len() - 1))
    }

    /// Steps until nine tenths of the fall.
    fn steps_to_fall(&self) -> usize {
        (0..LOOKS.len()).find(|&look| self.fallen(look) >= 0.9).map_or(usize::MAX, |look| LOOKS[look])
    }
}

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (ns, chains) = ctx.pick(([100, 200], 1), ([1000, 3000], 4), ([1000, 4000], 10));
    let sizes: &[usize] = ctx.pick(&[5, 10, 20], &[50, 100, 200], &[50, 100, 200]);
    let mut out = Outcome::default();
    let mut traces = vec![];
    let stage = ctx.progress.begin("chains", ns.len() * sizes.len() * chains);
    for n in ns {
        let problem = match problem(ctx, AILERONS, 0, n, n / 4)? {
            Ok(problem) => problem,
            Err(missing) => {
                out.missing.push(missing.needed_for("everything"));
                return Ok(out);
            }
        };
        let k = problem.matrix()?.block((0..n).into(), (0..n).into());
        let k = Dense::new(k.as_ref())?;
        for &c in sizes {
            let empty = vec![vec![]; LOOKS.len()];
            let mut trace = Trace { n, c, frobenius: empty.clone(), train: empty.clone(), test: empty };
            for chain in 0..chains {
                follow(ctx, &mut trace, &problem, &k, chain)?;
                stage.inc(1);
            }
            traces.push(trace);
        }
    }
    out.plots = vec![
        plot("frobenius", "‖K − K̃‖_F / ‖K‖_F", &traces, |t| &t.frobenius),
        plot("train", "mean squared training error", &traces, |t| &t.train),
        plot("test", "mean squared test error", &traces, |t| &t.test),
    ];
    out.tables.push(table(&traces));
    out.claims = claims(&traces);
    out.scale_note = format!(
        "N = {} and {} (1000 and 4000 in the paper), c = {sizes:?}, {chains} chains of 5000 steps from uniform starts",
        ns[0], ns[1]
    );
    Ok(out)
}

/// One chain, looked at now and then.
fn follow(ctx: &Context, trace: &mut Trace, problem: &Problem, k: &Dense<'_, f64>, chain: usize) -> anyhow::Result<()> {
    let Trace { n, c, .. } = *trace;
    let rng = &mut ctx.rng(&format!("N = {n}, c = {c}, chain {chain}"));
    let mut walk = SwapChain::start(k, c, &Uniform::default(), SwapRule::LazyGibbs, rng)?;
    let krr = NystromKrr::new(problem.kernel()?, problem.ridge());
    let norm = (0..n).map(|j| (0..n).map(|i| k.as_ref()[(i, j)].powi(2)).sum::<f64>()).sum::<f64>().sqrt();
    let mut done = 0;
    for (look, &steps) in LOOKS.iter().enumerate() {
        walk.run(steps - done, rng)?;
        done = steps;
        let landmarks = walk.landmarks();
        trace.frobenius[look].push(frobenius_error(k, &Nystrom::new(k, &landmarks)?)? / norm);
        let model = krr.fit(problem.points(), problem.y.as_ref(), &landmarks)?;
        trace.train[look].push(metrics::mse(model.predict(problem.points())?.as_ref(), problem.y.as_ref())?);
        let f = model.predict(Points::from_rows(problem.x_test.as_ref()))?;
        trace.test[look].push(metrics::mse(f.as_ref(), problem.y_test.as_ref())?);
    }
    Ok(())
}

fn plot(id: &str, what: &str, traces: &[Trace], errors: fn(&Trace) -> &[Vec<f64>]) -> Plot {
    let title = format!("{what} along the chain, Ailerons, with standard errors");
    let mut plot = Plot::new(id, &title, Axis::linear("steps of the chain"), Axis::log(what));
    // One shade for each pair of c and N.
    let looks = ["level-1", "level-2", "level-3", "level-4", "level-5", "level-6"];
    for (trace, look) in traces.iter().zip(looks) {
        let point = |(&steps, errors): (&usize, &Vec<f64>)| {
            let (mean, s) = mean_and_error(errors);
            Point::with_range(steps as f64, mean, mean - s, mean + s)
        };
        let name = format!("c = {}, N = {}", trace.c, trace.n);
        plot.line_and_points(&name, look, LOOKS.iter().zip(errors(trace)).map(point));
    }
    plot
}

fn table(traces: &[Trace]) -> Table {
    let columns = [
        "N",
        "c",
        "error at the start",
        "after 500 steps",
        "after 5000",
        "share of the fall by 500 steps",
        "steps to 90 % of it",
    ];
    let mut table = Table::new("fall", "How fast the relative Frobenius error falls", columns.map(Column::new));
    for trace in traces {
        let few = LOOKS.iter().position(|&s| s == FEW_HUNDRED).unwrap_or_default();
        let numbers = [trace.mean(0), trace.mean(few), trace.mean(LOOKS.len() - 1), trace.fallen(few)];
        let cells = [Cell::from(trace.n), trace.c.into()].into_iter().chain(numbers.map(Cell::from));
        table.push(cells.chain([trace.steps_to_fall().into()]));
    }
    table
}

fn claims(traces: &[Trace]) -> Vec<Claim> {
    let few = LOOKS.iter().position(|&s| s == FEW_HUNDRED).unwrap_or_default();
    let mut claims: Vec<Claim> = traces
        .iter()
        .map(|t| {
            let what = format!("N = {}, c = {}: share of the error's fall that has happened by step 500", t.n, t.c);
            Claim::at_least(&what, "falls within the first few hundred steps", t.fallen(few), 0.8)
        })
        .collect();
    for small in traces.iter().filter(|t| t.n == traces[0].n) {
        if let Some(large) = traces.iter().find(|t| t.c == small.c && t.n > small.n) {
            let ratio = large.steps_to_fall() as f64 / small.steps_to_fall() as f64;
            let what =
                format!("c = {}: steps to nine tenths of the fall, N = {} over N = {},", small.c, large.n, small.n);
            claims.push(Claim::at_most(&what, "mixing hardly depends on N", ratio, 2.0));
        }
    }
    claims
}
