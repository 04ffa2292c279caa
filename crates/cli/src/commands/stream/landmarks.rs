//! `nystrom landmarks` block by block.

use super::agree::agree;
use super::points::{self, PointsJob, Sampled, Surveyed};
use super::scores::{file_of, pipeline_error};
use crate::args::{LandmarksCommand, ScoreMethod, Selection};
use crate::commands::select::{self, Setting};
use crate::commands::span::why_fewer;
use crate::failure::{Failure, Result, of_pipeline};
use crate::kernel;
use crate::output::{Columns, LINE, Values};
use crate::plan;
use crate::session::Session;
use crate::summary::Summary;
use crate::text::number;
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{NystromStream, Whitening};
use nystrom_pipeline::{DrawnRows, PointRecipe, Ranks};

/// The chosen landmarks.
struct Chosen {
    /// The number of each among all rows, and its line.
    rows: Vec<(u64, u64)>,
    /// m × d.
    points: Mat<f64>,
    weights: Option<Vec<f64>>,
}

/// Chooses landmarks on the processes of a job. Process 0 writes them.
pub fn run_over(args: &LandmarksCommand, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::of_process(&args.run, ranks)?;
    agree(ranks, check(args, ranks))?;
    let LandmarksCommand { data, kernel, blocks, run, .. } = args;
    let by_scores = args.landmarks.method == Selection::Squeak;
    let passes = if by_scores { 3 } else { 1 };
    let job = PointsJob { data, kernel, blocks, run, session: &session, ranks, passes };
    let mut surveyed = job.survey(&mut rng)?;
    let chosen = if by_scores {
        by_all_scores(args, job, &mut surveyed, &mut rng)?
    } else {
        let of = |sample: &Sampled| from_sample(args, &session, (&surveyed, sample), &mut rng);
        agree(ranks, surveyed.sample.as_ref().map(of).transpose())?
    };
    let (Some(chosen), Some(sample)) = (chosen, &surveyed.sample) else { return Ok(()) };
    session.progress.stage("measuring", None);
    let left = left_over(&surveyed.recipe, &chosen, sample)?;
    session.progress.clear();
    report(args, (&surveyed, sample), (&chosen, left), (&session, ranks))
}

fn check(args: &LandmarksCommand, ranks: &dyn Ranks) -> Result<()> {
    if args.weights && args.landmarks.method == Selection::Squeak {
        let text = "block by block, squeak draws without replacement, so its rows have no weights; \
                    leave out --weights, or choose bless or leverage-fast";
        return Err(Failure::Usage(text.into()).into());
    }
    args.kernel.check()?;
    points::check(&args.data, &args.output, ranks)
}

/// Draws landmarks by the leverage scores of all rows, in two more passes.
fn by_all_scores(
    args: &LandmarksCommand,
    job: PointsJob<'_>,
    surveyed: &mut Surveyed,
    rng: &mut dyn Rng,
) -> Result<Option<Chosen>> {
    let (count, lambda, ranks) = (args.landmarks.count, args.leverage.lambda(), job.ranks);
    let rows = usize::try_from(surveyed.recipe.rows()).unwrap_or(usize::MAX);
    agree(ranks, Ok(validate::at_most("landmarks", count, rows)?))?;
    let dictionary = job.dictionary(surveyed, (ScoreMethod::Squeak, None, lambda), rng)?;
    let mut drawn = DrawnRows::new(count, &mut job.streams().stream(2));
    let Surveyed { input, recipe, .. } = surveyed;
    job.pass(3, input, recipe, |source| {
        let take = |rows: &_, scores: &[f64]| {
            drawn.offer(rows, scores);
            Ok::<(), anyhow::Error>(())
        };
        recipe.scores_over(ranks, source, (&dictionary, lambda), take).map_err(pipeline_error)
    })?;
    let Some(drawn) = drawn.merge_over(ranks).map_err(of_pipeline)? else { return Ok(None) };
    let points = Mat::from_fn(drawn.len(), recipe.dim(), |j, k| drawn[j].point[k]);
    let rows = drawn.iter().map(|row| (row.row, row.line)).collect();
    Ok(Some(Chosen { rows, points, weights: None }))
}

/// Chooses landmarks from the sample, as in memory.
fn from_sample(
    args: &LandmarksCommand,
    session: &Session,
    (surveyed, sample): (&Surveyed, &Sampled),
    rng: &mut dyn Rng,
) -> Result<Chosen> {
    let (spec, Sampled { x, rows }) = (args.landmarks, sample);
    validate::at_most("landmarks from the sample", spec.count, rows.len())?;
    let step = plan::selection(spec, rows.len(), None);
    step.check("choosing landmarks from the sample", Some(surveyed.sizes.work))?;
    session.progress.step("choosing landmarks", &step);
    let (kernel, points) = (surveyed.recipe.kernel(), Points::from_rows(x.as_ref()));
    let setting = Setting { kernel, points, lambda: args.leverage.lambda() };
    let matrix = KernelMatrix::new(kernel, points)?;
    let (indices, weights) = if args.weights {
        let dictionary = select::dictionary(spec, setting, &matrix, rng)?;
        let times = surveyed.recipe.rows() as f64 / rows.len() as f64;
        let weights = dictionary.weights().iter().map(|w| w * times).collect();
        (dictionary.indices().to_vec(), Some(weights))
    } else {
        let chosen = select::selector(spec, setting)?.select(&matrix, spec.count, rng)?;
        (chosen.indices().to_vec(), None)
    };
    let points = Mat::from_fn(indices.len(), x.ncols(), |j, k| x[(indices[j], k)]);
    Ok(Chosen { rows: indices.iter().map(|&i| rows[i]).collect(), points, weights })
}

/// tr(K − L)/tr K over the rows of the sample.
fn left_over(recipe: &PointRecipe, chosen: &Chosen, sample: &Sampled) -> Result<f64> {
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

fn report(
    args: &LandmarksCommand,
    (surveyed, sample): (&Surveyed, &Sampled),
    (chosen, left): (&Chosen, f64),
    (session, ranks): (&Session, &dyn Ranks),
) -> Result<()> {
    let (spec, recipe) = (args.landmarks, &surveyed.recipe);
    let rows: Vec<usize> = chosen.rows.iter().map(|(row, _)| *row as usize).collect();
    let lines: Vec<usize> = chosen.rows.iter().map(|(_, line)| *line as usize).collect();
    let files: Vec<String> =
        chosen.rows.iter().map(|(row, _)| file_of(&surveyed.input, *row)).collect();
    let mut columns = vec![("row", Values::Counts(&rows)), (LINE, Values::Counts(&lines))];
    columns.extend(chosen.weights.as_ref().map(|weights| ("weight", Values::Numbers(weights))));
    Columns(columns).write(&args.output, session)?;

    let mut summary = Summary::of("landmarks");
    let (count, s) = (rows.len(), sample.rows.len());
    let fewer = why_fewer(count, spec.count);
    let of = match spec.method {
        Selection::Squeak => format!("{} rows", recipe.rows()),
        _ => format!("a sample of {s} of {} rows", recipe.rows()),
    };
    summary.line("landmarks", format!("{count} of {of} by {}{fewer}", spec.method.name()));
    summary.line("kernel", kernel::describe(recipe.kernel()));
    summary.line("left over", format!("tr(K − L)/tr K = {}, of {s} rows", number(left)));
    summary.value("rows", recipe.rows());
    summary.value("constant", &surveyed.constant);
    summary.value("landmarks", &rows);
    summary.value("lines", &lines);
    summary.value("files", &files);
    summary.value("weights", &chosen.weights);
    summary.value("selection", spec.method.name());
    summary.value("bandwidth", recipe.kernel().bandwidth());
    summary.value("relative_trace_error", left);
    summary.value("reservoir", s);
    summary.value("passes", if spec.method == Selection::Squeak { 3 } else { 1 });
    summary.value("processes", ranks.size());
    summary.value("seed", args.run.seed);
    summary.written(&args.output);
    summary.print(session, args.output.is_stdout())
}
