//! `nystrom embed`.

use super::basis::why_fewer;
use super::select::{self, Setting};
use crate::args::{Embed, EmbedMethod, LandmarkSpec, Selection};
use crate::failure::{Result, usage};
use crate::input;
use crate::kernel::{self, AnyKernel, of_another};
use crate::output::{ResultColumns, ResultValues, check_writable};
use crate::plan::{self, Step};
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, number};
use nystrom::linalg_core::validate;
use nystrom::prelude::*;
use nystrom::sketch::{
    KernelClusters, KernelKMeans, KernelPca, PrincipalComponents, SpectralEmbedding, SpectralMap,
};
use nystrom_pipeline::Alone;

/// The default number of landmarks.
const LANDMARKS: usize = 500;

pub fn run(args: &Embed) -> Result<()> {
    let (session, mut rng) = Session::start(&args.of.run, &Alone)?;
    check_writable(&args.output, &[&args.of.data.data], &session)?;
    check(args)?;
    let data = input::points(&args.of, args.rows.sparse, &session)?;
    let points = data.points();
    let n = points.len();
    let spec = landmarks(args, n)?;
    let kernel = kernel::kernel(&args.of.kernel, points, session.meter(), &mut rng)?;
    let setting = Setting { kernel: &kernel, points, lambda: args.leverage.lambda() };
    let steps = [select::step(spec, setting), step(args, n, spec.count)];
    plan::announce(&session, &kernel, points, &steps)?;

    session.step("choosing landmarks", &steps[0]);
    let matrix = KernelMatrix::new(&kernel, points)?;
    let (chosen, _) = select::choose(spec, false, setting, &matrix, &mut rng)?;
    let landmarks = Landmarks::new(n, chosen)?;
    session.step("embedding", &steps[1]);
    let (found, values) = match args.method {
        EmbedMethod::Pca => {
            let pca = KernelPca { components: args.components() }.fit(&matrix, &landmarks)?;
            let values = coordinates(&pca.transform_rows(&matrix, &landmarks)?);
            (Embedding::Components(pca), values)
        }
        EmbedMethod::Spectral => {
            let embedding = SpectralEmbedding { components: args.components() };
            let map = embedding.fit(&matrix, &landmarks)?;
            let values = coordinates(&map.transform_rows(&matrix, &landmarks)?);
            (Embedding::Spectral(map), values)
        }
        EmbedMethod::KMeans => {
            let found = k_means_of(args).fit(&matrix, &landmarks, &mut rng)?;
            let (mut sizes, labels) = (vec![0_usize; found.clusters()], found.labels().to_vec());
            labels.iter().for_each(|&cluster| sizes[cluster] += 1);
            let values = vec![("cluster".to_owned(), ResultValues::Counts(labels))];
            (Embedding::Clusters(found, sizes), values)
        }
    };
    let mut summary = Summary::of("embed");
    found.describe(args, &mut summary);
    session.clear();

    describe(&mut summary, args, &kernel, (spec, landmarks.len(), &text::count(n, "row")));
    summary.value("rows", n);
    summary.value("constant", &data.constant);
    if args.output.is_stdout() {
        let values: Vec<_> = values.iter().map(|(_, values)| values).collect();
        summary.value("values", values);
    }
    summary.written(&args.output);
    let mut columns = ResultColumns::of_rows(data.rows, data.lines);
    columns.0.extend(values);
    columns.write(&args.output, &session)?;
    summary.print(&session, args.output.is_stdout())
}

/// The method and the number of the landmarks among n rows.
pub fn landmarks(args: &Embed, n: usize) -> Result<LandmarkSpec> {
    let spec = args
        .landmarks
        .unwrap_or(LandmarkSpec { method: Selection::Uniform, count: LANDMARKS.min(n) });
    validate::at_most("landmarks", spec.count, n)?;
    Ok(spec)
}

/// Describes the kernel and the m landmarks, chosen from the rows `of`.
pub fn describe(
    summary: &mut Summary,
    args: &Embed,
    kernel: &AnyKernel,
    (spec, m, of): (LandmarkSpec, usize, &str),
) {
    let (method, fewer) = (text::option(&spec.method), why_fewer(m, spec.count));
    summary.line("kernel", kernel::describe(kernel));
    summary.line("landmarks", format!("{m} of {of} by {method}{fewer}"));
    summary.value("method", text::option(&args.method));
    summary.value("landmarks", m);
    summary.value("selection", method);
    summary.value("bandwidth", kernel.bandwidth());
    summary.value("seed", args.of.run.seed);
}

/// Refuses an option that has no effect.
pub fn check(args: &Embed) -> Result<()> {
    let of_clusters = [
        ("--clusters", args.clusters.is_some(), EmbedMethod::KMeans),
        ("--starts", args.starts.is_some(), EmbedMethod::KMeans),
    ];
    if let Some((option, method)) = of_another(args.method, &of_clusters) {
        return Err(usage(format!("{option} has no effect on this method; add --method {method}")));
    }
    if args.method == EmbedMethod::KMeans && args.components.is_some() {
        let text = "--components has no effect on kmeans; give the number of --clusters";
        return Err(usage(text));
    }
    args.of.kernel.check()
}

/// What is found.
pub enum Embedding {
    Components(PrincipalComponents<f64>),
    Spectral(SpectralMap<f64>),
    /// Clusters, and their numbers of rows.
    Clusters(KernelClusters<f64>, Vec<usize>),
}

impl Embedding {
    pub fn describe(&self, args: &Embed, summary: &mut Summary) {
        match self {
            Embedding::Components(pca) => describe_pca(pca, summary),
            Embedding::Spectral(map) => describe_spectral(map, summary),
            Embedding::Clusters(clusters, sizes) => {
                describe_clusters(args, clusters, sizes, summary);
            }
        }
    }
}

/// Variances, and what is known of exact kernel PCA.
fn describe_pca(pca: &PrincipalComponents<f64>, summary: &mut Summary) {
    let components = pca.variances().len();
    let shares = pca.shares();
    let each: Vec<String> = shares.iter().take(6).map(|share| percent(*share)).collect();
    let more = if shares.len() > each.len() { ", …" } else { "" };
    let all = percent(shares.iter().sum());
    let [least, most] = pca.exact_share();
    let bound = match pca.subspace_bound() {
        Some(bound) => format!("at most {} (sine, to exact kernel PCA)", number(bound)),
        None => "not bounded; take more landmarks or another number of components".to_owned(),
    };
    summary
        .line("variance", format!("{all} in {components} components: {}{more}", each.join(", ")));
    let (least_text, most_text) = (percent(least), percent(most));
    summary.line("exact share", format!("between {least_text} and {most_text}"));
    summary.line("angle", bound);
    summary.value("variances", pca.variances());
    summary.value("total_variance", pca.total_variance());
    summary.value("shares", shares);
    summary.value("exact_share", [least, most]);
    summary.value("subspace_bound", pca.subspace_bound());
    summary.value("left_over", pca.left_over());
}

/// Eigenvalues of the Laplacian, and what the landmarks leave.
fn describe_spectral(map: &SpectralMap<f64>, summary: &mut Summary) {
    let values: Vec<String> = map.eigenvalues().iter().take(6).map(|&nu| number(nu)).collect();
    let more = if map.eigenvalues().len() > values.len() { ", …" } else { "" };
    let text = format!("{}{more} (of the normalised Laplacian, without 0)", values.join(", "));
    summary.line("eigenvalues", text);
    summary.line("left over", format!("tr(K − L)/tr K = {}", number(map.left_over())));
    summary.value("eigenvalues", map.eigenvalues());
    summary.value("relative_trace_error", map.left_over());
}

/// The clusters with their numbers of rows, and bounds on their cost.
fn describe_clusters(
    args: &Embed,
    found: &KernelClusters<f64>,
    sizes: &[usize],
    summary: &mut Summary,
) {
    let (clusters, asked) = (found.clusters(), k_means_of(args).clusters);
    let fewer = if clusters < asked { "; no more rows are distinct" } else { "" };
    let few = text::few(sizes, "clusters").join(", ");
    summary.line("clusters", format!("{clusters}, with rows: {few}{fewer}"));
    let [least, most] = found.cost_bounds();
    let text = format!("between {} and {} with the exact kernel", number(least), number(most));
    summary.line("cost", text);
    let ended = if found.converged() { "no row changes its cluster" } else { "stopped early" };
    let of = if found.labels().is_empty() { "over all rows" } else { "of the best start" };
    let iterations = text::count(found.iterations(), "iteration");
    summary.line("iterations", format!("{iterations} {of}: {ended}"));
    summary.value("clusters", clusters);
    summary.value("sizes", sizes);
    summary.value("inertia", found.inertia());
    summary.value("cost_bounds", [least, most]);
    summary.value("iterations", found.iterations());
    summary.value("converged", found.converged());
}

/// The options of kernel k-means.
pub fn k_means_of(args: &Embed) -> KernelKMeans {
    let usual = KernelKMeans::default();
    let (clusters, starts) = (args.clusters, args.starts);
    KernelKMeans {
        clusters: clusters.unwrap_or(usual.clusters),
        starts: starts.unwrap_or(usual.starts),
        ..usual
    }
}

/// A column for each component.
pub fn coordinates(values: &Mat<f64>) -> Vec<(String, ResultValues)> {
    let column = |j: usize| {
        let numbers = values.col(j).iter().copied().collect();
        (format!("component_{}", j + 1), ResultValues::Numbers(numbers))
    };
    (0..values.ncols()).map(column).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The counts in the documentation of each method, and those of mapping all rows.
fn step(args: &Embed, n: usize, m: usize) -> Step {
    let p = args.components() as f64;
    let [n, m] = [n, m].map(|count| count as f64);
    let (square, tiles) = (6.0 * m * m, 3.0 * 1024.0 * m);
    let flops = 2.0 * n * m * m + 9.0 * m * m * m;
    let step = |what: &str, values, flops, numbers: f64| {
        Step::new(format!("{what} with {m} landmarks"), values, Some(flops), 8.0 * numbers)
    };
    let step = match args.method {
        EmbedMethod::Pca => {
            let values = Some(2.0 * n * m + m * m);
            step("principal components", values, flops, square + tiles + n * (2.0 * p + 1.0))
        }
        EmbedMethod::Spectral => {
            let values = Some(3.0 * n * m + m * m);
            step("spectral embedding", values, flops, square + tiles + n * (2.0 * p + 1.0))
        }
        EmbedMethod::KMeans => {
            let KernelKMeans { clusters, starts, .. } = k_means_of(args);
            let (s, columns) = (starts as f64, (clusters * starts) as f64);
            let numbers = square + tiles + 6.0 * m * columns + 2.0 * 1024.0 * columns;
            // the number of passes depends on the data
            step("clusters", None, n * m * m, numbers + n * (2.0 * s + 3.0))
        }
    };
    step.named("embedding")
}
