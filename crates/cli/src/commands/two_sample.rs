//! `nystrom test`.

use crate::args::TestArgs;
use crate::failure::Result;
use crate::input;
use crate::kernel::{self, AnyKernel};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{TwoSample, TwoSampleTest, Uniform};
use nystrom_pipeline::Alone;

pub fn run(args: &TestArgs) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, &Alone)?;
    let (permutations, bins) = (args.permutations, args.bins);
    let (data, first) = input::points_of_two(&args.of, &args.other, &session)?;
    let points = data.points();
    let n = points.len();
    validate::not_empty("number of landmarks (--landmarks)", args.landmarks)?;
    let m = args.landmarks.min(n);
    let kernel = kernel::kernel(&args.of.kernel, points, session.meter(), &mut rng)?;
    let step = step(n, m, args).named("comparing");
    plan::announce(&session, &kernel, points, std::slice::from_ref(&step))?;

    session.step("comparing", &step);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let landmarks = Uniform::default().select(&matrix, m, &mut rng)?;
    let test = TwoSample { permutations, bins };
    let found = test.test(&matrix, &landmarks, first, &mut rng)?;
    session.clear();

    let rows = [first, n - first];
    let mut summary = describe(args, (&kernel, m), rows, &found);
    summary.value("constant", &data.constant);
    summary.print(&session, false)
}

/// The summary of a test of tables with these numbers of rows, with m landmarks.
pub fn describe(
    args: &TestArgs,
    (kernel, m): (&AnyKernel, usize),
    rows: [usize; 2],
    found: &TwoSampleTest,
) -> Summary {
    let (permutations, mut summary) = (args.permutations, Summary::of("test"));
    let p = format!("{} from {permutations} permutations", number(found.p_value));
    let verdict = match found.p_value <= 0.05 {
        true => "the distributions differ, at level 5 %",
        false => "no difference shown at level 5 %",
    };
    let [ours, theirs] = rows.map(|rows| text::count(rows, "row"));
    summary.line("p-value", format!("{p}: {verdict}"));
    summary.line("distance", format!("{} (MMD, of means in feature space)", number(found.mmd)));
    summary.line("rows", format!("{ours} and {theirs}"));
    let of_bin = text::count(found.rows_of_bin, "row");
    summary.line("bins", format!("{} and {} of {of_bin}", found.bins[0], found.bins[1]));
    summary.line("kernel", format!("{}, {m} landmarks", kernel::describe(kernel)));
    summary.value("p_value", found.p_value);
    summary.value("mmd", found.mmd);
    summary.value("rows", rows);
    summary.value("left_out", found.left_out);
    summary.value("bins", found.bins);
    summary.value("rows_of_bin", found.rows_of_bin);
    summary.value("permutations", permutations);
    summary.value("landmarks", m);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.of.run.seed);
    summary
}

/// The cost of a test of n rows with m landmarks. There are at most twice as many bins as asked
/// for, unless one sample is far larger than the other.
pub fn step(n: usize, m: usize, args: &TestArgs) -> Step {
    let [n, m, s] = [n, m, 2 * args.bins].map(|count| count as f64);
    let work = n * m + m * m * m / 3.0 + m * m * s + args.permutations as f64 * s * s;
    let bytes = 8.0 * (m * m + 2.0 * m * s + 2.0 * s * s + 1024.0 * m);
    Step::new(format!("kernel values with {m} landmarks"), Some(n * m), Some(work), bytes)
}
