//! Figures 1, 2 and 7 of Li, Jegelka & Sra 2016: relative error of Nyström approximations against
//! the number of landmarks, on eight data sets.

use nystrom::sketch::Nystrom;

use super::li_methods::{
    ADAP_FULL, GREEDY, Improvements, KDPP, KDPP_EXACT, LEV, Matrix, REG_LEV, RP_CHOLESKY, STEPS,
    UNIF, sizes,
};
use super::li_problem::{AtHand, FROBENIUS, SETS, SPECTRAL, Set, Whole, relative_errors};
use crate::experiment::{Claim, Context, Outcome, measured};
use crate::lab::{D_EFF, Draw, Grid, Measure};
use crate::method::Method;

const METHODS: [Method; 8] = [UNIF, LEV, REG_LEV, ADAP_FULL, KDPP, KDPP_EXACT, RP_CHOLESKY, GREEDY];

const NORMS: [(Measure, &str, &str); 2] =
    [(FROBENIUS, "error", "Frobenius"), (SPECTRAL, "spectral", "spectral")];
const SIGMA: Measure = Measure::named("σ");
const LAMBDA: Measure = Measure::named("λ (their γ)");

pub fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (n, subsets) = ctx.pick((150, 2), (700, 4), (3000, 3));
    let found = AtHand::of(ctx, &SETS)?;
    let results = Grid::new(ctx, "subsets", &found.sets)
        .sizes(&[(n, subsets)])
        .parallel()
        .run_on(Whole::new, cell)?;
    let note = format!(
        "{subsets} subsets of {n} rows (3 of 3000 in the paper), one draw on each; the k-DPP chain \
         starts from k-means++ and makes {STEPS} steps, as in the paper"
    );
    let mut out = found.outcome(&results, note);
    let improvements = Improvements { results: &results, sets: &found.sets, sizes: sizes(ctx) };
    for set in &found.sets {
        out.plots.extend(NORMS.into_iter().filter_map(|(error, id, norm)| {
            let what = format!("relative error in the {norm} norm");
            improvements.on_set(set, (error, id), &what, Some(("best of rank c", 1.0)))
        }));
    }
    for (error, id, norm) in NORMS {
        let of = format!(" in the {norm} norm");
        out.plots.push(improvements.plot((error, id), &of, &METHODS));
        let (id, title) = (format!("relative-{id}"), format!("Mean {}", error.label));
        let table = results.table(&id, &title, &found.sets, &[error]);
        out.tables.extend(table.by_setting("data set").by_x("c").build());
    }
    let title = "σ and λ by ten-fold cross-validation";
    let chosen = results.table("chosen", title, &found.sets, &[SIGMA, LAMBDA, D_EFF]);
    out.tables.extend(chosen.by_setting("data set").build());
    out.claims = found.judge_averages(claims(&improvements));
    Ok(out)
}

/// All methods and sizes on one subset.
fn cell(whole: &Whole, draw: &mut Draw<'_, Set>) -> anyhow::Result<()> {
    let problem = whole.subset(draw.repetition, draw.size, 0)?;
    let k = problem.stored()?;
    let matrix = Matrix::new(&k, problem.ridge())?;
    draw.facts([(SIGMA, problem.chosen.sigma), (LAMBDA, problem.chosen.lambda)]);
    draw.facts([(D_EFF, matrix.spectrum.d_eff(problem.ridge())?)]);
    for method in METHODS {
        for &c in sizes(draw.ctx) {
            let rng = &mut draw.rng(&format!("{}, c = {c}", method.key));
            let l = Nystrom::new(&matrix.dense, &matrix.select(method, c, rng)?)?;
            let errors = relative_errors(&matrix.dense, &l, &matrix.best(c), rng)?;
            draw.put_all(c, method, errors);
        }
    }
    Ok(())
}

fn claims(improvements: &Improvements<'_>) -> Vec<Claim> {
    let of = &improvements.words();
    // a method improves more on uniform sampling than sampling by either score
    let lowest = |of: &str, error, method: Method, words: &'static str| {
        [LEV, REG_LEV].map(|rival| {
            let [ours, theirs] = [method, rival].map(|one| improvements.mean(error, one, UNIF));
            let (ours_name, theirs_name) = (method.name, rival.name);
            let less = format!("improvement of {ours_name} over Unif less that of {theirs_name}");
            measured(format!("{of}: {less}"), ours.minus(theirs)).at_least(words, 0.0)
        })
    };
    let ratio = |of: &str, error, [a, b]: [Method; 2]| {
        let text = format!("{of}: error of {} over that of {}, geometric mean", a.name, b.name);
        measured(text, improvements.ratio(error, a, b))
    };
    let exact = KDPP_EXACT.called("exact k-DPP draws");
    let chain = [KDPP.called("3000 steps of the chain"), KDPP_EXACT.called("exact draws")];
    let (mut claims, mut exactly) = (vec![], vec![]);
    for (error, _, norm) in NORMS {
        let of = &format!("{of}, {norm} norm");
        let on_par = |k_dpp, words: &'static str| {
            ratio(of, error, [ADAP_FULL, k_dpp]).between(words, [0.8, 1.25])
        };
        claims.extend(lowest(of, error, KDPP, "kDPP has the lowest error").map(Claim::printed));
        let text = format!("{of}: largest improvement of kDPP over Unif");
        // ours: "up to 80 %" is printed, the tolerance is not
        claims.push(measured(text, improvements.largest(error, KDPP, UNIF)).near(0.8, 0.1));
        claims.push(on_par(KDPP, "only AdapFull is on par").picture());
        // whether the distribution does what the paper says of 3000 steps of its chain
        exactly.extend(lowest(of, error, exact, "ours: as the paper says of its chain"));
        exactly.push(on_par(exact, "ours: only AdapFull is on par"));
        let near = ratio(of, error, chain).between("ours: the chain is near enough", [0.9, 1.1]);
        exactly.push(near);
    }
    claims.extend(exactly);
    let pairs = [[KDPP, UNIF], [RP_CHOLESKY, KDPP]];
    claims.extend(pairs.map(|pair| ratio(of, FROBENIUS, pair).at_most("ours", 1.0)));
    let [few, .., many] = improvements.sizes else { return claims };
    let [few, many] = [few, many].map(|&c| improvements.at(c, FROBENIUS, KDPP, UNIF));
    claims
        .push(measured(format!(
        "{of}: improvement of kDPP over Unif for the fewest landmarks less that for the most"
    ), few.minus(many)).at_least("ours: a k-DPP is for few landmarks", 0.0));
    claims
}
