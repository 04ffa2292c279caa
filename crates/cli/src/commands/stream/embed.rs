//! `nystrom embed` block by block.

use super::ordered_output::OrderedOutput;
use super::points::{self, BlockPoints, Surveyed};
use crate::args::{Embed, EmbedMethod, LandmarkSpec, Selection};
use crate::commands::embed::{self, Embedding};
use crate::failure::{Result, usage};
use crate::input::Data;
use crate::output::{ResultColumns, ResultValues};
use crate::plan::Step;
use crate::session::Session;
use crate::summary::Summary;
use nystrom::faer::MatRef;
use nystrom::prelude::*;
use nystrom::sketch::{KernelClusters, KernelPca, SpectralEmbedding};
use nystrom_pipeline::{LandmarkSpan, PointRecipe, PointRows, Ranks, TableSource, of_row};

/// The most passes of k-means.
const ITERATIONS: usize = 20;

/// Landmarks from the sample, the passes that sum over all rows, and a pass that writes the result,
/// on the processes of a job.
pub fn run_on_ranks(args: &Embed, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, ranks)?;
    session.succeeded_on_all(check(args, &session))?;
    let passes = match args.method {
        EmbedMethod::Pca => 3,
        EmbedMethod::Spectral => 4,
        EmbedMethod::KMeans => 2 + ITERATIONS,
    };
    let job = BlockPoints { of: &args.of, other: None, session: &session, passes };
    let mut surveyed = job.survey(job.open()?, &mut rng)?;
    let chosen = surveyed.sample.as_ref();
    let chosen = chosen.map(|sample| landmarks(args, (job, sample), &surveyed, &mut rng));
    let chosen = session.succeeded_on_all(chosen.transpose())?;
    let Surveyed { input, recipe, sample, .. } = &mut surveyed;
    let of_first = sample.as_ref().zip(chosen.as_ref().map(|(_, rows)| &rows[..]));
    let span = job.span(recipe, of_first)?;
    let start = match args.method {
        EmbedMethod::KMeans => {
            let start = of_first.map(|(sample, chosen)| {
                session.stage("clusters of the sample", None);
                clusters_of(args, sample.points(), (recipe, chosen), &mut rng)
            });
            Some(ranks.share(session.succeeded_on_all(start.transpose())?)?)
        }
        _ => None,
    };

    let mut source = input.later_pass("a pass", &session);
    let mut found = find(args, (ranks, recipe, &span), &mut source, start)?;
    source.watch.end();
    let mut output = OrderedOutput::open(&args.output, &session)?;
    let job = BlockPoints { passes: found.passes(), ..job };
    job.pass(found.passes(), input, |source| {
        recipe.kernel_tiles(ranks, source, &span, |tile, k_j| {
            let mut columns = ResultColumns::of_blocks(&tile.rows, &tile.lines);
            columns.0.extend(found.columns(tile, k_j.as_ref())?);
            output.write(&columns)
        })
    })?;
    output.finish(&session)?;
    found.merge_sizes(ranks)?;
    session.clear();
    let (Some((spec, _)), Some(sample)) = (chosen, sample) else { return Ok(()) };

    let mut summary = Summary::of("embed");
    found.describe(args, &mut summary);
    let of = format!("a sample of {} of {} rows", sample.rows.len(), recipe.rows());
    embed::describe(&mut summary, args, recipe.kernel(), (spec, span.landmarks().len(), &of));
    summary.value("rows", recipe.rows());
    summary.value("constant", &sample.constant);
    job.describe(Some(sample.rows.len()), &mut summary);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

/// The embedding, by passes over all rows. `start` has weights and offsets of clusters.
fn find(
    args: &Embed,
    (ranks, recipe, span): (&dyn Ranks, &PointRecipe, &LandmarkSpan),
    source: &mut dyn TableSource,
    start: Option<(Vec<f64>, Vec<f64>)>,
) -> Result<Embedding> {
    let components = args.components();
    if let Some((weights, offsets)) = start {
        let (m, k) = (span.landmarks().len(), offsets.len());
        let weights = MatRef::from_column_major_slice(&weights, m, k);
        let how = (KernelClusters::from_weights(weights, &offsets)?, ITERATIONS);
        return Ok(Embedding::Clusters(recipe.k_means_over(ranks, source, span, how)?, vec![0; k]));
    }
    Ok(match args.method {
        EmbedMethod::Spectral => {
            let embedding = SpectralEmbedding { components };
            Embedding::Spectral(recipe.spectral_over(ranks, source, span, embedding)?)
        }
        _ => {
            Embedding::Components(recipe.pca_over(ranks, source, span, KernelPca { components })?)
        }
    })
}

impl Embedding {
    /// The new columns of the rows of a tile with these kernel values.
    fn columns(
        &mut self,
        tile: &PointRows,
        k_j: MatRef<'_, f64>,
    ) -> Result<Vec<(String, ResultValues)>> {
        let values = match self {
            Embedding::Components(pca) => pca.transform(k_j)?,
            Embedding::Spectral(map) => map.transform(k_j).map_err(|e| of_row(tile, 0, e))?,
            Embedding::Clusters(clusters, sizes) => {
                let labels = clusters.predict(k_j)?;
                labels.iter().for_each(|&cluster| sizes[cluster] += 1);
                return Ok(vec![("cluster".to_owned(), ResultValues::Counts(labels))]);
            }
        };
        Ok(embed::coordinates(&values.transpose().to_owned()))
    }

    /// The number of passes, with the one that writes.
    fn passes(&self) -> usize {
        match self {
            Embedding::Components(_) => 3,
            Embedding::Spectral(_) => 4,
            Embedding::Clusters(clusters, _) => 2 + clusters.iterations(),
        }
    }

    /// Adds up the numbers of rows of all processes, on process 0.
    fn merge_sizes(&mut self, ranks: &dyn Ranks) -> Result<()> {
        let Embedding::Clusters(_, sizes) = self else { return Ok(()) };
        let plus = |all: &mut Vec<usize>, later: Vec<usize>| {
            all.iter_mut().zip(later).for_each(|(all, later)| *all += later);
        };
        *sizes = ranks.merge(std::mem::take(sizes), plus)?.unwrap_or_default();
        Ok(())
    }
}

fn check(args: &Embed, session: &Session<'_>) -> Result<()> {
    embed::check(args)?;
    if args.landmarks.is_some_and(|spec| spec.method == Selection::Squeak) {
        return Err(usage(
            "block by block, the landmarks are chosen from a uniform sample; choose bless instead \
             of squeak",
        ));
    }
    points::check_csv("results", &args.output, session)?;
    points::check(&args.of, args.rows.sparse, &args.output, session)
}

/// The rows of the sample that are landmarks.
fn landmarks(
    args: &Embed,
    (job, sample): (BlockPoints<'_>, &Data),
    Surveyed { recipe, sizes, .. }: &Surveyed,
    rng: &mut dyn Rng,
) -> Result<(LandmarkSpec, Vec<usize>)> {
    let spec = embed::landmarks(args, sample.rows.len())?;
    // the map of the landmarks, and the sums of a pass
    let (m, what) = (spec.count as f64, "sums over all rows");
    let sums = Step::new(what, None, None, 8.0 * (12.0 * m * m + 3.0 * 1024.0 * m));
    sums.named(what).check(Some(sizes.work))?;
    let how = (spec, false, args.leverage.lambda());
    Ok((spec, job.choose(how, (recipe, sizes, sample), rng)?.0))
}

/// Weights and offsets of the clusters of the sample.
fn clusters_of(
    args: &Embed,
    sample: Points<'_, f64>,
    (recipe, landmarks): (&PointRecipe, &[usize]),
    rng: &mut dyn Rng,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let matrix = KernelMatrix::new(recipe.kernel(), sample)?;
    let landmarks = Landmarks::new(sample.len(), landmarks.to_vec())?;
    let found = embed::k_means_of(args).fit(&matrix, &landmarks, rng)?;
    let weights = found.weights().col_iter().flat_map(|column| column.iter().copied()).collect();
    Ok((weights, found.offsets().to_vec()))
}
