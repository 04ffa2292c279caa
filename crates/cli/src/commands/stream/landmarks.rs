//! `nystrom landmarks` block by block.

use super::points::{self, BlockPoints, Surveyed};
use super::scores::file_of;
use crate::args::{LandmarksCommand, ScoreMethod, Selection};
use crate::commands::landmarks::LandmarksReport;
use crate::failure::{Result, usage};
use crate::input::Data;
use crate::session::Session;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{NystromStream, Whitening};
use nystrom_pipeline::{DrawnRows, PointRecipe, Ranks};

/// The chosen landmarks.
struct Chosen {
    /// The number of each among all rows, and its line.
    rows: Vec<usize>,
    lines: Vec<usize>,
    /// m × d.
    points: Mat<f64>,
    weights: Option<Vec<f64>>,
}

/// Chooses landmarks on the processes of a job. Process 0 writes them.
pub fn run_on_ranks(args: &LandmarksCommand, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, ranks)?;
    session.succeeded_on_all(check(args, &session))?;
    let by_scores = args.landmarks.method == Selection::Squeak;
    let passes = if by_scores { 3 } else { 1 };
    let job = BlockPoints { of: &args.of, other: None, session: &session, passes };
    let mut surveyed = job.survey(job.open()?, &mut rng)?;
    let chosen = if by_scores {
        by_all_scores(args, job, &mut surveyed, &mut rng)?
    } else {
        let of = |sample: &Data| from_sample(args, job, (&surveyed, sample), &mut rng);
        session.succeeded_on_all(surveyed.sample.as_ref().map(of).transpose())?
    };
    let Surveyed { input, recipe, sample, .. } = &surveyed;
    let (Some(chosen), Some(sample)) = (chosen, sample) else { return Ok(()) };
    session.stage("measuring", None);
    let left = left_over(recipe, &chosen, sample)?;
    let (all, s) = (recipe.rows(), sample.rows.len());
    let Chosen { rows, lines, weights, .. } = chosen;
    let files: Vec<String> = rows.iter().map(|row| file_of(input, *row as u64)).collect();
    let of =
        if by_scores { format!("{all} rows") } else { format!("a sample of {s} of {all} rows") };
    let (sampled, constant, kernel) = (Some(s), &sample.constant[..], recipe.kernel());
    let report = LandmarksReport { of, all, rows, lines, weights, left, sampled, constant, kernel };
    let mut summary = report.write(args, &session)?;
    summary.value("files", &files);
    job.describe(sampled, &mut summary);
    summary.print(&session, args.output.is_stdout())
}

fn check(args: &LandmarksCommand, session: &Session<'_>) -> Result<()> {
    if args.weights && args.landmarks.method == Selection::Squeak {
        return Err(usage(
            "block by block, squeak draws without replacement, so its rows have no weights; leave \
             out --weights, or choose bless or leverage-fast",
        ));
    }
    points::check(&args.of, args.rows.sparse, &args.output, session)
}

/// Draws landmarks by the leverage scores of all rows, in two more passes.
fn by_all_scores(
    args: &LandmarksCommand,
    job: BlockPoints<'_>,
    surveyed: &mut Surveyed,
    rng: &mut dyn Rng,
) -> Result<Option<Chosen>> {
    let (session, ranks) = (job.session, job.session.ranks);
    let (count, lambda) = (args.landmarks.count, args.leverage.lambda());
    let rows = usize::try_from(surveyed.recipe.rows()).unwrap_or(usize::MAX);
    session.succeeded_on_all(validate::at_most("landmarks", count, rows))?;
    let dictionary = job.dictionary(surveyed, (ScoreMethod::Squeak, None, lambda), rng)?;
    let mut drawn = DrawnRows::new(count, &mut job.streams().stream(2));
    let Surveyed { input, recipe, .. } = surveyed;
    job.pass(3, input, |source| {
        recipe.scores_over(ranks, source, (&dictionary, lambda), |rows, scores| {
            drawn.offer(rows, scores);
            Ok(())
        })
    })?;
    let Some(drawn) = drawn.merge_over(ranks)? else { return Ok(None) };
    let points = Mat::from_fn(drawn.len(), recipe.dim(), |j, k| drawn[j].point[k]);
    let (rows, lines) = drawn.iter().map(|row| (row.row as usize, row.line as usize)).unzip();
    Ok(Some(Chosen { rows, lines, points, weights: None }))
}

/// Chooses landmarks from the sample, as in memory.
fn from_sample(
    args: &LandmarksCommand,
    job: BlockPoints<'_>,
    (surveyed, sample): (&Surveyed, &Data),
    rng: &mut dyn Rng,
) -> Result<Chosen> {
    let (spec, x, count) = (args.landmarks, &sample.x, sample.rows.len());
    validate::at_most("landmarks from the sample", spec.count, count)?;
    let how = (spec, args.weights, args.leverage.lambda());
    let of = (&surveyed.recipe, &surveyed.sizes, sample);
    let (chosen, mut weights) = job.choose(how, of, rng)?;
    // E[SSᵀ] = I over all rows
    let times = surveyed.recipe.rows() as f64 / count as f64;
    weights.iter_mut().flatten().for_each(|weight| *weight *= times);
    let points = Mat::from_fn(chosen.len(), x.ncols(), |j, k| x[(chosen[j], k)]);
    let (rows, lines) = sample.at(chosen.into_iter());
    Ok(Chosen { rows, lines, points, weights })
}

/// tr(K − L)/tr K over the rows of the sample.
fn left_over(recipe: &PointRecipe, chosen: &Chosen, sample: &Data) -> Result<f64> {
    let (m, s) = (chosen.points.nrows(), sample.x.nrows());
    let both = Mat::from_fn(m + s, recipe.dim(), |i, k| match i.checked_sub(m) {
        None => chosen.points[(i, k)],
        Some(i) => sample.x[(i, k)],
    });
    let matrix = KernelMatrix::new(recipe.kernel(), Points::from_rows(both.as_ref()))?;
    let landmarks = Landmarks::new(m + s, (0..m).collect())?;
    // the landmarks themselves contribute 0 to tr(K − L)
    let left = NystromStream::new(&matrix, &landmarks, Whitening::default())?.trace_error()?;
    let all = KernelMatrix::new(recipe.kernel(), Points::from_rows(sample.x.as_ref()))?.trace();
    Ok(left / all)
}
