//! The size of SQUEAK's dictionary along a stream against d_eff, for the theorem's number of copies
//! and for practical ones.

use super::papers;
use super::squeak_problem::{self, CHOICES};
use super::squeak_stream::{EPSILON, METHODS, STREAM, Stream, TEN, THEOREM};
use crate::experiment::{Axis, Claim, Context, Experiment, Outcome, Point, paragraphs};
use crate::lab::{D_EFF, Grid, Measure, Results, with};
use crate::method::{EXACT, Method, PROBLEM, THEORY};
use crate::statistics;

pub const EXPERIMENT: Experiment = Experiment {
    name: "squeak-dictionary-size",
    paper: &papers::CALANDRIELLO_2017,
    figure: "Theorem, dictionary size",
    says: "Let there be q̄ = 39α ln(2n/δ)/ε² copies a point. With probability 1 − δ at every moment \
           t of the stream the dictionary is (ε, γ)-accurate and has at most 3q̄·d_eff(γ)_t copies. \
           So its size depends on d_eff, not on n.",
    data: &[],
    run,
};

const KEPT: Measure = Measure::new("points kept", "points kept").log();
const COPIES: Measure = Measure::new("Σq/(q̄·d_eff)", "copies, in units of q̄·d_eff(γ)_t").log();
const PER_D_EFF: Measure = Measure::new("points/d_eff", "points kept over d_eff(γ)_t").log();
const ACCURACY: Measure = Measure::new("ε", "ε = ‖P − P̃‖").log();

fn run(ctx: &Context) -> anyhow::Result<Outcome> {
    let (stream, repetitions) = (Stream::new(ctx)?, ctx.pick(1, 5, 10));
    let ridge = squeak_problem::ridge();
    let results =
        Grid::new(ctx, "streams", &[STREAM]).repetitions(repetitions).parallel().run(|draw| {
            for (t, spectrum) in stream.times.iter().zip(&stream.spectra) {
                draw.put_at(*t as f64, PROBLEM, D_EFF, spectrum.d_eff(ridge)?);
            }
            stream.along(draw, |draw, method, moment, squeak, rng| {
                let (t, spectrum) = (stream.times[moment] as f64, &stream.spectra[moment]);
                let kept = squeak.clone().into_dictionary(rng)?; // as if the stream ended here
                let copies: f64 = kept.copies().iter().map(|&q| f64::from(q)).sum();
                let (d_eff, points) = (spectrum.d_eff(ridge)?, kept.len() as f64);
                let copies = copies / (f64::from(stream.copies(method)?) * d_eff);
                let accuracy = spectrum.accuracy(&kept.by_rows()?, ridge)?;
                draw.put_all(t, method, [(KEPT, points), (PER_D_EFF, points / d_eff)]);
                draw.put_all(t, method, [(COPIES, copies), (ACCURACY, accuracy)]);
                Ok(())
            })
        })?;

    let mut out = results.outcome(stream.scale_note(repetitions));
    let plot = |measure: Measure, id, title| {
        results.plot(id, title, Axis::log("points seen, t"), &STREAM, measure)
    };
    let size = plot(KEPT, "size", "Points in the dictionary, with standard errors");
    out.plots.extend(size.map(with(|plot| {
        let all = stream.times.iter().map(|&t| Point::new(t as f64, t as f64));
        plot.line("all points", EXACT.key, all);
        plot.line("d_eff(γ)_t", THEORY.key, results.curve(&STREAM, PROBLEM, D_EFF));
    })));
    for (measure, id, title, bound, words) in [
        (COPIES, "copies", "Copies, in units of q̄·d_eff(γ)_t", 3.0, "theorem: 3"),
        (ACCURACY, "accuracy", "Accuracy ε = ‖P − P̃‖", EPSILON, "theorem: ε = ½"),
    ] {
        let line = with(|plot| plot.horizontal(words, bound));
        out.plots.extend(plot(measure, id, title).map(line));
    }
    let measures = [KEPT, COPIES, PER_D_EFF, ACCURACY];
    let table = results.table("moments", "Means over the streams", &[STREAM], &measures);
    out.tables.extend(table.by_x("t").by_method("copies").build());
    out.claims = claims(&results, stream.times);
    out.notes = paragraphs([
        CHOICES,
        &stream.theorem()?,
        "In the mean Σq is q̄·Σp̃_i over all points seen, and p̃_i is at most (1 − ε) times the \
         least estimate so far, hence about (1 − ε)·q̄·d_eff, half a unit \
         at ε = ½ and far from the bound.",
        "Dictionaries are those of a stream that ends at t: the open chunk is shrunk first, in a \
         copy.",
    ]);
    Ok(out)
}

fn claims(results: &Results, times: &[usize]) -> Vec<Claim> {
    let worst = |method: Method, measure| {
        let at = |&t: &usize| results.sample(&STREAM, t, method, measure).quantile(1.0);
        times.iter().map(at).fold(0.0, f64::max)
    };
    let copies = |method: Method| {
        let text = format!("{}: largest Σq/(q̄·d_eff) over all moments", method.name);
        Claim::at_most(&text, "3", worst(method, COPIES), 3.0)
    };
    let at = |&t: &usize| (t as f64, results.get(&STREAM, t, TEN, PER_D_EFF));
    let late: Vec<_> = times[times.len() / 2..].iter().map(at).collect();
    let accuracy = format!("{}: largest ε over all moments", THEOREM.name);
    let text = format!("{}: exponent of t in |I_t|/d_eff, second half", TEN.name);
    let mut claims = vec![
        copies(THEOREM).theorem(),
        Claim::at_most(&accuracy, "½", worst(THEOREM, ACCURACY), EPSILON).theorem(),
        Claim::at_most(&text, "0 (up to logarithms)", statistics::exponent(&late), 0.25),
    ];
    // ours: too few copies for the theorem
    claims.extend(METHODS.into_iter().filter(|method| *method != THEOREM).map(copies));
    claims
}
