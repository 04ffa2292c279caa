//! Streams through SQUEAK at several q̄, looked at as they go: the size of the dictionary against
//! d_eff, and the risk of regression through it against exact kernel ridge regression.

use nystrom::krr::risk::{FixedDesign, Risk};
use nystrom::leverage::{ExactSpectrum, StreamDictionary};

use super::squeak_problem::{GAMMA, NOISE, RIDGE, SqueakProblem, kernel};
use crate::claim::Kind;
use crate::lab::*;

const EPSILON: f64 = 0.5;
const DELTA: f64 = 0.1;
/// The one setting of the grids.
const STREAM: &str = "one stream";
const TEN: Method = LEVEL_3.called("q̄ = 10");
const THEOREM: Method = LEVEL_6.called("q̄ of Theorem 1");

const D_EFF: Measure = Measure::named("d_eff");
const KEPT: Measure = Measure::new("points kept", "points kept").log();
const COPIES: Measure = Measure::new("Σq/(q̄·d_eff)", "copies, in units of q̄·d_eff(γ)_t").log();
const PER_D_EFF: Measure = Measure::named("points/d_eff");
const ACCURACY: Measure = Measure::new("ε", "ε = ‖P − P̃‖").log();
const RATIO: Measure = Measure::new("risk ratio", "risk over that of exact regression").log();
/// The part that the bound is made for, as the variance only falls.
const BIAS: Measure = Measure::new("bias² ratio", "bias² over that of exact regression").log();
const ERROR: Measure = Measure::new("error of a fit", "(1/t)‖f̂_t − f*‖²").log();
/// (1 + (γ/μ)/(1 − ε))², where ε < 1.
const SQUARE: Measure = Measure::named("its square");
const TO_FACTOR: Measure = Measure::named("risk ratio over 1 + 1/(1 − ε)");
const TO_SQUARE: Measure = Measure::named("risk ratio over (1 + 1/(1 − ε))²");
const BIAS_TO_SQUARE: Measure = Measure::named("bias² ratio over (1 + 1/(1 − ε))²");

/// What is measured of SQUEAK at one moment.
type Values = anyhow::Result<Vec<(Measure, f64)>>;

/// A stream and the moments at which it is looked at.
struct Streams<'a> {
    ctx: &'a Context<'a>,
    problem: SqueakProblem,
    /// One draw of the noisy f*.
    y: Mat<f64>,
    /// Numbers of points, increasing.
    times: &'static [usize],
    /// The spectrum of the first t points, for each t.
    spectra: Vec<ExactSpectrum<f64>>,
    repetitions: usize,
    /// Each with its copies a point, q̄, from a few to the theorem's.
    methods: [(Method, u32); 5],
}

impl<'a> Streams<'a> {
    /// The stream at this scale.
    fn new(ctx: &'a Context) -> anyhow::Result<Self> {
        let times: &[usize] = ctx.pick(
            &[20, 40, 80],
            &[50, 100, 200, 400, 800, 1600],
            &[50, 100, 200, 400, 800, 1600, 3200, 6400],
        );
        let n = times[times.len() - 1];
        let problem = SqueakProblem::new(n, &mut ctx.rng("points"));
        let spectra = times.iter().map(|&t| Ok(ExactSpectrum::new(&problem.matrix(t)?)?));
        let spectra = spectra.collect::<anyhow::Result<_>>()?;
        let y = problem.y(&mut ctx.rng("noise"));
        let methods = [
            (LEVEL_1.called("q̄ = 2"), 2),
            (LEVEL_2.called("q̄ = 5"), 5),
            (TEN, 10),
            (LEVEL_4.called("q̄ = 40"), 40),
            (THEOREM, SqueakParams::copies_for(n, EPSILON, DELTA)?),
        ];
        Ok(Streams { ctx, problem, y, times, spectra, repetitions: ctx.pick(1, 5, 10), methods })
    }

    /// Every q̄ on every draw of random numbers; `look` measures SQUEAK at every moment, known by
    /// its number. Beside it stand values of a method that are known at every moment.
    ///
    /// At the theorem's q̄ every point stays, and a stream costs n³; one is enough, as nothing
    /// varies.
    fn run(
        &self,
        (of, measure, known): (Method, Measure, &[f64]),
        look: impl Fn(u32, usize, &Squeak<Gaussian, f64>, &mut dyn Rng) -> Values + Sync,
    ) -> anyhow::Result<Results> {
        let grid = Grid::new(self.ctx, "streams", &[STREAM], [(0, self.repetitions)]);
        grid.parallel().run(|trial| {
            for (&t, &value) in self.times.iter().zip(known) {
                trial.put(t, of, measure, value);
            }
            let first = trial.repetition == 0;
            for (method, copies) in self.methods.into_iter().filter(|m| first || m.0 != THEOREM) {
                let rng = &mut trial.rng(method.key);
                let params = SqueakParams {
                    epsilon: EPSILON,
                    max_dictionary: usize::MAX,
                    ..SqueakParams::new(copies)
                };
                let mut squeak = Squeak::new(kernel()?, 2, GAMMA, params)?;
                for (moment, &t) in self.times.iter().enumerate() {
                    let seen = squeak.n_seen() as usize;
                    squeak.push(self.problem.first(t).slice(seen..t), rng)?;
                    trial.put_all(t, method, look(copies, moment, &squeak, rng)?);
                }
            }
            Ok(())
        })
    }

    /// The outcome with its table.
    fn outcome(&self, results: &Results, measures: &[Measure]) -> Outcome {
        let mut out = results.outcome(format!(
            "n = {}, {} streams for each practical q̄, one at the theorem's; sizes are ours",
            self.problem.f_star.len(),
            self.repetitions
        ));
        let (id_title, keys) = (["moments", "Means over the streams"], ["", "t", "copies"]);
        out.tables.extend(results.table(id_title, &[STREAM], keys, &[], measures));
        out.values = vec![("copies", self.methods[4].1.to_string())];
        out.values.extend([("epsilon", EPSILON.to_string()), ("delta", DELTA.to_string())]);
        out
    }
}

/// A measure of every method along the stream.
fn plot(here: &On<'_>, id: &str, title: &str, measure: Measure) -> Option<Plot> {
    here.plot(id, title, Axis::log("points seen, t"), measure)
}

pub fn dictionary_size(ctx: &Context) -> anyhow::Result<Outcome> {
    let streams = Streams::new(ctx)?;
    let d_eff = streams.spectra.iter().map(|spectrum| Ok(spectrum.d_eff(RIDGE)?));
    let d_eff = d_eff.collect::<anyhow::Result<Vec<f64>>>()?;
    let results = streams.run((PROBLEM, D_EFF, &d_eff), |q, moment, squeak, rng| {
        let kept = squeak.clone().into_dictionary(rng)?; // as if the stream ended here
        let copies: f64 = kept.copies().iter().map(|&q| f64::from(q)).sum();
        let (d_eff, points) = (d_eff[moment], kept.len() as f64);
        Ok(vec![
            (KEPT, points),
            (PER_D_EFF, points / d_eff),
            (COPIES, copies / (f64::from(q) * d_eff)),
            (ACCURACY, streams.spectra[moment].accuracy(&kept.by_rows()?, RIDGE)?),
        ])
    })?;

    let here = results.on(&STREAM);
    let mut out = streams.outcome(&results, &[KEPT, COPIES, PER_D_EFF, ACCURACY]);
    let size = plot(&here, "size", "Points in the dictionary, with standard errors", KEPT);
    out.plots.extend(size.map(with(|plot| {
        let all = streams.times.iter().map(|&t| Point::new(t as f64, t as f64));
        plot.line("all points", EXACT.key, all);
        plot.line("d_eff(γ)_t", THEORY.key, here.curve(PROBLEM, D_EFF));
    })));
    for (id, title, measure, bound, words) in [
        ("copies", "Copies, in units of q̄·d_eff(γ)_t", COPIES, 3.0, "theorem: 3"),
        ("accuracy", "Accuracy ε = ‖P − P̃‖", ACCURACY, EPSILON, "theorem: ε = ½"),
    ] {
        let line = with(|plot| plot.horizontal(words, bound));
        out.plots.extend(plot(&here, id, title, measure).map(line));
    }
    let copies = |method: Method| {
        let text = format!("{}: largest Σq/(q̄·d_eff) over all moments", method.name);
        measured(text, here.most(method, COPIES)).at_most("3", 3.0)
    };
    let at = |&t: &usize| (t as f64, here.get(t, TEN, PER_D_EFF));
    let late: Vec<_> = streams.times[streams.times.len() / 2..].iter().map(at).collect();
    let accuracy = format!("{}: largest ε over all moments", THEOREM.name);
    let growth = format!("{}: exponent of t in |I_t|/d_eff, second half", TEN.name);
    out.claims = vec![
        copies(THEOREM).theorem(),
        measured(accuracy, here.most(THEOREM, ACCURACY)).at_most("½", EPSILON).theorem(),
        measured(growth, exponent(&late)).at_most("0 (up to logarithms)", 0.25),
    ];
    // ours: too few copies for the theorem
    out.claims.extend(streams.methods[..4].iter().map(|(method, _)| copies(*method)));
    Ok(out)
}

/// 1 + (γ/μ)/(1 − ε) for γ = μ.
fn factor(epsilon: f64) -> f64 {
    1.0 + 1.0 / (1.0 - epsilon)
}

pub fn anytime_risk(ctx: &Context) -> anyhow::Result<Outcome> {
    let streams = Streams::new(ctx)?;
    let exact = streams.times.iter().map(|&t| streams.exact(t));
    let (exact, errors): (Vec<Risk>, Vec<f64>) =
        exact.collect::<anyhow::Result<Vec<_>>>()?.into_iter().unzip();
    let results = streams.run((EXACT, ERROR, &errors), |_, moment, squeak, _| {
        if squeak.pending() as u64 == squeak.n_seen() {
            return Ok(vec![]); // not yet shrunk: every point with weight 1, at any q̄
        }
        let kept = squeak.dictionary(); // as it stands
        streams.regress(exact[moment], moment, kept)
    })?;

    let here = results.on(&STREAM);
    let mut out = streams.outcome(&results, &[KEPT, ACCURACY, RATIO, BIAS, SQUARE, ERROR]);
    let ratio = "Risk over that of exact regression, mean over streams with standard errors";
    let bias = "bias² over that of exact regression";
    for (id, title, measure) in [("ratio", ratio, RATIO), ("bias", bias, BIAS)] {
        out.plots.extend(plot(&here, id, title, measure).map(with(|plot| {
            plot.horizontal("(1 + (γ/μ)/(1 − ε))² at ε = ½", factor(EPSILON).powi(2));
            let bound = format!("{}: (1 + (γ/μ)/(1 − ε))² at its ε", TEN.name);
            plot.line(&bound, THEORY.key, here.curve(TEN, SQUARE));
        })));
    }
    let title = "(1/t)‖f̂_t − f*‖² of fits to one draw of the noise";
    out.plots.extend(plot(&here, "error", title, ERROR));
    out.claims = streams.methods.iter().flat_map(|m| claims_on_risk(&here, m.0)).collect();
    Ok(out)
}

/// (1/t)‖f − f*‖².
fn error(f: &Mat<f64>, f_star: &[f64]) -> f64 {
    (0..f.nrows()).map(|i| (f[(i, 0)] - f_star[i]).powi(2)).sum::<f64>() / f.nrows() as f64
}

impl Streams<'_> {
    /// Of exact regression on the first t points: its risk, and (1/t)‖f̂ − f*‖² of the fit to one
    /// draw of the noise.
    fn exact(&self, t: usize) -> anyhow::Result<(Risk, f64)> {
        let (x, f_star) = (self.problem.first(t), &self.problem.f_star[..t]);
        let model = ExactKrr::new(kernel()?, RIDGE).fit((x, self.y.as_ref().subrows(0, t)))?;
        let risk = FixedDesign::exact(&self.problem.matrix(t)?, f_star)?.risk(RIDGE, NOISE)?;
        Ok((risk, error(&model.predict(x)?, f_star)))
    }

    /// w̃_t from the dictionary at one moment: its risk in closed form, and one fit to data.
    fn regress(&self, exact: Risk, moment: usize, kept: &StreamDictionary<f64>) -> Values {
        let t = self.times[moment];
        let (x, f_star, dictionary) =
            (self.problem.first(t), &self.problem.f_star[..t], kept.by_rows()?);
        let krr = DictionaryKrr { kernel: kernel()?, gamma: RIDGE, ridge: RIDGE };
        let model =
            krr.fit((x, self.y.as_ref().subrows(0, t)), (kept.points(), &kept.weights()))?;
        let nystrom = Nystrom::regularized(&self.problem.matrix(t)?, &dictionary, RIDGE)?;
        let risk = FixedDesign::low_rank(nystrom.factor(), f_star)?.risk(RIDGE, NOISE)?;
        let epsilon = self.spectra[moment].accuracy(&dictionary, RIDGE)?;
        let (ratio, bias) = (risk.ratio(exact), risk.bias_squared / exact.bias_squared);
        let mut values =
            vec![(KEPT, kept.len() as f64), (ACCURACY, epsilon), (RATIO, ratio), (BIAS, bias)];
        values.push((ERROR, error(&model.predict(x)?, f_star)));
        if epsilon < 1.0 {
            let (factor, square) = (factor(epsilon), factor(epsilon).powi(2));
            values.extend([(SQUARE, square), (TO_FACTOR, ratio / factor)]);
            values.extend([(TO_SQUARE, ratio / square), (BIAS_TO_SQUARE, bias / square)]);
        }
        Ok(values)
    }
}

fn claims_on_risk(here: &On<'_>, method: Method) -> Vec<Claim> {
    let claim = |what: String, paper: &str, measure, bound, kind| {
        let text = format!("{}: largest {what}", method.name);
        Claim { kind, ..measured(text, here.most(method, measure)).at_most(paper, bound) }
    };
    let mut claims = vec![];
    for (what, measure, kind) in [
        ("risk ratio over (1 + (γ/μ)/(1 − ε))² (Proposition 1)", TO_SQUARE, Kind::Theorem),
        ("bias² ratio over (1 + (γ/μ)/(1 − ε))² (Proposition 1)", BIAS_TO_SQUARE, Kind::Theorem),
        ("risk ratio over 1 + (γ/μ)/(1 − ε) (Theorem 1, as printed)", TO_FACTOR, Kind::Printed),
    ] {
        if here.most(method, measure) > f64::NEG_INFINITY {
            let what = format!("{what} at its ε, at the moments where ε < 1");
            claims.push(claim(what, "1", measure, 1.0, kind));
        }
    }
    // ours: too few copies for the promise
    let kind = if method == THEOREM { Kind::Theorem } else { Kind::Ours };
    for (text, bound) in [
        ("against 9 (Proposition 1)", factor(EPSILON).powi(2)),
        ("against 3 (Theorem 1, as printed)", factor(EPSILON)),
    ] {
        let what = format!("risk ratio at any moment, {text}");
        claims.push(claim(what, "its bound at ε = ½", RATIO, bound, kind));
    }
    claims
}
