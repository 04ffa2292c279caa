//! `nystrom sample --method greedy` block by block.

use super::points::{self, BlockPoints, Surveyed};
use super::scores::file_of;
use super::sizes::PointSizes;
use crate::args::{Sample, Sampler};
use crate::commands::basis::why_fewer;
use crate::failure::{Result, usage};
use crate::kernel;
use crate::output::{ResultColumns, ResultValues};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::linalg_core::validate;
use nystrom_pipeline::{PointRecipe, Ranks};

/// Chooses rows on the processes of a job. Process 0 writes them.
pub fn run_on_ranks(args: &Sample, ranks: &dyn Ranks) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, ranks)?;
    session.succeeded_on_all(check(args, &session))?;
    let Sample { of, size, .. } = args;
    let job = BlockPoints { of, other: None, session: &session, passes: 2 };
    let opened = job.open()?;
    // whatever the first pass will find: it may leave out columns, and rows with --drop-missing
    if let Some(rows) = opened.1.stated_rows().filter(|_| !of.data.drop_missing) {
        session.succeeded_on_all(parts([rows, 1], args, &opened.1))?;
    }
    let mut surveyed = job.survey(opened, &mut rng)?;
    let Surveyed { input, recipe, sizes, sample } = &mut surveyed;
    let all = usize::try_from(recipe.rows()).unwrap_or(usize::MAX);
    session.succeeded_on_all(validate::at_most("rows in a subset (--size)", *size, all))?;
    let parts =
        session.succeeded_on_all(parts([recipe.rows(), recipe.dim() as u64], args, sizes))?;
    let chosen =
        job.pass(2, input, |source| Ok(recipe.greedy_over(ranks, source, *size, parts)?))?;
    let (Some(chosen), Some(sample)) = (chosen, sample) else { return Ok(()) };
    session.clear();
    let (rows, lines) = (&chosen.rows, &chosen.lines);
    let mut columns = ResultColumns::default();
    columns.push("draw", ResultValues::Counts(vec![0; rows.len()]));
    columns.0.extend(ResultColumns::of_blocks(rows, lines).0);
    columns.write(&args.output, &session)?;

    let mut summary = Summary::of("sample");
    let (count, fewer) = (rows.len(), why_fewer(rows.len(), *size));
    let of_parts = text::count(parts as usize, "part");
    summary.line("drawn", format!("1 subset of {count} rows each, greedily{fewer}"));
    summary.line("candidates", format!("{} from {of_parts} of {all} rows", chosen.candidates));
    summary.line("kernel", kernel::describe(recipe.kernel()));
    summary.line("ln det", number(chosen.log_det));
    let files: Vec<String> = chosen.rows.iter().map(|&row| file_of(input, row)).collect();
    summary.value("files", &files);
    summary.value("candidates", chosen.candidates);
    summary.value("parts", parts);
    summary.value("log_det", chosen.log_det);
    summary.value("exact", false);
    summary.value("subsets", [rows]);
    summary.value("lines", [lines]);
    summary.value("constant", &sample.constant);
    summary.value("rows", all);
    summary.value("bandwidth", recipe.kernel().bandwidth());
    summary.value("seed", of.run.seed);
    job.describe(Some(sample.rows.len()), &mut summary);
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())
}

fn check(args: &Sample, session: &Session<'_>) -> Result<()> {
    let needs_memory = [
        (args.quality.is_some(), "--quality"),
        (args.given.is_some(), "--given"),
        (args.quota.is_some(), "--quota"),
        (args.draws != 1, "--draws"),
    ];
    if let Some((_, option)) = needs_memory.iter().find(|(is_asked, _)| *is_asked) {
        return Err(usage(format!(
            "{option} needs all rows at once; leave it out, or name one file that fits --memory"
        )));
    }
    if args.method != Sampler::Greedy || args.steps.is_some() || args.within.is_some() {
        return Err(usage(
            "random draws need all rows at once; block by block, choose --method greedy without \
             --steps and --within",
        ));
    }
    validate::not_empty("rows in a subset (--size)", args.size)?;
    points::check(&args.of, args.rows.sparse, &args.output, session)
}

/// The number of parts of n rows of d features: as asked, else as few as fit into memory.
fn parts([n, d]: [u64; 2], args: &Sample, sizes: &PointSizes) -> Result<u64> {
    let most = n.div_ceil(args.size as u64).max(1);
    let bytes = |parts: u64| PointRecipe::greedy_bytes([n, d], args.size, parts);
    let fits = |parts: u64| sizes.check_choice(bytes(parts));
    let parts = match args.of.blocks.leaves {
        Some(leaves) => leaves as u64,
        // the bytes fall, then rise with the number of parts: as far as they fall, or fit
        None => {
            let mut parts = 1;
            while parts < most && fits(parts).is_err() && bytes(parts + 1) < bytes(parts) {
                parts += 1;
            }
            parts
        }
    };
    fits(parts)?;
    Ok(parts)
}
