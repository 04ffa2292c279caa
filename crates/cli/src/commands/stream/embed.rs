//! `nystrom embed --method pca` block by block.

use super::ordered_output::OrderedOutput;
use super::points::{self, BlockPoints, Surveyed};
use crate::args::{Embed, EmbedMethod, LandmarkSpec, Selection};
use crate::commands::embed;
use crate::commands::select::{self, Setting};
use crate::failure::{Result, usage};
use crate::input::Data;
use crate::output::ResultColumns;
use crate::plan;
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::faer::Col;
use nystrom::faer::reborrow::*;
use nystrom::prelude::*;
use nystrom::sketch::{FeatureMap, FeatureMoments, KernelPca, Whitening};
use nystrom_pipeline::Alone;

/// Landmarks from the sample; a pass that sums up features; a pass that writes coordinates.
pub fn run(args: &Embed) -> Result<()> {
    let (session, mut rng) = Session::start(&args.run, &Alone)?;
    check(args, &session)?;
    let Embed { data, kernel, blocks, run, .. } = args;
    let job = BlockPoints { data, kernel, blocks, run, session: &session, passes: 3 };
    let mut surveyed = job.survey(job.open()?, &mut rng)?;
    let (spec, z) = landmarks(args, &surveyed, &session, &mut rng)?;
    let Surveyed { input, recipe, sample, .. } = &mut surveyed;
    let (kernel, z) = (recipe.kernel().clone(), Points::from_rows(z.as_ref()));
    let map = FeatureMap::new(kernel.gram(z).as_ref(), Whitening::default())?;
    let mut sums = FeatureMoments::zeros(map.rank());
    job.pass(2, input, |source| {
        recipe.kernel_tiles(source, z, |tile, k_j| -> Result<()> {
            let mut diagonal = Col::<f64>::zeros(k_j.ncols());
            kernel.diag_into(diagonal.as_mut(), tile.points());
            let diagonal: Vec<f64> = diagonal.iter().copied().collect();
            Ok(sums.add(map.apply_in_place(k_j).as_ref(), &diagonal)?)
        })
    })?;
    let pca = KernelPca { components: args.components() }.finish(&map, &sums)?;
    let mut output = OrderedOutput::open(&args.output, &session)?;
    job.pass(3, input, |source| {
        recipe.kernel_tiles(source, z, |tile, k_j| {
            let [rows, lines] = [&tile.rows, &tile.lines]
                .map(|numbers| numbers.iter().map(|&i| i as usize).collect());
            let mut columns = ResultColumns::of_rows(rows, lines);
            let values = pca.transform(k_j.rb())?;
            columns.0.extend(embed::coordinates(&values.transpose().to_owned()));
            output.write(&columns)
        })
    })?;
    output.finish(&session)?;
    session.clear();
    let n = recipe.rows();
    let (sampled, constant) = match sample {
        Some(sample) => (sample.rows.len(), &sample.constant[..]),
        None => (0, &[][..]),
    };
    let mut summary = Summary::of("embed");
    embed::describe_pca(&pca, &mut summary);
    let of = format!("a sample of {sampled} of {n} rows");
    embed::describe(&mut summary, args, recipe.kernel(), (spec, z.len(), &of));
    summary.value("rows", n);
    summary.value("constant", constant);
    summary.value("reservoir", sampled);
    summary.value("passes", 3);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

fn check(args: &Embed, session: &Session<'_>) -> Result<()> {
    embed::check(args)?;
    args.kernel.check_in_blocks()?;
    if args.method != EmbedMethod::Pca {
        return Err(usage(format!(
            "--method {} needs all rows at once; block by block, choose pca, or name one file",
            text::option(&args.method)
        )));
    }
    if args.landmarks.is_some_and(|spec| spec.method == Selection::Squeak) {
        return Err(usage(
            "block by block, the landmarks of pca are chosen from a uniform sample; choose bless \
             instead of squeak",
        ));
    }
    if args.blocks.leaves.is_some() {
        return Err(usage("--leaves has no effect on embed; leave it out"));
    }
    if args.output.is_npy() || (args.run.json && args.output.is_stdout()) {
        return Err(usage(
            "block by block, coordinates are written as CSV with one line for each row; name a \
             .csv file",
        ));
    }
    points::check((&args.data, &args.rows), &args.output, session)
}

/// The landmarks from the sample, m × d.
fn landmarks(
    args: &Embed,
    surveyed: &Surveyed,
    session: &Session<'_>,
    rng: &mut dyn Rng,
) -> Result<(LandmarkSpec, Mat<f64>)> {
    let Surveyed { recipe, sizes, sample: Some(Data { x, .. }), .. } = surveyed else {
        unreachable!("one process, which has the sample");
    };
    let spec = embed::landmarks(args, x.nrows())?;
    let step = plan::selection(spec, x.nrows(), None).named("choosing landmarks from the sample");
    step.check(Some(sizes.work))?;
    session.step("choosing landmarks", &step);
    let (kernel, points) = (recipe.kernel(), Points::from_rows(x.as_ref()));
    let setting = Setting { kernel, points, lambda: args.leverage.lambda() };
    let (chosen, _) =
        select::choose(spec, false, setting, &KernelMatrix::new(kernel, points)?, rng)?;
    Ok((spec, Mat::from_fn(chosen.len(), x.ncols(), |j, k| x[(chosen[j], k)])))
}
